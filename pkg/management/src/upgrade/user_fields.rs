//! Keeps fields that users set on the Deployments of providers during an upgrade. Pure functions.

use api::labels::{CAPSTAN_DOMAIN, FIELD_MANAGER};
use manifest::{Map, Object, Value};

/// The fields to keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeptFields {
    /// True to keep the number of replicas.
    pub(crate) replicas: bool,
    /// True to keep the placement of pods.
    pub(crate) placement: bool,
}

impl KeptFields {
    /// All fields that users can set.
    pub(crate) const ALL: Self = Self { replicas: true, placement: true };
}

const REPLICAS: &[&str] = &["spec", "replicas"];
const POD_SPEC: &[&str] = &["spec", "template", "spec"];
const PLACEMENT_FIELDS: [&str; 5] =
    ["affinity", "nodeSelector", "priorityClassName", "tolerations", "topologySpreadConstraints"];

/// Field managers that install providers. Fields of these managers do not come from users.
const INSTALLERS: [&str; 2] = [FIELD_MANAGER, "clusterctl"];

/// Copies the fields that a user set on a live Deployment into the new manifest. Returns true if there were any.
///
/// A field belongs to a user if a manager other than the installer wrote the field. A forced write makes the
/// installer the manager, so the annotation `capstan.dev/kept` lists such fields for the next upgrade. Zero
/// replicas are never kept, because a failed upgrade by another tool leaves a Deployment that way.
pub(crate) fn keep_user_fields(next: &mut Object, live: &Object, keep: KeptFields) -> bool {
    if !(live.group() == "apps" && live.kind() == "Deployment") {
        return false;
    }
    let annotation = format!("{CAPSTAN_DOMAIN}/kept");
    let recorded: Vec<&str> =
        live.annotation(&annotation).map(|list| list.split(',').collect()).unwrap_or_default();
    let mut kept = Vec::new();
    for (field, path) in kept_paths(keep) {
        let Some(value) = live.get(&path).filter(|value| **value != 0) else { continue };
        if recorded.contains(&field) || is_set_by_user(live, &path) {
            set_field(next, &path, value.clone());
            kept.push(field);
        }
    }
    if !kept.is_empty() {
        next.set_annotation(&annotation, &kept.join(","));
    }
    !kept.is_empty()
}

/// Returns the name and the path of each field to keep.
fn kept_paths(keep: KeptFields) -> Vec<(&'static str, Vec<&'static str>)> {
    let replicas = keep.replicas.then(|| ("replicas", REPLICAS.to_vec()));
    let placement = PLACEMENT_FIELDS
        .iter()
        .filter(|_| keep.placement)
        .map(|field| (*field, [POD_SPEC, &[*field]].concat()));
    replicas.into_iter().chain(placement).collect()
}

fn is_set_by_user(live: &Object, path: &[&str]) -> bool {
    let entries = live.get(&["metadata", "managedFields"]).and_then(Value::as_array);
    let entries = entries.into_iter().flatten().filter(|entry| !is_installer(entry));
    entries.filter_map(|entry| entry.get("fieldsV1")).any(|fields| owned_field(fields, path).is_some())
}

/// True if the manager installs providers. A manager of container images applied the whole manifest.
fn is_installer(entry: &Value) -> bool {
    let manager = entry.get("manager").and_then(Value::as_str).unwrap_or_default();
    if INSTALLERS.contains(&manager) {
        return true;
    }
    let containers = entry
        .get("fieldsV1")
        .and_then(|fields| owned_field(fields, &["spec", "template", "spec", "containers"]))
        .and_then(Value::as_object);
    containers
        .is_some_and(|containers| containers.values().any(|container| container.get("f:image").is_some()))
}

fn owned_field<'f>(fields: &'f Value, path: &[&str]) -> Option<&'f Value> {
    path.iter().try_fold(fields, |fields, field| fields.get(format!("f:{field}")))
}

/// Sets a value and creates missing parents.
fn set_field(object: &mut Object, path: &[&str], value: Value) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut at = object.as_map_mut();
    for parent in parents {
        let inner = at.entry(*parent).or_insert_with(|| Value::Object(Map::new()));
        // The server rejects a manifest with another type here, with its own message.
        let Value::Object(inner) = inner else { return };
        at = inner;
    }
    at.insert((*last).to_owned(), value);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment(spec: Value, pod: &Value, managed: &Value) -> Object {
        let mut spec = spec;
        spec["template"] = json!({"spec": pod});
        Object::try_from(json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "m", "namespace": "n", "managedFields": managed},
            "spec": spec,
        }))
        .unwrap()
    }

    fn next() -> Object {
        deployment(json!({"replicas": 1}), &json!({"tolerations": [{"key": "new"}]}), &json!([]))
    }

    fn by(manager: &str, fields: &Value) -> Value {
        json!({"manager": manager, "operation": "Update", "fieldsV1": fields})
    }

    fn whole(manager: &str) -> Value {
        by(
            manager,
            &json!({"f:spec": {"f:replicas": {}, "f:template": {"f:spec": {"f:tolerations": {}, "f:nodeSelector": {},
                "f:containers": {"k:{\"name\":\"manager\"}": {"f:image": {}}}}}}}),
        )
    }

    #[test]
    fn fields_of_other_managers_are_kept() {
        let scaled = by("kubectl", &json!({"f:spec": {"f:replicas": {}}}));
        let edited = by(
            "kubectl-edit",
            &json!({"f:spec": {"f:template": {"f:spec": {"f:nodeSelector": {"f:a": {}}}}}}),
        );
        let pod = json!({"nodeSelector": {"a": "b"}, "tolerations": [{"key": "old"}]});
        let live = deployment(json!({"replicas": 3}), &pod, &json!([whole("clusterctl"), scaled, edited]));
        let mut kept = next();
        assert!(keep_user_fields(&mut kept, &live, KeptFields::ALL));
        assert_eq!(kept.get(&["spec", "replicas"]), Some(&json!(3)));
        assert_eq!(
            kept.get(POD_SPEC),
            Some(&json!({"tolerations": [{"key": "new"}], "nodeSelector": {"a": "b"}})),
            "the installer wrote the tolerations"
        );
        assert_eq!(kept.annotation("capstan.dev/kept"), Some("replicas,nodeSelector"));

        let mut replicas = next();
        keep_user_fields(&mut replicas, &live, KeptFields { replicas: true, placement: false });
        assert_eq!(replicas.annotation("capstan.dev/kept"), Some("replicas"));
        let mut nothing = next();
        assert!(!keep_user_fields(&mut nothing, &live, KeptFields::default()));
        assert_eq!(nothing, next());
    }

    #[test]
    fn kept_fields_are_kept_again() {
        let mut live = deployment(json!({"replicas": 3}), &json!({}), &json!([whole("capstan")]));
        assert!(!keep_user_fields(&mut next(), &live, KeptFields::ALL));
        live.set_annotation("capstan.dev/kept", "replicas,tolerations");
        let mut kept = next();
        assert!(keep_user_fields(&mut kept, &live, KeptFields::ALL));
        assert_eq!(kept.annotation("capstan.dev/kept"), Some("replicas"));
    }

    #[test]
    fn a_manager_of_the_full_manifest_is_not_a_user() {
        let live =
            deployment(json!({"replicas": 3}), &json!({}), &json!([whole("kubectl-client-side-apply")]));
        assert!(!keep_user_fields(&mut next(), &live, KeptFields::ALL));
    }

    #[test]
    fn zero_replicas_are_not_kept() {
        let scaled = by("kubectl", &json!({"f:spec": {"f:replicas": {}}}));
        let live = deployment(json!({"replicas": 0}), &json!({}), &json!([scaled]));
        let mut kept = next();
        assert!(!keep_user_fields(&mut kept, &live, KeptFields::ALL));
        assert_eq!(kept.get(&["spec", "replicas"]), Some(&json!(1)));
    }
}
