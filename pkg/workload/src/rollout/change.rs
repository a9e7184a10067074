//! One rollout is begun anew, paused or resumed.

use apply::{ApiKind, PatchOf, WriteMode};
use inventory::{FIELD_MANAGER, ManagementCluster, definition_kind};
use jiff::Timestamp;
use manifest::{Object, Value};
use serde_json::json;

use super::{RolloutError, RolloutResource};
use crate::{marks::PAUSED, rollout::resource::rollout_object};

/// What to do with a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RolloutChange {
    /// All machines are replaced, though nothing of them has changed.
    Restart,
    /// Nothing more is done.
    Pause,
    /// What was paused goes on.
    Resume,
}

/// Where a kind keeps the time from which on older machines are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    /// `spec.rollout.after`
    Current,
    /// `spec.rolloutAfter`, of contract v1beta1.
    Older,
}

/// The annotation by which an object is paused, as a JSON pointer has it.
const PAUSED_POINTER: &str = "/metadata/annotations/cluster.x-k8s.io~1paused";
/// Label on what a managed topology makes.
const TOPOLOGY_OWNED: &str = "topology.cluster.x-k8s.io/owned";
/// Label on what belongs to a Cluster.
const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";

/// Changes the rollout of an object that may be changed so. Two requests; one more for a restart of a kind that is not
/// known to have the field for it. A restart of a part of a managed topology is told with a warning.
/// Source: clusterctl v1.14 client/alpha (rollout_restarter, rollout_pauser, rollout_resumer): the same patches.
/// # Errors
/// When it is not there, or its state does not allow the change: then nothing was written. A dry run sends no patch.
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
            restart(resource, &object, after, Timestamp::now())?
        }
        RolloutChange::Pause => pause(resource, &object)?,
        RolloutChange::Resume => resume(resource, &object)?,
    };
    // Of all that is changed here a topology sets this alone, where its Cluster names a time.
    if change == RolloutChange::Restart && object.label(TOPOLOGY_OWNED).is_some() {
        cluster.warn(of_topology(resource, &object));
    }
    if mode == WriteMode::DryRun {
        return Ok(());
    }
    let RolloutResource { kind, namespace, name } = resource;
    cluster.server.patch(kind, namespace, name, &patch, FIELD_MANAGER, PatchOf::Object).await?;
    Ok(())
}

async fn restart_field(
    cluster: &ManagementCluster,
    resource: &RolloutResource,
) -> Result<After, RolloutError> {
    if is_deployment(resource) || resource.is_kind("controlplane.cluster.x-k8s.io", "KubeadmControlPlane") {
        return Ok(After::Current);
    }
    let ApiKind { group, plural, version, .. } = &resource.kind;
    let definition = cluster.server.get(&definition_kind(), "", &format!("{plural}.{group}")).await?;
    let after = definition.and_then(|definition| after_in(&definition, version));
    after.ok_or_else(|| RolloutError::NoRestart { object: resource.key() })
}

/// Finds the field in the schema of a version. A schema that takes everything says nothing: whoever rolls out by the
/// field has it there.
fn after_in(definition: &Object, version: &str) -> Option<After> {
    let versions = definition.get(&["spec", "versions"])?.as_array()?;
    let version = versions.iter().find(|served| served["name"] == version)?;
    let spec = version.pointer("/schema/openAPIV3Schema/properties/spec/properties")?;
    let has = |pointer| spec.pointer(pointer).is_some();
    match (has("/rollout/properties/after"), has("/rolloutAfter")) {
        (true, _) => Some(After::Current),
        (false, true) => Some(After::Older),
        (false, false) => None,
    }
}

fn restart(
    resource: &RolloutResource,
    object: &Object,
    field: After,
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
        After::Current => json!({"spec": {"rollout": {"after": after}}}),
        After::Older => json!({"spec": {"rolloutAfter": after}}),
    })
}

fn pause(resource: &RolloutResource, object: &Object) -> Result<Value, RolloutError> {
    if is_paused(resource, object) {
        return Err(RolloutError::AlreadyPaused { object: resource.key() });
    }
    Ok(if is_deployment(resource) {
        json!({"spec": {"paused": true}})
    } else {
        json!({"metadata": {"annotations": {PAUSED: "true"}}})
    })
}

fn resume(resource: &RolloutResource, object: &Object) -> Result<Value, RolloutError> {
    if !is_paused(resource, object) {
        return Err(RolloutError::NotPaused { object: resource.key() });
    }
    Ok(if is_deployment(resource) {
        json!({"spec": {"paused": false}})
    } else {
        json!([{"op": "remove", "path": PAUSED_POINTER}])
    })
}

/// Whether it is paused by what `pause` sets: a MachineDeployment has a field, all else the annotation.
pub(super) fn is_paused(resource: &RolloutResource, object: &Object) -> bool {
    if is_deployment(resource) {
        object.get(&["spec", "paused"]).is_some_and(|paused| *paused == true)
    } else {
        object.annotation(PAUSED).is_some()
    }
}

/// The time from which on older machines are replaced, as it is written, and when that is.
pub(super) fn rollout_after(object: &Object) -> Option<(&str, Timestamp)> {
    let current = object.get(&["spec", "rollout", "after"]);
    let text = current.or_else(|| object.get(&["spec", "rolloutAfter"]))?.as_str()?;
    Some((text, text.parse().ok()?))
}

pub(super) fn is_deployment(resource: &RolloutResource) -> bool {
    resource.is_kind("cluster.x-k8s.io", "MachineDeployment")
}

/// Source: Cluster API v1.14 exp/topology/desiredstate.
fn of_topology(resource: &RolloutResource, object: &Object) -> String {
    let cluster = object.label(CLUSTER_NAME).unwrap_or_default();
    format!(
        "{} is part of the managed topology of Cluster `{cluster}`: a `rollout.after` in `spec.topology` of the Cluster takes \
         this change back",
        resource.key()
    )
}
