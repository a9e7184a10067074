//! Validation of metadata, in the order and the words of the real server.
//!
//! Source: apimachinery 1.36 `pkg/api/validation/objectmeta.go`. Differs: names are sorted where Go walks a map in
//! random order.

use serde_json::{Map, Value};

use super::{
    FOREGROUND, ORPHAN, dns_label_problems, field, finalizers, generation, is_deleting, label_key_problems,
    label_value_problems, name, namespace, text,
};
use crate::{
    builtin::NameRule,
    go,
    status::{FieldError, FieldErrorKind, FieldErrors},
};

/// The maximum total size of annotation keys and values, in bytes.
const ANNOTATIONS_LIMIT_BYTES: usize = 256 * 1024;
/// The maximum length of a field manager's name, in bytes.
const MANAGER_LIMIT_BYTES: usize = 128;

/// Returns all errors in the metadata of a new object.
pub(crate) fn validate(object: &Value, rule: NameRule, namespaced: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let generate = text(object, "generateName");
    if !generate.is_empty() {
        let problems = rule.problems(generate, true);
        errors.extend(
            problems.into_iter().map(|text| FieldError::invalid("metadata.generateName", generate, text)),
        );
    }
    if name(object).is_empty() {
        errors.required("metadata.name", "name or generateName is required");
    } else {
        let problems = rule.problems(name(object), false);
        errors.extend(
            problems.into_iter().map(|text| FieldError::invalid("metadata.name", name(object), text)),
        );
    }
    errors.extend(namespace_errors(namespace(object), namespaced));
    if generation(object) < 0 {
        let detail = "must be greater than or equal to 0";
        errors.invalid("metadata.generation", generation(object), detail);
    }
    errors.extend(label_errors(object));
    errors.extend(annotation_errors(object));
    errors.extend(owner_errors(object));
    errors.extend(finalizer_errors(object));
    errors.extend(managed_field_errors(object));
    errors
}

/// Returns the errors of an update that [`validate`] does not find.
pub(crate) fn validate_update(object: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if is_deleting(old) {
        errors.extend(new_finalizer_error(object, old));
    }
    if text(object, "resourceVersion").is_empty() {
        errors.invalid("metadata.resourceVersion", "", "must be specified for an update");
    }
    if generation(object) < generation(old) {
        errors.invalid("metadata.generation", generation(object), "must not be decremented");
    }
    for fixed in
        ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"]
    {
        if field(object, fixed) != field(old, fixed) {
            let absent = if matches!(fixed, "name" | "namespace" | "uid") { "".into() } else { Value::Null };
            let value = field(object, fixed).cloned().unwrap_or(absent);
            errors.invalid(format_args!("metadata.{fixed}"), value, "field is immutable");
        }
    }
    errors.extend(label_errors(object));
    errors.extend(annotation_errors(object));
    errors.extend(owner_errors(object));
    errors.extend(managed_field_errors(object));
    errors
}

fn namespace_errors(namespace: &str, namespaced: bool) -> Vec<FieldError> {
    match (namespaced, namespace) {
        (true, "") => vec![FieldError::required("metadata.namespace", "")],
        (true, name) => dns_label_problems(name)
            .into_iter()
            .map(|text| FieldError::invalid("metadata.namespace", name, text))
            .collect(),
        (false, "") => Vec::new(),
        (false, _) => vec![FieldError::forbidden("metadata.namespace", "not allowed on this type")],
    }
}

fn sorted<'a>(object: &'a Value, name: &str) -> Vec<(&'a String, &'a str)> {
    let fields: Option<&Map<String, Value>> = field(object, name).and_then(Value::as_object);
    let mut pairs: Vec<_> =
        fields.into_iter().flatten().map(|(key, value)| (key, value.as_str().unwrap_or_default())).collect();
    pairs.sort_unstable();
    pairs
}

fn label_errors(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (key, value) in sorted(object, "labels") {
        let of_key = label_key_problems(key).into_iter().map(|text| (key.as_str(), text));
        let of_value = label_value_problems(value).into_iter().map(|text| (value, text));
        errors.extend(
            of_key.chain(of_value).map(|(what, text)| FieldError::invalid("metadata.labels", what, text)),
        );
    }
    errors
}

fn annotation_errors(object: &Value) -> Vec<FieldError> {
    let annotations = sorted(object, "annotations");
    let mut errors = Vec::new();
    for (key, _) in &annotations {
        let problems = label_key_problems(&key.to_lowercase());
        errors.extend(
            problems.into_iter().map(|text| FieldError::invalid("metadata.annotations", key.as_str(), text)),
        );
    }
    let size: usize = annotations.iter().map(|(key, value)| key.len() + value.len()).sum();
    if size > ANNOTATIONS_LIMIT_BYTES {
        errors.push(too_long("metadata.annotations", ANNOTATIONS_LIMIT_BYTES));
    }
    errors
}

/// Finalizers that need no domain prefix.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", ORPHAN, FOREGROUND];

/// Formats owner references as Go prints them, with fields in the order of the Go type.
fn printed_owners(owners: &Value) -> String {
    const FIELDS: [&str; 6] = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
    let print = |owner: &Value| {
        let field = |name: &&str| Some(format!("\"{name}\":{}", owner.get(*name)?));
        format!("{{{}}}", FIELDS.iter().filter_map(field).collect::<Vec<_>>().join(","))
    };
    let printed: Vec<_> = owners.as_array().into_iter().flatten().map(print).collect();
    format!("[{}]", printed.join(","))
}

fn too_long(path: impl Into<String>, limit: usize) -> FieldError {
    let detail = format!("may not be more than {limit} bytes");
    FieldError::new(FieldErrorKind::TooLong, path, Value::Null, detail)
}

fn owner_errors(object: &Value) -> Vec<FieldError> {
    const PATH: &str = "metadata.ownerReferences";
    let Some(owners) = field(object, "ownerReferences") else { return Vec::new() };
    let mut errors = Vec::new();
    let mut controller: Option<String> = None;
    for owner in owners.as_array().into_iter().flatten() {
        let text = |name: &str| owner.get(name).and_then(Value::as_str).unwrap_or_default();
        let version = text("apiVersion").rsplit_once('/').map_or(text("apiVersion"), |(_, version)| version);
        if version.is_empty() {
            let path = format!("{PATH}.apiVersion");
            errors.invalid(path, text("apiVersion"), "version must not be empty");
        }
        for part in ["kind", "name", "uid"] {
            if text(part).is_empty() {
                errors.invalid(format_args!("{PATH}.{part}"), "", "must not be empty");
            }
        }
        if text("apiVersion") == "v1" && text("kind") == "Event" {
            let detail = "/v1, Kind=Event is disallowed from being an owner";
            errors.invalid(PATH, owner.clone(), detail);
        }
        if owner.get("controller") == Some(&Value::Bool(true)) {
            let this = format!("{}/{}", text("kind"), text("name"));
            if let Some(first) = &controller {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and \
                     {this}"
                );
                let detail = format!("{}: {detail}", printed_owners(owners));
                errors.push(FieldError::new(FieldErrorKind::InvalidUnquoted, PATH, Value::Null, detail));
            } else {
                controller = Some(this);
            }
        }
    }
    errors
}

fn finalizer_errors(object: &Value) -> Vec<FieldError> {
    const PATH: &str = "metadata.finalizers";
    let mut errors = Vec::new();
    for finalizer in finalizers(object) {
        let problems = label_key_problems(finalizer);
        errors.extend(problems.into_iter().map(|text| FieldError::invalid(PATH, finalizer, text)));
    }
    let has = |name: &str| finalizers(object).any(|finalizer| finalizer == name);
    if has(ORPHAN) && has(FOREGROUND) {
        let list = field(object, "finalizers").cloned().unwrap_or_default();
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.invalid(PATH, list, detail);
    }
    errors
}

/// Returns the additional finalizer errors of kinds in the core groups.
/// Source: kubernetes 1.36 `validateKubeFinalizerName`.
pub(crate) fn short_finalizer_errors(object: &Value) -> Vec<FieldError> {
    finalizers(object)
        .enumerate()
        .filter(|(_, finalizer)| !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(finalizer))
        .map(|(index, finalizer)| {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            FieldError::invalid(format!("metadata.finalizers[{index}]"), finalizer, detail)
        })
        .collect()
}

/// Returns warnings about new finalizers of a custom resource.
/// Source: apiextensions-apiserver 1.36 `validateKubeFinalizerName`.
pub(crate) fn finalizer_warnings(object: &Value, old: Option<&Value>) -> Vec<String> {
    let known: Vec<&str> = old.into_iter().flat_map(finalizers).collect();
    let mut new: Vec<&str> = finalizers(object).filter(|finalizer| !known.contains(finalizer)).collect();
    new.sort_unstable();
    new.dedup();
    new.retain(|finalizer| !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(finalizer));
    let warn = |finalizer: &str| {
        let how = if finalizer.contains('.') { "including a path (/) " } else { "" };
        format!(
            "metadata.finalizers: {}: prefer a domain-qualified finalizer name {how}to avoid accidental conflicts with \
             other finalizer writers",
            go::quoted(finalizer)
        )
    };
    new.into_iter().map(warn).collect()
}

fn new_finalizer_error(object: &Value, old: &Value) -> Option<FieldError> {
    let known: Vec<&str> = finalizers(old).collect();
    let mut new: Vec<&str> = finalizers(object).filter(|finalizer| !known.contains(finalizer)).collect();
    if new.is_empty() {
        return None;
    }
    new.sort_unstable();
    new.dedup();
    let list: Vec<String> = new.into_iter().map(go::quoted).collect();
    let detail = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
        list.join(", ")
    );
    Some(FieldError::forbidden("metadata.finalizers", detail))
}

fn managed_field_errors(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let entries = field(object, "managedFields").and_then(Value::as_array).into_iter().flatten();
    for (index, entry) in entries.enumerate() {
        let path = format!("metadata.managedFields[{index}]");
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        if !matches!(text("operation"), "Apply" | "Update") {
            let detail = "must be `Apply` or `Update`";
            errors.invalid(format_args!("{path}.operation"), text("operation"), detail);
        }
        if !matches!(text("fieldsType"), "" | "FieldsV1") {
            let detail = "must be `FieldsV1`";
            errors.invalid(format_args!("{path}.fieldsType"), text("fieldsType"), detail);
        }
        errors.extend(manager_errors(text("manager"), &format!("{path}.manager")));
    }
    errors
}

pub(crate) fn manager_errors(manager: &str, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if manager.len() > MANAGER_LIMIT_BYTES {
        errors.push(too_long(path, MANAGER_LIMIT_BYTES));
    }
    for (position, c) in manager.char_indices().filter(|(_, c)| c.is_control()) {
        let detail = format!("invalid character U+{:04X} (at position {position})", u32::from(c));
        errors.invalid(path, manager, detail);
    }
    errors
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn messages(errors: &[FieldError]) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_new_object_needs_a_name_and_the_scope_of_its_kind() {
        let errors = validate(&json!({"metadata": {}}), NameRule::DnsSubdomain, true);
        assert_eq!(
            messages(&errors),
            [
                "metadata.name: Required value: name or generateName is required",
                "metadata.namespace: Required value"
            ]
        );
        let errors =
            validate(&json!({"metadata": {"name": "a", "namespace": "b"}}), NameRule::DnsSubdomain, false);
        assert_eq!(messages(&errors), ["metadata.namespace: Forbidden: not allowed on this type"]);
    }

    #[test]
    fn identity_fields_cannot_change() {
        let old =
            json!({"metadata": {"name": "a", "uid": "1", "resourceVersion": "1", "creationTimestamp": "x"}});
        let new = json!({"metadata": {"name": "a", "uid": "2", "resourceVersion": "1"}});
        assert_eq!(
            messages(&validate_update(&new, &old)),
            [
                "metadata.uid: Invalid value: \"2\": field is immutable",
                "metadata.creationTimestamp: Invalid value: null: field is immutable",
            ]
        );
    }

    #[test]
    fn a_deleted_object_takes_no_new_finalizers() {
        let old =
            json!({"metadata": {"resourceVersion": "1", "deletionTimestamp": "x", "finalizers": ["a/b"]}});
        let mut new = old.clone();
        new["metadata"]["finalizers"] = json!(["b/c", "a/b"]);
        assert_eq!(
            messages(&validate_update(&new, &old)),
            [
                "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new \
              finalizers []string{\"b/c\"}"
            ]
        );
    }

    #[test]
    fn owners_are_complete_with_one_controller() {
        let owner = |name: &str| json!({"apiVersion": "v1", "kind": "A", "name": name, "uid": "1", "controller": true});
        let object =
            json!({"metadata": {"ownerReferences": [owner("x"), owner("y"), {"apiVersion": "apps/"}]}});
        let errors = messages(&owner_errors(&object));
        assert!(errors[0].ends_with("Found \"true\" in references for A/x and A/y"), "{errors:?}");
        assert_eq!(
            errors[1..],
            [
                "metadata.ownerReferences.apiVersion: Invalid value: \"apps/\": version must not be empty",
                "metadata.ownerReferences.kind: Invalid value: \"\": must not be empty",
                "metadata.ownerReferences.name: Invalid value: \"\": must not be empty",
                "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty",
            ]
        );
    }
}
