use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::target::Target;
use crate::workspace::{self, cargo_output};

/// The crate with the root certificates of the image.
const CERTIFICATE_CRATE: &str = "webpki-root-certs";

/// Name and version of a crate.
pub(super) type CrateId = (String, String);

/// A crate that is linked into the binary.
#[derive(Clone, Debug)]
pub(super) struct LinkedCrate {
    pub(super) name: String,
    pub(super) version: String,
    /// The licence as an SPDX expression.
    pub(super) licence: String,
    pub(super) authors: Vec<String>,
    pub(super) repository: Option<String>,
    /// The folder with the sources.
    pub(super) folder: PathBuf,
    /// SHA-256 of the package in the registry. `None` for the crates of the project.
    pub(super) checksum: Option<String>,
    /// The linked crates that it uses.
    pub(super) dependencies: BTreeSet<CrateId>,
}

impl LinkedCrate {
    pub(super) fn id(&self) -> CrateId {
        (self.name.clone(), self.version.clone())
    }

    /// True for a crate of the project itself.
    pub(super) fn is_own(&self) -> bool {
        self.checksum.is_none()
    }
}

/// Returns the crates that are linked for a target, sorted by name and version. Programs that run only during the build,
/// such as procedural macros, are omitted.
pub(super) fn linked_crates(target: &Target) -> Result<Vec<LinkedCrate>> {
    let linked = linked_ids(target)?;
    let crates = described(target, |id| linked.contains(id))?;
    if crates.len() != linked.len() {
        bail!("cargo describes {} of {} linked crates", crates.len(), linked.len());
    }
    Ok(crates)
}

/// Returns the crate whose data is in the image beside the binary.
pub(super) fn certificate_crate(target: &Target) -> Result<LinkedCrate> {
    let mut crates = described(target, |(name, _)| name == CERTIFICATE_CRATE)?;
    crates.pop().with_context(|| format!("cargo does not describe `{CERTIFICATE_CRATE}`"))
}

/// Returns the crates of the workspace that `is_wanted` selects, sorted by name and version.
fn described(target: &Target, is_wanted: impl Fn(&CrateId) -> bool) -> Result<Vec<LinkedCrate>> {
    let arguments = ["metadata", "--format-version=1", "--locked", "--filter-platform", target.triple()];
    let metadata: Value = serde_json::from_slice(&cargo_output(&arguments)?)?;
    let lock: toml::Table = std::fs::read_to_string(workspace::root().join("Cargo.lock"))
        .context("cannot read `Cargo.lock`")?
        .parse()
        .context("cannot parse `Cargo.lock`")?;
    let mut crates = select(&metadata, &checksums(&lock), is_wanted);
    crates.sort_by_key(LinkedCrate::id);
    Ok(crates)
}

/// The crates in the tree of the binary: lines such as `tar v0.4.44`.
fn linked_ids(target: &Target) -> Result<BTreeSet<CrateId>> {
    let arguments =
        ["tree", "--locked", "--package=capstan", "--edges=normal,no-proc-macro", "--prefix=none"];
    let tree = cargo_output(&[&arguments[..], &["--format={p}", "--target", target.triple()]].concat())?;
    let id = |line: &str| {
        let mut words = line.split(' ');
        Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
    };
    Ok(String::from_utf8(tree)?.lines().filter_map(id).collect())
}

fn checksums(lock: &toml::Table) -> BTreeMap<CrateId, String> {
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let checksum = |package: &toml::Value| {
        let text = |key: &str| Some(package.get(key)?.as_str()?.to_owned());
        Some(((text("name")?, text("version")?), text("checksum")?))
    };
    packages.into_iter().flatten().filter_map(checksum).collect()
}

/// Joins the packages of `cargo metadata` with their edges.
fn select(
    metadata: &Value,
    checksums: &BTreeMap<CrateId, String>,
    is_wanted: impl Fn(&CrateId) -> bool,
) -> Vec<LinkedCrate> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages = list(&metadata["packages"]);
    let id = |package: &Value| (text(&package["name"]), text(&package["version"]));
    let ids: BTreeMap<String, CrateId> =
        packages.iter().map(|package| (text(&package["id"]), id(package))).collect();
    let mut edges: BTreeMap<String, BTreeSet<CrateId>> = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        let is_normal = |edge: &&Value| list(&edge["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
        let used = list(&node["deps"]);
        let used = used.iter().filter(is_normal).filter_map(|edge| ids.get(&text(&edge["pkg"])).cloned());
        edges.insert(text(&node["id"]), used.filter(&is_wanted).collect());
    }
    let linked_packages = packages.iter().filter(|package| is_wanted(&id(package)));
    let linked_crate = |package: &Value| LinkedCrate {
        name: text(&package["name"]),
        version: text(&package["version"]),
        licence: text(&package["license"]),
        authors: list(&package["authors"]).iter().map(text).collect(),
        repository: package["repository"].as_str().map(str::to_owned),
        folder: PathBuf::from(text(&package["manifest_path"]))
            .parent()
            .map(PathBuf::from)
            .unwrap_or_default(),
        checksum: checksums.get(&id(package)).cloned(),
        dependencies: edges.remove(&text(&package["id"])).unwrap_or_default(),
    };
    linked_packages.map(linked_crate).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
