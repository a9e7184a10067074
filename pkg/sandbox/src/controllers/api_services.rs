//! APIServices: creates and deletes the APIServices of custom groups with their definitions, and marks all APIServices
//! as available.
//!
//! Source: kube-apiserver 1.36 `pkg/controlplane/controller/crdregistration` and kube-aggregator 0.36 `autoregister`,
//! `status/local`, `status/remote`. Differs: the sandbox itself serves an APIService with a Service, so the APIService
//! is available at once without a probe.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::Deserialize;
use serde_json::Value;

use super::{Controller, ObjectRef, Reconciliation, Requeue};
use crate::{
    client::Client, conditions, meta, request::options::PropagationPolicy, server::api_service, store::Change,
};

const GROUP: &str = "apiregistration.k8s.io";
const DEFINITION_GROUP: &str = "apiextensions.k8s.io";
/// The label with the manager of an APIService; `true` marks the APIServices of this controller.
const AUTOMANAGED_LABEL: &str = "kube-aggregator.kubernetes.io/automanaged";

pub(crate) fn controllers() -> Vec<Arc<dyn Controller>> {
    vec![Arc::new(ApiServiceController::default())]
}

/// Creates the APIServices of custom groups and sets the conditions of all APIServices.
#[derive(Debug, Default)]
struct ApiServiceController {
    /// The names of the APIServices of each definition, by the name of the definition.
    by_definition: Mutex<BTreeMap<String, BTreeSet<String>>>,
}

/// The fields of a definition that determine its APIServices.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Definition {
    spec: Spec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Spec {
    group: String,
    versions: Vec<Version>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Version {
    name: String,
    served: bool,
}

impl Controller for ApiServiceController {
    fn name(&self) -> &'static str {
        "kube-apiserver"
    }

    fn affected_objects(&self, _: &Client, change: &Change) -> Vec<ObjectRef> {
        let key = &change.after.key;
        match (&*key.resource.group, &*key.resource.plural) {
            (GROUP, "apiservices") => vec![reference(&key.name)],
            (DEFINITION_GROUP, "customresourcedefinitions") => {
                let new = if change.deleted { BTreeSet::new() } else { services(&change.after.body) };
                let old = self.index(&key.name, &new);
                new.union(&old).map(|name| reference(name)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn reconcile<'a>(&'a self, client: &'a Client, object: &'a ObjectRef) -> Reconciliation<'a> {
        Box::pin(async move {
            let wanted = self.is_required(client, &object.name);
            let Some(mut live) = client.get(object) else {
                if wanted {
                    client.create(desired(&object.name)).await?;
                }
                return Ok(Requeue::AwaitChange);
            };
            if meta::field(&live, "labels").is_some_and(|labels| labels[AUTOMANAGED_LABEL] == "true") {
                if !wanted {
                    client.delete_if(object, meta::uid(&live), PropagationPolicy::Background).await?;
                    return Ok(Requeue::AwaitChange);
                }
                let spec = desired(&object.name)["spec"].take();
                if live["spec"] != spec {
                    live["spec"] = spec;
                    live = client.update(live).await?;
                }
            }
            if set_available(&mut live, &client.now()) {
                client.update_status(live).await?;
            }
            Ok(Requeue::AwaitChange)
        })
    }
}

impl ApiServiceController {
    /// Stores the APIServices of a definition and returns the previous ones.
    fn index(&self, definition: &str, services: &BTreeSet<String>) -> BTreeSet<String> {
        let mut wanted = self.lock();
        let old = if services.is_empty() {
            wanted.remove(definition)
        } else {
            wanted.insert(definition.to_owned(), services.clone())
        };
        old.unwrap_or_default()
    }

    /// True if an existing definition needs the APIService. Reads the definition, because the index may lack a
    /// deletion.
    fn is_required(&self, client: &Client, service: &str) -> bool {
        let definitions: Vec<String> = self
            .lock()
            .iter()
            .filter(|(_, all)| all.contains(service))
            .map(|(name, _)| name.clone())
            .collect();
        definitions.into_iter().any(|name| {
            client.get(&ObjectRef::new(DEFINITION_GROUP, "CustomResourceDefinition", "", &name)).is_some()
        })
    }

    /// Locks the index. A panic elsewhere leaves the index consistent: every critical section completes its change.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, BTreeSet<String>>> {
        self.by_definition.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The names of the APIServices of a definition: one for each served version.
fn services(definition: &[u8]) -> BTreeSet<String> {
    let Spec { group, versions } = serde_json::from_slice::<Definition>(definition).unwrap_or_default().spec;
    versions.iter().filter(|v| v.served).map(|version| format!("{}.{group}", version.name)).collect()
}

fn desired(name: &str) -> Value {
    let (version, group) = name.split_once('.').unwrap_or((name, ""));
    api_service(group, version, "true")
}

/// Marks an APIService as available; true if its condition changed.
fn set_available(service: &mut Value, now: &str) -> bool {
    let local = service["spec"]["service"].is_null();
    let (reason, message) = if local {
        ("Local", "Local APIServices are always available")
    } else {
        ("Passed", "all checks passed")
    };
    let new = conditions::build(&service["status"], "Available", "True", reason, message, now);
    if conditions::find(&service["status"], "Available") == Some(&new) {
        return false;
    }
    conditions::set(service, new);
    true
}

fn reference(name: &str) -> ObjectRef {
    ObjectRef::new(GROUP, "APIService", "", name)
}

#[cfg(test)]
mod tests;
