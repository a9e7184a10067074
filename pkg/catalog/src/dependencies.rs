//! The dependencies of a cluster: components, their instances, packages, and Jsonnet libraries.
//!
//! ```text
//! applications + parameters.{components,packages} ─► names, aliases, specs ─► worktrees ─► links in the hierarchy
//! ```

mod bundler;
mod checks;
mod discover;
mod fetch;
mod jsonnetfile;
mod libraries;
mod links;
mod specs;

use std::path::PathBuf;

pub(crate) use bundler::{BundlerRequest, install_libraries};
pub(crate) use checks::{
    check_component_versions, check_instances, check_version_overrides, component_parameters,
    deprecation_notices,
};
pub(crate) use discover::{
    Applications, RESERVED_NAMES, discover_components, discover_packages, is_folder_name, split_alias,
};
pub(crate) use fetch::{FetchRequest, Fetcher, commit_id, fetch_all, unknown_version};
pub(crate) use jsonnetfile::render_jsonnetfile;
pub(crate) use libraries::{install_aliases, link_libraries};
pub(crate) use links::{link, link_instance, link_package};
pub(crate) use specs::{ComponentSpecs, DependencySpec, read_components, read_packages};

/// A checked-out component, instance or package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependency {
    /// The name of the component, instance or package.
    pub name: String,
    /// The component of an instance; the name itself for a component or package.
    pub component: String,
    /// The url of the repository.
    pub url: String,
    /// The requested version.
    pub version: String,
    /// The path in the repository; empty for its root.
    pub path: String,
    /// The folder with the checked-out repository.
    pub worktree: PathBuf,
    /// The checked-out commit; none in local mode, if the folder is no worktree.
    pub commit: Option<CommitId>,
}

/// The hash of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitId {
    /// The hash with all digits.
    pub full: String,
    /// The shortest unique prefix, with at least six digits.
    pub short: String,
}

impl Dependency {
    /// The folder of the dependency in its worktree.
    pub fn folder(&self) -> PathBuf {
        if self.path.is_empty() { self.worktree.clone() } else { self.worktree.join(&self.path) }
    }
}

/// Returns the key of the parameters of a component or instance.
pub(crate) fn parameters_key(name: &str) -> String {
    name.replace('-', "_")
}

/// Lists names as in English: `'a'`, `'a' and 'b'`, `'a', 'b', and 'c'`. The names are sorted.
pub(crate) fn name_list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_unstable();
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    joined(&quoted)
}

/// Joins sorted phrases as in English.
pub(crate) fn joined(phrases: &[String]) -> String {
    match phrases {
        [] => String::new(),
        [only] => only.clone(),
        [first, second] => format!("{first} and {second}"),
        [earlier @ .., last] => format!("{}, and {last}", earlier.join(", ")),
    }
}
