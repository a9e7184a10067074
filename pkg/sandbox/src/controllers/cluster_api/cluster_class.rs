//! ClusterClasses: ownership of templates and the list of variables.
//!
//! Source: Cluster API v1.14 `core/reconcilers/clusterclass`, run.

use serde_json::{Value, json};

use super::{
    conditions::{self, Condition, legacy},
    contract::Contract,
    object::{generation, is_deleting, namespace, set},
    plan::{ObjectReader, WritePlan},
    topology::Blueprint,
};

pub(super) fn plan(reader: &ObjectReader<'_>, live: &Value) -> WritePlan {
    let mut plan = WritePlan::default();
    if is_deleting(live) {
        return plan;
    }
    let blueprint = Blueprint::of(live);
    let mut templates = blueprint.templates();
    templates.sort();
    templates.dedup();
    // An owner must be in the namespace of the owned object.
    for template in templates.into_iter().filter(|template| template.namespace == namespace(live)) {
        if let Some(found) = reader.get(template) {
            plan.adopt(&found, live);
        }
    }
    let mut class = live.clone();
    let contract = Contract::of(live);
    let variables: Vec<Value> =
        live["spec"]["variables"].as_array().into_iter().flatten().map(variable).collect();
    if !variables.is_empty() {
        set(&mut class, &["status", "variables"], json!(variables));
    }
    set(&mut class, &["status", "observedGeneration"], json!(generation(live)));
    let new = [
        Condition::new("RefVersionsUpToDate", true, "RefVersionsUpToDate"),
        Condition::new("VariablesReady", true, "VariablesReady"),
        Condition::activity("Paused", false),
    ];
    let old = [legacy("RefVersionsUpToDate", true, ""), legacy("VariablesReconciled", true, "")];
    conditions::write(&mut class, contract, &new, &old, &reader.now());
    plan.update(live, class);
    plan
}

fn variable(variable: &Value) -> Value {
    let required = variable["required"].as_bool().unwrap_or_default();
    let definition = json!({"from": "inline", "required": required, "schema": variable["schema"]});
    json!({"name": variable["name"], "definitionsConflict": false, "definitions": [definition]})
}
