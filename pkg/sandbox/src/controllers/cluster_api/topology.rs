//! Managed topologies: the parts of a Cluster with a ClusterClass are created from the templates of the class.
//!
//! Source: Cluster API v1.14 `exp/topology/desiredstate` and `core/reconcilers/topology/cluster`, run. Variables and
//! patches of a class are not applied: templates are used unchanged.

mod blueprint;
mod workers;

use serde_json::{Map, Value, json};

use super::{
    conditions::{Condition, LegacyCondition, legacy},
    contract::{Contract, referenced_object, resolve},
    object::{
        CLUSTER_NAME, CORE, TOPOLOGY_OWNED, contains_fields, is_deleting, kind, label, merge_fields,
        merge_maps, name, namespace, non_null, number, owner_reference, set, set_label, string_map, text,
    },
    plan::{ObjectReader, WritePlan},
    template::{TemplateClone, expand_name},
};
use crate::controllers::ObjectRef;
pub(super) use blueprint::Blueprint;

/// The result of building a topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TopologyOutcome {
    /// All parts match the class.
    Reconciled,
    /// A part must wait; contains the reason and the message of the condition.
    Waiting(&'static str, String),
}

impl TopologyOutcome {
    pub(super) fn is_reconciled(&self) -> bool {
        *self == Self::Reconciled
    }

    /// Returns the condition in both forms.
    pub(super) fn conditions(&self) -> (Condition, LegacyCondition) {
        const KIND: &str = "TopologyReconciled";
        match self {
            Self::Reconciled => (Condition::new(KIND, true, "ReconcileSucceeded"), legacy(KIND, true, "")),
            Self::Waiting(reason, message) => (
                Condition::new(KIND, false, reason).with_message(message.clone()),
                legacy(KIND, false, reason),
            ),
        }
    }
}

pub(super) fn is_managed(cluster: &Value) -> bool {
    non_null(cluster, "/spec/topology").is_some()
}

/// The ClusterClass of a Cluster, in either contract.
pub(super) fn class_of(cluster: &Value) -> Option<ObjectRef> {
    let topology = non_null(cluster, "/spec/topology")?;
    let (class, place) = match Contract::of(cluster) {
        Contract::V1Beta1 => (text(topology, "/class"), text(topology, "/classNamespace")),
        Contract::V1Beta2 => (text(topology, "/classRef/name"), text(topology, "/classRef/namespace")),
    };
    let place = if place.is_empty() { namespace(cluster) } else { place };
    (!class.is_empty()).then(|| ObjectRef::new(CORE, "ClusterClass", place, class))
}

/// Plans the parts of a Cluster according to its class, and sets the references to the parts in `cluster`.
pub(super) fn build(reader: &ObjectReader<'_>, cluster: &mut Value, plan: &mut WritePlan) -> TopologyOutcome {
    let Some(class) = class_of(cluster).and_then(|class| reader.get(&class)) else {
        let message = "ClusterClass not found".to_owned();
        return TopologyOutcome::Waiting("ClusterClassNotReconciled", message);
    };
    let blueprint = Blueprint::of(&class);
    set_label(cluster, TOPOLOGY_OWNED, "");
    let own = name(cluster).to_owned();
    set_label(cluster, CLUSTER_NAME, &own);
    let Some(infrastructure) = build_infrastructure(reader, cluster, &blueprint, plan) else {
        return missing(blueprint.infrastructure.as_ref());
    };
    let Some(control_plane) = build_control_plane(reader, cluster, &blueprint, plan) else {
        return missing(blueprint.control_plane.as_ref());
    };
    let contract = Contract::of(cluster);
    set_reference(cluster, "infrastructureRef", contract.reference(&infrastructure));
    set_reference(cluster, "controlPlaneRef", contract.reference(&control_plane));
    let version = text(cluster, "/spec/topology/version").to_owned();
    let upgraded = is_at_version(reader, &control_plane, &version);
    let workers = workers::build(reader, cluster, &blueprint, upgraded, plan);
    if upgraded || non_null(&control_plane, "/metadata/uid").is_none() {
        workers
    } else {
        let message = format!("Cluster is upgrading to {version}\n  * {} upgrading", kind(&control_plane));
        TopologyOutcome::Waiting("ClusterUpgrading", message)
    }
}

fn missing(reference: Option<&ObjectRef>) -> TopologyOutcome {
    let what = reference.map_or_else(String::new, |found| format!("{} {}", found.kind, found.name));
    TopologyOutcome::Waiting(
        "ReconcileFailed",
        format!("failed to read the template {what}").trim().to_owned(),
    )
}

/// Replaces a reference only if the referenced object changes, so that server-set fields stay.
fn set_reference(cluster: &mut Value, field: &str, reference: Value) {
    let found = &cluster["spec"][field];
    if resolve(found, "") != resolve(&reference, "") {
        set(cluster, &["spec", field], reference);
    }
}

/// True if all Machines of a control plane have reached a version.
fn is_at_version(reader: &ObjectReader<'_>, control_plane: &Value, version: &str) -> bool {
    let contract = reader.contract(super::object::group(control_plane), kind(control_plane));
    let counts = super::counts::MachineCounts::from_status(control_plane, contract);
    text(control_plane, "/spec/version") == version
        && (text(control_plane, "/status/version") == version
            || control_plane["status"].get("version").is_none())
        && !counts.is_rolling_out()
        && counts.replicas == counts.desired
}

/// The existing object of the topology: the object that the Cluster refers to, or else an object with the topology
/// labels. The labels cover an interruption before the reference was written.
fn find_existing(
    reader: &ObjectReader<'_>,
    cluster: &Value,
    pointer: &str,
    template: &ObjectRef,
) -> Option<Value> {
    referenced_object(reader, cluster, pointer).or_else(|| {
        let kind = template.kind.strip_suffix("Template")?;
        let all = reader.list(&template.group, kind, Some(namespace(cluster)));
        all.into_iter().find(|object| {
            label(object, CLUSTER_NAME) == Some(name(cluster)) && label(object, TOPOLOGY_OWNED).is_some()
        })
    })
}

fn build_infrastructure(
    reader: &ObjectReader<'_>,
    cluster: &Value,
    blueprint: &Blueprint,
    plan: &mut WritePlan,
) -> Option<Value> {
    let template = blueprint.infrastructure.as_ref()?;
    if let Some(found) = find_existing(reader, cluster, "/spec/infrastructureRef", template) {
        return Some(found);
    }
    let fields = [("cluster.name", name(cluster))];
    let new_name =
        expand_name(&blueprint.infrastructure_naming, "{{ .cluster.name }}-{{ .random }}", &fields);
    let made = instantiate(reader, cluster, template, &new_name, Map::new())?;
    plan.create(made.clone());
    Some(made)
}

fn build_control_plane(
    reader: &ObjectReader<'_>,
    cluster: &Value,
    blueprint: &Blueprint,
    plan: &mut WritePlan,
) -> Option<Value> {
    let template = blueprint.control_plane.as_ref()?;
    let found = find_existing(reader, cluster, "/spec/controlPlaneRef", template);
    let labels = merge_maps(
        string_map(cluster, "/spec/topology/controlPlane/metadata/labels"),
        blueprint.control_plane_labels.clone(),
    );
    let fields = [("cluster.name", name(cluster))];
    let new_name = match &found {
        Some(found) => name(found).to_owned(),
        None => expand_name(&blueprint.control_plane_naming, "{{ .cluster.name }}-{{ .random }}", &fields),
    };
    let mut wanted = instantiate(reader, cluster, template, &new_name, labels)?;
    set(&mut wanted, &["spec", "version"], cluster["spec"]["topology"]["version"].clone());
    if let Some(replicas) = number(cluster, "/spec/topology/controlPlane/replicas") {
        set(&mut wanted, &["spec", "replicas"], json!(replicas));
    }
    if let Some(machines) = &blueprint.control_plane_machines {
        let contract = reader.contract(&template.group, kind(&wanted));
        let place: &[&str] = match contract {
            Contract::V1Beta1 => &["spec", "machineTemplate", "infrastructureRef"],
            Contract::V1Beta2 => &["spec", "machineTemplate", "spec", "infrastructureRef"],
        };
        let pointer = format!("/{}", place.join("/"));
        let prefix = format!("{}-", name(cluster));
        let current = found.as_ref().and_then(|found| referenced_object(reader, found, &pointer));
        let clone = TemplateRotation { prefix: &prefix, labels: Map::new() }
            .of(reader, cluster, machines, current, plan)?;
        set(&mut wanted, place, contract.reference(&clone));
        let labels = json!(wanted["metadata"]["labels"]);
        set(&mut wanted, &["spec", "machineTemplate", "metadata", "labels"], labels);
    }
    match found {
        Some(found) if is_deleting(&found) => Some(found),
        Some(found) => {
            let mut changed = found.clone();
            merge_desired(&mut changed, &wanted);
            plan.update(&found, changed.clone());
            Some(changed)
        }
        None => {
            plan.create(wanted.clone());
            Some(wanted)
        }
    }
}

/// Merges the desired fields into an object; fields of other writers stay.
fn merge_desired(object: &mut Value, desired: &Value) {
    for part in ["spec", "metadata"] {
        if !contains_fields(&object[part], &desired[part]) {
            merge_fields(&mut object[part], &desired[part]);
        }
    }
}

/// Creates an object of the topology from a template of the class.
fn instantiate(
    reader: &ObjectReader<'_>,
    cluster: &Value,
    template: &ObjectRef,
    new_name: &str,
    labels: Map<String, Value>,
) -> Option<Value> {
    let mut labels = labels;
    labels.insert(TOPOLOGY_OWNED.to_owned(), json!(""));
    let clone = TemplateClone {
        name: new_name,
        cluster: name(cluster),
        labels,
        annotations: Map::new(),
        owner: None,
    };
    let mut made = clone.instantiate(reader, template)?;
    // Parts are in the namespace of the Cluster; the class may be in another namespace.
    set(&mut made, &["metadata", "namespace"], json!(namespace(cluster)));
    Some(made)
}

/// The Cluster's own copy of a class template, replaced under a new name if the class template changes.
struct TemplateRotation<'a> {
    prefix: &'a str,
    labels: Map<String, Value>,
}

impl TemplateRotation<'_> {
    fn of(
        self,
        reader: &ObjectReader<'_>,
        cluster: &Value,
        template: &ObjectRef,
        current: Option<Value>,
        plan: &mut WritePlan,
    ) -> Option<Value> {
        let wanted = reader.get(template)?;
        if let Some(current) = &current
            && kind(current) == template.kind
            && contains_fields(&current["spec"], &wanted["spec"])
        {
            return Some(current.clone());
        }
        let mut labels = self.labels;
        labels.insert(TOPOLOGY_OWNED.to_owned(), json!(""));
        let new_name = super::template::generated_name(self.prefix);
        let clone = TemplateClone {
            name: &new_name,
            cluster: name(cluster),
            labels,
            annotations: Map::new(),
            owner: Some(owner_reference(cluster, false)),
        };
        let mut made = clone.copy_template(reader, template)?;
        set(&mut made, &["metadata", "namespace"], json!(namespace(cluster)));
        plan.create(made.clone());
        if let Some(current) = current {
            plan.delete(&current);
        }
        Some(made)
    }
}
