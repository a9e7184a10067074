//! The input of a rendering.

use std::sync::Arc;

use chart::{Capabilities, ResolvedPath, Tree, TreePath};
use jiff::Timestamp;
use serde_json::Value;

use super::cluster::ClusterReader;
use super::error::{DecryptError, RenderProblem};
use crate::ValueSource;

/// Decrypts a file, given by its path and content; `None` if it is not encrypted.
type Decrypt<'a> = dyn Fn(&str, &[u8]) -> Result<Option<Vec<u8>>, DecryptError> + 'a;

/// The input of a rendering.
pub struct RenderRequest<'a> {
    /// The files of the source; its root is `/`.
    pub tree: &'a dyn Tree,
    /// The folder to render, relative to the root.
    pub path: &'a str,
    /// The name of the deployment.
    pub name: &'a str,
    /// The namespace of the deployment.
    pub namespace: &'a str,
    /// The values of templates: an object.
    pub values: Value,
    /// The Component itself, which templates see as `component`.
    pub component: Value,
    /// The digest of the Component, which templates see as `componentDigest`.
    pub digest: &'a str,
    /// The number of the deployment, from 1. The first one is an installation, later ones are upgrades.
    pub revision: i64,
    /// The version of Kubernetes and the APIs of the cluster.
    pub capabilities: Capabilities,
    /// The clusters that `lookup` and similar functions ask; `None` offline, where nothing is found.
    pub cluster: Option<Arc<dyn ClusterReader>>,
    /// Decrypts files before they are used.
    pub decrypt: Option<&'a Decrypt<'a>>,
    /// The time that templates see.
    pub now: Timestamp,
    /// The seed of random values; `None` asks the system.
    pub seed: Option<u64>,
    /// The sources of values, to record the provenance of fields. `None` records nothing.
    pub trace: Option<&'a [ValueSource]>,
}

impl<'a> RenderRequest<'a> {
    /// Creates a request for the first deployment of the root of a source, without values and without a cluster.
    pub fn new(tree: &'a dyn Tree, name: &'a str, namespace: &'a str) -> Self {
        Self {
            tree,
            path: "",
            name,
            namespace,
            values: Value::Object(serde_json::Map::new()),
            component: Value::Null,
            digest: "",
            revision: 1,
            capabilities: Capabilities::default(),
            cluster: None,
            decrypt: None,
            now: Timestamp::UNIX_EPOCH,
            seed: None,
            trace: None,
        }
    }

    /// Returns the folder to render.
    pub(super) fn folder(&self) -> Result<TreePath, RenderProblem> {
        if is_outside(self.path) {
            return Err(RenderProblem::PathOutside { path: self.path.to_owned() });
        }
        let path = TreePath::new(self.path);
        match self.tree.resolve(&path)? {
            ResolvedPath::Folder(folder) => Ok(folder),
            ResolvedPath::File(_) => Err(RenderProblem::PathNotAFolder { path }),
            // A source without files has no folders, not even its root.
            ResolvedPath::Missing if path.as_str() == "/" => Ok(path),
            ResolvedPath::Missing => Err(RenderProblem::PathMissing { path }),
        }
    }

    /// True for the first deployment.
    pub(super) fn is_install(&self) -> bool {
        self.revision == 1
    }
}

/// True if a path is absolute, or leads out of its root.
fn is_outside(path: &str) -> bool {
    let mut depth = 0_usize;
    let leaves = |step| match step {
        "" | "." => false,
        ".." if depth == 0 => true,
        ".." => {
            depth -= 1;
            false
        }
        _ => {
            depth += 1;
            false
        }
    };
    path.starts_with('/') || path.split('/').any(leaves)
}
