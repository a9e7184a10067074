//! Tests of `--sandbox NAME` in place of a kubeconfig.
#![cfg(unix)]

use snapbox::{assert_data_eq, str};

use crate::{sandbox::Sandboxes, small_providers::with_small_providers};

fn run(sandboxes: &Sandboxes, arguments: &str) -> String {
    sandboxes.world().run(arguments.split_whitespace()).to_string()
}

// Row: D-125
#[test]
fn init_starts_the_sandbox_it_names_once_and_every_verb_finds_it() {
    let sandboxes = Sandboxes::of(with_small_providers());
    let first = run(&sandboxes, "init --sandbox lab --infrastructure own");
    assert!(first.contains("\nsandbox `lab` serves at https://127.0.0.1:"), "{first}");
    assert!(first.contains("Your management cluster has been initialized successfully!"), "{first}");
    let again = run(&sandboxes, "init --sandbox lab --infrastructure own");
    assert!(again.starts_with("exit 0\n") && !again.contains("serves at"), "{again}");
    let status = run(&sandboxes, "status --sandbox lab -o json");
    assert!(status.starts_with("exit 0\n") && status.contains("infrastructure-own"), "{status}");
    let deleted = run(&sandboxes, "delete --all --sandbox lab");
    assert!(deleted.starts_with("exit 0\n"), "{deleted}");
}

#[test]
fn what_only_looks_starts_no_sandbox() {
    let sandboxes = Sandboxes::of(with_small_providers());
    for looks in ["status", "init -i own --dry-run", "plan init -i own", "upgrade plan", "delete --all"] {
        assert_data_eq!(
            run(&sandboxes, &format!("{looks} --sandbox lab")),
            str![[r#"
exit 1
--- stderr
error: there is no sandbox `lab`
hint: make it with `capstan sandbox start lab`

"#]]
        );
    }
    assert_eq!(sandboxes.pid("lab"), None);
}

#[test]
fn a_slip_in_the_name_of_a_provider_starts_no_sandbox_and_asks_no_server() {
    let sandboxes = Sandboxes::of(with_small_providers());
    for place in ["--sandbox lab", "--kubeconfig nowhere"] {
        assert_data_eq!(
            run(&sandboxes, &format!("init -i dokcer {place}")),
            str![[r#"
exit 1
--- stderr
error: there is no InfrastructureProvider named `dokcer`
hint: did you mean `docker`?

"#]]
        );
    }
    assert_eq!(sandboxes.pid("lab"), None);
}

#[test]
fn a_sandbox_that_is_stopped_is_not_taken_for_a_server_that_does_not_answer() {
    let sandboxes = Sandboxes::new();
    assert_eq!(sandboxes.run(&["start", "lab"]).status, 0);
    assert_eq!(sandboxes.run(&["stop", "lab"]).status, 0);
    assert_data_eq!(
        run(&sandboxes, "status --sandbox lab"),
        str![[r#"
exit 1
--- stderr
error: sandbox `lab` does not run
hint: start it with `capstan sandbox start lab`

"#]]
    );
}

#[test]
fn a_sandbox_and_a_kubeconfig_exclude_each_other() {
    let sandboxes = Sandboxes::new();
    for other in ["--kubeconfig k", "--kubeconfig-context c"] {
        let told = run(&sandboxes, &format!("status --sandbox lab {other}"));
        assert!(told.starts_with("exit 1\n") && told.contains("cannot be used"), "{told}");
    }
}
