//! The files that targets need: charts, files of web servers, folders of Git repositories, artifacts.
//!
//! ```text
//! parameters.kapitan.dependencies ─► settings ─► distinct files ─► fetched concurrently ─► written for all targets
//! ```
//!
//! Source: Kapitan 0.36 dependency_manager. Differs: files are written only into the output folder, or into the folder
//! of the component.

mod error;
mod fetch;
mod pinned;
mod settings;
#[cfg(test)]
mod tests;
mod unpack;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use repository::RepositoryContext;

use super::output_tree::OutputTree;
use super::writable::{base_folder, writable};
use crate::reclass::Node;

pub use error::DependencyError;

use fetch::{FetchedFiles, fetch};
use settings::{Dependency, Source};

/// The maximum number of files that are fetched at the same time.
const MAX_CONCURRENT: usize = 8;

/// Fetches the dependencies of targets. Relative paths are in the folder `output`.
///
/// # Errors
/// Invalid settings of a target; the first failed fetch.
pub(crate) async fn fetch_dependencies(
    nodes: &BTreeMap<String, Node>,
    targets: &[String],
    output: &Path,
    context: &RepositoryContext,
) -> Result<(), DependencyError> {
    let mut places: BTreeMap<Source, BTreeSet<Place>> = BTreeMap::new();
    for target in targets {
        let Some(node) = nodes.get(target) else { continue };
        for dependency in Dependency::all(target, &node.parameters)? {
            let (tree, path) = writable(&dependency.output_path, output, base_folder(&node.parameters))
                .map_err(|path| DependencyError::Outside { target: target.clone(), path })?;
            let place = Place { root: tree.root().to_owned(), path, subfolder: dependency.subfolder };
            places.entry(dependency.source).or_default().insert(place);
        }
    }
    stream::iter(places)
        .map(|(source, places)| async move {
            let files = Box::pin(fetch(&source, context)).await?;
            places.iter().try_for_each(|place| write(&source, &files, place))
        })
        .buffer_unordered(MAX_CONCURRENT)
        .try_collect()
        .await
}

/// A place for fetched files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    root: PathBuf,
    path: String,
    /// The only folder of a repository or artifact that is written.
    subfolder: Option<String>,
}

fn write(source: &Source, files: &FetchedFiles, place: &Place) -> Result<(), DependencyError> {
    let tree = OutputTree::new(place.root.clone());
    let failed = |error| DependencyError::Write { name: source.to_string(), error };
    match files {
        FetchedFiles::File(bytes) => tree.write(&place.path, bytes).map(drop).map_err(failed),
        FetchedFiles::Tree(files) => {
            let prefix = place.subfolder.as_ref().map(|folder| format!("{}/", folder.trim_matches('/')));
            let inside = |path: &String| match &prefix {
                Some(prefix) => path.strip_prefix(prefix.as_str()).map(str::to_owned),
                None => Some(path.clone()),
            };
            let mut count = 0;
            for (path, bytes) in files {
                if let Some(path) = inside(path) {
                    tree.write(&format!("{}/{path}", place.path), bytes).map_err(failed)?;
                    count += 1;
                }
            }
            match (&place.subfolder, count) {
                (Some(folder), 0) => {
                    Err(DependencyError::NoFolder { name: source.to_string(), folder: folder.clone() })
                }
                _ => Ok(()),
            }
        }
    }
}
