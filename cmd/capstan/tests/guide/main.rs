//! Runs the commands of the README and the guide in order, and compares their output with the output on the page.
//!
//! Only `$ ` lines of `console` blocks are commands. `[..]` and `...` stand for output that varies. A command of a
//! `console,fails` block must fail. `console,ignore` blocks do not run, for the reasons in [`IGNORED`]. Both streams
//! are one output, as in a terminal.
//!
//! `cargo xtask snapshots` writes the output of this run into the pages.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod page;

use std::{collections::BTreeSet, fs};

use page::{blocks, project, type_page};
use snapbox::{Assert, Data, assert::DEFAULT_ACTION_ENV, data::DataFormat};
use support::skip::program;

/// The pages with commands that do not run, the number of their `console,ignore` blocks, and the reason.
const IGNORED: [(&str, usize, &str); 15] = [
    ("README.md", 5, "installs, builds and tests the project, and quotes the tour"),
    ("docs/guide/air-gap.md", 3, "copies images from and to registries"),
    ("docs/guide/backup.md", 1, "needs age"),
    ("docs/guide/catalog.md", 9, "needs an API and repositories, and runs until Ctrl-C"),
    ("docs/guide/controller.md", 4, "runs until it is stopped, and needs Helm and Flux"),
    ("docs/guide/describe.md", 1, "runs until Ctrl-C"),
    ("docs/guide/images.md", 1, "asks public registries"),
    ("docs/guide/install.md", 7, "downloads releases, builds the project, and needs zsh"),
    ("docs/guide/lock.md", 1, "asks public registries"),
    ("docs/guide/management-cluster.md", 3, "needs an interrupted upgrade, and providers of other releases"),
    ("docs/guide/move.md", 1, "needs an interrupted move"),
    ("docs/guide/oci.md", 2, "needs a registry and cosign"),
    ("docs/guide/quickstart.md", 2, "quotes the tour, and fetches releases from GitHub"),
    ("docs/guide/releases.md", 2, "verifies and builds releases"),
    ("docs/guide/templates.md", 1, "fetches a template from GitHub"),
];

/// Programs that pages use besides capstan.
const PROGRAMS: [&str; 3] = ["kubectl", "jq", "git"];

fn holds(name: &str) {
    let path = project(name);
    let page = fs::read_to_string(&path).unwrap();
    if !PROGRAMS.into_iter().all(|name| !page.contains(name) || program(name).is_some()) {
        return;
    }
    let session = type_page(&page);
    assert!(session.surprises.is_empty(), "{name}\n{}", session.surprises.join("\n"));
    // A `\` at the end of a line is not a path separator.
    let assert = Assert::new().action_env(DEFAULT_ACTION_ENV).normalize_paths(false);
    assert.eq(session.page, Data::read_from(&path, Some(DataFormat::Text)));
}

/// Declares one test per page, so that pages run concurrently.
macro_rules! pages {
    ($($test:ident $page:literal)*) => {
        const TYPED: &[&str] = &[$($page),*];
        $(
            #[test]
            fn $test() {
                holds($page);
            }
        )*
    };
}

pages! {
    readme "README.md"
    air_gap "docs/guide/air-gap.md"
    backup "docs/guide/backup.md"
    cache "docs/guide/cache.md"
    customise "docs/guide/customise.md"
    describe "docs/guide/describe.md"
    first_cluster "docs/guide/first-cluster.md"
    git "docs/guide/git.md"
    graph "docs/guide/graph.md"
    hosts "docs/guide/hosts.md"
    images "docs/guide/images.md"
    install "docs/guide/install.md"
    charts "docs/guide/charts.md"
    catalog "docs/guide/catalog.md"
    commodore "docs/guide/commodore.md"
    components "docs/guide/components.md"
    controller "docs/guide/controller.md"
    kustomize "docs/guide/kustomize.md"
    lock "docs/guide/lock.md"
    management_cluster "docs/guide/management-cluster.md"
    moves "docs/guide/move.md"
    oci "docs/guide/oci.md"
    provider_authors "docs/guide/provider-authors.md"
    providers "docs/guide/providers.md"
    quickstart "docs/guide/quickstart.md"
    releases "docs/guide/releases.md"
    sandbox "docs/guide/sandbox.md"
    scripts "docs/guide/scripts.md"
    templates "docs/guide/templates.md"
    workload_clusters "docs/guide/workload-clusters.md"
}

/// Returns the README and the pages of the guide, by path relative to the project root.
fn all_pages() -> BTreeSet<String> {
    let guide = fs::read_dir(project("docs/guide")).unwrap();
    let names = guide.map(|entry| format!("docs/guide/{}", entry.unwrap().file_name().display()));
    names.chain(["README.md".to_owned()]).collect()
}

#[test]
fn every_command_of_the_guide_runs() {
    let listed = TYPED.iter().map(|page| (*page).to_owned());
    assert_eq!(listed.collect::<BTreeSet<_>>(), all_pages());
}

#[test]
fn every_command_runs_or_has_a_reason() {
    for page in TYPED {
        let text = fs::read_to_string(project(page)).unwrap();
        let mut ignored = 0;
        for block in blocks(&text) {
            let place = format!("{page}:{}", block.first_line);
            let commands = block.lines.iter().filter(|line| line.starts_with("$ ")).count();
            match block.language {
                "console" | "console,fails" => assert_ne!(commands, 0, "{place} has no command"),
                "console,ignore" => ignored += 1,
                "json" | "text" | "toml" | "yaml" => assert_eq!(commands, 0, "{place} has a command"),
                language => panic!("{place} has the language `{language}`"),
            }
        }
        let reason = IGNORED.iter().find(|(name, ..)| name == page);
        assert_eq!(ignored, reason.map_or(0, |(_, count, _)| *count), "{page}: blocks that do not run");
    }
}

#[test]
fn every_page_opens_with_its_outcome_and_prerequisites() {
    for page in TYPED.iter().filter(|page| page.starts_with("docs/guide/")) {
        let text = fs::read_to_string(project(page)).unwrap();
        let mut paragraphs = text.split("\n\n").skip(1);
        for opening in ["This page shows how to ", "You need "] {
            let paragraph = paragraphs.next().unwrap_or_default();
            assert!(paragraph.starts_with(opening), "{page} opens with: {paragraph}");
        }
    }
}
