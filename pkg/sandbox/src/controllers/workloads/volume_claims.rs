//! Protection of PersistentVolumeClaims: a deleted claim stays until no Pod uses the claim.
//!
//! Source: kube-controller-manager 1.36 `pkg/controller/volume/pvcprotection`.

use serde_json::Value;

use crate::{
    client::Client,
    controllers::{ObjectRef, Requeue},
    meta,
    status::Status,
};

const KIND: &str = "PersistentVolumeClaim";
const PROTECTION: &str = "kubernetes.io/pvc-protection";

/// The claims of a namespace that are being deleted and may wait for a Pod.
pub(super) fn terminating_claims(client: &Client, namespace: &str) -> Vec<ObjectRef> {
    let claims = client.list("", KIND, Some(namespace));
    claims.iter().filter(|claim| meta::is_deleting(claim)).map(ObjectRef::of).collect()
}

pub(super) async fn reconcile(client: &Client, mut claim: Value) -> Result<Requeue, Status> {
    let finalizers =
        || meta::finalizers(&claim).filter(|finalizer| *finalizer != PROTECTION).map(str::to_owned);
    let others: Vec<String> = finalizers().collect();
    let is_held = others.len() < meta::finalizers(&claim).count();
    if !is_held || !meta::is_deleting(&claim) || is_used(client, &claim) {
        return Ok(Requeue::AwaitChange);
    }
    meta::set_finalizers(&mut claim, others);
    client.update(claim).await?;
    Ok(Requeue::AwaitChange)
}

fn is_used(client: &Client, claim: &Value) -> bool {
    let has_ended = |pod: &Value| matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
    let uses = |pod: &Value| {
        let mut volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
        volumes.any(|volume| volume["persistentVolumeClaim"]["claimName"] == meta::name(claim))
    };
    let pods = client.list("", "Pod", Some(meta::namespace(claim)));
    pods.iter().any(|pod| !has_ended(pod) && uses(pod))
}
