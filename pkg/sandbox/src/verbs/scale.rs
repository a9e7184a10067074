//! The scale subresource: the number of replicas in a form common to all kinds.

use serde_json::{Map, Value, json};

use super::{Call, call::WriteResult, managed, update};
use crate::{
    kinds::{ResourceType, ScalePaths},
    meta,
    selector::LabelSelector,
    status::{FieldError, Status},
};

const BUILT_IN_SPEC: &str = ".spec.replicas";
const BUILT_IN_STATUS: &str = ".status.replicas";

/// Returns the scale of an object.
/// Errors: 500 if a custom resource has no number at the path of its definition, as on the real server.
pub(crate) fn from_object(resource: &ResourceType, object: &Value) -> Result<Value, Status> {
    let paths = paths(resource);
    let spec_path = paths.as_ref().map_or(BUILT_IN_SPEC, |paths| &paths.spec_replicas);
    let status_path = paths.as_ref().map_or(BUILT_IN_STATUS, |paths| &paths.status_replicas);
    let wanted = at(object, spec_path).and_then(Value::as_i64);
    if wanted.is_none() && paths.is_some() {
        return Err(Status::internal(&format!("the spec replicas field \"{spec_path}\" does not exist")));
    }
    let mut metadata = Map::new();
    for name in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = meta::field(object, name) {
            metadata.insert(name.to_owned(), value.clone());
        }
    }
    let mut spec = json!({});
    if let Some(wanted) = wanted.filter(|wanted| *wanted != 0) {
        spec["replicas"] = wanted.into();
    }
    let mut status = json!({"replicas": at(object, status_path).and_then(Value::as_i64).unwrap_or_default()});
    let selector = match &paths {
        Some(paths) => {
            paths.label_selector.as_ref().and_then(|path| at(object, path)?.as_str()).map(str::to_owned)
        }
        None => Some(selector_text(&object["spec"]["selector"])),
    };
    if let Some(selector) = selector.filter(|selector| !selector.is_empty()) {
        status["selector"] = selector.into();
    }
    Ok(json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status,
    }))
}

/// Writes the replicas of a scale into the object that a call names. `make` maps the current scale to the new one.
pub(crate) async fn update<F>(call: &Call<'_>, mut make: F) -> Result<Value, Status>
where
    F: FnMut(&Value) -> Result<Value, Status> + Send,
{
    let paths = paths(&call.resource);
    let spec_path = paths.as_ref().map_or(BUILT_IN_SPEC, |paths| &*paths.spec_replicas).to_owned();
    // The write changes the object: its own rules apply, with the name of the subresource.
    let (written, _) = update::change(call, false, |live| {
        let live = live.ok_or_else(|| call.not_found())?;
        let current = from_object(&call.resource, live)
            .unwrap_or_else(|_| json!({"metadata": live["metadata"], "spec": {}}));
        let scale = make(&current)?;
        let sent = meta::text(&scale, "resourceVersion");
        if !sent.is_empty() && sent != meta::text(live, "resourceVersion") {
            return Err(call.modified());
        }
        let uid = meta::uid(&scale);
        if !uid.is_empty() && uid != meta::uid(live) {
            return Err(call.conflict(&format!(
                "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
                meta::uid(live)
            )));
        }
        let replicas = scale["spec"]["replicas"].as_i64().unwrap_or_default();
        // The validation of a custom resource finds its errors later.
        if replicas < 0 && paths.is_none() {
            let error = FieldError::invalid("spec.replicas", replicas, "must be greater than or equal to 0");
            return Err(Status::invalid("autoscaling", "Scale", call.name, &[error]));
        }
        let mut new = live.clone();
        put(&mut new, &spec_path, replicas.into());
        managed::track(call, Some(live), &mut new);
        Ok(new)
    })
    .await?;
    let object = match written {
        WriteResult::DryRun(object) => object,
        stored @ WriteResult::Stored(_) => stored.into_value(call),
    };
    from_object(&call.resource, &object)
}

fn paths(resource: &ResourceType) -> Option<ScalePaths> {
    resource.custom.as_ref()?.scale.clone()
}

fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').filter(|step| !step.is_empty())
}

fn at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    steps(path).try_fold(object, |value, step| value.get(step))
}

fn put(object: &mut Value, path: &str, value: Value) {
    let mut place = object;
    for step in steps(path) {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = &mut place[step];
    }
    *place = value;
}

/// Formats a label selector of a spec for `status.selector` of a scale. ReplicationControllers have a plain map.
fn selector_text(selector: &Value) -> String {
    let is_map = ["matchLabels", "matchExpressions"].iter().all(|field| selector.get(field).is_none());
    let selector = if is_map { LabelSelector::of_map(selector) } else { LabelSelector::of_object(selector) };
    selector.to_string()
}
