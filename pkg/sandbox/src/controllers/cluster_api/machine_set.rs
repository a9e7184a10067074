//! MachineSets: create and delete Machines with infrastructure and bootstrap configuration until their number matches.
//!
//! Source: Cluster API v1.14 `core/reconcilers/machineset` and its admission defaults, run.

use serde_json::{Value, json};

use super::{
    conditions::{self, Condition, legacy},
    contract::{Contract, resolve},
    counts::MachineCounts,
    deployment::{DISABLE_MACHINE_CREATE, adopt_template, set_webhook_defaults},
    object::{
        CLUSTER_NAME, DEPLOYMENT_NAME, SET_NAME, add_finalizer, annotation, controller, desired_replicas,
        ensure_owner, generation, is_controlled_by, is_deleting, label, merge_maps, name, namespace,
        owner_reference, set, string_map, text,
    },
    plan::{ObjectReader, WritePlan, objects_of_cluster},
    template::{self, TemplateClone},
};
use crate::selector::LabelSelector;

const FINALIZER: &str = "cluster.x-k8s.io/machineset";
/// The annotation of a Machine that is deleted first during a scale-down.
const DELETE_FIRST: &str = "cluster.x-k8s.io/delete-machine";
const REFERENCES: [(&str, &[&str]); 2] = [
    ("/spec/template/spec/bootstrap/configRef", &["spec", "bootstrap", "configRef"]),
    ("/spec/template/spec/infrastructureRef", &["spec", "infrastructureRef"]),
];

pub(super) fn plan(reader: &ObjectReader<'_>, live: &Value, cluster: &Value) -> WritePlan {
    let machines = machines(reader, live, cluster);
    if is_deleting(live) {
        return WritePlan::deletion(live, FINALIZER, &machines);
    }
    let mut plan = WritePlan::default();
    let mut machine_set = live.clone();
    add_finalizer(&mut machine_set, FINALIZER);
    set_webhook_defaults(&mut machine_set, cluster, SET_NAME);
    if controller(live).is_none() {
        ensure_owner(&mut machine_set, owner_reference(cluster, false));
        for (pointer, _) in REFERENCES {
            adopt_template(reader, live, cluster, pointer, &mut plan);
        }
    }
    sync_metadata(&machine_set, &machines, &mut plan);
    scale(reader, &machine_set, cluster, &machines, &mut plan);
    write_status(reader, &mut machine_set, &machines);
    plan.update(live, machine_set);
    plan
}

/// Returns the Machines of a MachineSet, in the order in which a scale-down deletes Machines.
fn machines(reader: &ObjectReader<'_>, machine_set: &Value, cluster: &Value) -> Vec<Value> {
    let mut machines = objects_of_cluster(reader, "Machine", cluster);
    machines.retain(|machine| is_controlled_by(machine, machine_set));
    machines.sort_by_key(|machine| {
        let keep = annotation(machine, DELETE_FIRST).is_none();
        let up = super::counts::has_condition(machine, "Ready");
        (keep, up, text(machine, "/metadata/creationTimestamp").to_owned(), name(machine).to_owned())
    });
    machines
}

/// Copies labels and annotations of the template to existing Machines.
fn sync_metadata(machine_set: &Value, machines: &[Value], plan: &mut WritePlan) {
    let (labels, annotations) =
        (labels(machine_set), string_map(machine_set, "/spec/template/metadata/annotations"));
    for machine in machines.iter().filter(|machine| !is_deleting(machine)) {
        let mut changed = machine.clone();
        for (field, wanted) in [("labels", &labels), ("annotations", &annotations)] {
            for (key, value) in wanted {
                set(&mut changed, &["metadata", field, key], value.clone());
            }
        }
        plan.update(machine, changed);
    }
}

fn labels(machine_set: &Value) -> serde_json::Map<String, Value> {
    let mut own = json!({SET_NAME: name(machine_set), CLUSTER_NAME: machine_set["spec"]["clusterName"]});
    if let Some(deployment) = label(machine_set, DEPLOYMENT_NAME) {
        own[DEPLOYMENT_NAME] = json!(deployment);
    }
    merge_maps(string_map(machine_set, "/spec/template/metadata/labels"), string_map(&own, ""))
}

fn scale(
    reader: &ObjectReader<'_>,
    machine_set: &Value,
    cluster: &Value,
    machines: &[Value],
    plan: &mut WritePlan,
) {
    let existing: Vec<&Value> = machines.iter().filter(|machine| !is_deleting(machine)).collect();
    let wanted = desired_replicas(machine_set);
    for machine in &existing[..existing.len().saturating_sub(wanted)] {
        plan.delete(machine);
    }
    if annotation(machine_set, DISABLE_MACHINE_CREATE) == Some("true") {
        return;
    }
    for _ in existing.len()..wanted {
        create_machine(reader, machine_set, cluster, plan);
    }
}

/// Creates a Machine with its infrastructure and bootstrap configuration; does nothing if a template is missing.
fn create_machine(reader: &ObjectReader<'_>, machine_set: &Value, cluster: &Value, plan: &mut WritePlan) {
    let strategy = text(machine_set, "/spec/machineNaming/template");
    let fields = [("cluster.name", name(cluster)), ("machineSet.name", name(machine_set))];
    let machine_name = template::expand_name(strategy, "{{ .machineSet.name }}-{{ .random }}", &fields);
    let annotations = string_map(machine_set, "/spec/template/metadata/annotations");
    let mut machine = json!({
        "apiVersion": machine_set["apiVersion"], "kind": "Machine",
        "metadata": {
            "name": machine_name, "namespace": namespace(machine_set), "labels": labels(machine_set),
            "annotations": annotations, "finalizers": ["machine.cluster.x-k8s.io"],
            "ownerReferences": [owner_reference(machine_set, true)],
        },
        "spec": machine_set["spec"]["template"]["spec"],
    });
    set(&mut machine, &["spec", "clusterName"], json!(name(cluster)));
    let mut parts = Vec::new();
    for (pointer, place) in REFERENCES {
        let Some(reference) = machine_set.pointer(pointer).and_then(|at| resolve(at, namespace(machine_set)))
        else {
            continue;
        };
        let part = TemplateClone {
            name: &machine_name,
            cluster: name(cluster),
            labels: labels(machine_set),
            annotations: annotations.clone(),
            owner: Some(owner_reference(machine_set, false)),
        };
        let Some(part) = part.instantiate(reader, &reference) else { return };
        set(&mut machine, place, Contract::of(machine_set).reference(&part));
        parts.push(part);
    }
    parts.into_iter().chain([machine]).for_each(|object| plan.create(object));
}

fn write_status(reader: &ObjectReader<'_>, object: &mut Value, machines: &[Value]) {
    let contract = Contract::of(object);
    let counts = MachineCounts::of(machines, desired_replicas(object));
    counts.write(object, contract, &["availableReplicas", "readyReplicas", "fullyLabeledReplicas"]);
    set(object, &["status", "observedGeneration"], json!(generation(object)));
    let selector = LabelSelector::of_object(&object["spec"]["selector"]).to_string();
    set(object, &["status", "selector"], json!(selector));
    let new = [
        counts.all_ready("MachinesReady"),
        counts.all_up_to_date("MachinesUpToDate"),
        Condition::activity("ScalingUp", counts.is_scaling_up()),
        Condition::activity("ScalingDown", counts.is_scaling_down()),
        Condition::activity("Remediating", false),
        Condition::activity("Deleting", false),
        Condition::activity("Paused", false),
    ];
    let resized = counts.replicas == counts.desired;
    let resize = if counts.is_scaling_up() { "ScalingUp" } else { "ScalingDown" };
    let all_ready = counts.ready == counts.replicas;
    let old = [
        legacy("Ready", resized && all_ready, resize),
        legacy("MachinesCreated", true, ""),
        legacy("MachinesReady", all_ready, "WaitingForMachine"),
        legacy("Resized", resized, resize),
    ];
    conditions::write(object, contract, &new, &old, &reader.now());
}
