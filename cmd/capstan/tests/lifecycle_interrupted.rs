//! Tests of interrupted runs of `init` and `upgrade`.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _};

use snapbox::{assert_data_eq, str};
use support::binary::RunOutput;

use crate::{
    lifecycle::{INIT, json, ready},
    testing::{Lab, signal},
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
fn ctrl_c_reports_the_writes_and_the_command_to_resume() {
    let lab = Lab::start(&["--fault", "latency:40ms"]);
    assert_data_eq!(
        interrupted(&lab, INIT, "Installing provider=\"bootstrap-kubeadm\"").messages(),
        str![[r#"
exit 130
--- stderr
error: interrupted after at least [..]
hint: re-run the same command to complete the installation

"#]]
    );
    assert_data_eq!(
        unfinished(&lab),
        str![[r#"
an installation is unfinished:
  cluster-api v1.0.0 in cluster-api-system
  bootstrap-kubeadm v1.0.0 in bootstrap-kubeadm-system
  control-plane-kubeadm v1.0.0 in control-plane-kubeadm-system
  infrastructure-own v1.0.0 in infrastructure-own-system
run `capstan init --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` to complete it

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
hint: run `capstan upgrade resume --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` to complete the upgrade, or `capstan upgrade rollback --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` to undo it

"#]]
    );
    assert_data_eq!(
        unfinished(&lab),
        str![[r#"
the upgrade started at [..] is unfinished:
  cluster-api: v1.0.0 to v1.1.0, done
  bootstrap-kubeadm: v1.0.0 to v1.1.0
  control-plane-kubeadm: v1.0.0 to v1.1.0
  infrastructure-own: v1.0.0 to v1.1.0
run `capstan upgrade resume --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` to complete it, or `capstan upgrade rollback --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` to undo it
run `capstan upgrade abort --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` to forget the upgrade and keep its changes

"#]]
    );
    let begun = json(&lab.done("status -o json").stdout);
    assert_eq!(begun["unfinishedUpgrade"]["providers"][0]["done"].as_bool(), Some(true));
    assert_data_eq!(
        lab.run("upgrade apply -i own:v1.0.0").to_string(),
        str![[r#"
exit 1
--- stderr
error: the upgrade started at [..] is unfinished
hint: resume it with `capstan upgrade resume --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig`, undo it with `capstan upgrade rollback --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig`, or keep the current state with `capstan upgrade abort --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig`

"#]]
    );
    lab.done("upgrade resume");
    assert_eq!(lab.done("status").stdout.matches("v1.1.0").count(), 4);
}
