//! What the engine is told about providers: whose objects they are, and where their apply sets are kept.

use api::ProviderId;
use apply::{
    AdoptionPolicy, ApiError, ApplySet, DeletePolicy, DesiredSet, Item, Marks, MissingNamespaces, ObjectKey,
    Options, Phase, Policies, ReconcilePolicy, Record, UpdatePolicy,
};
use futures::{FutureExt as _, future::BoxFuture};
use inventory::{FIELD_MANAGER, ManagementCluster, PREFIX, config_map_kind};
use manifest::{Object, Value};
use serde_json::json;

/// Field managers of tools that providers were installed with before.
const FORMER_TOOLS: [&str; 3] = ["clusterctl", "kubectl", "helm"];

/// The key of the set in its ConfigMap.
const SET_KEY: &str = "applySet";
/// The key of the version it is of.
const VERSION_KEY: &str = "version";

/// A record that would be larger keeps digests of the fields it applied instead of the fields: no object holds more than a
/// mebibyte.
const MOST_BYTES_WITH_FIELDS: usize = 512 * 1024;

/// Where the apply set of a provider is kept: ConfigMap `capstan.<provider label>` in the provider's namespace, with the
/// labels of the provider, so that clusterctl takes it along when it deletes or replaces what it describes.
#[derive(Debug)]
pub(crate) struct ProviderRecord {
    pub(crate) cluster: ManagementCluster,
    pub(crate) id: ProviderId,
    pub(crate) version: String,
    pub(crate) namespace: String,
}

impl Record for ProviderRecord {
    /// Keeps the set; an empty one is not kept, as there is nothing left to know.
    fn store<'a>(&'a self, set: &'a ApplySet) -> BoxFuture<'a, Result<(), ApiError>> {
        async move {
            let kind = config_map_kind();
            let stored = if set.items.is_empty() {
                self.cluster.drop_kept(&kind, &ObjectKey::of(&self.config_map(set))).await
            } else {
                self.cluster.keep(&kind, &self.config_map(set)).await
            };
            match stored {
                Err(error) if set.items.iter().all(is_going) && is_without_namespace(&error) => Ok(()),
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
        if set_text.len() > MOST_BYTES_WITH_FIELDS {
            set_text = text(&set.without_fields());
        }
        let whole = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": name(&self.id),
                "namespace": self.namespace,
                "labels": {api::labels::CLUSTERCTL: "", api::labels::PROVIDER: self.id.label()},
            },
            "data": {SET_KEY: set_text, VERSION_KEY: self.version},
        });
        Object::try_from(whole).expect("invariant: the literal above is a mapping")
    }
}

/// What capstan recorded for a provider, and the version it was recorded for; none when it recorded nothing.
/// # Errors
/// `Answer` when the record cannot be read: somebody else wrote it.
pub(crate) async fn recorded_set(
    cluster: &ManagementCluster,
    id: &ProviderId,
    namespace: &str,
) -> Result<Option<(ApplySet, String)>, ApiError> {
    let Some(config_map) = cluster.server.get(&config_map_kind(), namespace, &name(id)).await? else {
        return Ok(None);
    };
    cluster.revisions.note(&config_map);
    let text = |key: &str| config_map.get(&["data", key]).and_then(Value::as_str).unwrap_or_default();
    let set = serde_json::from_str(text(SET_KEY)).map_err(|error| ApiError::Answer {
        action: format!("read ConfigMap {namespace}/{}", name(id)),
        server: cluster.server.address().to_owned(),
        code: 200,
        problem: format!("key `{SET_KEY}`: {error}"),
    })?;
    Ok(Some((set, text(VERSION_KEY).to_owned())))
}

/// The name of the ConfigMap.
pub(crate) fn name(id: &ProviderId) -> String {
    format!("capstan.{id}")
}

fn is_going(item: &Item) -> bool {
    item.digest.is_empty() || matches!(item.phase, Phase::ScheduledForDeletion | Phase::Deleting)
}

/// Whether nothing can be written because the namespace is gone, or going with all that is in it.
fn is_without_namespace(error: &ApiError) -> bool {
    match error {
        ApiError::Status { code: 404, .. } => true,
        ApiError::Status { code: 403, message, .. } => message.contains("being terminated"),
        _ => false,
    }
}

/// How objects of a provider say whose they are: the provider label.
pub(crate) fn marks(id: &ProviderId) -> Marks {
    Marks {
        label: (api::labels::PROVIDER.to_owned(), id.label()),
        reserved: Vec::new(),
        owner: id.label(),
        owner_annotation: None,
        digest_annotation: None,
        finalizer: None,
    }
}

/// How objects of a provider are written: server-side apply that takes over what clusterctl and kubectl wrote.
pub(crate) fn options(namespace: &str) -> Options {
    Options {
        field_manager: FIELD_MANAGER.to_owned(),
        prefix: PREFIX.to_owned(),
        defaults: Policies {
            adoption: AdoptionPolicy::IfUnowned,
            reconcile: ReconcilePolicy::OnObjectChange,
            update: UpdatePolicy::SsaOverride,
            delete: DeletePolicy::Delete,
        },
        missing_namespaces: MissingNamespaces::Create,
        namespace: namespace.to_owned(),
        take_over: FORMER_TOOLS.map(str::to_owned).to_vec(),
        additional_managed_types: Vec::new(),
        component_digest: None,
        reapply_after: None,
    }
}

/// Settles what objects of providers need beside the defaults.
/// - Providers may share a Namespace: with `--target-namespace` each brings the same one, under its own label.
/// - A ClusterRole that gathers the rules of others goes before them. Kubernetes writes it anew whenever one of them
///   changes, by an apply that makes it again when it was deleted at that moment.
pub(crate) fn settle_policies(desired: &mut DesiredSet) {
    for object in &mut desired.objects {
        if object.key.is("", "Namespace") {
            object.policies.policies.adoption = AdoptionPolicy::Always;
        } else if object.object.get(&["aggregationRule"]).is_some_and(Value::is_object) {
            object.policies.delete_order = -1;
        }
    }
}

#[cfg(test)]
mod tests;
