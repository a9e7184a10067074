//! Clusters: provisioning from infrastructure and control plane to phase `Provisioned`, and ordered deletion.
//!
//! Source: Cluster API v1.14 `core/reconcilers/cluster`, run.

use serde_json::{Value, json};

use super::{
    conditions::{self, Condition, legacy},
    contract::{Contract, has_control_plane, referenced_object},
    counts::MachineCounts,
    object::{
        CLUSTER_NAME, IS_CONTROL_PLANE, add_finalizer, controller, desired_replicas, ensure_owner,
        generation, group, is_deleting, kind, label, name, non_null, number, owner_reference,
        remove_finalizer, set, set_label,
    },
    plan::{ObjectReader, WritePlan, objects_of_cluster},
    topology,
};

const FINALIZER: &str = "cluster.cluster.x-k8s.io";

pub(super) fn plan(reader: &ObjectReader<'_>, live: &Value) -> WritePlan {
    if is_deleting(live) {
        return plan_deletion(reader, live);
    }
    let mut plan = WritePlan::default();
    let mut cluster = live.clone();
    add_finalizer(&mut cluster, FINALIZER);
    let topology = topology::is_managed(live).then(|| topology::build(reader, &mut cluster, &mut plan));
    let parts = ClusterParts::of(reader, &cluster);
    for part in [&parts.infrastructure, &parts.control_plane].into_iter().flatten() {
        plan.update(part, with_owner(part, &cluster));
    }
    copy_endpoint(reader, &mut cluster, &parts);
    write_status(reader, &mut cluster, &parts, topology.as_ref());
    plan.update(live, cluster);
    plan
}

/// The existing infrastructure and control plane of a Cluster.
pub(super) struct ClusterParts {
    infrastructure: Option<Value>,
    control_plane: Option<Value>,
}

impl ClusterParts {
    fn of(reader: &ObjectReader<'_>, cluster: &Value) -> Self {
        Self {
            infrastructure: referenced_object(reader, cluster, "/spec/infrastructureRef"),
            control_plane: referenced_object(reader, cluster, "/spec/controlPlaneRef"),
        }
    }
}

/// Adds the Cluster as owner of its infrastructure or control plane. Under contract v1beta2, the Cluster controls only
/// objects of a managed topology, so that user-created objects may have another controller.
fn with_owner(part: &Value, cluster: &Value) -> Value {
    let mut part = part.clone();
    if is_deleting(&part) {
        return part;
    }
    let controls = topology::is_managed(cluster) || Contract::of(cluster) == Contract::V1Beta1;
    ensure_owner(&mut part, owner_reference(cluster, controls));
    set_label(&mut part, CLUSTER_NAME, name(cluster));
    part
}

/// Copies the control plane endpoint from the infrastructure, or else from the control plane.
fn copy_endpoint(reader: &ObjectReader<'_>, cluster: &mut Value, parts: &ClusterParts) {
    if non_null(cluster, "/spec/controlPlaneEndpoint/host").is_some_and(|host| host != "") {
        return;
    }
    let ready = parts
        .infrastructure
        .iter()
        .filter(|part| reader.contract(group(part), kind(part)).is_provisioned(part));
    let endpoint = ready
        .chain(&parts.control_plane)
        .map(|part| &part["spec"]["controlPlaneEndpoint"])
        .find(|endpoint| endpoint["host"].as_str().is_some_and(|host| !host.is_empty()));
    if let Some(endpoint) = endpoint {
        let endpoint = json!({"host": endpoint["host"], "port": endpoint["port"]});
        set(cluster, &["spec", "controlPlaneEndpoint"], endpoint);
    }
}

/// Kinds of workers, in the order of deletion.
const WORKERS: [&str; 4] = ["MachineDeployment", "MachineSet", "MachinePool", "Machine"];

fn plan_deletion(reader: &ObjectReader<'_>, live: &Value) -> WritePlan {
    let mut plan = WritePlan::default();
    let mut cluster = live.clone();
    if let Some((reason, message)) = delete_next(reader, live, &mut plan) {
        let deleting = Condition::new("Deleting", true, reason).with_message(message);
        set(&mut cluster, &["status", "phase"], "Deleting".into());
        set(&mut cluster, &["status", "observedGeneration"], generation(live).into());
        conditions::write(&mut cluster, Contract::of(live), &[deleting], &[], &reader.now());
    } else {
        remove_finalizer(&mut cluster, FINALIZER);
    }
    plan.update(live, cluster);
    plan
}

/// Deletes the next objects and returns the reason to wait: `None` if no object is left.
fn delete_next(
    reader: &ObjectReader<'_>,
    cluster: &Value,
    plan: &mut WritePlan,
) -> Option<(&'static str, String)> {
    let workers: Vec<Value> = WORKERS
        .iter()
        .flat_map(|kind| objects_of_cluster(reader, kind, cluster))
        .filter(|worker| label(worker, IS_CONTROL_PLANE).is_none())
        .collect();
    if !workers.is_empty() {
        // The controller of a worker deletes the worker.
        for worker in workers.iter().filter(|worker| controller(worker).is_none_or(is_cluster)) {
            plan.delete(worker);
        }
        let mut kinds: Vec<String> = WORKERS
            .iter()
            .map(|one| (one, workers.iter().filter(|worker| kind(worker) == *one).count()))
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| format!("* {kind}s: {count}"))
            .collect();
        kinds.sort();
        return Some(("WaitingForWorkersDeletion", kinds.join("\n")));
    }
    let parts = ClusterParts::of(reader, cluster);
    if let Some(control_plane) = parts.control_plane {
        plan.delete(&control_plane);
        return Some((
            "WaitingForControlPlaneDeletion",
            format!("Waiting for {} to be deleted", kind(&control_plane)),
        ));
    }
    // Deletes the remaining Machines, such as control plane Machines without an owner.
    let machines = objects_of_cluster(reader, "Machine", cluster);
    if !machines.is_empty() {
        plan.delete_all(&machines);
        return Some(("WaitingForControlPlaneDeletion", format!("* Machines: {}", machines.len())));
    }
    let infrastructure = parts.infrastructure?;
    plan.delete(&infrastructure);
    Some(("WaitingForInfrastructureDeletion", format!("Waiting for {} to be deleted", kind(&infrastructure))))
}

fn is_cluster(owner: &Value) -> bool {
    owner["kind"] == "Cluster"
}

/// The aggregated state of a Cluster.
struct ClusterState {
    infrastructure: bool,
    initialized: bool,
    control_plane_ready: bool,
    control_plane: MachineCounts,
    workers: MachineCounts,
}

fn write_status(
    reader: &ObjectReader<'_>,
    cluster: &mut Value,
    parts: &ClusterParts,
    topology: Option<&topology::TopologyOutcome>,
) {
    let contract = Contract::of(cluster);
    let state = ClusterState::of(reader, cluster, parts);
    if state.infrastructure {
        contract.set_initialized(cluster, "infrastructureReady", "infrastructureProvisioned");
    }
    match contract {
        Contract::V1Beta2 if state.initialized => {
            set(cluster, &["status", "initialization", "controlPlaneInitialized"], json!(true));
        }
        Contract::V1Beta2 => {}
        Contract::V1Beta1 => {
            set(cluster, &["status", "controlPlaneReady"], json!(state.control_plane_ready));
        }
    }
    let place: &[&str] = if contract == Contract::V1Beta1 { &["status", "v1beta2"] } else { &["status"] };
    for (name, counts) in [("controlPlane", &state.control_plane), ("workers", &state.workers)] {
        set(cluster, &[place, &[name]].concat(), counts.to_cluster_status());
    }
    let endpoint = non_null(cluster, "/spec/controlPlaneEndpoint/host").is_some();
    let phase = match (state.infrastructure && endpoint, non_null(cluster, "/spec/infrastructureRef")) {
        (true, _) => "Provisioned",
        (false, Some(_)) => "Provisioning",
        (false, None) => "Pending",
    };
    set(cluster, &["status", "phase"], json!(phase));
    set(cluster, &["status", "observedGeneration"], json!(generation(cluster)));
    copy_failure_domains(reader, cluster, parts, contract);
    write_conditions(cluster, contract, &state, topology, &reader.now());
}

impl ClusterState {
    fn of(reader: &ObjectReader<'_>, cluster: &Value, parts: &ClusterParts) -> Self {
        let infrastructure = match &parts.infrastructure {
            Some(part) => reader.contract(group(part), kind(part)).is_provisioned(part),
            // A Cluster without an infrastructure reference needs no infrastructure if a control plane exists.
            None => non_null(cluster, "/spec/infrastructureRef").is_none() && parts.control_plane.is_some(),
        };
        let machines = objects_of_cluster(reader, "Machine", cluster);
        let (of_control_plane, of_workers): (Vec<_>, Vec<_>) =
            machines.into_iter().partition(|machine| label(machine, IS_CONTROL_PLANE).is_some());
        let (initialized, ready, control_plane) = if let Some(part) = &parts.control_plane {
            let its = reader.contract(group(part), kind(part));
            let initialized = its.is_initialized(part, "initialized", "controlPlaneInitialized");
            let ready = number(part, "/status/readyReplicas").map_or(initialized, |replicas| replicas > 0);
            (initialized, ready, MachineCounts::from_status(part, its))
        } else {
            let up = of_control_plane.iter().any(|machine| non_null(machine, "/status/nodeRef").is_some());
            (up, up, MachineCounts::of(&of_control_plane, of_control_plane.len()))
        };
        let initialized = initialized || has_control_plane(cluster);
        let workers = workers(reader, cluster, &of_workers);
        Self { infrastructure, initialized, control_plane_ready: ready, control_plane, workers }
    }
}

fn workers(reader: &ObjectReader<'_>, cluster: &Value, machines: &[Value]) -> MachineCounts {
    let deployments = objects_of_cluster(reader, "MachineDeployment", cluster);
    let pools = objects_of_cluster(reader, "MachinePool", cluster);
    let alone = objects_of_cluster(reader, "MachineSet", cluster);
    let alone = alone.iter().filter(|set| controller(set).is_none());
    let wanted: usize = deployments.iter().chain(&pools).chain(alone).map(desired_replicas).sum();
    let unmanaged = machines.iter().filter(|machine| controller(machine).is_none()).count();
    let mut counts = MachineCounts::of(machines, wanted + unmanaged);
    for pool in &pools {
        counts.add(&MachineCounts::from_status(pool, Contract::of(pool)));
    }
    counts
}

/// Copies failure domains if infrastructure and Cluster use the same contract.
fn copy_failure_domains(
    reader: &ObjectReader<'_>,
    cluster: &mut Value,
    parts: &ClusterParts,
    contract: Contract,
) {
    let Some(part) = &parts.infrastructure else { return };
    let domains = &part["status"]["failureDomains"];
    if reader.contract(group(part), kind(part)) == contract && !domains.is_null() {
        set(cluster, &["status", "failureDomains"], domains.clone());
    }
}

fn write_conditions(
    cluster: &mut Value,
    contract: Contract,
    state: &ClusterState,
    topology: Option<&topology::TopologyOutcome>,
    now: &str,
) {
    let ClusterState { infrastructure, initialized, control_plane: masters, workers, .. } = state;
    let masters_available = *initialized && masters.is_available();
    let reconciled = topology.is_none_or(topology::TopologyOutcome::is_reconciled);
    let available = *infrastructure && masters_available && workers.is_available() && reconciled;
    let (up, down) = (
        masters.is_scaling_up() || workers.is_scaling_up(),
        masters.is_scaling_down() || workers.is_scaling_down(),
    );
    let rolls = masters.is_rolling_out() || workers.is_rolling_out();
    let mut new = vec![
        Condition::positive("Available", "Available", available)
            .with_message(state.unavailable_reasons(available)),
        Condition::positive("InfrastructureReady", "Ready", *infrastructure),
        Condition::positive("ControlPlaneInitialized", "Initialized", *initialized),
        Condition::positive("ControlPlaneAvailable", "Available", masters_available),
        masters.all_ready("ControlPlaneMachinesReady"),
        masters.all_up_to_date("ControlPlaneMachinesUpToDate"),
        if workers.is_zero() {
            Condition::new("WorkersAvailable", true, "NoWorkers")
        } else {
            Condition::positive("WorkersAvailable", "Available", workers.is_available())
        },
        workers.all_ready("WorkerMachinesReady"),
        workers.all_up_to_date("WorkerMachinesUpToDate"),
        if *initialized {
            Condition::new("RemoteConnectionProbe", true, "ProbeSucceeded")
        } else {
            Condition::new("RemoteConnectionProbe", false, "ProbeFailed")
                .with_message("Remote connection not established yet".to_owned())
        },
        Condition::activity("RollingOut", rolls),
        Condition::activity("ScalingUp", up),
        Condition::activity("ScalingDown", down),
        Condition::activity("Remediating", false),
        Condition::activity("Deleting", false),
        Condition::activity("Paused", false),
    ];
    let ready = *infrastructure && state.control_plane_ready;
    let mut old = vec![
        legacy("Ready", ready, "WaitingForControlPlane"),
        legacy("InfrastructureReady", *infrastructure, "WaitingForInfrastructure"),
        legacy("ControlPlaneReady", state.control_plane_ready, "WaitingForControlPlane"),
        legacy("ControlPlaneInitialized", *initialized, "WaitingForControlPlaneProviderInitialized"),
    ];
    if let Some(topology) = topology {
        let (condition, older) = topology.conditions();
        new.push(condition);
        old.push(older);
    }
    conditions::write(cluster, contract, &new, &old, now);
}

impl ClusterState {
    /// Returns the reasons why the Cluster is not available, one per line.
    fn unavailable_reasons(&self, available: bool) -> String {
        if available {
            return String::new();
        }
        let mut lines = Vec::new();
        if !self.infrastructure {
            lines.push("* InfrastructureReady: Infrastructure is not ready yet");
        }
        if !self.initialized {
            lines.push("* RemoteConnectionProbe: Remote connection not established yet");
        }
        if !self.initialized || !self.control_plane.is_available() {
            lines.push("* ControlPlaneAvailable: Control plane not yet available");
        }
        if !self.workers.is_available() {
            lines.push("* WorkersAvailable: Workers not yet available");
        }
        lines.join("\n")
    }
}
