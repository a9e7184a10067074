//! What a build needs from outside the tree, and the answers it is given.
//!
//! A build never waits: it lists all it wants in one pass, the caller fetches it, and builds again with the answers.

mod remote;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use remote::{Checkout, Remote, Way};

use crate::TreePath;

/// Something from outside the tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Request {
    /// A root in a repository, or a file behind a URL, as the entry spells it.
    Remote(Remote),
    /// A chart that is not in the tree: `helm pull --untar`. The answer is its folder.
    ChartPull(ChartPull),
    /// A chart to be rendered: `helm template`. The answer is what is printed.
    ChartTemplate(Box<ChartTemplate>),
}

/// A chart in a repository of charts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChartPull {
    /// Its name.
    pub name: String,
    /// The address of the repository; charts in a registry have one that starts with `oci://`.
    pub repo: String,
    /// Its version, empty for the newest.
    pub version: String,
    /// Whether the newest may be one in development.
    pub devel: bool,
    /// The folder of the tree that kustomize would put it into.
    pub into: TreePath,
    /// Helm's folder of settings, empty for a fresh one.
    pub config_home: String,
}

/// A chart, and what it is rendered with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChartTemplate {
    /// The folder of the chart.
    pub chart: TreePath,
    /// The name of the release, empty for one that Helm makes up.
    pub release: String,
    /// `--namespace`, where it is not empty.
    pub namespace: String,
    /// `--kube-version`; where it is empty, the one of the caller holds.
    pub kube_version: String,
    /// `--api-versions`; where there is none, those of the caller hold.
    pub api_versions: Vec<String>,
    /// Flags that stand for themselves, and `--name-template` with its value.
    pub flags: Vec<String>,
    /// Values, of which later ones win: each an `-f`.
    pub values: Vec<ChartValues>,
    /// Helm's folder of settings, empty for a fresh one.
    pub config_home: String,
}

/// Values of a chart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChartValues {
    /// A file of the tree.
    File(TreePath),
    /// YAML.
    Text(String),
}

/// What came of a request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A copy of a repository, mounted in the tree.
    Folder {
        /// The top of the copy: no path in it may leave it.
        top: TreePath,
        /// The folder that was asked for.
        root: TreePath,
    },
    /// Bytes: of a file behind a URL, or what a program printed.
    Bytes(Arc<[u8]>),
}

/// The answers a build is given; where nothing came, why not, as one fragment.
pub type Answers = BTreeMap<Request, Result<Answer, String>>;
