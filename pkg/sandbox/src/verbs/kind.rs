//! Kind-specific behaviour of custom resources, their definitions, and built-in kinds.

use serde_json::Value;

use crate::{
    builtin::{self, NameRule},
    crd,
    kinds::ResourceType,
    meta,
    status::FieldError,
};

/// True if the resource is the CustomResourceDefinition.
pub(crate) fn is_definition(resource: &ResourceType) -> bool {
    &*resource.group == "apiextensions.k8s.io" && &*resource.plural == "customresourcedefinitions"
}

pub(crate) fn is_core(resource: &ResourceType, plural: &str) -> bool {
    resource.group.is_empty() && &*resource.plural == plural
}

/// Sets defaults and brings the object into canonical form.
pub(crate) fn set_defaults(resource: &ResourceType, object: &mut Value) {
    if resource.custom.is_some() {
        crd::fill_defaults(object, resource.schema.schema());
    } else {
        if is_definition(resource) {
            crd::set_defaults(object);
        }
        builtin::set_defaults(resource, object);
    }
    meta::normalise(object);
}

/// Converts a custom resource of another version, or of an older definition, to this version. Defaults come from the
/// storage version. The same happens in the real server, where a conversion only drops unknown fields.
pub(crate) fn convert(resource: &ResourceType, stored_version: &str, object: &mut Value) {
    let storage = resource.custom.as_ref().and_then(|custom| custom.storage_schema.as_ref());
    let origin = match storage {
        Some(storage) if stored_version == &*resource.storage_version => Some(storage.schema()),
        _ if stored_version == &*resource.version => Some(resource.schema.schema()),
        _ => None,
    };
    if let Some(schema) = origin {
        crd::prune(object, schema);
        crd::fill_defaults(object, schema);
    }
    if stored_version != &*resource.version {
        crd::prune(object, resource.schema.schema());
    }
}

/// Converts a custom resource of this version to its storage version. `None` if this is the storage version.
pub(crate) fn storage_form(resource: &ResourceType, object: &Value) -> Option<Value> {
    let storage = resource.custom.as_ref()?.storage_schema.as_ref()?;
    let mut object = object.clone();
    crd::prune(&mut object, storage.schema());
    Some(object)
}

/// Sets the server's fields of a new object. Its uid and creation time must be set.
pub(crate) fn prepare_for_create(resource: &ResourceType, object: &mut Value) {
    let Some(custom) = &resource.custom else {
        builtin::prepare_for_create(resource, object);
        if is_definition(resource) {
            crd::prepare(object);
        }
        return;
    };
    if custom.status {
        put(object, "status", None);
    }
    meta::set(object, "generation", 1);
}

/// Sets the server's fields of a changed object, for a change through the object or a subresource.
/// Source: apiextensions-apiserver 1.36 `customResourceStrategy`, `statusStrategy`.
pub(crate) fn prepare_for_update(
    resource: &ResourceType,
    subresource: &str,
    old: &Value,
    object: &mut Value,
) {
    let Some(custom) = &resource.custom else {
        builtin::prepare_for_update(resource, subresource, old, object);
        if is_definition(resource) {
            crd::prepare(object);
        }
        return;
    };
    if subresource == "status" {
        let status = object.get("status").cloned();
        let managed = meta::field(object, "managedFields").cloned();
        let revision = meta::field(object, "resourceVersion").cloned();
        *object = old.clone();
        put(object, "status", status);
        for (name, value) in [("managedFields", managed), ("resourceVersion", revision)] {
            match value {
                Some(value) => meta::set(object, name, value),
                None => meta::remove(object, name),
            }
        }
        return;
    }
    if custom.status {
        put(object, "status", old.get("status").cloned());
    }
    // All fields except the metadata count, in any order.
    let holds = |one: &Value, other: &Value| {
        let mut fields = one.as_object().into_iter().flatten();
        fields.all(|(name, value)| name == "metadata" || other.get(name) == Some(value))
    };
    if !(holds(object, old) && holds(old, object)) {
        meta::set(object, "generation", meta::generation(old).saturating_add(1));
    }
}

fn put(object: &mut Value, name: &str, value: Option<Value>) {
    match (value, object.as_object_mut()) {
        (Some(value), Some(fields)) => drop(fields.insert(name.to_owned(), value)),
        (None, Some(fields)) => drop(fields.remove(name)),
        (_, None) => {}
    }
}

/// Returns all errors of a new object, those of its metadata first.
pub(crate) fn validate(resource: &ResourceType, object: &Value) -> Vec<FieldError> {
    let errors = meta::validate(object, name_rule(resource), resource.namespaced);
    with_errors_of_kind(errors, resource, "", object, None)
}

/// Returns all errors of a changed object.
/// Source: kube-apiserver 1.36 `BeforeUpdate`: the checks common to all kinds come first. Most kinds repeat the checks
/// of an update. The causes list the duplicates, the message does not.
pub(crate) fn validate_update(
    resource: &ResourceType,
    subresource: &str,
    old: &Value,
    object: &Value,
) -> Vec<FieldError> {
    let mut errors = meta::validate(object, NameRule::PathSegment, resource.namespaced);
    let update = meta::validate_update(object, old);
    errors.extend(update.iter().cloned());
    errors.extend(update);
    with_errors_of_kind(errors, resource, subresource, object, Some(old))
}

/// Adds kind-specific errors. A custom resource of the wrong kind gets only that error.
fn with_errors_of_kind(
    mut errors: Vec<FieldError>,
    resource: &ResourceType,
    subresource: &str,
    object: &Value,
    old: Option<&Value>,
) -> Vec<FieldError> {
    if resource.custom.is_some() {
        let wrong = kind_errors(resource, object);
        if !wrong.is_empty() {
            return wrong;
        }
        errors.extend(crd::validate_object(resource, subresource, object, old));
    } else if is_definition(resource) {
        errors.extend(crd::validate(object, old));
    } else {
        errors.extend(meta::short_finalizer_errors(object));
        errors.extend(builtin::validate(resource, subresource, object, old));
    }
    errors
}

/// Returns errors if a patch changed the kind or version of an object. No other checks apply then.
/// Source: apiextensions-apiserver 1.36 `ValidateTypeMeta`.
fn kind_errors(resource: &ResourceType, object: &Value) -> Vec<FieldError> {
    let expected = [("kind", resource.kind.to_string()), ("apiVersion", resource.api_version())];
    let wrong = expected.into_iter().filter_map(|(field, expected)| {
        let found = object.get(field).and_then(Value::as_str).unwrap_or_default();
        (found != expected).then(|| FieldError::invalid(field, found, format!("must be {expected}")))
    });
    wrong.collect()
}

fn name_rule(resource: &ResourceType) -> NameRule {
    if resource.custom.is_some() { NameRule::DnsSubdomain } else { builtin::name_rule(resource) }
}

/// Returns the warning on every request for the kind.
pub(crate) fn deprecation(resource: &ResourceType) -> Option<&str> {
    match &resource.custom {
        Some(custom) => custom.deprecation_warning.as_deref(),
        None => builtin::deprecation(resource),
    }
}

/// Returns the warnings on a write of an object; `old` is the replaced object.
pub(crate) fn warnings(resource: &ResourceType, object: &Value, old: Option<&Value>) -> Vec<String> {
    match &resource.custom {
        Some(_) => meta::finalizer_warnings(object, old),
        None if is_definition(resource) => crd::warnings(object, old),
        None => builtin::warnings(resource, object),
    }
}

/// True if an update may omit the revision.
pub(crate) fn allows_unconditional_update(resource: &ResourceType) -> bool {
    resource.custom.is_none() && builtin::allows_unconditional_update(resource)
}

/// True if an update creates a missing object.
pub(crate) fn allows_create_on_update(resource: &ResourceType) -> bool {
    resource.custom.is_none() && builtin::allows_create_on_update(resource)
}

/// True if the response to a deletion is the object instead of a `Status`.
/// Source: kubernetes 1.36, `ReturnDeletedObject` of each kind.
pub(crate) fn returns_deleted_object(resource: &ResourceType) -> bool {
    let plurals = match &*resource.group {
        _ if resource.custom.is_some() => "",
        "" => {
            "namespaces persistentvolumeclaims persistentvolumes pods podtemplates resourcequotas serviceaccounts services"
        }
        "storage.k8s.io" => "csidrivers csinodes storageclasses volumeattachments volumeattributesclasses",
        _ => "",
    };
    plurals.split(' ').any(|plural| plural == &*resource.plural)
}

/// True if a deletion without a propagation policy keeps dependents.
/// Source: kubernetes 1.36, `DefaultGarbageCollectionPolicy` of each kind.
pub(crate) fn orphans_by_default(resource: &ResourceType) -> bool {
    resource.custom.is_none()
        && matches!((&*resource.group, &*resource.plural), ("batch", "jobs") | ("", "replicationcontrollers"))
}
