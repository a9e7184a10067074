use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::{finding::Finding, licence, sizes::check_size};
use crate::workspace::{Workspace, cargo_output};

/// The maximum number of crates in the lock file, including those of the project. Each crate is shipped and costs build
/// time. A change that needs a higher number must raise it and state the reason in the commit message.
const MAX_LOCKED: usize = 533;
/// The maximum number of crates linked on Linux, including those of the project. Some versions are held back for it
/// (ADR 0018).
const MAX_LINKED: usize = 433;
/// The goal for the number of linked crates.
const LINKED_GOAL: usize = 300;

const LOCK: &str = "Cargo.lock";
const POLICY: &str = "deny.toml";

/// Checks the dependencies for this platform against `deny.toml`, which `cargo deny` also reads.
///
/// # Errors
/// Fails if cargo cannot list the dependencies, or if `deny.toml` cannot be read.
pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let policy: toml::Table = workspace.text(POLICY).context("there is no `deny.toml`")?.parse()?;
    let metadata = resolved()?;
    let mut findings = Vec::new();
    let lock = workspace.text(LOCK).unwrap_or_default();
    let locked = lock.matches("[[package]]").count();
    if locked > MAX_LOCKED {
        findings.push(Finding::fault(
            LOCK,
            None,
            format!("{locked} crates are locked; the maximum is {MAX_LOCKED}"),
        ));
    }
    findings.extend(check_size(LOCK, "crates are linked", linked()?, MAX_LINKED, LINKED_GOAL));
    let packages: Vec<&Value> = metadata["packages"].as_array().into_iter().flatten().collect();
    findings.extend(licences(&packages, &policy));
    findings.extend(duplicates(&packages, &policy));
    findings.extend(unused_exceptions(lock, &policy));
    findings.extend(sources(&packages));
    findings.extend(default_programs(&packages));
    Ok(findings)
}

/// The first command of the README, `cargo run`, needs one default program.
fn default_programs(packages: &[&Value]) -> Option<Finding> {
    let own = packages.iter().filter(|package| package["source"].is_null());
    let defaults: Vec<&str> = own.filter_map(|package| package["default_run"].as_str()).collect();
    let fault = || {
        let message = format!("the programs that `cargo run` starts are {defaults:?} instead of capstan");
        Finding::fault("Cargo.toml", None, message)
    };
    (defaults != ["capstan"]).then(fault)
}

/// The dependencies for this platform. Crates for other platforms may not be downloaded.
fn resolved() -> Result<Value> {
    let version = String::from_utf8(cargo_output(&["-vV"])?)?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("cargo names no host")?;
    let metadata = cargo_output(&[
        "metadata",
        "--format-version=1",
        "--locked",
        "--offline",
        "--filter-platform",
        host,
    ])?;
    Ok(serde_json::from_slice(&metadata)?)
}

/// Counts the crates linked into the binary on this platform.
fn linked() -> Result<usize> {
    let tree = cargo_output(&[
        "tree",
        "--package=capstan",
        "--edges=normal",
        "--prefix=none",
        "--locked",
        "--offline",
    ])?;
    let tree = String::from_utf8(tree)?;
    let crates: BTreeSet<Vec<&str>> = tree.lines().map(|line| line.split(' ').take(2).collect()).collect();
    Ok(crates.len())
}

fn licences(packages: &[&Value], policy: &toml::Table) -> Vec<Finding> {
    let allowed = texts(policy, "licenses", "allow", None);
    let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
    let refused = |package: &&&Value| !licence::is_allowed(text(package, "license"), &allowed);
    let fault = |package: &&Value| {
        let (name, licence) = (text(package, "name"), text(package, "license"));
        Finding::fault(POLICY, None, format!("`{name}` is under `{licence}`, which is not allowed"))
    };
    packages.iter().filter(refused).map(fault).collect()
}

fn duplicates(packages: &[&Value], policy: &toml::Table) -> Vec<Finding> {
    let skipped = texts(policy, "bans", "skip", Some("crate"));
    let skipped: BTreeSet<&str> = skipped.iter().filter_map(|entry| entry.split('@').next()).collect();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(text(package, "name")).or_default().insert(text(package, "version"));
    }
    let mut findings = Vec::new();
    for (name, versions) in
        versions.iter().filter(|(name, versions)| versions.len() > 1 && !skipped.contains(*name))
    {
        let versions = versions.iter().copied().collect::<Vec<_>>().join(", ");
        findings.push(Finding::fault(LOCK, None, format!("`{name}` has several versions: {versions}")));
    }
    findings
}

/// Exceptions that no platform needs any more.
fn unused_exceptions(lock: &str, policy: &toml::Table) -> Vec<Finding> {
    let skipped = texts(policy, "bans", "skip", Some("crate"));
    let names = skipped.iter().filter_map(|entry| entry.split('@').next());
    let is_single = |name: &&str| lock.matches(&format!("\nname = \"{name}\"\n")).count() < 2;
    names
        .filter(is_single)
        .map(|name| Finding::fault(POLICY, None, format!("`{name}` has one version and needs no exception")))
        .collect()
}

/// Fails for dependencies from Git or from more than one registry.
fn sources(packages: &[&Value]) -> Vec<Finding> {
    let registries: BTreeSet<&str> =
        packages.iter().filter_map(|package| package["source"].as_str()).collect();
    let foreign = |source: &&&str| !source.starts_with("registry+") || registries.len() > 1;
    let fault = |source: &&str| Finding::fault(LOCK, None, format!("a crate comes from `{source}`"));
    registries.iter().filter(foreign).map(fault).collect()
}

fn text<'a>(package: &'a Value, key: &str) -> &'a str {
    package[key].as_str().unwrap_or_default()
}

/// The texts of a list in a table, or of one key in each table of the list.
fn texts(policy: &toml::Table, table: &str, list: &str, key: Option<&str>) -> Vec<String> {
    let list = policy.get(table).and_then(|table| table.get(list)).and_then(toml::Value::as_array);
    let text = |entry: &toml::Value| match key {
        Some(key) => entry.get(key).and_then(toml::Value::as_str).map(str::to_owned),
        None => entry.as_str().map(str::to_owned),
    };
    list.into_iter().flatten().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_licence_a_second_version_and_a_git_address_are_faults() {
        let policy = "[licenses]\nallow = [\"MIT\"]\n[bans]\nskip = [{ crate = \"c@1\", reason = \"x\" }]\n"
            .parse()
            .unwrap();
        let package = |name: &str, version: &str, licence: &str, source: &str| json!({"name": name, "version": version, "license": licence, "source": source});
        let packages = [
            package("a", "1.0.0", "GPL-3.0", "registry+here"),
            package("b", "1.0.0", "MIT", "git+there"),
            package("b", "2.0.0", "MIT", "registry+here"),
            package("c", "1.0.0", "MIT", "registry+here"),
            package("c", "2.0.0", "MIT", "registry+here"),
        ];
        let packages: Vec<&Value> = packages.iter().collect();
        assert_eq!(licences(&packages, &policy)[0].text, "`a` is under `GPL-3.0`, which is not allowed");
        let duplicates: Vec<_> =
            duplicates(&packages, &policy).into_iter().map(|finding| finding.text).collect();
        assert_eq!(duplicates, ["`b` has several versions: 1.0.0, 2.0.0"]);
        assert_eq!(sources(&packages).len(), 2);
    }

    #[test]
    fn an_unneeded_exception_for_a_duplicate_crate_is_a_fault() {
        let policy = "[bans]\nskip = [{ crate = \"c@1\" }, { crate = \"d@1\" }]\n".parse().unwrap();
        let lock = "[[package]]\nname = \"c\"\n[[package]]\nname = \"d\"\n[[package]]\nname = \"d\"\n";
        let texts: Vec<_> =
            unused_exceptions(lock, &policy).into_iter().map(|finding| finding.text).collect();
        assert_eq!(texts, ["`c` has one version and needs no exception"]);
    }
}
