//! Control planes: KubeadmControlPlanes with their Machines, and other kinds by their contract.
//!
//! Source: Cluster API v1.14 `controlplane/kubeadm`, run.

mod generic;

use serde_json::{Value, json};

use super::{
    conditions::{self, Condition, legacy},
    contract::{Contract, has_infrastructure, referenced_object, resolve},
    counts::MachineCounts,
    deployment::adopt_template,
    object::{
        self, CLUSTER_NAME, IS_CONTROL_PLANE, add_finalizer, contains_fields, desired_replicas, generation,
        is_controlled_by, is_deleting, is_empty, label, merge_maps, name, namespace, non_null, owner_of_kind,
        owner_reference, remove_finalizer, set, string_map, text, unset,
    },
    plan::{ObjectReader, WritePlan, objects_of_cluster},
    rollout, secrets,
    template::{self, TemplateClone},
};
pub(super) use generic::plan as plan_generic;

const FINALIZER: &str = "kubeadm.controlplane.cluster.x-k8s.io";
const CONTROL_PLANE_NAME: &str = "cluster.x-k8s.io/control-plane-name";
/// The hook that the control plane removes after the etcd member of a deleted Machine has left.
const CLEANUP_HOOK: &str = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup";
/// Conditions that a control plane Machine needs to become ready.
const READINESS_GATES: [&str; 5] = [
    "APIServerPodHealthy",
    "ControllerManagerPodHealthy",
    "SchedulerPodHealthy",
    "EtcdPodHealthy",
    "EtcdMemberHealthy",
];

pub(super) fn plan(reader: &ObjectReader<'_>, live: &Value, cluster: &Value) -> WritePlan {
    let mut plan = WritePlan::default();
    let machines = machines(reader, live, cluster);
    for machine in machines.iter().filter(|machine| is_deleting(machine)) {
        let mut released = machine.clone();
        unset(&mut released, &["metadata", "annotations", CLEANUP_HOOK]);
        plan.update(machine, released);
    }
    let mut control_plane = live.clone();
    if is_deleting(live) {
        if delete_machines(reader, cluster, &machines, &mut plan) {
            remove_finalizer(&mut control_plane, FINALIZER);
        }
        plan.update(live, control_plane);
        return plan;
    }
    // The Cluster must first become the owner of its control plane.
    if owner_of_kind(live, "Cluster").is_none() {
        return plan;
    }
    add_finalizer(&mut control_plane, FINALIZER);
    if has_infrastructure(cluster) {
        secrets::ensure(reader, cluster, live, &mut plan);
        adopt_template(reader, live, cluster, template_pointer(live), &mut plan);
        scale(reader, live, cluster, &machines, &mut plan);
    }
    write_status(reader, &mut control_plane, cluster, &machines);
    plan.requeue_after = rollout::time_until_rollout(live, &reader.now());
    plan.update(live, control_plane);
    plan
}

fn machines(reader: &ObjectReader<'_>, control_plane: &Value, cluster: &Value) -> Vec<Value> {
    let mut machines = objects_of_cluster(reader, "Machine", cluster);
    machines.retain(|machine| is_controlled_by(machine, control_plane));
    machines.sort_by(|one, other| age_key(one).cmp(&age_key(other)));
    machines
}

fn age_key(object: &Value) -> (&str, &str) {
    (text(object, "/metadata/creationTimestamp"), name(object))
}

/// Deletes the control plane Machines once no workers exist; true if no Machine is left.
fn delete_machines(
    reader: &ObjectReader<'_>,
    cluster: &Value,
    machines: &[Value],
    plan: &mut WritePlan,
) -> bool {
    let all = objects_of_cluster(reader, "Machine", cluster);
    if all.iter().any(|machine| label(machine, IS_CONTROL_PLANE).is_none()) {
        return false;
    }
    plan.delete_all(machines);
    machines.is_empty()
}

fn template_pointer(control_plane: &Value) -> &'static str {
    match Contract::of(control_plane) {
        Contract::V1Beta1 => "/spec/machineTemplate/infrastructureRef",
        Contract::V1Beta2 => "/spec/machineTemplate/spec/infrastructureRef",
    }
}

/// Plans one step towards the desired Machines: creates or deletes at most one, and only while all others are ready.
fn scale(
    reader: &ObjectReader<'_>,
    control_plane: &Value,
    cluster: &Value,
    machines: &[Value],
    plan: &mut WritePlan,
) {
    let settled = |machine: &Value| !is_deleting(machine) && super::counts::has_condition(machine, "Ready");
    let initialized = machines.iter().any(|machine| non_null(machine, "/status/nodeRef").is_some());
    if !machines.iter().all(settled) {
        return;
    }
    let (count, wanted) = (machines.len(), desired_replicas(control_plane));
    let outdated = machines.iter().find(|machine| !is_up_to_date(reader, control_plane, machine));
    let strategy = match Contract::of(control_plane) {
        Contract::V1Beta1 => "/spec/rolloutStrategy/rollingUpdate/maxSurge",
        Contract::V1Beta2 => "/spec/rollout/strategy/rollingUpdate/maxSurge",
    };
    // A control plane grows by at most one Machine during a rollout, or shrinks first if the surge is zero.
    let surge = rollout::resolve_count(control_plane.pointer(strategy), 1, wanted, true).min(1);
    match outdated {
        Some(_) if count < wanted + surge => {
            create_machine(reader, control_plane, cluster, initialized, plan);
        }
        Some(oldest) => plan.delete(oldest),
        None if count < wanted => create_machine(reader, control_plane, cluster, initialized, plan),
        None if count > wanted => plan.delete(&machines[0]),
        None => {}
    }
}

/// Creates a Machine with its infrastructure and bootstrap configuration; does nothing if the template is missing.
fn create_machine(
    reader: &ObjectReader<'_>,
    control_plane: &Value,
    cluster: &Value,
    join: bool,
    plan: &mut WritePlan,
) {
    let pointer = template_pointer(control_plane);
    let reference = control_plane.pointer(pointer).and_then(|at| resolve(at, namespace(control_plane)));
    let Some(reference) = reference else { return };
    let strategy = text(control_plane, "/spec/machineNaming/template");
    let fields = [("cluster.name", name(cluster)), ("kubeadmControlPlane.name", name(control_plane))];
    let name = template::expand_name(strategy, "{{ .kubeadmControlPlane.name }}-{{ .random }}", &fields);
    let labels = machine_labels(control_plane, cluster);
    let annotations = string_map(control_plane, "/spec/machineTemplate/metadata/annotations");
    let owner = owner_reference(control_plane, false);
    let infrastructure = TemplateClone {
        name: &name,
        cluster: object::name(cluster),
        labels: labels.clone(),
        annotations: annotations.clone(),
        owner: Some(owner.clone()),
    };
    let Some(infrastructure) = infrastructure.instantiate(reader, &reference) else { return };
    let Some(version) = reader.api_version(object::BOOTSTRAP, "KubeadmConfig") else { return };
    let metadata = |annotations: &Value| json!({"name": name, "namespace": namespace(control_plane), "labels": labels, "annotations": annotations});
    let mut config = json!({
        "apiVersion": version, "kind": "KubeadmConfig", "metadata": metadata(&json!(annotations)),
        "spec": config_spec(control_plane, join),
    });
    set(&mut config, &["metadata", "ownerReferences"], json!([owner]));
    let mut machine = machine(control_plane, cluster, &infrastructure, &config);
    let hooks = merge_maps(annotations, string_map(&json!({CLEANUP_HOOK: ""}), ""));
    set(&mut machine, &["metadata"], metadata(&json!(hooks)));
    set(&mut machine, &["metadata", "ownerReferences"], json!([owner_reference(control_plane, true)]));
    let core = super::plan::core_api_version(reader, "Machine", cluster);
    set(&mut machine, &["apiVersion"], json!(core));
    plan.create(infrastructure);
    plan.create(config);
    plan.create(machine);
}

fn machine(control_plane: &Value, cluster: &Value, infrastructure: &Value, config: &Value) -> Value {
    let contract = Contract::of(cluster);
    let gates = READINESS_GATES.map(|gate| json!({"conditionType": gate}));
    let mut spec = json!({
        "clusterName": name(cluster), "version": control_plane["spec"]["version"],
        "bootstrap": {"configRef": contract.reference(config)},
        "infrastructureRef": contract.reference(infrastructure), "readinessGates": gates,
    });
    match Contract::of(control_plane) {
        Contract::V1Beta1 => {
            for field in ["nodeDrainTimeout", "nodeVolumeDetachTimeout", "nodeDeletionTimeout"] {
                if let Some(timeout) = control_plane["spec"]["machineTemplate"].get(field) {
                    set(&mut spec, &[field], timeout.clone());
                }
            }
        }
        Contract::V1Beta2 => {
            if let Some(deletion) = non_null(control_plane, "/spec/machineTemplate/spec/deletion") {
                set(&mut spec, &["deletion"], deletion.clone());
            }
        }
    }
    json!({"kind": "Machine", "spec": spec})
}

fn machine_labels(control_plane: &Value, cluster: &Value) -> serde_json::Map<String, Value> {
    let fixed = json!({
        CLUSTER_NAME: name(cluster), IS_CONTROL_PLANE: "", CONTROL_PLANE_NAME: name(control_plane),
    });
    merge_maps(string_map(control_plane, "/spec/machineTemplate/metadata/labels"), string_map(&fixed, ""))
}

/// The bootstrap configuration of a Machine: the first Machine initializes the cluster, other Machines join.
fn config_spec(control_plane: &Value, join: bool) -> Value {
    let mut spec = control_plane["spec"]["kubeadmConfigSpec"].clone();
    if spec.is_null() {
        spec = json!({});
    }
    if join {
        unset(&mut spec, &["initConfiguration"]);
        if spec["joinConfiguration"]["controlPlane"].is_null() {
            set(&mut spec, &["joinConfiguration", "controlPlane"], json!({}));
        }
    } else {
        unset(&mut spec, &["joinConfiguration"]);
    }
    spec
}

/// True if the control plane would create an equal Machine now.
pub(super) fn is_up_to_date(reader: &ObjectReader<'_>, control_plane: &Value, machine: &Value) -> bool {
    if machine["spec"]["version"] != control_plane["spec"]["version"]
        || rollout::is_due(control_plane, machine, &reader.now())
    {
        return false;
    }
    let wanted = control_plane.pointer(template_pointer(control_plane));
    let wanted = wanted.and_then(|at| resolve(at, namespace(control_plane)));
    let infrastructure = referenced_object(reader, machine, "/spec/infrastructureRef");
    if let (Some(wanted), Some(found)) = (wanted, infrastructure)
        && !template::is_clone_of(&found, &wanted)
    {
        return false;
    }
    let config = referenced_object(reader, machine, "/spec/bootstrap/configRef");
    config.is_none_or(|config| is_same_config(&config["spec"], control_plane))
}

/// True if a configuration matches the control plane. A schema may have set defaults in nested fields, so only whole
/// sections that the control plane no longer specifies count as different.
fn is_same_config(found: &Value, control_plane: &Value) -> bool {
    const BY_ROLE: [&str; 3] = ["initConfiguration", "joinConfiguration", "format"];
    let mut wanted = config_spec(control_plane, false);
    let joins = !is_empty(&found["joinConfiguration"]);
    if joins {
        wanted = config_spec(control_plane, true);
    }
    let removed = found.as_object().into_iter().flatten().any(|(section, found)| {
        !BY_ROLE.contains(&section.as_str()) && wanted.get(section).is_none_or(is_empty) && !is_empty(found)
    });
    !removed && contains_fields(found, &wanted)
}

fn write_status(reader: &ObjectReader<'_>, object: &mut Value, cluster: &Value, machines: &[Value]) {
    let contract = Contract::of(object);
    // Like the real controller, evaluates the Machines here, so that the counts match the observed generation.
    let up_to_date = machines.iter().filter(|machine| is_up_to_date(reader, object, machine)).count();
    let counts = MachineCounts { up_to_date, ..MachineCounts::of(machines, desired_replicas(object)) };
    let up = machines.iter().any(|machine| non_null(machine, "/status/nodeRef").is_some());
    let initialized = up || contract.is_initialized(object, "initialized", "controlPlaneInitialized");
    if initialized {
        contract.set_initialized(object, "initialized", "controlPlaneInitialized");
    }
    counts.write(object, contract, &["readyReplicas", "updatedReplicas", "unavailableReplicas"]);
    if contract == Contract::V1Beta1 {
        set(object, &["status", "ready"], json!(counts.ready > 0));
    }
    let selector = format!("{CLUSTER_NAME}={},{IS_CONTROL_PLANE}", name(cluster));
    set(object, &["status", "selector"], json!(selector));
    set(object, &["status", "observedGeneration"], json!(generation(object)));
    if let Some(version) = lowest_version(machines) {
        set(object, &["status", "version"], json!(version));
    }
    write_conditions(object, contract, &counts, initialized, has_infrastructure(cluster), &reader.now());
}

fn lowest_version(machines: &[Value]) -> Option<&str> {
    let versions = machines.iter().map(|machine| text(machine, "/spec/version")).filter(|it| !it.is_empty());
    versions.min_by_key(|version| {
        let numbers = version.trim_start_matches('v').split(['.', '-', '+']);
        numbers.map(|number| number.parse::<u64>().unwrap_or(0)).collect::<Vec<_>>()
    })
}

fn write_conditions(
    object: &mut Value,
    contract: Contract,
    counts: &MachineCounts,
    initialized: bool,
    has_certificates: bool,
    now: &str,
) {
    let available = initialized && counts.available > 0;
    let healthy = |kind| Condition::positive(kind, "Healthy", available);
    let new = [
        Condition::positive("Available", "Available", available),
        Condition::positive("Initialized", "Initialized", initialized),
        Condition::positive("CertificatesAvailable", "Available", has_certificates),
        healthy("EtcdClusterHealthy"),
        healthy("ControlPlaneComponentsHealthy"),
        counts.all_ready("MachinesReady"),
        counts.all_up_to_date("MachinesUpToDate"),
        Condition::activity("RollingOut", counts.is_rolling_out()),
        Condition::activity("ScalingUp", counts.is_scaling_up()),
        Condition::activity("ScalingDown", counts.is_scaling_down()),
        Condition::activity("Remediating", false),
        Condition::activity("Deleting", false),
        Condition::activity("Paused", false),
    ];
    let (made, resized) = (counts.replicas > 0, counts.replicas == counts.desired);
    let resize = if counts.is_scaling_up() { "ScalingUp" } else { "ScalingDown" };
    let all_ready = made && counts.ready == counts.replicas;
    let old = [
        legacy(
            "Ready",
            available && all_ready && resized && !counts.is_rolling_out(),
            "WaitingForKubeadmInit",
        ),
        legacy("Available", available, "WaitingForKubeadmInit"),
        legacy("CertificatesAvailable", has_certificates, "WaitingForClusterInfrastructure"),
        legacy("ControlPlaneComponentsHealthy", available, "ControlPlaneComponentsUnknown"),
        legacy("EtcdClusterHealthy", available, "EtcdClusterUnknown"),
        legacy("MachinesCreated", made, "WaitingForKubeadmInit"),
        legacy("MachinesReady", all_ready, "WaitingForKubeadmInit"),
        legacy("MachinesSpecUpToDate", !counts.is_rolling_out(), "RollingUpdateInProgress"),
        legacy("Resized", resized, resize),
    ];
    conditions::write(object, contract, &new, &old, now);
}
