//! The format of a saved plan: what was decided, for which cluster, and what it was decided from.
//!
//! A saved plan holds no object and nothing a secret could be read from: digests of objects, those of Secrets keyed with a
//! random salt. The salt is in the plan, so the file is for its owner alone.

use serde::{Deserialize, Serialize};

use crate::{
    ProviderId, ProviderType,
    output::{CertManagerPlan, StepAction},
};

/// A plan as `--out` writes it and `--plan` takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedPlan {
    /// [`SavedPlan::FORMAT`].
    pub format: u32,
    /// What was asked for, versions settled.
    pub request: SavedRequest,
    /// The cluster: uid of its Namespace `kube-system`.
    pub cluster: String,
    /// The name of the user who made the plan, as the server of the cluster knows the user; none if the server does not
    /// say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The key of the digests of Secrets. Plans of earlier versions have none: their digests cover the names of keys
    /// and the lengths of values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<String>,
    /// What becomes of cert-manager.
    pub cert_manager: CertManagerPlan,
    /// In the order they are worked on.
    pub providers: Vec<SavedProvider>,
}

/// What was asked for: enough to plan again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verb", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum SavedRequest {
    /// `init`
    Init {
        /// With the versions that were settled.
        providers: Vec<SavedReference>,
        /// Types of which a first installation adds none.
        declined: Vec<ProviderType>,
        /// Where all of them go.
        target_namespace: Option<String>,
        /// Whether problems that can be ignored stop it.
        validate: bool,
        /// What the command line laid over the components.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kustomizations: Vec<SavedKustomization>,
    },
    /// `upgrade apply`
    Upgrade {
        /// The contract, where one was asked for and nothing is to be done.
        contract: Option<String>,
        /// With the versions that were settled.
        providers: Vec<SavedReference>,
        /// What may be done, and what is left alone.
        options: SavedUpgradeOptions,
        /// What the command line laid over the components.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kustomizations: Vec<SavedKustomization>,
    },
    /// `delete`
    Delete {
        /// Providers that were named; none for all.
        providers: Option<Vec<SavedReference>>,
        /// Whether definitions go too.
        include_crds: bool,
        /// Whether namespaces go too.
        include_namespaces: bool,
    },
}

/// The switches of an upgrade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedUpgradeOptions {
    /// Whether a lower version is fine.
    pub allow_downgrade: bool,
    /// Whether more than three minor versions may be skipped.
    pub allow_skip: bool,
    /// Whether replicas set by users are kept.
    pub keep_replicas: bool,
    /// Whether node placement set by users is kept.
    pub keep_placement: bool,
    /// Whether cert-manager is left alone.
    pub skip_cert_manager: bool,
}

/// A provider in a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedReference {
    /// Which provider.
    pub provider: ProviderId,
    /// In which version; none where it does not matter.
    pub version: Option<String>,
}

/// A kustomization over the components of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedKustomization {
    /// Which provider.
    pub provider: ProviderId,
    /// An absolute path, or a url without credentials.
    pub place: String,
}

/// What happens to one provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedProvider {
    /// Which provider.
    pub provider: ProviderId,
    /// Its namespace.
    pub namespace: String,
    /// The version that is there.
    pub from: Option<String>,
    /// The version that comes.
    pub to: Option<String>,
    /// In the order of the plan.
    pub objects: Vec<SavedObject>,
}

/// What happens to one object, and what that was decided from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedObject {
    /// The API group, empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace, empty for objects of the whole cluster.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The action on it.
    pub action: StepAction,
    /// The digest of what is to be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<String>,
    /// What is there.
    pub observed: Observed,
}

/// What is known of an object on the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Observed {
    /// It is there.
    Present {
        /// Its uid.
        uid: String,
        /// The digest of it, without status and what servers count.
        digest: String,
    },
    /// It is not there.
    Absent,
    /// It was not looked for by name.
    Unseen,
}

/// A file that is no plan this version can carry out.
#[derive(Debug, thiserror::Error)]
pub enum UnusablePlan {
    /// It is not what a plan looks like.
    #[error("it is no saved plan")]
    Unreadable(#[source] serde_json::Error),
    /// It is of another version.
    #[error("it has format {found}, and this version reads format {}", SavedPlan::FORMAT)]
    Format {
        /// The format it names.
        found: u64,
    },
}

#[derive(Deserialize)]
struct Format {
    format: u64,
}

impl SavedPlan {
    /// The format this version writes and reads.
    pub const FORMAT: u32 = 2;

    /// Reads a plan.
    /// # Errors
    /// Says whether it is none, or one of another format.
    pub fn parse(text: &[u8]) -> Result<Self, UnusablePlan> {
        let format: Format = serde_json::from_slice(text).map_err(UnusablePlan::Unreadable)?;
        if format.format != u64::from(Self::FORMAT) {
            return Err(UnusablePlan::Format { found: format.format });
        }
        serde_json::from_slice(text).map_err(UnusablePlan::Unreadable)
    }
}

impl SavedRequest {
    /// What the command line laid over the components of providers.
    pub fn kustomizations(&self) -> &[SavedKustomization] {
        match self {
            Self::Init { kustomizations, .. } | Self::Upgrade { kustomizations, .. } => kustomizations,
            Self::Delete { .. } => &[],
        }
    }

    /// The command it is of.
    pub fn command(&self) -> &'static str {
        match self {
            Self::Init { .. } => "init",
            Self::Upgrade { .. } => "upgrade apply",
            Self::Delete { .. } => "delete",
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
                validate: true,
                kustomizations: Vec::new(),
            },
            cluster: "uid".to_owned(),
            user: None,
            salt: None,
            cert_manager: CertManagerPlan::install("v1.21.1", None),
            providers: Vec::new(),
        }
    }

    #[test]
    fn a_plan_reads_as_it_was_written() {
        let text = serde_json::to_vec(&plan()).unwrap();
        assert_eq!(SavedPlan::parse(&text).unwrap(), plan());
    }

    #[test]
    fn a_plan_of_another_format_is_told_apart_from_what_is_no_plan() {
        let later = br#"{"format": 3, "steps": []}"#;
        assert!(matches!(SavedPlan::parse(later), Err(UnusablePlan::Format { found: 3 })));
        assert!(matches!(SavedPlan::parse(b"{}"), Err(UnusablePlan::Unreadable(_))));
        assert!(matches!(SavedPlan::parse(br#"{"format": 2}"#), Err(UnusablePlan::Unreadable(_))));
        let earlier = br#"{"format": 1, "certManager": "stays"}"#;
        assert!(matches!(SavedPlan::parse(earlier), Err(UnusablePlan::Format { found: 1 })));
    }
}
