//! Secrets and sources of files that the cluster does not have as they are.

use std::{collections::BTreeMap, fmt};

use apply::{ApiError, ObjectKey};
use manifest::{Object, Value};

use super::{BatchAction, BatchPlan, ComponentBatch};
use crate::{
    GROUP, ObjectReader as _,
    references::{referenced_secrets, secret_data},
    source_object,
};

/// A Secret or source of a file that the cluster does not have as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnstoredObject {
    /// The Secret or source.
    pub object: ObjectKey,
    /// True if the cluster has another object with this key.
    pub exists: bool,
}

impl fmt::Display for UnstoredObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem =
            if self.exists { "differs between the files and the cluster" } else { "is only in the files" };
        write!(f, "{} {problem}", self.object)
    }
}

impl ComponentBatch<'_> {
    /// Returns the Secrets and sources of files that Components of a plan use, and that a controller does not find on the
    /// cluster.
    /// # Errors
    /// The failure of the server.
    pub async fn unstored_objects(&self, batch: &BatchPlan) -> Result<Vec<UnstoredObject>, ApiError> {
        let mut used = BTreeMap::new();
        for step in batch.steps.iter().filter(|step| !matches!(step.action, BatchAction::Suspend(_))) {
            let input = &self.inputs[step.input];
            let component = &input.checked.component;
            let source = source_object(&component.spec.source_ref, component.namespace());
            for key in referenced_secrets(component).into_iter().chain(source) {
                if let Some(object) = input.files.get(&key) {
                    used.insert(key, object);
                }
            }
        }
        let mut unstored = Vec::new();
        for (key, object) in used {
            let live = self.runs.targets.hub().read(&key).await?;
            if !live.as_ref().is_some_and(|live| is_stored(object, live)) {
                unstored.push(UnstoredObject { object: key, exists: live.is_some() });
            }
        }
        Ok(unstored)
    }
}

/// True if a Component gets the same from an object of a file and from the object on the cluster.
fn is_stored(file: &Object, live: &Object) -> bool {
    let part = |path: &[&str]| (file.get(path), live.get(path));
    match (file.group(), part(&["spec"])) {
        ("", _) => secret_data(file) == secret_data(live),
        (GROUP, (file, live)) => file == live,
        // The source controller sets the artifact.
        (_, (spec, live_spec)) => {
            let (artifact, live_artifact) = part(&["status", "artifact"]);
            (artifact.is_none() || artifact == live_artifact)
                && spec.is_none_or(|spec| has_all(live_spec, spec))
        }
    }
}

/// True if a value has all fields of another one. The server may have added fields.
fn has_all(live: Option<&Value>, wanted: &Value) -> bool {
    match (live, wanted) {
        (Some(Value::Object(live)), Value::Object(wanted)) => {
            wanted.iter().all(|(name, value)| has_all(live.get(name), value))
        }
        (live, wanted) => live == Some(wanted),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Object {
        Object::try_from(value).unwrap()
    }

    #[test]
    fn a_secret_is_stored_if_its_decoded_data_is_equal() {
        let secret =
            |field: &str, value: Value| object(json!({"apiVersion": "v1", "kind": "Secret", field: value}));
        let file = secret("stringData", json!({"values": "a: 1"}));
        assert!(is_stored(&file, &secret("data", json!({"values": "YTogMQ=="}))));
        assert!(!is_stored(&file, &secret("data", json!({"values": "YTogMg=="}))));
        assert!(!is_stored(&file, &secret("data", json!({"values": "YTogMQ==", "other": ""}))));
    }

    #[test]
    fn a_blueprint_is_stored_if_its_files_are_equal() {
        let blueprint = |files: Value| {
            object(
                json!({"apiVersion": "core.cs.sap.com/v1alpha1", "kind": "Blueprint", "spec": {"files": files}}),
            )
        };
        let file = blueprint(json!({"a.yaml": "a"}));
        assert!(is_stored(&file, &blueprint(json!({"a.yaml": "a"}))));
        assert!(!is_stored(&file, &blueprint(json!({"a.yaml": "a", "b.yaml": "b"}))));
    }

    #[test]
    fn a_source_of_flux_is_stored_despite_defaults_of_the_server() {
        let bucket = |spec: Value, revision: &str| {
            let artifact = json!({"revision": revision, "digest": "d", "url": "u"});
            object(json!({
                "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "Bucket", "spec": spec,
                "status": if revision.is_empty() { json!({}) } else { json!({"artifact": artifact}) },
            }))
        };
        let live = bucket(json!({"endpoint": "e", "timeout": "60s"}), "1");
        assert!(is_stored(&bucket(json!({"endpoint": "e"}), ""), &live));
        assert!(is_stored(&bucket(json!({"endpoint": "e"}), "1"), &live));
        assert!(!is_stored(&bucket(json!({"endpoint": "other"}), "1"), &live));
        assert!(!is_stored(&bucket(json!({"endpoint": "e"}), "2"), &live));
    }
}
