//! The engine settings for providers: ownership marks, write options and apply set records.

use api::ProviderId;
use api::labels::{CAPSTAN_DOMAIN, FIELD_MANAGER};
use apply::{
    AdoptionPolicy, ApiError, ApplyOptions, ApplySet, ApplySetItem, ApplySetStore, DesiredSet, FormerTool,
    ItemPhase, OwnershipMarks, key_of,
};
use futures::{FutureExt as _, future::BoxFuture};
use inventory::{ManagementCluster, config_map_kind};
use manifest::{Object, Value};
use serde_json::json;

/// Tools that may have installed the providers earlier. Users label Namespaces and definitions with kubectl, for example
/// for pod security or for moves.
const FORMER_TOOLS: [FormerTool; 3] = [
    FormerTool::new("clusterctl"),
    FormerTool { prefix: "kubectl", keeps_labels: true },
    FormerTool::new("helm"),
];

/// The key of the apply set in its ConfigMap.
const SET_KEY: &str = "applySet";
/// The key of the provider version that the apply set belongs to.
const VERSION_KEY: &str = "version";

/// The size above which a record keeps digests of the applied fields instead of the fields.
/// An object holds at most 1 MiB.
const MAX_BYTES_WITH_FIELDS: usize = 512 * 1024;

/// The record of the apply set of a provider: ConfigMap `capstan.<provider label>` in the namespace of the provider.
///
/// The ConfigMap has the provider labels, so clusterctl deletes it together with the provider.
#[derive(Debug)]
pub(crate) struct ProviderRecord {
    pub(crate) cluster: ManagementCluster,
    pub(crate) id: ProviderId,
    pub(crate) version: String,
    pub(crate) namespace: String,
}

impl ApplySetStore for ProviderRecord {
    /// Writes the set. Deletes the record if the set is empty.
    fn save<'a>(&'a self, set: &'a ApplySet) -> BoxFuture<'a, Result<(), ApiError>> {
        async move {
            let kind = config_map_kind();
            let stored = if set.items.is_empty() {
                self.cluster.delete_stored_object(&kind, &key_of(&self.config_map(set))).await
            } else {
                self.cluster.store_object(&kind, &self.config_map(set)).await
            };
            match stored {
                Err(error) if set.items.iter().all(is_being_deleted) && is_namespace_missing(&error) => {
                    Ok(())
                }
                stored => stored,
            }
        }
        .boxed()
    }
}

impl ProviderRecord {
    fn config_map(&self, set: &ApplySet) -> Object {
        let text =
            |set: &ApplySet| serde_json::to_string(set).expect("invariant: an apply set has text keys alone");
        let mut set_text = text(set);
        if set_text.len() > MAX_BYTES_WITH_FIELDS {
            set_text = text(&set.without_fields());
        }
        let whole = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": record_name(&self.id),
                "namespace": self.namespace,
                "labels": {api::labels::CLUSTERCTL: "", api::labels::PROVIDER: self.id.label()},
            },
            "data": {SET_KEY: set_text, VERSION_KEY: self.version},
        });
        Object::try_from(whole).expect("invariant: the literal above is a mapping")
    }
}

/// Returns the recorded set of a provider and its version. `None` without a record.
/// # Errors
/// `Answer` if the record has an unknown format.
pub(crate) async fn read_recorded_set(
    cluster: &ManagementCluster,
    id: &ProviderId,
    namespace: &str,
) -> Result<Option<(ApplySet, String)>, ApiError> {
    let Some(config_map) = cluster.server.get(&config_map_kind(), namespace, &record_name(id)).await? else {
        return Ok(None);
    };
    cluster.revisions.record(&config_map);
    let text = |key: &str| config_map.get(&["data", key]).and_then(Value::as_str).unwrap_or_default();
    let set = serde_json::from_str(text(SET_KEY)).map_err(|error| ApiError::InvalidAnswer {
        action: format!("read ConfigMap {namespace}/{}", record_name(id)),
        server: cluster.server.address().to_owned(),
        code: 200,
        problem: format!("key `{SET_KEY}`: {error}"),
    })?;
    Ok(Some((set, text(VERSION_KEY).to_owned())))
}

pub(crate) fn record_name(id: &ProviderId) -> String {
    format!("capstan.{id}")
}

fn is_being_deleted(item: &ApplySetItem) -> bool {
    item.digest.is_empty() || matches!(item.phase, ItemPhase::ScheduledForDeletion | ItemPhase::Deleting)
}

/// True if the write failed because the namespace is gone or terminating.
fn is_namespace_missing(error: &ApiError) -> bool {
    match error {
        ApiError::Status { code: 404, .. } => true,
        ApiError::Status { code: 403, message, .. } => message.contains("being terminated"),
        _ => false,
    }
}

/// Returns the ownership marks of a provider: the provider label.
pub(crate) fn marks(id: &ProviderId) -> OwnershipMarks {
    OwnershipMarks {
        label: (api::labels::PROVIDER.to_owned(), id.label()),
        reserved: Vec::new(),
        owner: id.label(),
        owner_annotation: None,
        digest_annotation: None,
        finalizer: None,
        shares_namespaces: true,
    }
}

/// Returns the write options for a provider: server-side apply that takes over fields from clusterctl and kubectl.
pub(crate) fn options(namespace: &str) -> ApplyOptions {
    ApplyOptions {
        take_over: FORMER_TOOLS.to_vec(),
        ..ApplyOptions::new(FIELD_MANAGER, CAPSTAN_DOMAIN, namespace)
    }
}

/// Sets policies that differ from the defaults.
/// - Providers may share a Namespace: with `--target-namespace`, each brings the Namespace under its own label.
/// - An aggregating ClusterRole is deleted first. Kubernetes rewrites such a role on every change of an aggregated
///   role, with an apply that would recreate a role deleted at that moment.
pub(crate) fn set_policies(desired: &mut DesiredSet) {
    for object in &mut desired.objects {
        if object.key.is_namespace() {
            object.policies.policies.adoption = AdoptionPolicy::Always;
        } else if object.object.get(&["aggregationRule"]).is_some_and(Value::is_object) {
            object.policies.delete_order = -1;
        }
    }
}

#[cfg(test)]
mod tests;
