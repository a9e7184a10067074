//! Tests of errors of `move` before any request.

use snapbox::{assert_data_eq, str};

use crate::world;

const KUBECONFIG: &str = r#"apiVersion: v1
kind: Config
current-context: prod
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: hidden}}]
contexts: [{name: prod, context: {cluster: c, user: u}}]
"#;

fn refused(arguments: &str) -> String {
    let world = world();
    world.write("kubeconfig", KUBECONFIG);
    let world = world.env("KUBECONFIG", "kubeconfig");
    world.run_expecting_failure(arguments)
}

#[test]
fn a_target_must_be_named_unless_nothing_is_written() {
    for arguments in ["move", "move --abort"] {
        assert_data_eq!(
            refused(arguments),
            str![[r#"
error: nothing says where to move to
hint: name the target with `--to-kubeconfig FILE`, or look first with `--dry-run`

"#]]
        );
    }
    assert!(refused("move --dry-run").contains("no answer from https://127.0.0.1:1"));
    assert!(
        refused("move --to-kubeconfig-context b").contains("hint: name the file too, with `--to-kubeconfig`")
    );
}

#[test]
fn flags_that_exclude_each_other_are_told() {
    for (arguments, told) in [
        (
            "--to-directory d --to-kubeconfig k",
            "`--to-directory` cannot be used together with `--to-kubeconfig`",
        ),
        (
            "--from-directory d --to-directory e",
            "`--from-directory` cannot be used together with `--to-directory`",
        ),
        (
            "--from-directory d --kubeconfig k",
            "`--from-directory` cannot be used together with `--kubeconfig`\nhint: name the target with `--to-kubeconfig k`\n",
        ),
        ("--cluster a -l b=c", "`--cluster` cannot be used together with `--selector`"),
        ("--abort --dry-run", "`--abort` cannot be used together with `--dry-run`"),
        ("--to-sandbox a --to-kubeconfig b", "`--to-sandbox` cannot be used together with `--to-kubeconfig`"),
    ] {
        let stderr = refused(&format!("move {arguments}"));
        assert!(stderr.starts_with(&format!("error: {told}")), "{arguments}: {stderr}");
    }
}

#[test]
fn values_that_do_not_fit_are_told() {
    for (arguments, told) in [
        ("--hide-api-warnings some", "invalid value `some` for `--hide-api-warnings`"),
        ("--map-namespace a", "invalid value `a` for `--map-namespace`"),
        ("--timeout 10", "invalid value `10` for `--timeout`"),
        ("-o xml", "invalid output format `xml`"),
        ("--max-in-flight 0", "invalid value `0` for `--max-in-flight`"),
    ] {
        let stderr = refused(&format!("move --to-kubeconfig kubeconfig {arguments}"));
        assert!(stderr.starts_with(&format!("error: {told}")), "{arguments}: {stderr}");
    }
}

#[test]
fn flags_without_a_meaning_for_files_are_told() {
    for (arguments, told) in [
        ("--to-directory d --map-namespace a=b", "`--map-namespace` has no meaning for `--to-directory`"),
        ("--to-directory d --include-status x", "`--include-status` has no meaning for `--to-directory`"),
        ("--from-directory d --abort", "what was restored from a folder is not taken away again"),
        ("--from-directory d -l a=b", "`--from-directory` cannot be used together with `--selector`"),
        ("--from-directory d", "cannot read `d`"),
    ] {
        let stderr = refused_with(arguments);
        assert!(stderr.starts_with(&format!("error: {told}")), "{arguments}: {stderr}");
    }
}

/// Runs a `move` that must fail with any exit status. Returns stderr.
fn refused_with(arguments: &str) -> String {
    let world = world();
    world.write("kubeconfig", KUBECONFIG);
    let run = world.env("KUBECONFIG", "kubeconfig").run(format!("move {arguments}").split_whitespace());
    assert!(run.status != 0 && run.stdout.is_empty(), "{run}");
    run.stderr
}
