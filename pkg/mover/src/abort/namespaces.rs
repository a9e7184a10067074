//! Deletes the namespaces that a move created, unless other objects are in them.

use apply::{ApiError, ApiKind, ListQuery, ObjectRevision};
use inventory::{ManagementCluster, known_kind};
use manifest::Object;

use super::AbortContext;
use crate::concurrency::run_concurrently;

/// Maximum number of objects to read per kind; more than a new namespace contains.
const LIST_LIMIT: usize = 4;

impl AbortContext<'_> {
    /// Deletes the empty namespaces that the move created. Returns the names of the others.
    pub(super) async fn delete_namespaces(&self) -> Result<Vec<String>, ApiError> {
        let kind = known_kind("", "v1", "Namespace", "namespaces", false);
        let mut remaining = Vec::new();
        for name in &self.journal.made_namespaces {
            let Some(namespace) = self.target.server.get(&kind, "", name).await? else { continue };
            if is_empty_namespace(&self.target, name).await? {
                self.target.server.delete(&kind, "", name, Some(&ObjectRevision::of(&namespace))).await?;
            } else {
                remaining.push(name.clone());
            }
        }
        Ok(remaining)
    }
}

/// True if a namespace holds only the objects of every new namespace. A kind that cannot be listed counts as an object.
async fn is_empty_namespace(cluster: &ManagementCluster, namespace: &str) -> Result<bool, ApiError> {
    let kinds = cluster.server.kinds().await?;
    if kinds.unavailable().next().is_some() {
        return Ok(false);
    }
    // A kind without `delete` is a view of other objects.
    let holds = |kind: &&ApiKind| {
        kind.namespaced && kind.supports("list") && kind.supports("delete") && kind.kind != "Event"
    };
    let list = ListQuery {
        namespace: Some(namespace.to_owned()),
        metadata_only: true,
        limit: Some(LIST_LIMIT),
        ..ListQuery::default()
    };
    let list = &list;
    let at_most = cluster.server.max_in_flight();
    let (found, failures) = run_concurrently(at_most, kinds.iter().filter(holds), |kind| async move {
        match cluster.server.list(kind, list).await {
            Err(error) if error.is_not_found() => Ok(true),
            Err(error) if error.is_temporary() => Err(error),
            Err(_) => Ok(false),
            Ok(objects) => Ok(objects.iter().all(is_default_object)),
        }
    })
    .await;
    match failures.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(found.into_iter().all(|is_empty| is_empty)),
    }
}

/// True for an object that Kubernetes creates in every namespace.
/// Source: Kubernetes 1.36, pkg/controller/certificates/rootcacertpublisher and pkg/controller/serviceaccount.
fn is_default_object(object: &Object) -> bool {
    matches!(
        (object.kind(), object.name()),
        ("ConfigMap", "kube-root-ca.crt") | ("ServiceAccount", "default")
    )
}
