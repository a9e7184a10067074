//! Reads the state of cert-manager on a cluster.

use std::collections::BTreeSet;

use apply::{
    ApiError, ApplySet, Blocker, GroupKind, ListQuery, ObjectKey, ReadDetail, StatusHints, status_of,
};
use futures::future::try_join_all;
use inventory::{ManagementCluster, crd_kind, known_kind};
use manifest::Object;

use super::{
    CertManagerManifest,
    decide::Found,
    probe::{GROUP, Probe, probe},
};
use crate::{
    applied::is_made_by_a_controller,
    cert_manager::record::{SELECTOR, cert_manager_set},
};

/// Namespaces of the objects of cert-manager releases.
/// Source: clusterctl v1.14 client/cluster/cert_manager.go (certManagerNamespaces).
const NAMESPACES: [&str; 2] = ["cert-manager", "kube-system"];

/// Kinds in releases of cert-manager. A manifest and a record add their own kinds.
const KINDS: [(&str, &str); 16] = [
    ("", "ConfigMap"),
    ("", "Namespace"),
    ("", "Secret"),
    ("", "Service"),
    ("", "ServiceAccount"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("batch", "Job"),
    ("policy", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
];

/// The labels of cert-manager Deployments in every common packaging.
/// Source: cert-manager 1.21, its charts and manifests.
const DEPLOYMENT_LABELS: &str = "app.kubernetes.io/name in (cert-manager,cainjector,webhook),\
    app.kubernetes.io/component in (controller,cainjector,webhook)";

/// Reads the state that an installation needs. Sends only a few requests if cert-manager is absent or external.
pub(super) async fn find_cert_manager(cluster: &ManagementCluster) -> Result<Found, ApiError> {
    let probed = probe(&cluster.server).await?;
    let mut found = Found { is_served: probed != Probe::Absent, ..Found::default() };
    if !found.is_served {
        return Ok(found);
    }
    found.silence = probed.silence();
    if has_own_cert_manager(cluster).await? {
        found.set = cert_manager_set(cluster).await?;
        found.live = labelled_cert_manager(cluster, None, found.set.as_ref()).await?;
    } else {
        found.foreign_version = foreign_version(cluster).await?;
    }
    Ok(found)
}

/// True if definitions carry the cert-manager label. Definitions are the last objects of an installation to
/// be deleted.
pub(super) async fn has_own_cert_manager(cluster: &ManagementCluster) -> Result<bool, ApiError> {
    let list = ListQuery { metadata_only: true, limit: Some(1), ..labelled() };
    Ok(!cluster.server.list(&crd_kind(), &list).await?.is_empty())
}

/// Returns objects with the cert-manager label, kind by kind. Kinds with images are read in full.
pub(super) async fn labelled_cert_manager(
    cluster: &ManagementCluster,
    manifest: Option<&CertManagerManifest>,
    set: Option<&ApplySet>,
) -> Result<Vec<Object>, ApiError> {
    let kinds = cluster.server.kinds().await?;
    let objects = manifest.iter().flat_map(|manifest| &manifest.objects).map(ObjectKey::of);
    let keys: Vec<_> =
        objects.chain(set.iter().flat_map(|set| &set.items).map(|item| item.key.clone())).collect();
    let known = KINDS.iter().map(|(group, kind)| GroupKind::new(*group, *kind));
    let wanted: BTreeSet<_> = keys.iter().map(ObjectKey::group_kind).chain(known).collect();
    let lists = wanted.iter().filter_map(|kind| kinds.preferred(kind)).map(|kind| async move {
        let list = ListQuery { metadata_only: kind.group != "apps", ..labelled() };
        cluster.server.list(kind, &list).await
    });
    let namespaces: BTreeSet<_> =
        keys.iter().map(|key| &*key.namespace).chain(NAMESPACES).chain([""]).collect();
    let is_ours =
        |object: &Object| namespaces.contains(object.namespace()) && !is_made_by_a_controller(object);
    Ok(try_join_all(lists).await?.into_iter().flatten().filter(is_ours).collect())
}

/// Returns the Deployments of an external cert-manager that are not ready.
pub(super) async fn foreign_blockers(cluster: &ManagementCluster) -> Result<Vec<Blocker>, ApiError> {
    let deployments = foreign_deployments(cluster, ReadDetail::Full).await?;
    let statuses =
        deployments.iter().map(|object| (ObjectKey::of(object), status_of(object, &StatusHints::default())));
    let waiting = statuses.filter(|(_, status)| !status.is_ready());
    Ok(waiting.map(|(object, status)| Blocker::new(object, status)).collect())
}

/// Warns if the definitions of cert-manager exist without a Deployment. The probe cannot tell such leftovers
/// from a running cert-manager, because nothing rejects an Issuer.
pub(super) async fn warn_of_remains(cluster: &ManagementCluster, found: &Found) -> Result<(), ApiError> {
    if found.live.is_empty() && foreign_deployments(cluster, ReadDetail::Metadata).await?.is_empty() {
        cluster.warn(
            "the kinds of cert-manager are served, and no Deployment looks like a cert-manager that serves them: \
             if it was uninstalled, delete its CustomResourceDefinitions"
                .to_owned(),
        );
    }
    Ok(())
}

async fn foreign_deployments(
    cluster: &ManagementCluster,
    detail: ReadDetail,
) -> Result<Vec<Object>, ApiError> {
    let deployment = known_kind("apps", "v1", "Deployment", "deployments", true);
    let list = ListQuery {
        labels: DEPLOYMENT_LABELS.to_owned(),
        metadata_only: detail == ReadDetail::Metadata,
        ..ListQuery::default()
    };
    cluster.server.list(&deployment, &list).await
}

async fn foreign_version(cluster: &ManagementCluster) -> Result<String, ApiError> {
    let name = format!("certificates.{GROUP}");
    let list =
        ListQuery { fields: format!("metadata.name={name}"), metadata_only: true, ..ListQuery::default() };
    let found = cluster.server.list(&crd_kind(), &list).await?;
    let version = found.first().and_then(|object| object.label("app.kubernetes.io/version"));
    Ok(version.unwrap_or_default().to_owned())
}

fn labelled() -> ListQuery {
    ListQuery { labels: SELECTOR.to_owned(), ..ListQuery::default() }
}
