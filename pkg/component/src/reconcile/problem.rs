//! Problems of steps in the words of component-operator-runtime.

use std::collections::BTreeMap;

use apply::{EngineError, ObjectKey, PlanError, WriteError, key_of};
use manifest::Object;

use crate::{Outcome, RunError};

/// The `apiVersion` of each object.
pub(crate) type ApiVersions = BTreeMap<ObjectKey, String>;

/// Returns the outcome of a step that failed.
pub(crate) fn failed(problem: impl AsRef<str>) -> Outcome {
    Outcome::Failed { message: format!("error reconciling dependent resources: {}", problem.as_ref()) }
}

/// Returns the `apiVersion` of each object. Objects without a namespace are in `namespace`.
pub(super) fn api_versions(objects: &[Object], namespace: &str) -> ApiVersions {
    let entry = |object: &Object| {
        let mut key = key_of(object);
        if key.namespace.is_empty() {
            namespace.clone_into(&mut key.namespace);
        }
        (key, object.api_version().to_owned())
    };
    objects.iter().map(entry).collect()
}

/// Returns the first problem of a plan.
pub(super) fn plan_problem(error: &RunError, versions: &ApiVersions) -> String {
    let first = match error {
        RunError::Plan { problems, .. } => problems.first().map(|one| refusal(one, versions)),
        RunError::InvalidObjects { problems, .. } => problems.first().map(ToString::to_string),
        _ => None,
    };
    first.unwrap_or_else(|| api::with_causes(error))
}

/// Returns the first problem of the writes.
pub(crate) fn write_problem(error: &EngineError, versions: &ApiVersions) -> String {
    let EngineError::Writes { failed } = error else { return api::with_causes(error) };
    match failed.first() {
        Some((_, WriteError::Plan(refused))) => refusal(refused, versions),
        Some((_, other)) => api::with_causes(other),
        None => api::with_causes(error),
    }
}

fn refusal(error: &PlanError, versions: &ApiVersions) -> String {
    match error {
        PlanError::Exists { object, .. } => {
            format!("found existing object {} without owner", shown(object, versions))
        }
        PlanError::OwnedByOther { object, theirs } => {
            format!("owner conflict; object {} is owned by {theirs}", shown(object, versions))
        }
        other => other.to_string(),
    }
}

/// Returns an object as Go prints its kind and name: `/v1, Kind=ConfigMap ns/name`.
fn shown(object: &ObjectKey, versions: &ApiVersions) -> String {
    let version = versions.get(object).map_or("", String::as_str);
    let slash = if version.contains('/') { "" } else { "/" };
    let namespace =
        if object.namespace.is_empty() { String::new() } else { format!("{}/", object.namespace) };
    format!("{slash}{version}, Kind={} {namespace}{}", object.kind, object.name)
}
