//! Tests of sandbox failures: their messages and their leftovers.
#![cfg(unix)]

use std::{fs, net::TcpListener};

use snapbox::{assert_data_eq, str};

use crate::testing::{CONFIG_MAP, CONFIG_MAPS, Sandboxes};

#[test]
fn invalid_sandbox_flags_are_reported_before_any_write() {
    let sandboxes = Sandboxes::new();
    let start = |flags: &[&str]| sandboxes.run(&[&["start"], flags].concat()).to_string();
    assert_data_eq!(
        start(&["My lab"]),
        str![[r#"
exit 1
--- stderr
error: `My lab` is not a valid sandbox name
  cause: a name consists of at most 63 lower-case letters, digits and dashes, without a dash at either end

"#]]
    );
    assert_data_eq!(
        start(&["--fault", "latency:20ms;409,verb=make"]),
        str![[r#"
exit 1
--- stderr
error: cannot read the fault `409,verb=make`
  cause: unknown verb `make`; valid verbs: get, list, watch, create, update, patch, delete, deletecollection, write

"#]]
    );
    assert_data_eq!(
        start(&["--without", "garbage,all"]),
        str![[r#"
exit 1
--- stderr
error: unknown controller `all`
hint: use garbage, workloads, api-services, cert-manager or cluster-api

"#]]
    );
    assert_data_eq!(
        start(&["--service-webhooks", "allow"]),
        str![[r#"
exit 1
--- stderr
error: invalid value `allow` for `--service-webhooks`
hint: use `--service-webhooks ignore` or `--service-webhooks refuse`

"#]]
    );
    assert_eq!(sandboxes.world().files(), Vec::<String>::new());
}

#[test]
fn a_missing_sandbox_is_reported_with_existing_ones() {
    let sandboxes = Sandboxes::new();
    sandboxes.run(&["start", "lab", "--in-memory"]);
    assert_data_eq!(
        sandboxes.world().screens([
            "sandbox stop lba",
            "sandbox delete lba",
            "sandbox kubeconfig lba",
            "sandbox logs lba",
            "sandbox stop",
        ]),
        str![[r#"
$ capstan sandbox stop lba
exit 1
--- stderr
error: sandbox `lba` does not exist
hint: did you mean `lab`?

$ capstan sandbox delete lba
exit 1
--- stderr
error: sandbox `lba` does not exist
hint: did you mean `lab`?

$ capstan sandbox kubeconfig lba
exit 1
--- stderr
error: sandbox `lba` does not exist
hint: did you mean `lab`?

$ capstan sandbox logs lba
exit 1
--- stderr
error: sandbox `lba` does not exist
hint: did you mean `lab`?

$ capstan sandbox stop
exit 1
--- stderr
error: sandbox `capstan` does not exist
hint: existing sandboxes: lab

"#]]
    );
}

#[test]
fn a_requested_port_in_use_is_an_error_without_leftovers() {
    let sandboxes = Sandboxes::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    assert_data_eq!(
        sandboxes.run(&["start", "lab", "--port", &port]).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot start sandbox `lab`
  cause: cannot listen on port [..] of the loopback interface
  cause: Address already in use (os error [..])
hint: use another port with `--port`, or omit `--port` for a free port

"#]]
    );
    assert_eq!(sandboxes.world().files(), Vec::<String>::new());
}

#[test]
fn another_port_is_used_if_the_previous_one_is_taken() {
    let sandboxes = Sandboxes::new();
    sandboxes.run(&["start", "lab", "--in-memory"]);
    sandboxes.run(&["stop", "lab"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = format!(r#"{{"port": {}}}"#, taken.local_addr().unwrap().port());
    fs::write(sandboxes.file("lab", "settings.json"), settings).unwrap();
    assert_data_eq!(
        sandboxes.run(&["start", "lab"]).stderr,
        str![[r#"
warning: port [..] of the last start is in use; the new port is [..], and copies of the old kubeconfig no longer work
sandbox `lab` serves at https://127.0.0.1:[..] (process [..])
use the sandbox with: export KUBECONFIG=$(capstan sandbox kubeconfig lab)
done in [..]: started sandbox `lab`

"#]]
    );
    assert_eq!(sandboxes.ask("lab", "GET", "/api"), 200);
}

#[test]
fn a_damaged_data_folder_is_not_changed() {
    let sandboxes = Sandboxes::new();
    sandboxes.world().write("data/journal", "notes of somebody else\n");
    assert_data_eq!(
        sandboxes.run(&["start", "lab", "--data-dir", "data"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot start sandbox `lab`
  cause: cannot open the data directory
  cause: `[CWD]/data/journal` is not a capstan journal; choose another directory or move the file away

"#]]
    );
    assert_eq!(sandboxes.world().read("data/journal"), "notes of somebody else\n");
    assert!(!sandboxes.file("lab", "").exists());
}

#[test]
fn a_data_folder_serves_one_sandbox_at_a_time() {
    let sandboxes = Sandboxes::new();
    sandboxes.run(&["start", "lab", "--data-dir", "data"]);
    assert_data_eq!(
        sandboxes.run(&["start", "other", "--data-dir", "data"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot start sandbox `other`
  cause: cannot open the data directory
  cause: `[CWD]/data` is in use by process [..]
hint: stop the sandbox that uses the folder, or use another folder with `--data-dir DIR`

"#]]
    );
}

#[test]
fn a_damaged_sandbox_does_not_affect_others() {
    let sandboxes = Sandboxes::new();
    for name in ["lab", "other"] {
        sandboxes.run(&["start", name, "--in-memory"]);
        sandboxes.run(&["stop", name]);
    }
    fs::write(sandboxes.file("lab", "settings.json"), "{").unwrap();
    assert_data_eq!(
        sandboxes.run(&["list"]).to_string(),
        str![[r#"
exit 1
--- stdout
NAME      STATE     PID       SERVER    DATA
other     stopped   -         -         in memory
--- stderr
error: `[HOME]/state/capstan/sandboxes/lab/settings.json` is damaged
  cause: EOF while parsing an object at line 1 column 1
hint: remove it with `rm [HOME]/state/capstan/sandboxes/lab/settings.json`; the next start creates it again

"#]]
    );
    assert_data_eq!(
        sandboxes.run(&["delete", "lab"]).stderr,
        str![[r#"
done in [..]: deleted sandbox `lab`

"#]]
    );
}

#[test]
fn faults_apply_only_to_matching_requests() {
    let sandboxes = Sandboxes::new();
    sandboxes.run(&["start", "lab", "--in-memory", "--fault", "409,verb=create,resource=configmaps,times=1"]);
    let create = || sandboxes.ask("lab", "POST", CONFIG_MAPS);
    assert_eq!([create(), create(), sandboxes.ask("lab", "GET", CONFIG_MAP)], [409, 201, 200]);
}

#[test]
fn a_sandbox_killed_by_a_fault_keeps_its_writes() {
    let sandboxes = Sandboxes::new();
    let (child, ..) = sandboxes.serve(&["lab", "--fault", "kill,verb=create,resource=configmaps"]);
    assert_eq!(sandboxes.ask("lab", "POST", CONFIG_MAPS), 0, "the connection is cut");
    assert_data_eq!(
        sandboxes.world().to_output(&child.wait_with_output().unwrap()).to_string(),
        str![[r#"
exit 1
--- stderr
sandbox `lab` serves at https://127.0.0.1:[..]
use the sandbox with: export KUBECONFIG=$(capstan sandbox kubeconfig lab)
error: an injected fault killed the sandbox

"#]]
    );
    sandboxes.run(&["start", "lab"]);
    assert_eq!(sandboxes.ask("lab", "GET", CONFIG_MAP), 200);
}
