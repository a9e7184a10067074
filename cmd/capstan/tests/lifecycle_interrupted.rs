//! Tests of interrupted runs of `init` and `upgrade`.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _};

use snapbox::{assert_data_eq, str};
use support::binary::RunOutput;

use crate::{
    lab::Lab,
    lifecycle::{INIT, json, ready},
    sandbox::signal,
};

/// Returns the last paragraph of `status`. The health before it varies while providers start.
fn unfinished(lab: &Lab) -> String {
    lab.done("status").to_string().rsplit("\n\n").next().unwrap().to_owned()
}

/// Runs a command until its output contains a text, then sends Ctrl-C. Returns the rest of stderr.
pub(crate) fn interrupted(lab: &Lab, arguments: &str, at: &str) -> RunOutput {
    let mut child = lab.spawn(arguments);
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(at) {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "`{arguments}` ended without `{at}`");
    }
    signal("INT", child.id().into());
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    RunOutput { status: child.wait().unwrap().code().unwrap(), stdout: String::new(), stderr: rest }
}

#[test]
fn ctrl_c_says_how_much_was_written_and_what_goes_on() {
    let lab = Lab::start(&["--fault", "latency:40ms"]);
    assert_data_eq!(
        interrupted(&lab, INIT, "Installing provider=\"bootstrap-kubeadm\"").messages(),
        str![[r#"
exit 130
--- stderr
error: interrupted after at least [..]
hint: the same command completes what was begun

"#]]
    );
    assert_data_eq!(
        unfinished(&lab),
        str![[r#"
an `init` was begun and is not finished:
  cluster-api v1.0.0 in cluster-api-system
  bootstrap-kubeadm v1.0.0 in bootstrap-kubeadm-system
  control-plane-kubeadm v1.0.0 in control-plane-kubeadm-system
  infrastructure-own v1.0.0 in infrastructure-own-system
the command it was begun with completes it; so does `capstan init --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig`

"#]]
    );
    let begun = json(&lab.done("status -o json").stdout);
    assert_eq!(begun["unfinishedInit"][3]["provider"], "infrastructure-own");
    lab.done("init");
    assert_eq!(ready(&lab), 4);
    assert!(json(&lab.done("status -o json").stdout)["unfinishedInit"].is_null());

    let upgrade = "upgrade apply --contract v1beta2";
    assert_data_eq!(
        interrupted(&lab, upgrade, "Installing provider=\"bootstrap-kubeadm\"").messages(),
        str![[r#"
exit 130
--- stderr
error: interrupted after at least [..]
hint: `capstan upgrade resume --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` goes on, `capstan upgrade rollback --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` goes back

"#]]
    );
    assert_data_eq!(
        unfinished(&lab),
        str![[r#"
the upgrade begun at [..] is not finished:
  cluster-api: v1.0.0 to v1.1.0, done
  bootstrap-kubeadm: v1.0.0 to v1.1.0
  control-plane-kubeadm: v1.0.0 to v1.1.0
  infrastructure-own: v1.0.0 to v1.1.0
`capstan upgrade resume --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` goes on, `capstan upgrade rollback --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` goes back, `capstan upgrade abort --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` leaves things as they are

"#]]
    );
    let begun = json(&lab.done("status -o json").stdout);
    assert_eq!(begun["unfinishedUpgrade"]["providers"][0]["done"].as_bool(), Some(true));
    assert_data_eq!(
        lab.run("upgrade apply -i own:v1.0.0").to_string(),
        str![[r#"
exit 1
--- stderr
error: an upgrade begun at [..] is not finished
hint: `capstan upgrade resume --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` goes on with it, `capstan upgrade rollback --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` goes back, `capstan upgrade abort --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` leaves things as they are

"#]]
    );
    lab.done("upgrade resume");
    assert_eq!(lab.done("status").stdout.matches("v1.1.0").count(), 4);
}
