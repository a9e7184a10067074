use api::{Contract, ErrorExplanation, Explain};
use apply::ApiError;
use manifest::Object;

use crate::{ManagementCluster, cluster::crd_kind};

/// The Cluster API contracts that a command accepts on a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContractCheck {
    /// Contracts that the command accepts.
    pub accepted: &'static [&'static str],
    /// True if the command also accepts a cluster without Cluster API.
    pub is_optional: bool,
}

/// A management cluster with an unsupported contract.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum ContractError {
    #[error("Cluster API is not installed on this cluster")]
    NotInstalled,
    #[error("the cluster runs Cluster API with contract {found}; this command requires {}", accepted.join(" or "))]
    Unsupported { found: Contract, accepted: Vec<&'static str> },
    #[error("cannot determine the Cluster API contract of the cluster")]
    Api(#[from] ApiError),
}

impl Explain for ContractError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::NotInstalled => ErrorExplanation::hint("install Cluster API with `capstan init`"),
            Self::Unsupported { found, .. }
                if found.as_str() != Contract::CURRENT && found.is_compatible() =>
            {
                ErrorExplanation::hint(format!(
                    "upgrade to the newer contract first: `capstan upgrade apply --contract {}`",
                    Contract::CURRENT
                ))
            }
            Self::Unsupported { .. } => ErrorExplanation::default(),
            Self::Api(source) => ErrorExplanation::cause(source),
        }
    }
}

/// The CustomResourceDefinition whose storage version is the contract of a cluster.
const CLUSTER_CRD: &str = "clusters.cluster.x-k8s.io";

impl ManagementCluster {
    /// Returns the contract of the stored Cluster API objects. None if Cluster API is not installed.
    /// Source: clusterctl v1.14 client/cluster/inventory.go (CheckCAPIContract): the storage version of
    /// `clusters.cluster.x-k8s.io`.
    pub async fn contract(&self) -> Result<Option<Contract>, ContractError> {
        let definition = self.server.get(&crd_kind(), "", CLUSTER_CRD).await?;
        Ok(definition.as_ref().and_then(storage_version).map(Contract::new))
    }

    /// Checks the contract of the cluster.
    pub async fn check_contract(&self, check: ContractCheck) -> Result<(), ContractError> {
        check.check(self.contract().await?)
    }
}

impl ContractCheck {
    /// Checks a contract.
    pub fn check(self, found: Option<Contract>) -> Result<(), ContractError> {
        match found {
            None if self.is_optional => Ok(()),
            None => Err(ContractError::NotInstalled),
            Some(found) if self.accepted.contains(&found.as_str()) => Ok(()),
            Some(found) => Err(ContractError::Unsupported { found, accepted: self.accepted.to_vec() }),
        }
    }
}

/// Returns the storage version of a CustomResourceDefinition.
pub fn storage_version(definition: &Object) -> Option<&str> {
    let versions = definition.get(&["spec", "versions"])?.as_array()?;
    versions.iter().find(|version| version["storage"] == true)?["name"].as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{NEW_VERSION, components, core, objects};

    const CURRENT: ContractCheck = ContractCheck { accepted: &[Contract::CURRENT], is_optional: false };

    #[test]
    fn the_storage_version_is_the_contract() {
        let components = components(&core(), NEW_VERSION).replace(
            "- name: v1beta2\n",
            "- {name: v1beta1, served: true, storage: false}\n  - name: v1beta2\n",
        );
        let objects = objects(&components);
        let definition = objects.iter().find(|object| object.name() == CLUSTER_CRD).unwrap();
        assert_eq!(storage_version(definition), Some("v1beta2"));
    }

    #[test]
    fn an_unsupported_contract_is_refused() {
        assert!(CURRENT.check(Some(Contract::new("v1beta2"))).is_ok());
        assert!(matches!(
            CURRENT.check(Some(Contract::new("v1beta1"))),
            Err(ContractError::Unsupported { found, accepted })
                if found == Contract::new("v1beta1") && accepted == ["v1beta2"]
        ));
        assert!(matches!(CURRENT.check(None), Err(ContractError::NotInstalled)));
        assert!(ContractCheck { is_optional: true, ..CURRENT }.check(None).is_ok());
    }
}
