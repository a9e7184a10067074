//! Requests of a build for content outside the tree, and their answers.
//!
//! A build never waits. One pass lists all requests; the caller fetches the content and builds again with the answers.

mod remote;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use remote::{Checkout, FetchMethod, RemoteEntry};

use crate::TreePath;

/// Content from outside the tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FetchRequest {
    /// A root in a repository, or a file behind a URL, as the entry spells it.
    Remote(RemoteEntry),
    /// The archive of a chart that is not in the tree.
    Chart(ChartPull),
}

/// A chart in a chart repository.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChartPull {
    /// The name of the chart.
    pub name: String,
    /// The address of the repository; starts with `oci://` for a registry.
    pub repo: String,
    /// The version of the chart; empty for the newest.
    pub version: String,
    /// True if the newest version may be a development version.
    pub devel: bool,
}

impl fmt::Display for ChartPull {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.repo.trim_end_matches('/'), self.name)?;
        if self.version.is_empty() { Ok(()) } else { write!(formatter, " {}", self.version) }
    }
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub enum FetchedContent {
    /// A copy of a repository, mounted in the tree.
    Folder {
        /// The top folder of the copy: no path in the copy may leave it.
        top: TreePath,
        /// The requested folder.
        root: TreePath,
    },
    /// The bytes of a file behind a URL, or of the archive of a chart.
    Bytes(Arc<[u8]>),
}

/// The answers by request; for a failure, the reason as a fragment of a sentence.
pub type FetchResults = BTreeMap<FetchRequest, Result<FetchedContent, String>>;
