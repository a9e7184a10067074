//! The kinds of a cluster, and the versions of provider kinds by contract.

use std::{collections::HashMap, sync::Arc};

use api::Contract;
use apply::{ApiError, ApiKind, GroupKind, ListQuery, ServedKinds, Server};
use futures::try_join;
use inventory::{crd_kind, known_kind};
use manifest::Object;

const GROUP: &str = "cluster.x-k8s.io";
const ADDONS: &str = "addons.cluster.x-k8s.io";

/// Returns a kind of Cluster API itself, in the version of the contract.
pub(super) fn core_kind(kind: &str, plural: &str) -> ApiKind {
    known_kind(GROUP, Contract::CURRENT, kind, plural, true)
}

pub(super) fn cluster_kind() -> ApiKind {
    core_kind("Cluster", "clusters")
}

pub(super) fn binding_kind() -> ApiKind {
    known_kind(ADDONS, Contract::CURRENT, "ClusterResourceSetBinding", "clusterresourcesetbindings", true)
}

/// Returns the kind ClusterResourceSet, whose objects are named but never read.
pub(super) fn resource_set_kind() -> GroupKind {
    GroupKind::new(ADDONS, "ClusterResourceSet")
}

/// The kinds of the server, and the contracts in the definitions of providers.
#[derive(Debug)]
pub(super) struct ContractVersions {
    kinds: Arc<ServedKinds>,
    /// By name of the definition: the contracts, newest first, with their versions.
    versions: HashMap<String, Vec<(&'static str, String)>>,
}

impl ContractVersions {
    /// Reads discovery and two metadata lists. Without permission to list definitions, the preferred versions of the
    /// server apply.
    pub(super) async fn read(server: &Server) -> Result<Self, ApiError> {
        let labelled = async |contract: &str| {
            let labels = format!("{GROUP}/{contract}");
            let list = ListQuery { labels, metadata_only: true, ..ListQuery::default() };
            Ok(server.list(&crd_kind(), &list).await.unwrap_or_default())
        };
        let [newest, older] = Contract::COMPATIBLE;
        let (kinds, of_newest, of_older) = try_join!(server.kinds(), labelled(newest), labelled(older))?;
        let mut versions: HashMap<String, Vec<(&'static str, String)>> = HashMap::new();
        for (contract, definitions) in [(newest, &of_newest), (older, &of_older)] {
            for definition in definitions {
                let versions_label = contract_label(definition, contract);
                versions.entry(definition.name().to_owned()).or_default().push((contract, versions_label));
            }
        }
        Ok(Self { kinds, versions })
    }

    pub(super) fn kinds(&self) -> &ServedKinds {
        &self.kinds
    }

    /// Returns the version for reading a referenced object, and its contract. `None` if the server does not serve the
    /// kind.
    /// Source: clusterctl v1.14, internal/contract (GetLatestContractAndAPIVersionFromContract); differs: in
    /// clusterctl, a definition without a contract makes its objects unreadable.
    pub(super) fn version_to_read(&self, kind: &GroupKind) -> Option<(ApiKind, Contract)> {
        let preferred = self.kinds.preferred(kind)?;
        let definition = format!("{}.{}", preferred.plural, preferred.group);
        let kept = self.versions.get(&definition).into_iter().flatten().find_map(|(contract, versions)| {
            let is_kept = |version: &str| versions.split('_').any(|kept| kept == version);
            Some((self.kinds.preferred_among(kind, is_kept)?, *contract))
        });
        let (kind, contract) = kept.unwrap_or((preferred, Contract::CURRENT));
        Some((kind.clone(), Contract::new(contract)))
    }
}

fn contract_label(definition: &Object, contract: &str) -> String {
    definition.label(&format!("{GROUP}/{contract}")).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Row: D-135
    #[test]
    fn a_reference_resolves_to_the_newest_version_and_contract() {
        let thing = GroupKind::new("x.io", "Thing");
        let read = |served_versions: &[&str], labels: &[(&'static str, &str)]| {
            let mut kinds = ServedKinds::default();
            for version in served_versions {
                kinds.add(known_kind("x.io", version, "Thing", "things", true));
            }
            let labels =
                labels.iter().map(|(contract, versions)| (*contract, (*versions).to_owned())).collect();
            let versions = HashMap::from([("things.x.io".to_owned(), labels)]);
            let contracts = ContractVersions { kinds: Arc::new(kinds), versions };
            let (kind, contract) = contracts.version_to_read(&thing)?;
            Some(format!("{} {contract}", kind.version))
        };
        for (served, labels, expected) in [
            (&["v2", "v1"][..], &[("v1beta2", "v1_v2"), ("v1beta1", "v1")][..], Some("v2 v1beta2")),
            (&["v2", "v1"], &[("v1beta1", "v1")], Some("v1 v1beta1")),
            (&["v2", "v1"], &[("v1beta2", "v3"), ("v1beta1", "v1")], Some("v1 v1beta1")),
            (&["v2", "v1"], &[], Some("v2 v1beta2")),
            (&[], &[("v1beta2", "v1")], None),
        ] {
            assert_eq!(read(served, labels).as_deref(), expected, "{labels:?}");
        }
    }
}
