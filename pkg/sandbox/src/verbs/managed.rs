//! Managed fields of the object of a call.

use serde_json::{Value, json};

use super::Call;
use crate::{
    builtin,
    fields::{self, Manager, OtherVersion, TrackedKind},
    schema::Schema,
    status::Status,
};

/// Records a write other than an apply.
pub(crate) fn track(call: &Call<'_>, live: Option<&Value>, new: &mut Value) {
    with_target(call, |target, manager| fields::track_update(live, new, target, manager));
}

/// Merges an applied configuration into the live object.
pub(crate) fn apply(
    call: &Call<'_>,
    live: Option<&Value>,
    configuration: &Value,
    force: bool,
) -> Result<Value, Status> {
    with_target(call, |target, manager| fields::apply(live, configuration, target, manager, force))
}

fn with_target<T>(call: &Call<'_>, act: impl FnOnce(TrackedKind<'_>, Manager<'_>) -> T) -> T {
    let resource = &call.resource;
    let schema = resource.schema.schema();
    let names: Vec<(String, Schema<'_>)> = call
        .kinds
        .resources()
        .iter()
        .filter(|r| r.group == resource.group && r.plural == resource.plural && r.version != resource.version)
        .map(|r| (r.api_version(), r.schema.schema()))
        .collect();
    let reset = unwritable(call);
    let built_in = resource.custom.is_none();
    let others: Vec<OtherVersion<'_>> = names
        .iter()
        .map(|(api_version, schema)| OtherVersion {
            api_version,
            schema: *schema,
            reset_fields: if built_in { reset } else { &[] },
        })
        .collect();
    let api_version = resource.api_version();
    let empty = if resource.custom.is_some() {
        json!({"apiVersion": api_version, "kind": &*resource.kind})
    } else {
        builtin::empty_object(resource)
    };
    let target = TrackedKind {
        kind: &resource.kind,
        schema,
        other_versions: &others,
        empty_object: &empty,
        reset_fields: reset,
    };
    let time = call.server.clock.now();
    let manager =
        Manager { name: call.manager, subresource: call.subresource, api_version: &api_version, time: &time };
    act(target, manager)
}

/// Returns the fields that cannot be written through the endpoint of the call.
/// Source: kube-apiserver 1.36, `GetResetFields` of each kind.
fn unwritable(call: &Call<'_>) -> &'static [&'static [&'static str]] {
    let custom = call.resource.custom.is_some();
    let group = &*call.resource.group;
    let plural = &*call.resource.plural;
    match call.subresource {
        "" if call.resource.subresource("status").is_some() => &[&["status"]],
        "status" if custom => &[&["metadata"], &["spec"]],
        "status" if group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io" => {
            &[&["metadata"], &["spec"]]
        }
        "status" if group == "admissionregistration.k8s.io" || group == "flowcontrol.apiserver.k8s.io" => {
            &[&["metadata"], &["spec"]]
        }
        "status" if plural == "deployments" => &[&["spec"], &["metadata", "labels"]],
        "status" if group.is_empty() && plural == "pods" => {
            &[&["spec"], &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]]
        }
        "status" => &[&["spec"]],
        _ => &[],
    }
}
