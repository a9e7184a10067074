//! MachineSets: create and delete Machines with infrastructure and bootstrap configuration until their number matches.
//!
//! Source: Cluster API v1.14 `core/reconcilers/machineset` and its admission defaults, run.

use serde_json::{Value, json};

use super::{
    conditions::{self, Condition, legacy},
    contract::{Contract, resolve},
    counts::Counts,
    deployment::{NO_NEW_MACHINES, adopt_template, fill_in},
    object::{
        CLUSTER_NAME, CORE, DEPLOYMENT_NAME, SET_NAME, add_finalizer, annotation, controller, ensure_owner,
        generation, is_controlled_by, is_deleting, label, merged, name, namespace, owner_reference,
        remove_finalizer, set, string_map, text, wanted_replicas,
    },
    plan::Plan,
    template::{self, Clone},
    world::{World, of_cluster},
};
use crate::selector::LabelSelector;

const FINALIZER: &str = "cluster.x-k8s.io/machineset";
/// The annotation of a Machine that is deleted first during a scale-down.
const DELETE_FIRST: &str = "cluster.x-k8s.io/delete-machine";
const REFERENCES: [(&str, &[&str]); 2] = [
    ("/spec/template/spec/bootstrap/configRef", &["spec", "bootstrap", "configRef"]),
    ("/spec/template/spec/infrastructureRef", &["spec", "infrastructureRef"]),
];

/// Plans the writes for a MachineSet.
pub(super) fn plan(world: &World<'_>, live: &Value, cluster: &Value) -> Plan {
    let mut plan = Plan::default();
    let machines = machines(world, live, cluster);
    let mut machine_set = live.clone();
    if is_deleting(live) {
        plan.delete_all(&machines);
        if machines.is_empty() {
            remove_finalizer(&mut machine_set, FINALIZER);
        }
        plan.change(live, machine_set);
        return plan;
    }
    add_finalizer(&mut machine_set, FINALIZER);
    fill_in(&mut machine_set, cluster, SET_NAME);
    if controller(live).is_none() {
        ensure_owner(&mut machine_set, owner_reference(cluster, false));
        for (pointer, _) in REFERENCES {
            adopt_template(world, live, cluster, pointer, &mut plan);
        }
    }
    keep_in_step(&machine_set, &machines, &mut plan);
    scale(world, &machine_set, cluster, &machines, &mut plan);
    write_status(world, &mut machine_set, &machines);
    plan.change(live, machine_set);
    plan
}

/// Returns the Machines of a MachineSet, in the order in which a scale-down deletes Machines.
fn machines(world: &World<'_>, machine_set: &Value, cluster: &Value) -> Vec<Value> {
    let mut machines = of_cluster(world, CORE, "Machine", cluster);
    machines.retain(|machine| is_controlled_by(machine, machine_set));
    machines.sort_by_key(|machine| {
        let keep = annotation(machine, DELETE_FIRST).is_none();
        let up = super::counts::has(machine, "Ready");
        (keep, up, text(machine, "/metadata/creationTimestamp").to_owned(), name(machine).to_owned())
    });
    machines
}

/// Copies labels and annotations of the template to existing Machines.
fn keep_in_step(machine_set: &Value, machines: &[Value], plan: &mut Plan) {
    let (labels, annotations) =
        (labels(machine_set), string_map(machine_set, "/spec/template/metadata/annotations"));
    for machine in machines.iter().filter(|machine| !is_deleting(machine)) {
        let mut changed = machine.clone();
        for (field, wanted) in [("labels", &labels), ("annotations", &annotations)] {
            for (key, value) in wanted {
                set(&mut changed, &["metadata", field, key], value.clone());
            }
        }
        plan.change(machine, changed);
    }
}

fn labels(machine_set: &Value) -> serde_json::Map<String, Value> {
    let mut own = json!({SET_NAME: name(machine_set), CLUSTER_NAME: machine_set["spec"]["clusterName"]});
    if let Some(deployment) = label(machine_set, DEPLOYMENT_NAME) {
        own[DEPLOYMENT_NAME] = json!(deployment);
    }
    merged(string_map(machine_set, "/spec/template/metadata/labels"), string_map(&own, ""))
}

fn scale(world: &World<'_>, machine_set: &Value, cluster: &Value, machines: &[Value], plan: &mut Plan) {
    let there: Vec<&Value> = machines.iter().filter(|machine| !is_deleting(machine)).collect();
    let wanted = wanted_replicas(machine_set);
    for machine in &there[..there.len().saturating_sub(wanted)] {
        plan.delete(machine);
    }
    if annotation(machine_set, NO_NEW_MACHINES) == Some("true") {
        return;
    }
    for _ in there.len()..wanted {
        create_machine(world, machine_set, cluster, plan);
    }
}

/// Creates a Machine with its infrastructure and bootstrap configuration; does nothing if a template is missing.
fn create_machine(world: &World<'_>, machine_set: &Value, cluster: &Value, plan: &mut Plan) {
    let strategy = text(machine_set, "/spec/machineNaming/template");
    let fields = [("cluster.name", name(cluster)), ("machineSet.name", name(machine_set))];
    let machine_name = template::named_by(strategy, "{{ .machineSet.name }}-{{ .random }}", &fields);
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
        let part = Clone {
            name: &machine_name,
            cluster: name(cluster),
            labels: labels(machine_set),
            annotations: annotations.clone(),
            owner: Some(owner_reference(machine_set, false)),
        };
        let Some(part) = part.of(world, &reference) else { return };
        set(&mut machine, place, Contract::of(machine_set).reference(&part));
        parts.push(part);
    }
    parts.into_iter().chain([machine]).for_each(|object| plan.create(object));
}

fn write_status(world: &World<'_>, object: &mut Value, machines: &[Value]) {
    let contract = Contract::of(object);
    let counts = Counts::of(machines, wanted_replicas(object));
    counts.write(object, contract, &["availableReplicas", "readyReplicas", "fullyLabeledReplicas"]);
    set(object, &["status", "observedGeneration"], json!(generation(object)));
    let selector = LabelSelector::of_object(&object["spec"]["selector"]).to_string();
    set(object, &["status", "selector"], json!(selector));
    let new = [
        counts.all_ready("MachinesReady"),
        counts.all_up_to_date("MachinesUpToDate"),
        Condition::activity("ScalingUp", counts.grows()),
        Condition::activity("ScalingDown", counts.shrinks()),
        Condition::activity("Remediating", false),
        Condition::activity("Deleting", false),
        Condition::activity("Paused", false),
    ];
    let resized = counts.replicas == counts.wanted;
    let resize = if counts.grows() { "ScalingUp" } else { "ScalingDown" };
    let all_ready = counts.ready == counts.replicas;
    let old = [
        legacy("Ready", resized && all_ready, resize),
        legacy("MachinesCreated", true, ""),
        legacy("MachinesReady", all_ready, "WaitingForMachine"),
        legacy("Resized", resized, resize),
    ];
    conditions::write(object, contract, &new, &old, &world.now());
}
