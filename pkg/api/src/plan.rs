//! The format of a saved plan: the decisions, their cluster, and the state they are based on.
//!
//! A saved plan holds no objects and no data that reveals a Secret. It holds digests of objects; digests of
//! Secrets are keyed with a random salt. The salt is in the plan, so only the owner may read the file.

use serde::{Deserialize, Serialize};

use crate::{
    ProviderId, ProviderType,
    labels::Labels,
    output::{CertManagerPlan, StepAction},
};

/// A plan as `--out` writes it and `--plan` reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedPlan {
    /// The format number, [`SavedPlan::FORMAT`].
    pub format: u32,
    /// The request, with resolved versions.
    pub request: SavedRequest,
    /// The uid of the Namespace `kube-system` of the cluster.
    pub cluster: String,
    /// The name of the user who made the plan, as the API server knows the user. None if the server does not
    /// report the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The key of the digests of Secrets. None in plans of earlier versions: their digests cover names of
    /// keys and lengths of values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<String>,
    /// The plan for cert-manager.
    pub cert_manager: CertManagerPlan,
    /// Providers in execution order.
    pub providers: Vec<SavedProvider>,
    /// Components in execution order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<SavedComponent>,
}

/// The request of a plan: enough data to plan again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verb", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum SavedRequest {
    /// `init`
    Init {
        /// The providers, with resolved versions.
        providers: Vec<SavedReference>,
        /// Provider types that a first installation does not add.
        declined: Vec<ProviderType>,
        /// The namespace for all providers, if set.
        target_namespace: Option<String>,
        /// The labels for every object, in addition to those of earlier runs.
        #[serde(default, skip_serializing_if = "Labels::is_empty")]
        labels: Labels,
        /// True if ignorable problems stop the installation.
        validate: bool,
        /// Kustomizations from the command line, applied over the components.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kustomizations: Vec<SavedKustomization>,
    },
    /// `upgrade apply`
    Upgrade {
        /// The requested contract, if no provider changes. None if `providers` lists the resolved versions.
        contract: Option<String>,
        /// The providers, with resolved versions.
        providers: Vec<SavedReference>,
        /// Options of the upgrade.
        options: UpgradeOptions,
        /// Kustomizations from the command line, applied over the components.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kustomizations: Vec<SavedKustomization>,
    },
    /// `delete`
    Delete {
        /// The named providers. None for all providers.
        providers: Option<Vec<SavedReference>>,
        /// True if the command also deletes CustomResourceDefinitions.
        include_crds: bool,
        /// True if the command also deletes namespaces.
        include_namespaces: bool,
    },
    /// `component apply`
    Components(SavedComponents),
}

/// The request to apply Components.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedComponents {
    /// Absolute paths of files and folders with Components.
    pub files: Vec<String>,
    /// The absolute path or the URL of the source, if one replaces those of the Components.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Absolute paths of files with values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// The namespace of Components without one.
    pub namespace: String,
}

/// Options of an upgrade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpgradeOptions {
    /// True if a lower version is allowed.
    pub allow_downgrade: bool,
    /// True if the upgrade may skip more than three minor versions.
    pub allow_skip: bool,
    /// True if replicas set by users are kept.
    pub keep_replicas: bool,
    /// True if node placement set by users is kept.
    pub keep_placement: bool,
    /// True if the upgrade ignores cert-manager.
    pub skip_cert_manager: bool,
}

/// A provider and its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedReference {
    /// Type and name of the provider.
    pub provider: ProviderId,
    /// The version. None if the version is irrelevant.
    pub version: Option<String>,
}

/// A kustomization over the components of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedKustomization {
    /// Type and name of the provider.
    pub provider: ProviderId,
    /// An absolute path, or a URL without credentials.
    pub place: String,
}

/// The planned actions on one provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedProvider {
    /// Type and name of the provider.
    pub provider: ProviderId,
    /// The namespace of the provider.
    pub namespace: String,
    /// The installed version. None if the provider is not installed.
    pub from: Option<String>,
    /// The planned version. None if the provider is deleted.
    pub to: Option<String>,
    /// Objects in plan order.
    pub objects: Vec<SavedObject>,
}

/// The planned actions on one Component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedComponent {
    /// The namespace of the Component.
    pub namespace: String,
    /// The name of the Component.
    pub name: String,
    /// The digest of the Component in its file.
    pub desired: String,
    /// The revision of its source.
    pub revision: String,
    /// The digest of its source.
    pub digest: String,
    /// Objects in plan order.
    pub objects: Vec<SavedObject>,
}

/// The planned action on one object, and the state it is based on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedObject {
    /// The API group; empty for the core group.
    pub group: String,
    /// The kind of the object.
    pub kind: String,
    /// The namespace; empty for cluster-scoped objects.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name of the object.
    pub name: String,
    /// The action on the object.
    pub action: StepAction,
    /// The digest of the desired object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<String>,
    /// The observed state of the object.
    pub observed: ObservedState,
}

/// The observed state of an object on the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum ObservedState {
    /// The object exists.
    Present {
        /// The uid of the object.
        uid: String,
        /// The digest of the object, without status and server-managed metadata.
        digest: String,
    },
    /// The object does not exist.
    Absent,
    /// capstan did not read the object by name.
    Unseen,
}

/// A file that is not a plan of this version.
#[derive(Debug, thiserror::Error)]
pub enum SavedPlanError {
    /// The file is not a saved plan.
    #[error("the file is not a saved plan")]
    Unreadable(#[source] serde_json::Error),
    /// The plan has another format.
    #[error("the plan has format {found}; this version of capstan reads format {}", SavedPlan::FORMAT)]
    UnsupportedFormat {
        /// The format number in the file.
        found: u64,
    },
}

#[derive(Deserialize)]
struct FormatHeader {
    format: u64,
}

impl SavedPlan {
    /// The format number that this version writes and reads.
    pub const FORMAT: u32 = 2;

    /// Parses a saved plan.
    /// # Errors
    /// Fails if the text is not a plan, or if the plan has another format.
    pub fn parse(text: &[u8]) -> Result<Self, SavedPlanError> {
        let format: FormatHeader = serde_json::from_slice(text).map_err(SavedPlanError::Unreadable)?;
        if format.format != u64::from(Self::FORMAT) {
            return Err(SavedPlanError::UnsupportedFormat { found: format.format });
        }
        serde_json::from_slice(text).map_err(SavedPlanError::Unreadable)
    }
}

impl SavedRequest {
    /// Returns the kustomizations that the command line applied over components.
    pub fn kustomizations(&self) -> &[SavedKustomization] {
        match self {
            Self::Init { kustomizations, .. } | Self::Upgrade { kustomizations, .. } => kustomizations,
            Self::Delete { .. } | Self::Components(_) => &[],
        }
    }

    /// Returns the command of the request.
    pub fn command(&self) -> &'static str {
        match self {
            Self::Init { .. } => "init",
            Self::Upgrade { .. } => "upgrade apply",
            Self::Delete { .. } => "delete",
            Self::Components(_) => "component apply",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> SavedPlan {
        SavedPlan {
            format: SavedPlan::FORMAT,
            request: SavedRequest::Init {
                providers: vec![SavedReference {
                    provider: ProviderId::new(ProviderType::Core, "cluster-api"),
                    version: Some("v1.0.0".to_owned()),
                }],
                declined: vec![ProviderType::Bootstrap],
                target_namespace: None,
                labels: Labels::from([("team".to_owned(), "a".to_owned())]),
                validate: true,
                kustomizations: Vec::new(),
            },
            cluster: "uid".to_owned(),
            user: None,
            salt: None,
            cert_manager: CertManagerPlan::install("v1.21.1", None),
            providers: Vec::new(),
            components: Vec::new(),
        }
    }

    #[test]
    fn a_plan_survives_a_round_trip() {
        let text = serde_json::to_vec(&plan()).unwrap();
        assert_eq!(SavedPlan::parse(&text).unwrap(), plan());
    }

    #[test]
    fn plans_of_another_format_and_invalid_plans_are_distinguished() {
        let later = br#"{"format": 3, "steps": []}"#;
        assert!(matches!(SavedPlan::parse(later), Err(SavedPlanError::UnsupportedFormat { found: 3 })));
        assert!(matches!(SavedPlan::parse(b"{}"), Err(SavedPlanError::Unreadable(_))));
        assert!(matches!(SavedPlan::parse(br#"{"format": 2}"#), Err(SavedPlanError::Unreadable(_))));
        let earlier = br#"{"format": 1, "certManager": "stays"}"#;
        assert!(matches!(SavedPlan::parse(earlier), Err(SavedPlanError::UnsupportedFormat { found: 1 })));
    }
}
