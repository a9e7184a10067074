//! ClusterResourceSets: which Clusters have which resources is written in bindings. Nothing is applied anywhere, since
//! there are no workload clusters.
//!
//! Source: Cluster API v1.14 `core/reconcilers/clusterresourceset`, run.

use serde_json::{Value, json};

use super::{
    conditions::{self, Condition, legacy},
    contract::{Contract, has_control_plane},
    object::{
        ADDONS, CORE, ObjectRef, add_finalizer, ensure_owner, generation, is_deleting, is_empty, name,
        namespace, owner_reference, owners, remove_finalizer, set, text, uid,
    },
    plan::Plan,
    selector,
    world::World,
};

const FINALIZER: &str = "addons.cluster.x-k8s.io";

/// What one look at a ClusterResourceSet decides.
pub(super) fn plan(world: &dyn World, live: &Value) -> Plan {
    let mut plan = Plan::default();
    let mut resource_set = live.clone();
    if is_deleting(live) {
        for binding in world.list(ADDONS, "ClusterResourceSetBinding", Some(namespace(live))) {
            forget(&binding, live, &mut plan);
        }
        remove_finalizer(&mut resource_set, FINALIZER);
        plan.change(live, resource_set);
        return plan;
    }
    add_finalizer(&mut resource_set, FINALIZER);
    let resources: Vec<Value> = live["spec"]["resources"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|resource| {
            world.get(&ObjectRef::new("", text(resource, "/kind"), namespace(live), text(resource, "/name")))
        })
        .collect();
    for resource in &resources {
        let mut owned = resource.clone();
        ensure_owner(&mut owned, owner_reference(live, false));
        plan.change(resource, owned);
    }
    for cluster in selected(world, live) {
        bind(world, live, &cluster, &resources, &mut plan);
    }
    set(&mut resource_set, &["status", "observedGeneration"], json!(generation(live)));
    let new = [Condition::new("ResourcesApplied", true, "Applied"), Condition::activity("Paused", false)];
    let old = [legacy("ResourcesApplied", true, "")];
    conditions::write(&mut resource_set, Contract::of(live), &new, &old, &world.now());
    plan.change(live, resource_set);
    plan
}

/// The Clusters it is for: those that are up. An empty selector selects none, unlike elsewhere.
fn selected(world: &dyn World, resource_set: &Value) -> Vec<Value> {
    let wanted = &resource_set["spec"]["clusterSelector"];
    if is_empty(wanted) {
        return Vec::new();
    }
    let mut clusters = world.list(CORE, "Cluster", Some(namespace(resource_set)));
    clusters.retain(|cluster| {
        selector::matches(wanted, cluster)
            && !is_deleting(cluster)
            && has_control_plane(cluster)
            && super::paused::reason(cluster, None).is_none()
    });
    clusters
}

/// Writes down in the binding of a Cluster that it has these resources.
fn bind(world: &dyn World, resource_set: &Value, cluster: &Value, resources: &[Value], plan: &mut Plan) {
    let found =
        world.get(&ObjectRef::new(ADDONS, "ClusterResourceSetBinding", namespace(cluster), name(cluster)));
    let mut binding = found.clone().unwrap_or_else(|| {
        json!({
            "apiVersion": resource_set["apiVersion"], "kind": "ClusterResourceSetBinding",
            "metadata": {"name": name(cluster), "namespace": namespace(cluster)},
            "spec": {"clusterName": name(cluster)},
        })
    });
    ensure_owner(&mut binding, owner_reference(resource_set, false));
    let mut bindings = binding["spec"]["bindings"].as_array().cloned().unwrap_or_default();
    let at = bindings.iter().position(|one| text(one, "/clusterResourceSetName") == name(resource_set));
    let before = at.map_or(Value::Null, |at| bindings[at].clone());
    let applied =
        resources.iter().map(|resource| applied(resource, &before, &world.now())).collect::<Vec<_>>();
    let entry = json!({"clusterResourceSetName": name(resource_set), "resources": applied});
    match at {
        Some(at) => bindings[at] = entry,
        None => bindings.push(entry),
    }
    set(&mut binding, &["spec", "bindings"], json!(bindings));
    match found {
        Some(found) => plan.change(&found, binding),
        None => plan.create(binding),
    }
}

/// A resource as a binding notes it; the time stays while the content does.
fn applied(resource: &Value, before: &Value, now: &str) -> Value {
    let content = crc32fast::hash(format!("{}{}", resource["data"], resource["stringData"]).as_bytes());
    let hash = format!("crc32:{content:08x}");
    let mut old = before["resources"].as_array().into_iter().flatten();
    let old = old.find(|old| {
        old["kind"] == resource["kind"] && old["name"] == resource["metadata"]["name"] && old["hash"] == hash
    });
    old.cloned().unwrap_or_else(|| {
        json!({
            "kind": resource["kind"], "name": resource["metadata"]["name"], "applied": true, "hash": hash,
            "lastAppliedTime": now,
        })
    })
}

/// Takes a ClusterResourceSet out of a binding; a binding without any goes.
fn forget(binding: &Value, resource_set: &Value, plan: &mut Plan) {
    if !owners(binding).iter().any(|owner| text(owner, "/uid") == uid(resource_set)) {
        return;
    }
    let mut left = binding.clone();
    if let Some(bindings) = left["spec"]["bindings"].as_array_mut() {
        bindings.retain(|one| text(one, "/clusterResourceSetName") != name(resource_set));
    }
    if let Some(owners) = left["metadata"]["ownerReferences"].as_array_mut() {
        owners.retain(|owner| text(owner, "/uid") != uid(resource_set));
    }
    if left["spec"]["bindings"].as_array().is_none_or(Vec::is_empty) {
        plan.delete(binding);
    } else {
        plan.change(binding, left);
    }
}
