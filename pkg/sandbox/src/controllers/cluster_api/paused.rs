//! Pausing: the only write to the objects of a paused Cluster is the condition `Paused`.
//!
//! Source: Cluster API v1.14 `util/paused`.

use serde_json::Value;

use super::{
    conditions::{self, Condition},
    contract::Contract,
    object::{CORE, annotation, flag, group, kind},
    plan::{ObjectReader, WritePlan},
};

const ANNOTATION: &str = "cluster.x-k8s.io/paused";

/// The reason of a pause in the words of the condition: `None` if the object is not paused.
pub(super) fn reason(cluster: &Value, object: Option<&Value>) -> Option<String> {
    let mut reasons = Vec::new();
    if flag(cluster, "/spec/paused") {
        reasons.push("Cluster spec.paused is set to true".to_owned());
    }
    for annotated in object.into_iter().chain([cluster]) {
        if annotation(annotated, ANNOTATION).is_some() {
            reasons.push(format!("{} has the cluster.x-k8s.io/paused annotation", kind(annotated)));
            break;
        }
    }
    (!reasons.is_empty()).then(|| reasons.join(", "))
}

/// Sets the condition `Paused`, if the kind of the object supports the condition.
pub(super) fn plan(reader: &ObjectReader<'_>, live: &Value, reason: String) -> WritePlan {
    let mut plan = WritePlan::default();
    let own = group(live) == CORE || kind(live).starts_with("Kubeadm");
    let contract = if own { Contract::of(live) } else { reader.contract(group(live), kind(live)) };
    if own || contract == Contract::V1Beta2 {
        let mut paused = live.clone();
        let condition = Condition::new("Paused", true, "Paused").with_message(reason);
        conditions::write(&mut paused, contract, &[condition], &[], &reader.now());
        plan.update(live, paused);
    }
    plan
}
