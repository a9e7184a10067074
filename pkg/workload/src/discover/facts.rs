//! Facts of an object.

use std::sync::Arc;

use manifest::{Object, Value};

use crate::{
    ClusterFacts, ConditionFacts, ContentFacts, ObjectFacts, OwnerRef, ReplicaCounts, TypeFacts,
    marks::{BLOCK_MOVE, DELETE_FOR_MOVE, MOVE_MARK, PAUSED_ANNOTATION},
};

/// The label of definitions and objects that move.
pub(super) const MOVE: &str = "clusterctl.cluster.x-k8s.io/move";
/// The label of definitions and objects that move with all objects they own.
pub(super) const MOVE_HIERARCHY: &str = "clusterctl.cluster.x-k8s.io/move-hierarchy";
const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";

/// The API groups of Cluster API itself.
pub(super) const CORE: &str = "cluster.x-k8s.io";
pub(super) const ADDONS: &str = "addons.cluster.x-k8s.io";
const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";

/// Labels and annotations with which tools mark their objects. Tools that use other tools come first.
/// Source: the tools' documentation: Argo CD 3 (resource tracking), Flux 2 (garbage collection), Fleet 0.12, Helm 3.
const GITOPS_TOOLS: [(&str, &str); 7] = [
    ("argocd.argoproj.io/instance", "Argo CD"),
    ("argocd.argoproj.io/tracking-id", "Argo CD"),
    ("kustomize.toolkit.fluxcd.io/name", "Flux"),
    ("helm.toolkit.fluxcd.io/name", "Flux"),
    ("objectset.rio.cattle.io/id", "Fleet"),
    ("fleet.cattle.io/bundle-id", "Fleet"),
    ("meta.helm.sh/release-name", "Helm"),
];
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// The parser for objects of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContentParser {
    Plain,
    Cluster,
    ClusterClass,
    Machine,
    Replicas,
    Binding,
}

/// Extracts facts from a full object, or from its metadata alone.
pub fn facts_of(object: &Object, of: &Arc<TypeFacts>) -> ObjectFacts {
    let mut key = apply::key_of(object);
    (key.group, key.kind) = (of.kind.group.clone(), of.kind.kind.clone());
    let metadata = |field: &str| object.get(&["metadata", field]).and_then(Value::as_str).unwrap_or_default();
    ObjectFacts {
        key,
        object_type: of.clone(),
        uid: metadata("uid").to_owned(),
        resource_version: metadata("resourceVersion").to_owned(),
        owners: owners(object),
        is_labelled_to_move: object.label(MOVE).is_some(),
        is_hierarchy: object.label(MOVE_HIERARCHY).is_some(),
        blocks_move: object.annotation(BLOCK_MOVE).is_some(),
        is_terminating: !metadata("deletionTimestamp").is_empty(),
        is_deleted_for_move: object.annotation(DELETE_FOR_MOVE).is_some(),
        paused_by: object.annotation(MOVE_MARK).map(str::to_owned),
        is_paused: object.annotation(PAUSED_ANNOTATION).is_some()
            || (parser_for(of) == ContentParser::Cluster && is_true(object, &["spec", "paused"])),
        pause_acknowledged: pause_acknowledged(object),
        gitops_tool: gitops_tool(object),
        cluster_name: object.label(CLUSTER_NAME).map(str::to_owned),
        condition: ["Ready", "Available"].iter().find_map(|kind| condition(object, kind)),
        content: content(object, of),
    }
}

/// True if facts of a kind need more than metadata.
pub(super) fn needs_content(of: &TypeFacts) -> bool {
    !matches!(parser_for(of), ContentParser::Plain | ContentParser::ClusterClass)
}

/// True if objects of a kind may have the condition `Paused`: kinds of Cluster API and its providers with a controller.
pub(super) fn may_acknowledge_pause(of: &TypeFacts) -> bool {
    let (group, kind) = (&of.kind.group, &of.kind.kind);
    needs_content(of)
        || (of.has_status && group.ends_with(CORE) && group != ADDONS && !kind.ends_with("Template"))
}

/// True if the condition `Paused` is `True` for the current generation. None if the condition is missing.
/// Source: Cluster API v1.14, util/paused (EnsurePausedCondition); contract v1beta1 has the condition at the second
/// path.
pub fn pause_acknowledged(object: &Object) -> Option<bool> {
    let places: [&[&str]; 2] = [&["status", "conditions"], &["status", "v1beta2", "conditions"]];
    let all = places.iter().filter_map(|place| object.get(place)?.as_array()).flatten();
    let paused = all.into_iter().find(|condition| condition["type"] == "Paused")?;
    let generation = object.get(&["metadata", "generation"]).and_then(Value::as_i64);
    let is_current = paused["observedGeneration"].as_i64().is_none_or(|seen| Some(seen) >= generation);
    Some(paused["status"] == "True" && is_current)
}

fn parser_for(of: &TypeFacts) -> ContentParser {
    match (&*of.kind.group, &*of.kind.kind) {
        (CORE, "Cluster") => ContentParser::Cluster,
        (CORE, "ClusterClass") => ContentParser::ClusterClass,
        (CORE, "Machine") => ContentParser::Machine,
        (CORE, "MachineDeployment" | "MachineSet" | "MachinePool") => ContentParser::Replicas,
        (ADDONS, "ClusterResourceSetBinding") => ContentParser::Binding,
        (CONTROL_PLANE, kind) if !kind.ends_with("Template") => ContentParser::Replicas,
        _ => ContentParser::Plain,
    }
}

fn content(object: &Object, of: &TypeFacts) -> ContentFacts {
    match parser_for(of) {
        ContentParser::Plain => ContentFacts::Plain,
        ContentParser::Cluster => ContentFacts::Cluster(cluster(object)),
        ContentParser::ClusterClass => ContentFacts::ClusterClass,
        ContentParser::Machine => {
            let has_node = text(object, &["status", "nodeRef", "name"]).is_some();
            ContentFacts::Machine { has_node }
        }
        ContentParser::Replicas => ContentFacts::Replicas(replicas(object)),
        ContentParser::Binding => match text(object, &["spec", "clusterName"]) {
            // Old bindings have the name of their Cluster instead of a field.
            None => ContentFacts::Binding { cluster: object.name().to_owned() },
            Some(cluster) => ContentFacts::Binding { cluster: cluster.to_owned() },
        },
    }
}

fn owners(object: &Object) -> Vec<OwnerRef> {
    let references = object.get(&["metadata", "ownerReferences"]).and_then(Value::as_array);
    let owner = |reference: &Value| {
        let text = |field: &str| reference[field].as_str().unwrap_or_default().to_owned();
        OwnerRef {
            api_version: text("apiVersion"),
            kind: text("kind"),
            name: text("name"),
            uid: text("uid"),
            controller: reference["controller"].as_bool(),
            block_owner_deletion: reference["blockOwnerDeletion"].as_bool(),
        }
    };
    references.into_iter().flatten().map(owner).collect()
}

fn gitops_tool(object: &Object) -> Option<&'static str> {
    let has = |key: &str| object.label(key).or_else(|| object.annotation(key)).is_some();
    let tool = GITOPS_TOOLS.iter().find(|(key, _)| has(key)).map(|(_, tool)| *tool);
    tool.or_else(|| object.label(MANAGED_BY).filter(|by| *by == "Helm").map(|_| "Helm"))
}

/// Source: Cluster API v1.14, contract v1beta2; clusterctl v1.14 client/cluster/mover.go (checkProvisioningCompleted).
fn cluster(object: &Object) -> ClusterFacts {
    let initialized = |field: &str| is_true(object, &["status", "initialization", field]);
    let is_reached = condition(object, "ControlPlaneInitialized").is_some_and(|found| found.status == "True");
    let has_control_plane = text(object, &["spec", "controlPlaneRef", "name"]).is_some();
    let class = text(object, &["spec", "topology", "classRef", "name"]).map(|name| {
        let namespace = text(object, &["spec", "topology", "classRef", "namespace"]);
        (namespace.unwrap_or(object.namespace()).to_owned(), name.to_owned())
    });
    ClusterFacts {
        infrastructure_provisioned: initialized("infrastructureProvisioned"),
        control_plane_initialized: is_reached
            && (!has_control_plane || initialized("controlPlaneInitialized")),
        class,
    }
}

fn replicas(object: &Object) -> ReplicaCounts {
    let count = |path: &[&str]| object.get(path).and_then(Value::as_i64);
    let current = count(&["status", "replicas"]).unwrap_or_default();
    // Contract v1beta1 has another name for the field. Providers of control planes may still use it.
    let up_to_date =
        ["upToDateReplicas", "updatedReplicas"].iter().find_map(|field| count(&["status", field]));
    let (seen, last) = (count(&["status", "observedGeneration"]), count(&["metadata", "generation"]));
    ReplicaCounts {
        // Without the field, an autoscaler or a managed service chooses the number.
        desired: count(&["spec", "replicas"]).unwrap_or(current),
        current,
        up_to_date,
        is_observed: seen.is_none() || seen >= last,
    }
}

fn condition(object: &Object, kind: &str) -> Option<ConditionFacts> {
    let conditions = object.get(&["status", "conditions"])?.as_array()?;
    let found = conditions.iter().find(|condition| condition["type"] == kind)?;
    let text = |field: &str| found[field].as_str().unwrap_or_default().to_owned();
    Some(ConditionFacts { kind: kind.to_owned(), status: text("status"), reason: text("reason") })
}

fn is_true(object: &Object, path: &[&str]) -> bool {
    object.get(path).and_then(Value::as_bool) == Some(true)
}

/// Returns a string that is not empty.
fn text<'o>(object: &'o Object, path: &[&str]) -> Option<&'o str> {
    object.get(path).and_then(Value::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
