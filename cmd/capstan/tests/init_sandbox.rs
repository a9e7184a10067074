//! Tests of `--sandbox NAME` in place of a kubeconfig.
#![cfg(unix)]

use snapbox::{assert_data_eq, str};

use crate::testing::{Sandboxes, with_small_providers};

fn run(sandboxes: &Sandboxes, arguments: &str) -> String {
    sandboxes.world().run(arguments.split_whitespace()).to_string()
}

// Row: D-125
#[test]
fn init_starts_a_sandbox_that_every_command_finds() {
    let sandboxes = Sandboxes::of(with_small_providers());
    let init = || {
        let screen = run(&sandboxes, "init --sandbox lab --infrastructure own");
        screen.split_inclusive('\n').filter(|line| !line.starts_with("waiting for ")).collect::<String>()
    };
    assert_data_eq!(
        init(),
        str![[r#"
exit 0
--- stderr
sandbox `lab` serves at https://127.0.0.1:[..] (process [..])
Fetching providers
Installing cert-manager version="v1.0.0"
Waiting for cert-manager to be available...
Installing provider="cluster-api" version="v1.0.0" targetNamespace="cluster-api-system"
applied cluster-api v1.0.0 (1 of 4): 5 objects in [..]
Installing provider="bootstrap-kubeadm" version="v1.0.0" targetNamespace="bootstrap-kubeadm-system"
applied bootstrap-kubeadm v1.0.0 (2 of 4): 4 objects in [..]
Installing provider="control-plane-kubeadm" version="v1.0.0" targetNamespace="control-plane-kubeadm-system"
applied control-plane-kubeadm v1.0.0 (3 of 4): 4 objects in [..]
Installing provider="infrastructure-own" version="v1.1.0" targetNamespace="infrastructure-own-system"
applied infrastructure-own v1.1.0 (4 of 4): 5 objects in [..]
Waiting for providers to be available...

Your management cluster has been initialized successfully!

You can now create your first workload cluster by running the following:

  capstan generate cluster [name] --kubernetes-version [version] --sandbox lab | kubectl --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig apply -f -

done in [..]: installed cert-manager v1.0.0 and 4 providers; 24 objects created

"#]]
    );
    assert_data_eq!(
        init(),
        str![[r#"
exit 0
--- stderr
Fetching providers
Skipping installing cert-manager as it is already installed
done in [..]: nothing to install

"#]]
    );
    let status = run(&sandboxes, "status --sandbox lab -o json");
    assert!(status.starts_with("exit 0\n") && status.contains("infrastructure-own"), "{status}");
    let deleted = run(&sandboxes, "delete --all --sandbox lab");
    assert!(deleted.starts_with("exit 0\n"), "{deleted}");
}

#[test]
fn read_only_commands_start_no_sandbox() {
    let sandboxes = Sandboxes::of(with_small_providers());
    for looks in ["status", "init -i own --dry-run", "plan init -i own", "upgrade plan", "delete --all"] {
        assert_data_eq!(
            run(&sandboxes, &format!("{looks} --sandbox lab")),
            str![[r#"
exit 1
--- stderr
error: sandbox `lab` does not exist
hint: create it with `capstan sandbox start lab`

"#]]
        );
    }
    assert_eq!(sandboxes.pid("lab"), None);
}

#[test]
fn a_misspelt_provider_starts_no_sandbox() {
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
fn a_failed_init_names_the_sandbox_that_it_started() {
    let sandboxes = Sandboxes::of(with_small_providers());
    let init = || run(&sandboxes, "init --sandbox lab --infrastructure own:v9.9.9");
    let hint = "hint: the new sandbox `lab` is running; delete it with `capstan sandbox delete lab` if you do not need it\n";
    let first = init();
    assert!(first.starts_with("exit 1\n") && first.contains(hint), "{first}");
    let second = init();
    assert!(second.starts_with("exit 1\n") && !second.contains(hint), "{second}");
}

#[test]
fn a_stopped_sandbox_is_reported_as_stopped() {
    let sandboxes = Sandboxes::new();
    assert_eq!(sandboxes.run(&["start", "lab"]).status, 0);
    assert_eq!(sandboxes.run(&["stop", "lab"]).status, 0);
    assert_data_eq!(
        run(&sandboxes, "status --sandbox lab"),
        str![[r#"
exit 1
--- stderr
error: sandbox `lab` is not running
hint: start it with `capstan sandbox start lab`

"#]]
    );
}

#[test]
fn a_sandbox_and_a_kubeconfig_exclude_each_other() {
    let sandboxes = Sandboxes::new();
    assert_data_eq!(
        sandboxes
            .world()
            .screens(["status --sandbox lab --kubeconfig k", "status --sandbox lab --kubeconfig-context c",]),
        str![[r#"
$ capstan status --sandbox lab --kubeconfig k
exit 1
--- stderr
error: `--sandbox` cannot be combined with `--kubeconfig`

$ capstan status --sandbox lab --kubeconfig-context c
exit 1
--- stderr
error: `--sandbox` cannot be combined with `--kubeconfig-context`

"#]]
    );
}
