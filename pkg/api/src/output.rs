//! What verbs print with `-o json` or `-o yaml`. Fields are added, never renamed or removed.

mod backup;
mod bundle;
mod cache;
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
pub use describe::{
    ClusterDescription, ClusterHealth, ClusterPart, PartCondition, PartObject, PartRole, PartState,
    ReplicaCounts, UnreadablePart,
};
pub use error::{ErrorKind, ErrorReport};
pub use fleet::{ClusterList, ListedCluster};
pub use graph::{GraphCondition, GraphFate, GraphObject, GraphOwner, GraphState, GraphTie, OwnerGraph};
pub use kustomization::{FindingSeverity, KustomizationFinding, KustomizationFindings, KustomizationLint};
pub use lifecycle::{
    CertManagerAction, CertManagerPlan, CertManagerReport, LifecycleReport, ObjectName, ProviderReport,
    StepAction, StepReport, WaitingFor,
};
pub use lock::{LockChange, LockPart, LockReport, ProviderLock};
pub use move_plan::{MoveAction, MovePlan, MoveReport, MoveState, MovedObject, MovingObject, StayingObject};
pub use move_state::{MoveAborted, MovePhase, MoveProgress, MoveStatus, OpenSave};
pub use object_change::{ChangeEffect, ChangedPart, ObjectChange};
pub use progress::{ProgressEvent, ProgressStep, StepCounts, Written};
pub use provenance::{FieldProvenance, FieldSetter, ObjectProvenance, ProvenanceReport};
pub use publication::{Publication, PublicationOutcome, PublishedFile};
pub use rollout::{RolloutChangeReport, RolloutReport, RolloutStatus};
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
    /// Every variable, by name.
    pub variables: Vec<Variable>,
}

/// One variable of a template or of provider components.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    /// Name, as in `${NAME}`.
    pub name: String,
    /// Whether rendering fails without a value.
    pub required: bool,
    /// Value taken when none is set, as the template writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Every place it is used.
    pub used: Vec<Place>,
    /// Where its value comes from now; absent when it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// Path or URL.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Where a value was taken from. The value itself is not told: it may be a secret.
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
        /// Its name, which is upper case even where the variable's is not.
        variable: String,
    },
    /// The configuration file.
    #[serde(rename_all = "camelCase")]
    ConfigFile {
        /// Its path or URL.
        file: String,
    },
    /// The default written in the template.
    Template,
}

/// Result of `explain`: every place looked at, in order, and which one won.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// What was asked for: a file of a provider, a variable, the configuration file.
    pub subject: String,
    /// The places, in the order they are looked at.
    pub places: Vec<ExplainedPlace>,
}

/// One place where a file or a value could come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedPlace {
    /// Path, URL, environment variable or flag.
    pub place: String,
    /// What is there.
    pub state: PlaceState,
    /// Why it is looked at, or why it was passed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a look at a place found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PlaceState {
    /// Found here, and taken.
    Taken,
    /// There too, but an earlier place won.
    Shadowed,
    /// Nothing there.
    Absent,
    /// Not looked at: it would need a request, and an earlier place won or none was allowed.
    NotAsked,
    /// There, but it could not be read.
    Unreadable,
}

/// Result of `provider list` and, in the peer's older form, of `config repositories`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderList {
    /// By type, then by name.
    pub providers: Vec<ProviderEntry>,
}

/// One configured provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderEntry {
    /// Name within its type.
    pub name: String,
    /// Type.
    #[serde(rename = "type")]
    pub provider_type: ProviderType,
    /// Where its components are read from.
    pub url: String,
    /// Whether it is compiled in, written in the configuration file, or the second overriding the first.
    pub source: ProviderSource,
}

/// Result of `provider show`: one release of a provider and what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderRelease {
    /// Name within its type.
    pub name: String,
    /// Type.
    #[serde(rename = "type")]
    pub provider_type: ProviderType,
    /// Where the releases are.
    pub place: String,
    /// The release that is shown.
    pub version: String,
    /// Its contract.
    pub contract: String,
    /// Folder or url of the kustomization that the configuration lays over its components, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kustomization: Option<String>,
    /// All releases, newest first; empty where the host cannot list them.
    pub versions: Vec<String>,
    /// Flavors of its cluster templates; the empty text is the plain template.
    pub flavors: Vec<String>,
    /// Names of the ClusterClasses it defines.
    pub cluster_classes: Vec<String>,
}

/// Who says where a provider lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ProviderSource {
    /// The list compiled into the binary.
    BuiltIn,
    /// The configuration file.
    Config,
    /// The configuration file, in place of a built-in entry.
    ConfigOverBuiltIn,
}

/// Result of `init list-images -o json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageList {
    /// Images by name, each once.
    pub images: Vec<ListedImage>,
}

/// One image and who runs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedImage {
    /// Full reference.
    pub image: String,
    /// Provider labels, or `cert-manager`.
    pub used_by: Vec<String>,
    /// Its digest, where it is written with it or the lock knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Every place it stands in.
    pub places: Vec<ListedImagePlace>,
}

/// A place an image stands in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedImagePlace {
    /// Provider label, or `cert-manager`.
    pub component: String,
    /// The object, as `Kind namespace/name`.
    pub object: String,
    /// Where in the object, in words: a container, an argument, an environment variable or an annotation.
    pub place: String,
    /// Whether a container runs it; else text names it.
    pub runs: bool,
}

/// Result of `version -o json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VersionReport {
    /// Kept under the peer's key, so that scripts that read it go on.
    pub clusterctl: BuildInfo,
}

/// What a binary was built from, in the peer's shape; empty fields are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BuildInfo {
    /// Major number of the reference release this binary matches.
    pub major: String,
    /// Minor number of the reference release.
    pub minor: String,
    /// The reference release.
    pub git_version: String,
    /// `clean` or `dirty`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub git_tree_state: String,
    /// Version of capstan itself.
    pub capstan: String,
    /// The compiler's name.
    pub compiler: String,
    /// Operating system and architecture, as `linux/amd64`.
    pub platform: String,
}

/// Objects of `generate … -o json`: a `v1` List, which kubectl applies.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectList {
    /// `v1`.
    pub api_version: String,
    /// `List`.
    pub kind: String,
    /// In the order of the text output.
    pub items: Vec<Value>,
}

/// Result of `sandbox list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SandboxList {
    /// By name.
    pub sandboxes: Vec<SandboxEntry>,
}

/// One sandbox of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SandboxEntry {
    /// Its name.
    pub name: String,
    /// Whether it runs.
    pub state: SandboxState,
    /// The URL it listens at; absent when it does not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The id of its process; absent when it does not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The folder its objects are kept in; absent when they live in memory alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_dir: Option<String>,
    /// The path of its kubeconfig.
    pub kubeconfig: String,
}

/// Whether a sandbox runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SandboxState {
    /// It answers.
    Running,
    /// Its process is there and does not answer yet.
    Starting,
    /// No process.
    Stopped,
}
