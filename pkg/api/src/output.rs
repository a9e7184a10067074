//! Results that commands print with `-o json` or `-o yaml`. Fields are added, never renamed or removed.

mod backup;
mod bundle;
mod cache;
mod catalog;
mod chart;
mod component;
mod describe;
mod error;
mod fleet;
mod graph;
mod kustomization;
mod lifecycle;
mod lock;
mod move_plan;
mod move_state;
mod object_change;
mod progress;
mod provenance;
mod publication;
mod rollout;
mod self_check;
mod status;
mod upgrade;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::ProviderType;

pub use backup::{
    BackupCluster, BackupEncryption, BackupKind, BackupProvider, BackupReport, BackupSource, RestoreReport,
};
pub use bundle::{
    BundleContent, BundleContentKind, BundleLoad, BundleReport, BundleVerification, LoadedContent,
    LoadedContentState,
};
pub use cache::{CacheHost, CachePruning, CacheReport, CacheVerification, DamagedFile};
pub use catalog::{
    AppliedCatalog, AppliedCatalogs, CatalogFileChange, CatalogFinding, CatalogLint, CatalogObjectChange,
    CatalogPlan, CatalogRunReport, ParameterChange, ParameterExplanation, ParameterSource, UnresolvedObject,
};
pub use chart::{ChartFinding, ChartFindingSeverity, ChartFindings, ChartLint, ChartObject, ChartObjects};
pub use component::{
    ComponentList, ComponentObject, ComponentRunReport, ComponentSteps, ControllerRunReport, ListedComponent,
};
pub use describe::{
    ClusterDescription, ClusterHealth, ClusterPart, PartCondition, PartObject, PartRole, PartState,
    ReplicaCounts, UnreadablePart,
};
pub use error::{ErrorKind, ErrorReport};
pub use fleet::{ClusterList, ListedCluster};
pub use graph::{GraphCondition, GraphFate, GraphObject, GraphOwner, GraphState, GraphTie, OwnerGraph};
pub use kustomization::{FindingSeverity, KustomizationFinding, KustomizationFindings, KustomizationLint};
pub use lifecycle::{
    CertManagerAction, CertManagerPlan, CertManagerReport, LifecycleReport, ProviderReport, StepAction,
    StepReport, WaitingFor,
};
pub use lock::{ChartLock, LockChange, LockPart, LockReport, ProviderLock};
pub use move_plan::{MoveAction, MovePlan, MoveReport, MoveState, MovedObject, MovingObject, StayingObject};
pub use move_state::{MoveAborted, MovePhase, MoveProgress, MoveStatus, OpenSave};
pub use object_change::{ChangeEffect, ChangedPart, ObjectChange};
pub use progress::{ProgressEvent, ProgressStep, StepCounts, Written};
pub use provenance::{
    ExplainedField, FieldExplanation, FieldProvenance, FieldSetter, ObjectProvenance, ProvenanceReport,
};
pub use publication::{Publication, PublicationOutcome, PublishedFile};
pub use rollout::{RolloutChangeReport, RolloutReport, RolloutState, RolloutStatus};
pub use self_check::{SelfCheck, SelfCheckEntry, SelfCheckState};
pub use status::{
    DriftedField, DriftedFieldChange, DriftedObject, LeaseHolder, LeaseReport, ProviderHealth, StatusReport,
    UnfinishedInstallation, UnfinishedMove,
};
pub use upgrade::{
    ContractUpgrade, ProviderUpgrade, UnfinishedProvider, UnfinishedUpgrade, UpgradeAborted, UpgradePlan,
};

/// Result of `generate … --list-variables -o json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VariableList {
    /// Variables, sorted by name.
    pub variables: Vec<Variable>,
}

/// One variable of a template or of provider components.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    /// Name of the variable, as in `${NAME}`.
    pub name: String,
    /// True if rendering fails without a value.
    pub required: bool,
    /// Default value as the template writes it; used if no value is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Every location that uses the variable.
    pub used: Vec<Place>,
    /// Source of the current value; absent if the variable has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// A location in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// Path or URL.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Source of a value. The value itself is not shown: it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Origin {
    /// A flag or argument of this command.
    #[serde(rename_all = "camelCase")]
    CommandLine {
        /// The flag, or the name of the argument.
        flag: String,
    },
    /// An environment variable.
    #[serde(rename_all = "camelCase")]
    Environment {
        /// Name of the environment variable: always upper case, even if the name of the template variable is not.
        variable: String,
    },
    /// The configuration file.
    #[serde(rename_all = "camelCase")]
    ConfigFile {
        /// Path or URL of the configuration file.
        file: String,
    },
    /// The default in the template.
    Template,
}

/// Result of `explain`: every checked location in order, and the one that was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// Subject of the explanation: a file of a provider, a variable or the configuration file.
    pub subject: String,
    /// Locations, in the order in which they are checked.
    pub places: Vec<ExplainedPlace>,
}

/// A possible location of a file or a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedPlace {
    /// Path, URL, environment variable or flag.
    pub place: String,
    /// Result of the check.
    pub state: PlaceState,
    /// Reason why the location was checked or ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Result of checking a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PlaceState {
    /// Found and used.
    Taken,
    /// Found, but an earlier location takes precedence.
    Shadowed,
    /// Not found.
    Absent,
    /// Not checked: an earlier location takes precedence, or the check would need a request that is not allowed.
    NotAsked,
    /// Found, but cannot be read.
    Unreadable,
}

/// Result of `provider list` and of `config repositories`, which prints the older format of clusterctl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderList {
    /// Providers, sorted by type and name.
    pub providers: Vec<ProviderEntry>,
}

/// One configured provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderEntry {
    /// Name of the provider within its type.
    pub name: String,
    /// Type of the provider.
    #[serde(rename = "type")]
    pub provider_type: ProviderType,
    /// URL of the provider components.
    pub url: String,
    /// Source of the entry.
    pub source: ProviderSource,
}

/// Result of `provider show`: the content of one release of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderRelease {
    /// Name of the provider within its type.
    pub name: String,
    /// Type of the provider.
    #[serde(rename = "type")]
    pub provider_type: ProviderType,
    /// Location of the releases.
    pub place: String,
    /// The shown release.
    pub version: String,
    /// Contract of the release.
    pub contract: String,
    /// Folder or URL of the kustomization that the configuration applies over the components; absent for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kustomization: Option<String>,
    /// All releases, newest first; empty if the host cannot list releases.
    pub versions: Vec<String>,
    /// Flavors of the cluster templates; an empty string is the default template.
    pub flavors: Vec<String>,
    /// Names of the ClusterClasses of the release.
    pub cluster_classes: Vec<String>,
}

/// Source of a provider entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ProviderSource {
    /// The list compiled into the binary.
    BuiltIn,
    /// The configuration file.
    Config,
    /// The configuration file, which overrides a built-in entry.
    ConfigOverBuiltIn,
}

/// Result of `init list-images -o json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageList {
    /// Images, sorted by name and without duplicates.
    pub images: Vec<ListedImage>,
}

/// An image and its users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedImage {
    /// Full image reference.
    pub image: String,
    /// Provider labels, or `cert-manager`.
    pub used_by: Vec<String>,
    /// Image digest, if the reference contains one or the lock records one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Every location of the image.
    pub places: Vec<ListedImagePlace>,
}

/// A location of an image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedImagePlace {
    /// Provider label, or `cert-manager`.
    pub component: String,
    /// Object that contains the image, as `Kind namespace/name`.
    pub object: String,
    /// Description of the location in the object: a container, an argument, an environment variable or an annotation.
    pub place: String,
    /// True if a container runs the image; false if only a text names the image.
    pub runs: bool,
}

/// Result of `version -o json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VersionReport {
    /// Build information. The key has the name that clusterctl uses, so existing scripts can read it.
    pub clusterctl: BuildInfo,
}

/// Build information of a binary, in the format of clusterctl; empty fields are omitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BuildInfo {
    /// Major version of the clusterctl release that this binary matches.
    pub major: String,
    /// Minor version of the clusterctl release.
    pub minor: String,
    /// Version of the clusterctl release.
    pub git_version: String,
    /// `clean` or `dirty`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub git_tree_state: String,
    /// Version of capstan itself.
    pub capstan: String,
    /// Name of the compiler.
    pub compiler: String,
    /// Operating system and architecture, such as `linux/amd64`.
    pub platform: String,
}

/// Objects of `generate … -o json`: a `v1` List that kubectl can apply.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectList {
    /// Always `v1`.
    pub api_version: String,
    /// Always `List`.
    pub kind: String,
    /// Objects, in the order of the text output.
    pub items: Vec<Value>,
}

/// Result of `sandbox list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SandboxList {
    /// Sandboxes, sorted by name.
    pub sandboxes: Vec<SandboxEntry>,
}

/// A sandbox on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SandboxEntry {
    /// Name of the sandbox.
    pub name: String,
    /// State of the sandbox.
    pub state: SandboxState,
    /// URL of the API server; absent if the sandbox is not running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Process ID; absent if the sandbox is not running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Folder of the stored objects; absent if the sandbox keeps objects only in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_dir: Option<String>,
    /// Path of the kubeconfig.
    pub kubeconfig: String,
}

/// State of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SandboxState {
    /// The API server responds.
    Running,
    /// The process exists, but the API server does not respond yet.
    Starting,
    /// No process exists.
    Stopped,
}
