//! MachineDeployments: scale up a MachineSet with the current template and scale down older MachineSets.
//!
//! Source: Cluster API v1.14 `core/reconcilers/machinedeployment` and its admission defaults, run. As there, the counts of
//! the status come from conditions that MachineSets set later. Right after a change, the status combines the new
//! generation with the old counts.

mod rolling;

use serde_json::{Map, Value, json};

use super::{
    conditions::{self, Condition, legacy},
    contract::{Contract, referenced_object},
    counts::MachineCounts,
    object::{
        CLUSTER_NAME, DEPLOYMENT_NAME, add_finalizer, annotation, desired_replicas, ensure_owner, flag,
        generation, is_controlled_by, is_deleting, label, merge_maps, name, namespace, number,
        owner_reference, set, set_label, string_map, text,
    },
    plan::{ObjectReader, WritePlan, objects_of_cluster},
    rollout,
    template::generated_name,
};
use crate::selector::LabelSelector;

const FINALIZER: &str = "cluster.x-k8s.io/machinedeployment";
const REVISION: &str = "machinedeployment.clusters.x-k8s.io/revision";
const DESIRED_REPLICAS: &str = "machinedeployment.clusters.x-k8s.io/desired-replicas";
/// The label that distinguishes the MachineSets of a MachineDeployment.
const HASH_LABEL: &str = "machine-template-hash";
/// The annotation of an older MachineSet that only shrinks when its Machines are deleted manually.
pub(super) const DISABLE_MACHINE_CREATE: &str = "cluster.x-k8s.io/disable-machine-create";
/// Machine template fields whose changes cause a rollout; other fields are changed in place.
const ROLLOUT_FIELDS: [&str; 5] =
    ["version", "failureDomain", "bootstrap", "infrastructureRef", "clusterName"];

pub(super) fn plan(reader: &ObjectReader<'_>, live: &Value, cluster: &Value) -> WritePlan {
    let sets = machine_sets(reader, live, cluster);
    if is_deleting(live) {
        return WritePlan::deletion(live, FINALIZER, &sets);
    }
    let mut plan = WritePlan::default();
    let mut deployment = live.clone();
    add_finalizer(&mut deployment, FINALIZER);
    ensure_owner(&mut deployment, owner_reference(cluster, false));
    set_webhook_defaults(&mut deployment, cluster, DEPLOYMENT_NAME);
    for pointer in ["/spec/template/spec/infrastructureRef", "/spec/template/spec/bootstrap/configRef"] {
        adopt_template(reader, &deployment, cluster, pointer, &mut plan);
    }
    let current = sets.iter().rev().find(|set| is_current(reader, &deployment, set));
    // A paused MachineDeployment does not change its MachineSets.
    if !flag(live, "/spec/paused") {
        let revision = sets.iter().map(revision).max().unwrap_or(0);
        if let Some(current) = current {
            ensure_newest_revision(current, &sets, revision, &mut deployment, &mut plan);
            rolling::scale(&deployment, current, &sets, &mut plan);
        } else {
            set(&mut deployment, &["metadata", "annotations", REVISION], json!((revision + 1).to_string()));
            let replicas = rolling::initial_replicas(&deployment, &sets);
            plan.create(new_set(&deployment, replicas, revision + 1));
        }
        rolling::clean_up(&deployment, current, &sets, &mut plan);
    }
    let machines = objects_of_cluster(reader, "Machine", cluster);
    write_status(reader, &mut deployment, &machines);
    plan.requeue_after = rollout::time_until_rollout(live, &reader.now());
    plan.update(live, deployment);
    plan
}

/// Returns the MachineSets of a MachineDeployment, oldest first.
fn machine_sets(reader: &ObjectReader<'_>, deployment: &Value, cluster: &Value) -> Vec<Value> {
    let mut sets = objects_of_cluster(reader, "MachineSet", cluster);
    sets.retain(|set| is_controlled_by(set, deployment));
    sets.sort_by(|one, other| {
        let age = |set| (revision(set), text(set, "/metadata/creationTimestamp").to_owned());
        age(one).cmp(&age(other))
    });
    sets
}

/// The revision annotation of a MachineSet.
fn revision(set: &Value) -> i64 {
    annotation(set, REVISION).and_then(|revision| revision.parse().ok()).unwrap_or(0)
}

/// Sets the defaults of the real admission webhooks, which the sandbox does not call.
pub(super) fn set_webhook_defaults(object: &mut Value, cluster: &Value, own_label: &str) {
    let (own, cluster) = (name(object).to_owned(), name(cluster).to_owned());
    set_label(object, CLUSTER_NAME, &cluster);
    if number(object, "/spec/replicas").is_none() {
        set(object, &["spec", "replicas"], json!(1));
    }
    let selector = &object["spec"]["selector"];
    let says_nothing = string_map(selector, "/matchLabels").is_empty()
        && selector["matchExpressions"].as_array().is_none_or(Vec::is_empty);
    let places: [&[&str]; 2] =
        [&["spec", "selector", "matchLabels"], &["spec", "template", "metadata", "labels"]];
    for place in places {
        if says_nothing {
            set(object, &[place, &[own_label]].concat(), json!(own));
        }
        set(object, &[place, &[CLUSTER_NAME]].concat(), json!(cluster));
    }
}

/// Makes the Cluster an owner of a template, so that the template moves and is deleted with the Cluster.
pub(super) fn adopt_template(
    reader: &ObjectReader<'_>,
    holder: &Value,
    cluster: &Value,
    pointer: &str,
    plan: &mut WritePlan,
) {
    if let Some(template) = referenced_object(reader, holder, pointer) {
        plan.adopt(&template, cluster);
    }
}

/// True if a MachineSet creates the Machines that its MachineDeployment currently specifies.
pub(super) fn is_current(reader: &ObjectReader<'_>, deployment: &Value, set: &Value) -> bool {
    let (wanted, found) = (&deployment["spec"]["template"]["spec"], &set["spec"]["template"]["spec"]);
    ROLLOUT_FIELDS.iter().all(|field| wanted[*field] == found[*field])
        && !rollout::is_due(deployment, set, &reader.now())
}

/// Gives the current MachineSet the newest revision, also if an old template is used again.
fn ensure_newest_revision(
    current: &Value,
    sets: &[Value],
    newest: i64,
    deployment: &mut Value,
    plan: &mut WritePlan,
) {
    let is_newest = sets.last().is_some_and(|last| name(last) == name(current));
    let revision = if is_newest { revision(current) } else { newest + 1 };
    set(deployment, &["metadata", "annotations", REVISION], json!(revision.to_string()));
    if !is_newest {
        let mut renewed = current.clone();
        set(&mut renewed, &["metadata", "annotations", REVISION], json!(revision.to_string()));
        plan.update(current, renewed);
    }
}

/// The labels of a MachineSet and its Machines.
fn set_labels(deployment: &Value, hash: &str) -> Map<String, Value> {
    let own = json!({HASH_LABEL: hash, DEPLOYMENT_NAME: name(deployment)});
    merge_maps(string_map(deployment, "/spec/template/metadata/labels"), string_map(&own, ""))
}

fn new_set(deployment: &Value, replicas: usize, revision: i64) -> Value {
    let prefix = format!("{}-", name(deployment));
    let set_name = generated_name(&prefix);
    let suffix = set_name.rsplit('-').next().unwrap_or_default();
    let rolled_out: Map<_, _> = ROLLOUT_FIELDS
        .iter()
        .map(|field| ((*field).to_owned(), deployment["spec"]["template"]["spec"][*field].clone()))
        .collect();
    let hash = format!("{}-{suffix}", crc32fast::hash(Value::Object(rolled_out).to_string().as_bytes()));
    let mut object = json!({
        "apiVersion": deployment["apiVersion"], "kind": "MachineSet",
        "metadata": {
            "name": set_name, "namespace": namespace(deployment), "labels": set_labels(deployment, &hash),
            "annotations": {REVISION: revision.to_string(), DESIRED_REPLICAS: desired_replicas(deployment).to_string()},
            "ownerReferences": [owner_reference(deployment, true)],
        },
        "spec": {
            "clusterName": deployment["spec"]["clusterName"], "selector": deployment["spec"]["selector"],
            "replicas": replicas,
        },
    });
    set(&mut object, &["spec", "selector", "matchLabels", HASH_LABEL], json!(hash));
    update_in_place(deployment, &mut object);
    object
}

/// Copies the complete template: the fields that cause a rollout are equal.
fn update_in_place(deployment: &Value, machine_set: &mut Value) {
    let hash = text(machine_set, "/spec/selector/matchLabels/machine-template-hash").to_owned();
    let labels = set_labels(deployment, &hash);
    let mut template = deployment["spec"]["template"].clone();
    for (key, value) in &labels {
        set(machine_set, &["metadata", "labels", key], value.clone());
    }
    set(&mut template, &["metadata", "labels"], json!(labels));
    set(machine_set, &["spec", "template"], template);
    let (field, contract) = ("machineNaming", Contract::of(deployment));
    let kept: &[&str] =
        if contract == Contract::V1Beta1 { &[field, "minReadySeconds"] } else { &[field, "deletion"] };
    for field in kept {
        if let Some(value) = deployment["spec"].get(*field).filter(|value| !value.is_null()) {
            set(machine_set, &["spec", field], value.clone());
        }
    }
}

fn write_status(reader: &ObjectReader<'_>, object: &mut Value, machines: &[Value]) {
    let contract = Contract::of(object);
    let own: Vec<Value> = machines
        .iter()
        .filter(|machine| label(machine, DEPLOYMENT_NAME) == Some(name(object)))
        .cloned()
        .collect();
    let counts = MachineCounts::of(&own, desired_replicas(object));
    let older = ["availableReplicas", "readyReplicas", "unavailableReplicas", "updatedReplicas"];
    counts.write(object, contract, &older);
    let phase = match () {
        () if counts.is_scaling_up() || counts.ready < counts.desired => "ScalingUp",
        () if counts.is_scaling_down() => "ScalingDown",
        () => "Running",
    };
    set(object, &["status", "phase"], json!(phase));
    set(object, &["status", "observedGeneration"], json!(generation(object)));
    let selector = LabelSelector::of_object(&object["spec"]["selector"]).to_string();
    set(object, &["status", "selector"], json!(selector));
    let available = counts.is_available();
    let new = [
        Condition::positive("Available", "Available", available),
        counts.all_ready("MachinesReady"),
        counts.all_up_to_date("MachinesUpToDate"),
        Condition::activity("RollingOut", counts.is_rolling_out()),
        Condition::activity("ScalingUp", counts.is_scaling_up()),
        Condition::activity("ScalingDown", counts.is_scaling_down()),
        Condition::activity("Remediating", false),
        Condition::activity("Deleting", false),
        Condition::activity("Paused", false),
    ];
    let old = [
        legacy("Ready", available, "WaitingForAvailableMachines"),
        legacy("Available", available, "WaitingForAvailableMachines"),
        legacy("MachineSetReady", available, "WaitingForMachineSet"),
    ];
    conditions::write(object, contract, &new, &old, &reader.now());
}
