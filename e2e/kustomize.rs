//! Kustomizations that refer to repositories and files on hosts, with and without a connection.

use support::{
    binary::{RunOutput, TestEnvironment},
    git::GitForge,
    host::{FakeHost, Reply},
};

use crate::{hosts::connected, world};

const OFFLINE: [&str; 1] = ["--offline"];

fn map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
}

/// An environment with Git on `PATH`.
fn with_git(forge: &GitForge) -> TestEnvironment {
    let path = forge.variables().into_iter().find(|(name, _)| name == "PATH").unwrap().1;
    world().env("PATH", path)
}

fn build(world: &TestEnvironment, more: &[&str]) -> RunOutput {
    world.run(["kustomize", "build"].iter().chain(more))
}

fn built(world: &TestEnvironment, more: &[&str]) -> Vec<String> {
    let run = build(world, more);
    assert_eq!(run.status, 0, "{run}");
    run.stdout.lines().filter_map(|line| Some(line.strip_prefix("  name: ")?.to_owned())).collect()
}

fn refused(world: &TestEnvironment, more: &[&str]) -> String {
    let run = build(world, more);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
    run.stderr
}

// Row: KUS-27, D-223
#[test]
fn a_repository_is_built_at_its_ref_and_again_offline() {
    let forge = GitForge::new();
    let host = forge.serve(None);
    let world = with_git(&forge).env("SSL_CERT_FILE", host.ca_file());
    let overlay = "resources: [../../base]\nnamePrefix: one-\n";
    forge.commit(
        "r",
        &[
            ("base/kustomization.yaml", "resources: [map.yaml]\n"),
            ("base/map.yaml", &map("m")),
            ("overlays/one/kustomization.yaml", overlay),
        ],
    );
    forge.git("r", &["tag", "v1"]);
    forge.commit("r", &[("base/map.yaml", &map("changed"))]);
    let component = "kind: Component\nnameSuffix: -c\n";
    forge.commit("parts", &[("c/kustomization.yaml", component)]);
    let url = |name: &str, rest: &str| format!("{}{rest}", host.url(name));
    world.write(
        "kustomization.yaml",
        format!(
            "resources: ['{}', 'file://{}//base']\ncomponents: ['{}']\n",
            url("r", "//overlays/one?ref=v1"),
            forge.repository("r").display(),
            url("parts", "//c?ref=main&timeout=2m"),
        ),
    );
    let expected = ["changed-c", "one-m-c"];
    assert_eq!(built(&world, &[]), expected);
    let fetches = host.fetches();
    assert_eq!(built(&world, &OFFLINE), expected);
    assert_eq!(built(&world, &[&url("r", "//overlays/one?ref=v1"), "--offline"]), ["one-m"]);
    assert_eq!(host.fetches(), fetches);
    let reported = refused(&world, &[&url("r", "//overlays/one?ref=v2")]);
    assert!(reported.contains("v2"), "{reported}");
    let reported = refused(&world, &[&url("r", "//overlays/two")]);
    assert!(reported.contains("has no folder `overlays/two`"), "{reported}");
}

#[test]
fn repository_paths_stay_inside_the_repository() {
    let forge = GitForge::new();
    let world = with_git(&forge);
    world.write("own.yaml", map("own"));
    let own = world.current_dir().join("own.yaml");
    let outside = format!("resources: ['{}', ../../../../../..]\n", own.display());
    forge.commit("r", &[("k/kustomization.yaml", &outside)]);
    let url = format!("file://{}//k", forge.repository("r").display());
    let reported = refused(&world, &[&url, "--load-restrictor", "LoadRestrictionsNone"]);
    assert!(reported.contains("`[CWD]/own.yaml` is outside"), "{reported}");
    assert!(reported.contains("resources[1]"), "{reported}");
}

// Row: D-224
#[test]
fn submodules_are_skipped_with_a_warning() {
    let forge = GitForge::new();
    let world = with_git(&forge);
    let commit = forge.commit("inner", &[("kustomization.yaml", "")]);
    forge.commit("r", &[("k/kustomization.yaml", "resources: [m.yaml]\n"), ("k/m.yaml", &map("m"))]);
    forge.git("r", &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},sub")]);
    forge.git("r", &["commit", "-q", "-m", "a module"]);
    let url = |rest: &str| format!("file://{}//{rest}", forge.repository("r").display());
    let run = build(&world, &[&url("k")]);
    assert!(run.status == 0 && run.stderr.contains("skipped the submodules of "), "{run}");
    assert_eq!(build(&world, &[&url("k?submodules=false")]).stderr, "");
    let reported = refused(&world, &[&url("sub")]);
    assert!(reported.contains("`sub` is in the submodule `sub`"), "{reported}");
}

// Row: D-223
#[test]
fn remote_files_are_resources_and_patches_and_are_cached() {
    let host = FakeHost::internet();
    let world = connected(&host);
    host.on("files.example.org/m.yaml", Reply::text(map("m")));
    host.on("files.example.org/p.yaml", Reply::text(map("m") + "data: {a: b}\n"));
    let entry = |name: &str| format!("https://files.example.org/{name}");
    world.write(
        "kustomization.yaml",
        format!("resources: ['{}']\npatches: [{{path: '{}'}}]\n", entry("m.yaml"), entry("p.yaml")),
    );
    let first = build(&world, &[]);
    assert!(first.status == 0 && first.stdout.contains("a: b"), "{first}");
    let before = host.connections();
    assert_eq!(build(&world, &OFFLINE).stdout, first.stdout);
    assert_eq!(host.connections(), before);
    host.on("files.example.org/page.yaml", Reply::web_page());
    let wrong = format!("resources: ['{}', '{}']\n", entry("page.yaml"), entry("none.yaml"));
    world.write("kustomization.yaml", wrong);
    let reported = refused(&world, &[]);
    assert!(
        reported.contains(": 2 errors") && reported.contains("received a web page instead of a file"),
        "{reported}"
    );
    let cause =
        "resources[1]: cannot fetch `https://files.example.org/none.yaml`: the host answered with status 404";
    assert!(reported.contains(cause) && reported.matches("none.yaml").count() == 1, "{reported}");
    let reported = refused(&world, &["https://files.example.org/page.yaml"]);
    assert_eq!(
        reported.lines().next(),
        Some("error: cannot fetch `https://files.example.org/page.yaml`"),
        "{reported}"
    );
    assert_eq!(reported.matches("page.yaml").count(), 1, "{reported}");
}

#[test]
fn a_pull_request_head_is_built_by_its_reference() {
    let forge = GitForge::new();
    let host = forge.serve(None);
    let world = with_git(&forge).env("SSL_CERT_FILE", host.ca_file());
    let first =
        forge.commit("r", &[("kustomization.yaml", "resources: [map.yaml]\n"), ("map.yaml", &map("m"))]);
    let second = forge.commit("r", &[("map.yaml", &map("proposed"))]);
    forge.git("r", &["reset", "-q", "--hard", &first]);
    forge.git("r", &["update-ref", "refs/pull/7/head", &second]);
    for reference in ["pull/7/head", "refs/pull/7/head"] {
        let url = format!("{}//?ref={reference}", host.url("r"));
        assert_eq!(built(&world, &[&url]), ["proposed"]);
        assert_eq!(built(&world, &[&url, "--offline"]), ["proposed"]);
    }
    let reported = refused(&world, &[&format!("{}//?ref=pull/8/head", host.url("r"))]);
    assert!(reported.contains("there is no branch, tag or commit `pull/8/head`"), "{reported}");
}
