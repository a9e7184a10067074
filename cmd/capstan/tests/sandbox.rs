//! Tests of sandboxes through the binary. `cargo xtask bench` measures their start time.
#![cfg(unix)]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
};

use snapbox::{assert_data_eq, str};

use crate::testing::{CONFIG_MAP, CONFIG_MAPS, Sandboxes, send, signal};

#[test]
fn a_sandbox_is_started_once_listed_and_stopped() {
    let sandboxes = Sandboxes::new();
    assert_data_eq!(
        sandboxes.run(&["start", "lab"]).to_string(),
        str![[r#"
exit 0
--- stderr
sandbox `lab` serves at https://127.0.0.1:[..] (process [..])
use the sandbox with: export KUBECONFIG=$(capstan sandbox kubeconfig lab)
done in [..]: started sandbox `lab`

"#]]
    );
    assert_eq!(sandboxes.ask("lab", "GET", "/api/v1/namespaces/default"), 200);
    let again = sandboxes.run(&["start", "lab"]);
    assert_data_eq!(
        again.to_string(),
        str![[r#"
exit 0
--- stderr
sandbox `lab` is already running at https://127.0.0.1:[..] (process [..])
use the sandbox with: export KUBECONFIG=$(capstan sandbox kubeconfig lab)
done in [..]: nothing to start: sandbox `lab` is running

"#]]
    );
    assert_data_eq!(
        sandboxes.run(&["list"]).stdout,
        str![[r#"
NAME      STATE     PID       SERVER                    DATA
lab       running   [..]https://127.0.0.1:[..][HOME]/state/capstan/sandboxes/lab/data

"#]]
    );
    assert_data_eq!(
        sandboxes.run(&["list", "-o", "json"]).stdout,
        str![[r#"
{
  "sandboxes": [
    {
      "name": "lab",
      "state": "running",
      "server": "https://127.0.0.1:[..]",
      "pid": [..],
      "dataDir": "[HOME]/state/capstan/sandboxes/lab/data",
      "kubeconfig": "[HOME]/state/capstan/sandboxes/lab/kubeconfig"
    }
  ]
}

"#]]
    );
    let stop = || sandboxes.run(&["stop", "lab"]).stderr;
    assert_data_eq!(
        stop(),
        str![[r#"
done in [..]: stopped sandbox `lab`

"#]]
    );
    assert_data_eq!(
        stop(),
        str![[r#"
done in [..]: nothing to stop: sandbox `lab` was not running

"#]]
    );
    assert_data_eq!(
        sandboxes.run(&["list"]).stdout,
        str![[r#"
NAME      STATE     PID       SERVER    DATA
lab       stopped   -         -         [HOME]/state/capstan/sandboxes/lab/data

"#]]
    );
}

#[test]
fn new_settings_for_a_running_sandbox_are_refused() {
    let sandboxes = Sandboxes::new();
    sandboxes.run(&["start", "lab", "--in-memory"]);
    assert_data_eq!(
        sandboxes.run(&["start", "lab", "--fault", "409"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: sandbox `lab` is already running at https://127.0.0.1:[..] (process [..])
  cause: the flags take effect only at the next start
hint: stop the sandbox first with `capstan sandbox stop lab`

"#]]
    );
}

#[test]
fn a_sandbox_started_twice_at_once_runs_once() {
    let sandboxes = Sandboxes::new();
    let both = [sandboxes.spawn(&["start", "lab"]), sandboxes.spawn(&["start", "lab"])];
    let mut outputs = both.map(|child| {
        let output = child.wait_with_output().unwrap();
        sandboxes.world().to_output(&output).to_string()
    });
    outputs.sort();
    assert_data_eq!(
        outputs.concat(),
        str![[r#"
exit 0
--- stderr
sandbox `lab` is already running at https://127.0.0.1:[..] (process [..])
use the sandbox with: export KUBECONFIG=$(capstan sandbox kubeconfig lab)
done in [..]: nothing to start: sandbox `lab` is running
exit 0
--- stderr
sandbox `lab` serves at https://127.0.0.1:[..] (process [..])
use the sandbox with: export KUBECONFIG=$(capstan sandbox kubeconfig lab)
done in [..]: started sandbox `lab`

"#]]
    );
}

#[test]
fn objects_address_and_kubeconfig_survive_a_kill() {
    let sandboxes = Sandboxes::new();
    sandboxes.run(&["start", "lab"]);
    assert_eq!(sandboxes.ask("lab", "POST", CONFIG_MAPS), 201);
    let kubeconfig = fs::read(sandboxes.file("lab", "kubeconfig")).unwrap();
    sandboxes.kill("lab");
    let journal = sandboxes.file("lab", "data/journal");
    let whole = fs::read(&journal).unwrap();
    // The journal looks as if the process was killed during a write.
    fs::write(&journal, [&whole, &b"\x07"[..]].concat()).unwrap();
    assert_data_eq!(
        sandboxes.run(&["start", "lab"]).stderr,
        str![[r#"
warning: ignored an incomplete last change in `[HOME]/state/capstan/sandboxes/lab/data/journal` (1 bytes); the previous process was killed
sandbox `lab` serves at https://127.0.0.1:[..] (process [..])
use the sandbox with: export KUBECONFIG=$(capstan sandbox kubeconfig lab)
done in [..]: started sandbox `lab`

"#]]
    );
    assert_eq!(sandboxes.ask("lab", "GET", CONFIG_MAP), 200);
    assert_eq!(fs::read(sandboxes.file("lab", "kubeconfig")).unwrap(), kubeconfig);
}

#[test]
fn an_in_memory_sandbox_is_empty_after_a_stop() {
    let sandboxes = Sandboxes::new();
    sandboxes.run(&["start", "lab", "--in-memory"]);
    assert_eq!(sandboxes.ask("lab", "POST", CONFIG_MAPS), 201);
    sandboxes.run(&["stop", "lab"]);
    sandboxes.run(&["start", "lab"]);
    assert_eq!(sandboxes.ask("lab", "GET", CONFIG_MAP), 404);
    let list: serde_json::Value =
        serde_json::from_str(&sandboxes.run(&["list", "-o", "json"]).stdout).unwrap();
    let lab = &list["sandboxes"][0];
    assert_eq!((&lab["name"], &lab["dataDir"]), (&"lab".into(), &serde_json::Value::Null), "{list}");
}

#[test]
fn deleting_a_sandbox_keeps_only_a_user_data_folder() {
    let sandboxes = Sandboxes::new();
    sandboxes.run(&["start", "lab", "--data-dir", "mine"]);
    assert_data_eq!(
        sandboxes.run(&["delete", "lab"]).stderr,
        str![[r#"
kept the data of the sandbox in `[CWD]/mine`
done in [..]: deleted sandbox `lab`

"#]]
    );
    assert_eq!(sandboxes.world().files(), ["[CWD]/mine/journal", "[CWD]/mine/lock"]);
}

#[test]
fn a_foreground_sandbox_runs_until_ctrl_c() {
    let sandboxes = Sandboxes::new();
    let (child, mut stdout, path) = sandboxes.serve(&["lab"]);
    assert_eq!(Path::new(path.trim_end()), sandboxes.file("lab", "kubeconfig"));
    assert_eq!(sandboxes.ask("lab", "POST", CONFIG_MAPS), 201);
    signal("INT", child.id().into());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_data_eq!(
        String::from_utf8(output.stderr).unwrap(),
        str![[r#"
sandbox `lab` serves at https://127.0.0.1:[..]
use the sandbox with: export KUBECONFIG=$(capstan sandbox kubeconfig lab)
done in [..]: stopped sandbox `lab`

"#]]
    );
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), sandboxes.pid("lab")), ("", None));
}

#[test]
fn sandbox_logs_prints_the_log() {
    let sandboxes = Sandboxes::new();
    sandboxes.run(&["start", "lab", "--in-memory"]);
    let follow = sandboxes.spawn(&["logs", "lab", "--follow"]);
    sandboxes.run(&["stop", "lab"]);
    let followed = String::from_utf8(follow.wait_with_output().unwrap().stdout).unwrap();
    assert_data_eq!(
        followed.clone(),
        str![[r#"
sandbox `lab` serves at https://127.0.0.1:[..]
use the sandbox with: export KUBECONFIG=$(capstan sandbox kubeconfig lab)
done in [..]: stopped sandbox `lab`

"#]]
    );
    assert_eq!(sandboxes.run(&["logs", "lab"]).stdout, followed);
}

#[test]
fn following_a_log_ends_silently_at_ctrl_c() {
    let sandboxes = Sandboxes::new();
    sandboxes.run(&["start", "lab", "--in-memory"]);
    assert_eq!(sandboxes.ask("lab", "GET", "/api/v1/namespaces/default"), 200);
    let mut follow = sandboxes.spawn(&["logs", "lab", "--requests", "--follow"]);
    // After the request is printed, the command waits for more.
    BufReader::new(follow.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    signal("INT", follow.id().into());
    let ended = follow.wait_with_output().unwrap();
    // Between two checks no wait is active, so the signal may end the process directly.
    assert!(matches!(ended.status.code(), Some(0 | 130)), "{}", ended.status);
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), "");
}

#[test]
fn sandbox_requests_lists_answered_requests() {
    let sandboxes = Sandboxes::new();
    sandboxes.run(&["start", "lab", "--in-memory", "--fault", "cut-before,resource=secrets"]);
    assert_eq!(sandboxes.ask("lab", "GET", "/api/v1/namespaces/default"), 200);
    assert_eq!(sandboxes.ask("lab", "POST", CONFIG_MAPS), 201);
    assert_eq!(sandboxes.ask("lab", "GET", "/api/v1/secrets"), 0);
    assert_eq!(
        sandboxes.run(&["logs", "lab", "--requests"]).stdout,
        "1\t200\tget\t/api/v1/namespaces/default\t\n\
         2\t201\tcreate\t/api/v1/namespaces/default/configmaps\t\n\
         3\tcut\tlist\t/api/v1/secrets\t\n"
    );
    sandboxes.run(&["stop", "lab"]);
    assert_data_eq!(
        sandboxes.run(&["logs", "lab", "--requests"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: sandbox `lab` is not running
  cause: the requests are kept only in the memory of the running sandbox

"#]]
    );
}

#[test]
fn the_user_kubeconfig_is_changed_only_on_request() {
    let sandboxes = Sandboxes::new();
    let theirs = sandboxes.world().home().join(".kube/config");
    sandboxes.run(&["start", "lab", "--in-memory"]);
    assert_eq!(
        sandboxes.run(&["kubeconfig", "lab"]).stdout,
        "[HOME]/state/capstan/sandboxes/lab/kubeconfig\n"
    );
    assert!(!theirs.exists());
    assert_eq!(sandboxes.run(&["kubeconfig", "lab", "--merge"]).stdout, "[HOME]/.kube/config\n");
    assert_eq!(send(&theirs, "GET", "/api", ""), 200);
    assert_data_eq!(
        sandboxes.run(&["delete", "lab"]).stderr,
        str![[r#"
removed context `lab` from `[HOME]/.kube/config`
done in [..]: deleted sandbox `lab`

"#]]
    );
    assert!(!fs::read_to_string(theirs).unwrap().contains("lab"));
}

#[test]
fn several_sandboxes_are_deleted_together_or_not_at_all() {
    let sandboxes = Sandboxes::new();
    for name in ["one", "two"] {
        assert_eq!(sandboxes.run(&["start", name]).status, 0);
    }
    let refused = sandboxes.run(&["delete", "one", "twoo"]);
    assert_eq!(refused.status, 1, "{refused}");
    assert!(sandboxes.file("one", "").is_dir() && sandboxes.file("two", "").is_dir());
    let deleted = sandboxes.run(&["delete", "two", "one", "two"]);
    assert_eq!(deleted.status, 0, "{deleted}");
    assert_data_eq!(
        deleted.stderr.as_str(),
        str![[r"
done in [..]: deleted sandboxes `one`, `two`

"]]
    );
    assert!(!sandboxes.file("one", "").exists() && !sandboxes.file("two", "").exists());
}
