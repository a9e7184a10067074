//! Machines that a rollout has yet to replace, independent of the object's status.
//!
//! The controller of MachineDeployments observes a change before its effect. It adds up the counts of MachineSets,
//! which evaluate their Machines later. Right after a restart, the status therefore has the new generation and counts
//! every Machine as up to date.
//! Source: Cluster API v1.11 `internal/controllers/machinedeployment` (setReplicas) and `machineset`
//! (newMachineUpToDateCondition).

use api::Contract;
use apply::{ApiError, ListQuery};
use inventory::{ManagementCluster, known_kind};
use jiff::Timestamp;
use manifest::{Object, Value};

use super::{
    RolloutResource,
    change::{is_deployment, rollout_after},
};

/// Fields of a machine template whose change replaces Machines, in MachineDeployments and MachineSets.
const TEMPLATE_FIELDS: [&[&str]; 3] = [
    &["spec", "template", "spec", "version"],
    &["spec", "template", "spec", "bootstrap", "configRef", "name"],
    &["spec", "template", "spec", "infrastructureRef", "name"],
];

/// Counts Machines that are older than the last change of their MachineDeployment or control plane, with one request.
pub(super) async fn outdated_machines(
    cluster: &ManagementCluster,
    resource: &RolloutResource,
    object: &Object,
    now: Timestamp,
) -> Result<u64, ApiError> {
    let served = |kind, plural| known_kind("cluster.x-k8s.io", Contract::CURRENT, kind, plural, true);
    let labelled = |label| ListQuery {
        namespace: Some(resource.namespace.clone()),
        labels: format!("{label}={}", resource.name),
        ..ListQuery::default()
    };
    if is_deployment(resource) {
        let sets = served("MachineSet", "machinesets");
        let sets = cluster.server.list(&sets, &labelled("cluster.x-k8s.io/deployment-name")).await?;
        let outdated =
            sets.iter().filter(|set| is_older(object, set, now) || has_other_template(object, set));
        Ok(outdated.filter_map(|set| set.get(&["spec", "replicas"])?.as_u64()).sum())
    } else if resource.kind.kind.ends_with("ControlPlane") && rollout_after(object).is_some() {
        let machines = served("Machine", "machines");
        let list = ListQuery { metadata_only: true, ..labelled("cluster.x-k8s.io/control-plane-name") };
        let machines = cluster.server.list(&machines, &list).await?;
        Ok(machines.iter().filter(|machine| is_older(object, machine, now)).count() as u64)
    } else {
        Ok(0)
    }
}

/// True if an object was created before the time from which older objects are replaced, and that time has come. Times
/// are whole seconds, so an object of the same second may be on either side.
fn is_older(owner: &Object, object: &Object, now: Timestamp) -> bool {
    let created = object.get(&["metadata", "creationTimestamp"]).and_then(Value::as_str);
    let created = created.and_then(|created| created.parse::<Timestamp>().ok());
    match (rollout_after(owner), created) {
        (Some((_, after)), Some(created)) => created < after && after <= now,
        _ => false,
    }
}

fn has_other_template(deployment: &Object, set: &Object) -> bool {
    TEMPLATE_FIELDS.iter().any(|field| deployment.get(field) != set.get(field))
}
