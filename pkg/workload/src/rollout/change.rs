//! Restart, pause and resume of one rollout.

use api::labels::FIELD_MANAGER;
use apply::{ApiKind, PatchTarget, WriteMode};
use inventory::{ManagementCluster, crd_kind};
use jiff::Timestamp;
use manifest::{Object, Value};
use serde_json::json;

use super::{RolloutError, RolloutResource};
use crate::{marks::PAUSED_ANNOTATION, rollout::resource::rollout_object};

/// The change of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RolloutChange {
    /// Replace all machines, although their specification has not changed.
    Restart,
    /// Stop the rollout.
    Pause,
    /// Resume a paused rollout.
    Resume,
}

/// The field with the time from which older machines are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RestartField {
    /// `spec.rollout.after`
    V1Beta2,
    /// `spec.rolloutAfter`, of contract v1beta1.
    V1Beta1,
}

/// The annotation that pauses an object, as a JSON pointer.
const PAUSED_POINTER: &str = "/metadata/annotations/cluster.x-k8s.io~1paused";
/// The label of objects of a managed topology.
const TOPOLOGY_OWNED: &str = "topology.cluster.x-k8s.io/owned";
/// The label of objects of a Cluster.
const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";

/// Changes the rollout of an object, if its state allows the change. This takes two requests, and one more for a
/// restart of a kind whose field is not known. A restart in a managed topology causes a warning.
/// Source: clusterctl v1.14 client/alpha (rollout_restarter, rollout_pauser, rollout_resumer): the same patches.
/// # Errors
/// A missing object, or a state that does not allow the change. Nothing was written then. A dry run sends no patch.
pub async fn change_rollout(
    cluster: &ManagementCluster,
    resource: &RolloutResource,
    change: RolloutChange,
    mode: WriteMode,
) -> Result<(), RolloutError> {
    let object = rollout_object(cluster, resource).await?;
    let patch = match change {
        RolloutChange::Restart => {
            let after = restart_field(cluster, resource).await?;
            restart_patch(resource, &object, after, Timestamp::now())?
        }
        RolloutChange::Pause => pause_patch(resource, &object)?,
        RolloutChange::Resume => resume_patch(resource, &object)?,
    };
    // The topology sets only this field itself, if its Cluster names a time.
    if change == RolloutChange::Restart && object.label(TOPOLOGY_OWNED).is_some() {
        cluster.warn(topology_warning(resource, &object));
    }
    if mode == WriteMode::DryRun {
        return Ok(());
    }
    let RolloutResource { kind, namespace, name } = resource;
    cluster.server.patch(kind, namespace, name, &patch, FIELD_MANAGER, PatchTarget::Object).await?;
    Ok(())
}

async fn restart_field(
    cluster: &ManagementCluster,
    resource: &RolloutResource,
) -> Result<RestartField, RolloutError> {
    if is_deployment(resource) || resource.is_kind("controlplane.cluster.x-k8s.io", "KubeadmControlPlane") {
        return Ok(RestartField::V1Beta2);
    }
    let ApiKind { group, plural, version, .. } = &resource.kind;
    let definition = cluster.server.get(&crd_kind(), "", &format!("{plural}.{group}")).await?;
    let after = definition.and_then(|definition| find_restart_field(&definition, version));
    after.ok_or_else(|| RolloutError::RestartUnsupported { object: resource.key() })
}

/// Finds the field in the schema of a version. None if the schema does not define the field, even if it accepts unknown
/// fields: kinds that use the field define it.
fn find_restart_field(definition: &Object, version: &str) -> Option<RestartField> {
    let versions = definition.get(&["spec", "versions"])?.as_array()?;
    let version = versions.iter().find(|served| served["name"] == version)?;
    let spec = version.pointer("/schema/openAPIV3Schema/properties/spec/properties")?;
    let has = |pointer| spec.pointer(pointer).is_some();
    match (has("/rollout/properties/after"), has("/rolloutAfter")) {
        (true, _) => Some(RestartField::V1Beta2),
        (false, true) => Some(RestartField::V1Beta1),
        (false, false) => None,
    }
}

fn restart_patch(
    resource: &RolloutResource,
    object: &Object,
    field: RestartField,
    now: Timestamp,
) -> Result<Value, RolloutError> {
    if is_paused(resource, object) {
        let by_annotation = !is_deployment(resource);
        return Err(RolloutError::Paused { object: resource.key(), by_annotation });
    }
    if let Some((after, time)) = rollout_after(object)
        && time > now
    {
        return Err(RolloutError::Scheduled { object: resource.key(), after: after.to_owned() });
    }
    let after = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    Ok(match field {
        RestartField::V1Beta2 => json!({"spec": {"rollout": {"after": after}}}),
        RestartField::V1Beta1 => json!({"spec": {"rolloutAfter": after}}),
    })
}

fn pause_patch(resource: &RolloutResource, object: &Object) -> Result<Value, RolloutError> {
    if is_paused(resource, object) {
        return Err(RolloutError::AlreadyPaused { object: resource.key() });
    }
    Ok(if is_deployment(resource) {
        json!({"spec": {"paused": true}})
    } else {
        json!({"metadata": {"annotations": {PAUSED_ANNOTATION: "true"}}})
    })
}

fn resume_patch(resource: &RolloutResource, object: &Object) -> Result<Value, RolloutError> {
    if !is_paused(resource, object) {
        return Err(RolloutError::NotPaused { object: resource.key() });
    }
    Ok(if is_deployment(resource) {
        json!({"spec": {"paused": false}})
    } else {
        json!([{"op": "remove", "path": PAUSED_POINTER}])
    })
}

/// True if the object is paused in the way of `pause_patch`: a field of a MachineDeployment, or else the annotation.
pub(super) fn is_paused(resource: &RolloutResource, object: &Object) -> bool {
    if is_deployment(resource) {
        object.get(&["spec", "paused"]).is_some_and(|paused| *paused == true)
    } else {
        object.annotation(PAUSED_ANNOTATION).is_some()
    }
}

/// Returns the time from which older machines are replaced, as text and as a timestamp.
pub(super) fn rollout_after(object: &Object) -> Option<(&str, Timestamp)> {
    let current = object.get(&["spec", "rollout", "after"]);
    let text = current.or_else(|| object.get(&["spec", "rolloutAfter"]))?.as_str()?;
    Some((text, text.parse().ok()?))
}

pub(super) fn is_deployment(resource: &RolloutResource) -> bool {
    resource.is_kind("cluster.x-k8s.io", "MachineDeployment")
}

/// Source: Cluster API v1.14 exp/topology/desiredstate.
fn topology_warning(resource: &RolloutResource, object: &Object) -> String {
    let cluster = object.label(CLUSTER_NAME).unwrap_or_default();
    format!(
        "{} belongs to the managed topology of Cluster `{cluster}`: a `rollout.after` in its `spec.topology` reverts this change",
        resource.key()
    )
}
