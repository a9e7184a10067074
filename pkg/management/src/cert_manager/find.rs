//! Reads the state of cert-manager on a cluster.

use std::collections::BTreeSet;

use apply::{
    ApiError, ApplySet, Blocker, GroupKind, ListQuery, ObjectKey, ReadDetail, StatusHints, key_of, status_of,
};
use futures::future::try_join_all;
use inventory::{ManagementCluster, crd_kind, known_kind};
use manifest::Object;

use super::{
    CertManagerManifest,
    decide::CertManagerState,
    probe::{GROUP, ProbeResult, probe},
};
use crate::{
    applied::has_controller,
    cert_manager::record::{SELECTOR, recorded_cert_manager_set},
};

/// Namespaces of the objects of cert-manager releases.
/// Source: clusterctl v1.14 client/cluster/cert_manager.go (certManagerNamespaces).
const RELEASE_NAMESPACES: [&str; 2] = ["cert-manager", "kube-system"];

/// Kinds in releases of cert-manager. A manifest and a record add their own kinds.
const RELEASE_KINDS: [(&str, &str); 16] = [
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
pub(super) async fn read_cert_manager_state(
    cluster: &ManagementCluster,
) -> Result<CertManagerState, ApiError> {
    let result = probe(&cluster.server).await?;
    let mut state =
        CertManagerState { is_served: result != ProbeResult::NotServed, ..CertManagerState::default() };
    if !state.is_served {
        return Ok(state);
    }
    state.unavailable_reason = result.unavailable_reason();
    if has_managed_cert_manager(cluster).await? {
        state.set = recorded_cert_manager_set(cluster).await?;
        state.live = labelled_objects(cluster, None, state.set.as_ref()).await?;
    } else {
        state.external_version = external_version(cluster).await?;
    }
    Ok(state)
}

/// True if definitions carry the cert-manager label. Definitions are the last objects of an installation to
/// be deleted.
pub(super) async fn has_managed_cert_manager(cluster: &ManagementCluster) -> Result<bool, ApiError> {
    let list = ListQuery { metadata_only: true, limit: Some(1), ..labelled_list() };
    Ok(!cluster.server.list(&crd_kind(), &list).await?.is_empty())
}

/// Returns objects with the cert-manager label, kind by kind. Kinds with images are read in full.
pub(super) async fn labelled_objects(
    cluster: &ManagementCluster,
    manifest: Option<&CertManagerManifest>,
    set: Option<&ApplySet>,
) -> Result<Vec<Object>, ApiError> {
    let kinds = cluster.server.kinds().await?;
    let objects = manifest.iter().flat_map(|manifest| &manifest.objects).map(key_of);
    let keys: Vec<_> =
        objects.chain(set.iter().flat_map(|set| &set.items).map(|item| item.key.clone())).collect();
    let known = RELEASE_KINDS.iter().map(|(group, kind)| GroupKind::new(*group, *kind));
    let wanted: BTreeSet<_> = keys.iter().map(ObjectKey::group_kind).chain(known).collect();
    let lists = wanted.iter().filter_map(|kind| kinds.preferred(kind)).map(|kind| async move {
        let list = ListQuery { metadata_only: kind.group != "apps", ..labelled_list() };
        cluster.server.list(kind, &list).await
    });
    let namespaces: BTreeSet<_> =
        keys.iter().map(|key| &*key.namespace).chain(RELEASE_NAMESPACES).chain([""]).collect();
    let is_ours = |object: &Object| namespaces.contains(object.namespace()) && !has_controller(object);
    Ok(try_join_all(lists).await?.into_iter().flatten().filter(is_ours).collect())
}

/// Returns the Deployments of an external cert-manager that are not ready.
pub(super) async fn external_blockers(cluster: &ManagementCluster) -> Result<Vec<Blocker>, ApiError> {
    let deployments = external_deployments(cluster, ReadDetail::Full).await?;
    let statuses =
        deployments.iter().map(|object| (key_of(object), status_of(object, &StatusHints::default())));
    let waiting = statuses.filter(|(_, status)| !status.is_ready());
    Ok(waiting.map(|(object, status)| Blocker::new(object, status)).collect())
}

/// Warns if the definitions of cert-manager exist without a Deployment. The probe cannot tell such leftovers
/// from a running cert-manager, because nothing rejects an Issuer.
pub(super) async fn warn_leftovers(
    cluster: &ManagementCluster,
    state: &CertManagerState,
) -> Result<(), ApiError> {
    if state.live.is_empty() && external_deployments(cluster, ReadDetail::Metadata).await?.is_empty() {
        cluster.warn(
            "the server serves the cert-manager kinds, but no cert-manager Deployment exists: if you uninstalled cert-manager, delete its CustomResourceDefinitions"
                .to_owned(),
        );
    }
    Ok(())
}

async fn external_deployments(
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

async fn external_version(cluster: &ManagementCluster) -> Result<String, ApiError> {
    let name = format!("certificates.{GROUP}");
    let list =
        ListQuery { fields: format!("metadata.name={name}"), metadata_only: true, ..ListQuery::default() };
    let found = cluster.server.list(&crd_kind(), &list).await?;
    let version = found.first().and_then(|object| object.label("app.kubernetes.io/version"));
    Ok(version.unwrap_or_default().to_owned())
}

fn labelled_list() -> ListQuery {
    ListQuery { labels: SELECTOR.to_owned(), ..ListQuery::default() }
}
