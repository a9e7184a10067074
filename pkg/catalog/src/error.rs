//! Errors of the compilation of a catalog.

use std::io;
use std::path::{Path, PathBuf};

use crate::cluster::LieutenantError;
use crate::cookiecutter::CookiecutterError;
use crate::folder_update::FolderUpdateError;
use crate::reclass::{InventoryError, RenderError};

/// A catalog that cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum CatalogError {
    /// The hierarchy, a component or the cluster breaks a rule of Commodore. The text is that of Commodore.
    #[error("{message}")]
    Rule { message: String, hints: Vec<String> },
    /// Several rules are broken.
    #[error("cannot compile the catalog of cluster `{cluster}`")]
    Rules { cluster: String, problems: Vec<String> },
    /// The API does not describe the cluster.
    #[error("While fetching cluster specification: {0}")]
    Cluster(LieutenantError),
    /// The API does not list the clusters.
    #[error("While listing clusters on Lieutenant: {0}")]
    List(LieutenantError),
    /// The API does not take the report on a compiled catalog.
    #[error("cannot report the compiled catalog: {0}")]
    Report(LieutenantError),
    /// The files of the hierarchy cannot be read.
    #[error(transparent)]
    Inventory(#[from] InventoryError),
    /// Parameters cannot be rendered.
    #[error("While rendering inventory: Error while rendering inventory: Error rendering node {target}")]
    Render { target: String, source: RenderError },
    /// A Jsonnet program fails.
    #[error(transparent)]
    Jsonnet(#[from] crate::jsonnet::JsonnetError),
    /// A dependency cannot be fetched.
    #[error("{context}")]
    Fetch { context: String, source: Box<repository::Error> },
    /// The catalog cannot be pushed.
    #[error("Failed to push to the catalog repository")]
    Push { source: Box<repository::Error> },
    /// A template of a component or package cannot be rendered.
    #[error("cannot render template `{url}`")]
    Template { url: String, source: Box<CookiecutterError> },
    /// GitHub refuses a request for a repository.
    #[error("cannot synchronize {repository}")]
    GitHub { repository: String, source: Box<transport::Error> },
    /// A Jsonnet library cannot be installed.
    #[error("cannot install Jsonnet libraries: {problem}")]
    Libraries { problem: String },
    /// Files of a compiled catalog are no YAML, or contradict each other.
    #[error("cannot use the manifests of the catalog")]
    Manifests { problems: Vec<String> },
    /// A file or folder cannot be used.
    #[error("cannot {action} `{}`", path.display())]
    Disk { action: &'static str, path: PathBuf, source: io::Error },
}

impl From<FolderUpdateError> for CatalogError {
    fn from(error: FolderUpdateError) -> Self {
        Self::Disk { action: error.action, path: error.path, source: error.source }
    }
}

impl CatalogError {
    pub(crate) fn rule(message: impl Into<String>) -> Self {
        Self::Rule { message: message.into(), hints: Vec::new() }
    }

    pub(crate) fn rule_with_hint(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Rule { message: message.into(), hints: vec![hint.into()] }
    }

    pub(crate) fn disk(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Disk { action, path: path.to_owned(), source }
    }

    pub(crate) fn fetch(context: impl Into<String>, source: repository::Error) -> Self {
        Self::Fetch { context: context.into(), source: Box::new(source) }
    }
}
