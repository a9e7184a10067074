//! Tests of errors of `move` before any request.

use snapbox::{assert_data_eq, str};

use support::binary::TestEnvironment;

use crate::world;

const KUBECONFIG: &str = r#"apiVersion: v1
kind: Config
current-context: prod
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: hidden}}]
contexts: [{name: prod, context: {cluster: c, user: u}}]
"#;

fn near_a_dead_server() -> TestEnvironment {
    let world = world();
    world.write("kubeconfig", KUBECONFIG);
    world.env("KUBECONFIG", "kubeconfig")
}

#[test]
fn only_a_dry_run_may_omit_the_target() {
    assert_data_eq!(
        near_a_dead_server().screens([
            "move",
            "move --abort",
            "move --dry-run",
            "move --to-kubeconfig-context b",
        ]),
        str![[r#"
$ capstan move
exit 1
--- stderr
error: the target cluster is missing
hint: add the target with `--to-kubeconfig FILE` or `--to-sandbox NAME`, or preview the move with `--dry-run`

$ capstan move --abort
exit 1
--- stderr
error: the target cluster is missing
hint: add the target with `--to-kubeconfig FILE` or `--to-sandbox NAME`, or preview the move with `--dry-run`

$ capstan move --dry-run
exit 1
--- stderr
error: cannot use the source cluster
  cause: cannot determine the Cluster API contract of the cluster
  cause: cannot get CustomResourceDefinition clusters.cluster.x-k8s.io: no answer from https://127.0.0.1:1
  cause: the connection was refused
hint: start the cluster, or name another with `--kubeconfig` and `--kubeconfig-context`

$ capstan move --to-kubeconfig-context b
exit 1
--- stderr
error: `--to-kubeconfig-context` requires `--to-kubeconfig`
hint: add the kubeconfig with `--to-kubeconfig FILE`

"#]]
    );
}

#[test]
fn conflicting_move_flags_are_reported() {
    assert_data_eq!(
        near_a_dead_server().screens([
            "move --to-directory d --to-kubeconfig k",
            "move --from-directory d --to-directory e",
            "move --from-directory d --kubeconfig k",
            "move --cluster a -l b=c",
            "move --abort --dry-run",
            "move --to-sandbox a --to-kubeconfig b",
        ]),
        str![[r#"
$ capstan move --to-directory d --to-kubeconfig k
exit 1
--- stderr
error: `--to-directory` cannot be combined with `--to-kubeconfig`

$ capstan move --from-directory d --to-directory e
exit 1
--- stderr
error: `--from-directory` cannot be combined with `--to-directory`

$ capstan move --from-directory d --kubeconfig k
exit 1
--- stderr
error: `--from-directory` cannot be combined with `--kubeconfig`
hint: use `--to-kubeconfig k` for the target

$ capstan move --cluster a -l b=c
exit 1
--- stderr
error: `--cluster` cannot be combined with `--selector`

$ capstan move --abort --dry-run
exit 1
--- stderr
error: `--abort` cannot be combined with `--dry-run`

$ capstan move --to-sandbox a --to-kubeconfig b
exit 1
--- stderr
error: `--to-sandbox` cannot be combined with `--to-kubeconfig`

"#]]
    );
}

#[test]
fn invalid_move_flag_values_are_reported() {
    assert_data_eq!(
        near_a_dead_server().screens([
            "move --to-kubeconfig kubeconfig --hide-api-warnings some",
            "move --to-kubeconfig kubeconfig --map-namespace a",
            "move --to-kubeconfig kubeconfig --timeout 10",
            "move --to-kubeconfig kubeconfig -o xml",
            "move --to-kubeconfig kubeconfig --max-in-flight 0",
        ]),
        str![[r#"
$ capstan move --to-kubeconfig kubeconfig --hide-api-warnings some
exit 1
--- stderr
error: invalid value `some` for `--hide-api-warnings`
hint: use default, all or none

$ capstan move --to-kubeconfig kubeconfig --map-namespace a
exit 1
--- stderr
error: invalid value `a` for `--map-namespace`
  cause: expected two namespaces as FROM=TO

$ capstan move --to-kubeconfig kubeconfig --timeout 10
exit 1
--- stderr
error: invalid value `10` for `--timeout`
  cause: expected a duration such as 90s or 10m

$ capstan move --to-kubeconfig kubeconfig -o xml
exit 1
--- stderr
error: invalid output format `xml`
hint: use `--output` with text, yaml or json

$ capstan move --to-kubeconfig kubeconfig --max-in-flight 0
exit 1
--- stderr
error: invalid value `0` for `--max-in-flight`
  cause: expected a number from 1 to 256

"#]]
    );
}

#[test]
fn flags_unsupported_for_folders_are_reported() {
    assert_data_eq!(
        near_a_dead_server().screens([
            "move --to-directory d --map-namespace a=b",
            "move --to-directory d --include-status x",
            "move --from-directory d --abort",
            "move --from-directory d -l a=b",
            "move --from-directory d",
        ]),
        str![[r#"
$ capstan move --to-directory d --map-namespace a=b
exit 1
--- stderr
error: `--map-namespace` cannot be combined with `--to-directory`
hint: use the flag with `--from-directory` instead; the files contain the unchanged objects with their status

$ capstan move --to-directory d --include-status x
exit 1
--- stderr
error: `--include-status` cannot be combined with `--to-directory`
hint: use the flag with `--from-directory` instead; the files contain the unchanged objects with their status

$ capstan move --from-directory d --abort
exit 1
--- stderr
error: cannot undo a restore from a folder
hint: re-run the command without `--abort` to complete the restore

$ capstan move --from-directory d -l a=b
exit 1
--- stderr
error: `--from-directory` cannot be combined with `--selector`

$ capstan move --from-directory d
exit 1
--- stderr
error: cannot read `d`
  cause: No such file or directory (os error 2)

"#]]
    );
}
