//! Namespace deletion: deletes the content of a Namespace before the Namespace itself.
//!
//! Source: kube-controller-manager 1.36 `pkg/controller/namespace/deletion`, run.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Controller, ObjectRef, Reconciliation, Requeue};
use crate::{
    client::Client, conditions, meta, request::options::PropagationPolicy, status::Status, store::Change,
};

const FINALIZER: &str = "kubernetes";

/// Deletes the content of terminating Namespaces and then removes their finalizer.
#[derive(Debug)]
pub(crate) struct NamespaceController;

#[derive(Debug, Default)]
struct RemainingContent {
    /// Object counts by `plural.group`.
    resources: BTreeMap<String, usize>,
    finalizers: BTreeMap<String, usize>,
}

impl Controller for NamespaceController {
    fn name(&self) -> &'static str {
        "namespace-controller"
    }

    fn affected_objects(&self, client: &Client, change: &Change) -> Vec<ObjectRef> {
        let key = &change.after.key;
        let is_namespace = key.resource.group.is_empty() && &*key.resource.plural == "namespaces";
        let namespace = if is_namespace { &key.name } else { &key.namespace };
        let object = ObjectRef::new("", "Namespace", "", namespace);
        // Any change of content may let a terminating Namespace continue.
        let concerned = is_namespace
            || !namespace.is_empty() && client.get(&object).is_some_and(|live| meta::is_deleting(&live));
        if concerned { vec![object] } else { Vec::new() }
    }

    fn reconcile<'a>(&'a self, client: &'a Client, object: &'a ObjectRef) -> Reconciliation<'a> {
        Box::pin(async move {
            let Some(mut live) = client.get(object).filter(meta::is_deleting) else {
                return Ok(Requeue::AwaitChange);
            };
            let held =
                live["spec"]["finalizers"].as_array().is_some_and(|held| held.contains(&json!(FINALIZER)));
            if !held {
                return Ok(Requeue::AwaitChange);
            }
            delete_content(client, &object.name).await?;
            let remaining = RemainingContent::of(client, &object.name);
            if !remaining.resources.is_empty() {
                set_conditions(&mut live, &remaining, &client.now());
                client.update_status(live).await?;
                return Ok(Requeue::AwaitChange);
            }
            if let Some(held) = live["spec"]["finalizers"].as_array_mut() {
                held.retain(|finalizer| finalizer != FINALIZER);
            }
            client.update_subresource(live, "finalize").await?;
            Ok(Requeue::AwaitChange)
        })
    }
}

async fn delete_content(client: &Client, namespace: &str) -> Result<(), Status> {
    for object in client.list_namespace(namespace) {
        if client.get(&object).is_some_and(|live| !meta::is_deleting(&live)) {
            client.delete(&object, PropagationPolicy::Background).await?;
        }
    }
    Ok(())
}

impl RemainingContent {
    fn of(client: &Client, namespace: &str) -> Self {
        let mut remaining = Self::default();
        for object in client.list_namespace(namespace) {
            let Some(live) = client.get(&object) else { continue };
            *remaining.resources.entry(client.resource_name(&object)).or_default() += 1;
            for finalizer in meta::finalizers(&live) {
                *remaining.finalizers.entry(finalizer.to_owned()).or_default() += 1;
            }
        }
        remaining
    }
}

fn set_conditions(namespace: &mut Value, remaining: &RemainingContent, now: &str) {
    let count = |counts: &BTreeMap<String, usize>, verb: &str| {
        let each: Vec<_> =
            counts.iter().map(|(name, count)| format!("{name} {verb} {count} resource instances")).collect();
        each.join(", ")
    };
    let resources = (!remaining.resources.is_empty()).then(|| {
        (
            "SomeResourcesRemain",
            format!("Some resources are remaining: {}", count(&remaining.resources, "has")),
        )
    });
    let finalizers = (!remaining.finalizers.is_empty()).then(|| {
        let text = count(&remaining.finalizers, "in");
        ("SomeFinalizersRemain", format!("Some content in the namespace has finalizers remaining: {text}"))
    });
    let (discovered, parsed) =
        ("All resources successfully discovered", "All legacy kube types successfully parsed");
    let deleted = "All content successfully deleted, may be waiting on finalization";
    let (removed, finished) =
        ("All content successfully removed", "All content-preserving finalizers finished");
    for (kind, trouble, reason, message) in [
        ("NamespaceDeletionDiscoveryFailure", None, "ResourcesDiscovered", discovered),
        ("NamespaceDeletionGroupVersionParsingFailure", None, "ParsedGroupVersions", parsed),
        ("NamespaceDeletionContentFailure", None, "ContentDeleted", deleted),
        ("NamespaceContentRemaining", resources, "ContentRemoved", removed),
        ("NamespaceFinalizersRemaining", finalizers, "ContentHasNoFinalizers", finished),
    ] {
        let status = if trouble.is_some() { "True" } else { "False" };
        let (reason, message) = trouble.unwrap_or_else(|| (reason, message.to_owned()));
        let condition = conditions::build(&namespace["status"], kind, status, reason, &message, now);
        conditions::set(namespace, condition);
    }
}
