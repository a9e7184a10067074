//! Options of a build.

use jiff::Timestamp;
use manifest::provenance::Trace;

/// The options of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// The files that a kustomization may name.
    pub load_restrictor: LoadRestrictor,
    /// The order of the objects if the top kustomization has no `sortOptions`.
    pub reorder: Reorder,
    /// The cluster and the time that charts see.
    pub charts: ChartOptions,
    /// Labels every object as managed by kustomize, regardless of `buildMetadata`.
    pub managed_by_label: bool,
    /// Detection of patches that disagree.
    pub conflicts: ConflictDetection,
    /// Tracing of the fields of each object to their origin.
    pub trace: Trace,
}

/// The cluster and the time that charts see. The defaults are those of Helm, at the start of 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChartOptions {
    /// The Kubernetes version for charts without their own; empty for the default of Helm.
    pub kube_version: String,
    /// The API versions for charts without their own list, besides the built-in ones.
    pub api_versions: Vec<String>,
    /// The current time.
    pub now: Timestamp,
}

/// Detection of patches of one list that set a field to different values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConflictDetection {
    /// The last patch wins silently.
    #[default]
    Ignored,
    /// Each conflict is a warning with both places.
    Reported,
}

/// The files that a kustomization may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadRestrictor {
    /// Files in the folder of the kustomization and below.
    #[default]
    RootOnly,
    /// All files.
    None,
}

/// An order of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reorder {
    /// Kinds that others need first, then by kind, namespace and name.
    #[default]
    Legacy,
    /// The order in which the build gathered the objects.
    None,
}
