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
fn a_target_must_be_named_unless_nothing_is_written() {
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
error: nothing says where to move to
hint: name the target with `--to-kubeconfig FILE`, or look first with `--dry-run`

$ capstan move --abort
exit 1
--- stderr
error: nothing says where to move to
hint: name the target with `--to-kubeconfig FILE`, or look first with `--dry-run`

$ capstan move --dry-run
exit 1
--- stderr
error: the source cluster does not fit
  cause: cannot find out which Cluster API the cluster runs
  cause: cannot get CustomResourceDefinition clusters.cluster.x-k8s.io: no answer from https://127.0.0.1:1
  cause: the connection was refused
hint: start the cluster, or name another with `--kubeconfig` and `--kubeconfig-context`

$ capstan move --to-kubeconfig-context b
exit 1
--- stderr
error: `--to-kubeconfig-context` does not say which file it is in
hint: name the file too, with `--to-kubeconfig`

"#]]
    );
}

#[test]
fn flags_that_exclude_each_other_are_told() {
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
error: `--to-directory` cannot be used together with `--to-kubeconfig`

$ capstan move --from-directory d --to-directory e
exit 1
--- stderr
error: `--from-directory` cannot be used together with `--to-directory`

$ capstan move --from-directory d --kubeconfig k
exit 1
--- stderr
error: `--from-directory` cannot be used together with `--kubeconfig`
hint: name the target with `--to-kubeconfig k`

$ capstan move --cluster a -l b=c
exit 1
--- stderr
error: `--cluster` cannot be used together with `--selector`

$ capstan move --abort --dry-run
exit 1
--- stderr
error: `--abort` cannot be used together with `--dry-run`

$ capstan move --to-sandbox a --to-kubeconfig b
exit 1
--- stderr
error: `--to-sandbox` cannot be used together with `--to-kubeconfig`

"#]]
    );
}

#[test]
fn values_that_do_not_fit_are_told() {
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
hint: take one of default, all, none

$ capstan move --to-kubeconfig kubeconfig --map-namespace a
exit 1
--- stderr
error: invalid value `a` for `--map-namespace`
  cause: two namespaces as FROM=TO are expected

$ capstan move --to-kubeconfig kubeconfig --timeout 10
exit 1
--- stderr
error: invalid value `10` for `--timeout`
  cause: a span of time such as 90s or 10m is expected

$ capstan move --to-kubeconfig kubeconfig -o xml
exit 1
--- stderr
error: invalid output format `xml`
hint: take one of text, yaml, json with `--output`

$ capstan move --to-kubeconfig kubeconfig --max-in-flight 0
exit 1
--- stderr
error: invalid value `0` for `--max-in-flight`
  cause: a number from 1 to 256 is expected

"#]]
    );
}

#[test]
fn flags_without_a_meaning_for_files_are_told() {
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
error: `--map-namespace` has no meaning for `--to-directory`
hint: files hold objects as they are, status and all; give it when they are restored

$ capstan move --to-directory d --include-status x
exit 1
--- stderr
error: `--include-status` has no meaning for `--to-directory`
hint: files hold objects as they are, status and all; give it when they are restored

$ capstan move --from-directory d --abort
exit 1
--- stderr
error: what was restored from a folder is not taken away again
hint: the same command without `--abort` completes it

$ capstan move --from-directory d -l a=b
exit 1
--- stderr
error: `--from-directory` cannot be used together with `--selector`

$ capstan move --from-directory d
exit 1
--- stderr
error: cannot read `d`
  cause: No such file or directory (os error 2)

"#]]
    );
}
