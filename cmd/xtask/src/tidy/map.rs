//! Compares `docs/architecture.md` with the manifests and files that it describes.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::finding::Finding;
use crate::workspace::Workspace;

const PAGE: &str = "docs/architecture.md";
const MAP: &str = "The map";
const ARROWS: &str = "Dependencies between crates";
const PLACES: &str = "Where to find code";
const INIT: &str = "The steps of `init`";
/// The heading of the table of files of `move`.
const MOVE: &str = "The steps of `move`";

/// The maximum number of files that `init` passes through from a flag to a request.
const MAX_INIT_FILES: usize = 20;

/// Pure crates, which perform no I/O.
pub(super) const PURE: [&str; 6] =
    ["pkg/api", "pkg/chart", "pkg/kustomize", "pkg/manifest", "pkg/sops", "pkg/template"];

/// External crates for terminals and programs. A library returns values instead.
const PROGRAM_PACKAGES: &[&str] = &["clap", "clap_complete", "anstream", "anstyle", "anyhow", "indicatif"];
const NETWORK_PACKAGES: &[&str] = &["futures", "kube", "reqwest", "rustls", "tokio"];

/// External crates that a library or a program must not use. Every library has a line.
const FORBIDDEN_PACKAGES: &[(&str, &[&str])] = &[
    ("pkg/api", NETWORK_PACKAGES),
    ("pkg/manifest", NETWORK_PACKAGES),
    ("pkg/catalog", &["kube", "reqwest"]),
    ("pkg/chart", NETWORK_PACKAGES),
    ("pkg/kustomize", NETWORK_PACKAGES),
    ("pkg/sops", NETWORK_PACKAGES),
    ("pkg/template", NETWORK_PACKAGES),
    ("pkg/transport", &["kube", "k8s-openapi"]),
    ("pkg/repository", &["kube", "reqwest"]),
    ("pkg/bundle", &["kube", "reqwest"]),
    ("pkg/provider", &["kube", "reqwest", "rustls", "tokio"]),
    ("pkg/component", &["kube", "reqwest"]),
    ("pkg/controller", &["reqwest"]),
    ("pkg/apply", &["reqwest"]),
    ("pkg/inventory", &["kube", "reqwest"]),
    ("pkg/management", &["kube", "reqwest"]),
    ("pkg/mover", &["kube", "reqwest"]),
    ("pkg/workload", &["kube", "reqwest"]),
    ("pkg/sandbox", &["reqwest"]),
    ("test/conformance", &["kube", "reqwest"]),
    ("cmd/capstan", &["reqwest"]),
];

/// Checks dependencies between crates against the arrows of the page: `provider ─► repository, manifest`. A crate may
/// use each crate that its arrows reach, and each arrow must be a dependency. Tests may use any crate except programs.
pub(super) fn crates_depend_along_the_arrows(workspace: &Workspace) -> Vec<Finding> {
    let ours: BTreeSet<&str> = workspace.crates().map(|(folder, _)| short(folder)).collect();
    let arrows = arrows(workspace);
    let mut findings = Vec::new();
    for (folder, manifest) in workspace.crates() {
        let path = format!("{folder}/Cargo.toml");
        let mut fault = |text: String| findings.push(Finding::fault(&path, None, text));
        let without =
            FORBIDDEN_PACKAGES.iter().find(|(name, _)| *name == folder).map(|(_, without)| *without);
        if folder.starts_with("pkg/") && without.is_none() {
            fault("this crate is missing from the table of forbidden dependencies in tidy".to_owned());
        }
        let reached = reachable(&arrows, short(folder));
        let used = dependencies(manifest);
        for name in &used {
            let name = name.as_str();
            let is_for_programs = folder.starts_with("pkg/") && PROGRAM_PACKAGES.contains(&name);
            if ours.contains(name) && !reached.contains(name) {
                fault(format!("`{folder}` must not depend on `{name}`: {PAGE} has no such arrow"));
            } else if is_for_programs || without.unwrap_or_default().contains(&name) {
                fault(format!("`{folder}` must not depend on `{name}`"));
            }
        }
        for name in arrows.get(short(folder)).into_iter().flatten().filter(|name| !used.contains(**name)) {
            fault(format!("{PAGE} has an arrow to `{name}`, but this crate does not depend on it"));
        }
    }
    findings
}

/// Checks that every crate is on the map, in the table of permissions and in the arrows, and that nothing else is.
pub(super) fn every_crate_is_on_the_map(workspace: &Workspace) -> Vec<Finding> {
    let Some(page) = workspace.text(PAGE) else { return Vec::new() };
    let crates: BTreeSet<&str> = workspace.crates().map(|(folder, _)| folder).collect();
    let on_map: BTreeSet<String> = folders_on_map(page).into_iter().map(|(_, folder)| folder).collect();
    let drawn: BTreeSet<&str> =
        arrows(workspace).into_iter().flat_map(|(from, to)| to.into_iter().chain([from])).collect();
    let with_permissions: BTreeSet<&str> =
        table(page, ARROWS).into_iter().flat_map(|(_, cells)| cells[0].split(", ")).map(short).collect();
    let mut findings = Vec::new();
    let mut fault = |text: String| findings.push(Finding::fault(PAGE, None, text));
    for folder in &crates {
        if !on_map.contains(*folder) {
            fault(format!("`{folder}` is not on the map"));
        }
        if !drawn.contains(short(folder)) {
            fault(format!("no arrow starts or ends at `{folder}`"));
        }
        let has_permissions = folder.starts_with("pkg/") || *folder == "cmd/capstan";
        if has_permissions && !with_permissions.contains(short(folder)) {
            fault(format!("`{folder}` has no row in the table of permissions"));
        }
    }
    let shorts: BTreeSet<&str> = crates.iter().map(|folder| short(folder)).collect();
    for name in drawn.union(&with_permissions).filter(|name| !shorts.contains(*name)) {
        fault(format!("there is no crate `{name}`"));
    }
    findings
}

/// Checks that every path on the page exists.
pub(super) fn mapped_paths_exist(workspace: &Workspace) -> Vec<Finding> {
    let Some(page) = workspace.text(PAGE) else { return Vec::new() };
    let mut places = folders_on_map(page);
    for heading in [PLACES, INIT, MOVE] {
        let rows = table(page, heading);
        places.extend(rows.iter().flat_map(|(line, cells)| {
            let paths = cells.last().map(|cell| paths_of(workspace, cell)).unwrap_or_default();
            paths.into_iter().map(|path| (*line, path))
        }));
    }
    let beside_steps = section(page, INIT).into_iter().filter(|(_, line)| !line.starts_with('|'));
    places.extend(
        beside_steps
            .flat_map(|(line, text)| paths_of(workspace, text).into_iter().map(move |path| (line, path))),
    );
    let missing = places.into_iter().filter(|(_, path)| !workspace.exists(path));
    missing.map(|(line, path)| Finding::fault(PAGE, line, format!("`{path}` does not exist"))).collect()
}

/// Checks the number of files that `init` passes through from a flag to a request.
pub(super) fn init_uses_few_files(workspace: &Workspace) -> Vec<Finding> {
    let page = workspace.text(PAGE).unwrap_or_default();
    let files: BTreeSet<String> = table(page, INIT)
        .iter()
        .flat_map(|(_, cells)| cells.last().map(|cell| paths_of(workspace, cell)).unwrap_or_default())
        .collect();
    let text =
        format!("a request of `init` passes through {} files; the goal is {MAX_INIT_FILES}", files.len());
    if files.len() > MAX_INIT_FILES { vec![Finding::remark(PAGE, None, text)] } else { Vec::new() }
}

/// The crates that each crate points to.
fn arrows(workspace: &Workspace) -> BTreeMap<&str, BTreeSet<&str>> {
    let page = workspace.text(PAGE).unwrap_or_default();
    section(page, ARROWS)
        .into_iter()
        .filter_map(|(_, line)| {
            let (from, to) = line.split_once('►')?;
            let from = short(from.trim_end_matches('─').trim());
            Some((from, to.split(',').map(|name| short(name.trim())).collect()))
        })
        .collect()
}

fn reachable<'a>(arrows: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(name) = open.pop() {
        open.extend(arrows.get(name).into_iter().flatten().filter(|to| reached.insert(**to)));
    }
    reached
}

/// The name of a crate folder: `api` for `pkg/api`.
fn short(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or(folder)
}

/// The line and folder of each entry of the map. An indented entry is a subfolder of the last entry, or of its sources.
fn folders_on_map(page: &str) -> Vec<(usize, String)> {
    let mut folders: Vec<(usize, String)> = Vec::new();
    let mut parent = String::new();
    for (line, text) in section(page, MAP) {
        let name = text.split_whitespace().next().and_then(|word| word.strip_suffix('/'));
        let Some(name) = name.filter(|_| !text.starts_with("    ")) else { continue };
        if !text.starts_with(' ') {
            name.clone_into(&mut parent);
            folders.push((line, parent.clone()));
        } else if parent.starts_with("cmd/") || parent.starts_with("pkg/") {
            folders.push((line, format!("{parent}/src/{name}")));
        } else {
            folders.push((line, format!("{parent}/{name}")));
        }
    }
    folders
}

/// The paths in a cell. A path not starting at the root is relative to another path of the cell.
fn paths_of(workspace: &Workspace, cell: &str) -> Vec<String> {
    let named = cell.split('`').skip(1).step_by(2).filter(|name| {
        name.contains('/') || Path::new(name).extension().is_some_and(|ending| ending == "rs")
    });
    let mut bases: Vec<&str> = Vec::new();
    let is_whole = |name: &str| ["cmd/", "pkg/", "test/", "e2e/"].iter().any(|root| name.starts_with(root));
    for path in named.clone().filter(|name| is_whole(name)) {
        let path = path.trim_end_matches('/');
        bases.extend(
            [Some(path), path.strip_suffix(".rs"), path.rsplit_once('/').map(|(folder, _)| folder)]
                .into_iter()
                .flatten(),
        );
    }
    let whole = |name: &str| {
        let name = name.trim_end_matches('/');
        let candidates = bases.iter().map(|base| format!("{base}/{name}"));
        let found = candidates.into_iter().find(|path| !is_whole(name) && workspace.exists(path));
        found.unwrap_or_else(|| name.to_owned())
    };
    named.map(whole).collect()
}

/// The line number, from 1, and text of each line below a heading.
fn section<'a>(page: &'a str, heading: &str) -> Vec<(usize, &'a str)> {
    let lines = page.lines().enumerate().map(|(at, line)| (at + 1, line));
    let below = lines.skip_while(|(_, line)| line.strip_prefix("## ") != Some(heading)).skip(1);
    below.take_while(|(_, line)| !line.starts_with("## ")).collect()
}

/// The line and cells of each table row below a heading, without table headings.
fn table<'a>(page: &'a str, heading: &str) -> Vec<(usize, Vec<&'a str>)> {
    let rows = section(page, heading).into_iter().filter(|(_, line)| line.starts_with('|'));
    let cells = rows.map(|(at, line)| (at, line.trim_matches('|').split('|').map(str::trim).collect()));
    cells.skip(2).collect()
}

/// The names under `[dependencies]`, including those for single platforms.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let Ok(table) = manifest.parse::<toml::Table>() else { return BTreeSet::new() };
    let of_platforms =
        table.get("target").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::values);
    std::iter::once(table.get("dependencies"))
        .chain(of_platforms.map(|platform| platform.get("dependencies")))
        .filter_map(|dependencies| dependencies?.as_table())
        .flat_map(|dependencies| dependencies.keys().cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const A_PAGE: &str = "## The map\n```text\npkg/api/   words\n           of it\npkg/manifest/ text\n  yaml/  read\n```\n\
        ## Dependencies between crates\n```text\nmanifest ──► api\n```\n\n\
        | Crate | May | May not |\n|---|---|---|\n| api, manifest | a | b |\n\n\
        ## Where to find code\n| Topic | Location |\n|---|---|\n| x? | `pkg/api/src/a.rs`, `b.rs`; `Word` |\n";

    fn workspace(page: &str, manifest: &str) -> Workspace {
        Workspace::of([
            (PAGE, page),
            ("pkg/api/Cargo.toml", ""),
            ("pkg/api/src/a.rs", ""),
            ("pkg/api/src/a/b.rs", ""),
            ("pkg/manifest/Cargo.toml", manifest),
            ("pkg/manifest/src/yaml/read.rs", ""),
        ])
    }

    fn texts(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.text.as_str()).collect()
    }

    fn judged(page: &str, manifest: &str) -> Vec<String> {
        let workspace = workspace(page, manifest);
        let rules = [crates_depend_along_the_arrows, every_crate_is_on_the_map, mapped_paths_exist];
        rules.iter().flat_map(|rule| rule(&workspace)).map(|finding| finding.text).collect()
    }

    const ALONG: &str = "[dependencies]\napi.workspace = true\n";

    #[test]
    fn an_accurate_map_has_no_faults() {
        assert_eq!(judged(A_PAGE, ALONG), Vec::<String>::new());
    }

    #[test]
    fn dependencies_match_the_arrows() {
        let against = A_PAGE.replace("manifest ──► api", "api ──► manifest");
        assert_eq!(
            judged(&against, ALONG),
            [
                "docs/architecture.md has an arrow to `manifest`, but this crate does not depend on it",
                "`pkg/manifest` must not depend on `api`: docs/architecture.md has no such arrow",
            ]
        );
    }

    #[test]
    fn an_http_client_in_a_pure_crate_is_a_fault() {
        let manifest = format!("{ALONG}tokio = \"1\"\nserde = \"1\"\n[dev-dependencies]\nkube = \"1\"\n");
        assert_eq!(judged(A_PAGE, &manifest), ["`pkg/manifest` must not depend on `tokio`"]);
        let of_platform = format!("{ALONG}[target.'cfg(unix)'.dependencies]\nclap = \"1\"\n");
        assert_eq!(judged(A_PAGE, &of_platform), ["`pkg/manifest` must not depend on `clap`"]);
    }

    #[test]
    fn a_crate_missing_from_the_map_is_a_fault() {
        let workspace = Workspace::of([(PAGE, "## The map\n"), ("pkg/extra/Cargo.toml", "")]);
        assert_eq!(
            texts(&every_crate_is_on_the_map(&workspace)),
            [
                "`pkg/extra` is not on the map",
                "no arrow starts or ends at `pkg/extra`",
                "`pkg/extra` has no row in the table of permissions",
            ]
        );
        assert_eq!(crates_depend_along_the_arrows(&workspace).len(), 1);
    }

    #[test]
    fn a_removed_crate_or_file_on_the_map_is_a_fault() {
        let page =
            A_PAGE.replace("► api", "► api, gone").replace("`b.rs`", "`c.rs`").replace("yaml/", "json/");
        assert_eq!(
            judged(&page, ALONG),
            [
                "docs/architecture.md has an arrow to `gone`, but this crate does not depend on it",
                "there is no crate `gone`",
                "`pkg/manifest/src/json` does not exist",
                "`c.rs` does not exist",
            ]
        );
    }

    #[test]
    fn a_removed_file_beside_the_steps_of_init_is_a_fault() {
        let beside =
            format!("{A_PAGE}\n## {INIT}\n- a field in `pkg/api/src/a.rs`, read in `pkg/api/src/gone.rs`\n");
        assert_eq!(judged(&beside, ALONG), ["`pkg/api/src/gone.rs` does not exist"]);
    }

    #[test]
    fn files_of_init_are_counted_once() {
        let row = |file: usize| format!("| step | `pkg/api/src/f{file}.rs` |\n");
        let page = |files: usize| {
            let rows: String = (0..files).map(row).collect();
            format!("## {INIT}\n| Step | File |\n|---|---|\n{rows}{}", row(0))
        };
        assert!(init_uses_few_files(&workspace(&page(MAX_INIT_FILES), "")).is_empty());
        assert_eq!(init_uses_few_files(&workspace(&page(MAX_INIT_FILES + 1), "")).len(), 1);
    }
}
