//! Decoding of a body into an object of the resource: kind, version, types and unknown fields.

use serde_json::Value;

use super::Call;
use crate::{
    builtin, crd, fields, go,
    kinds::Kinds,
    meta,
    request::{
        body::{self, DecodedBody, Format},
        options::FieldValidation,
    },
    status::{FieldError, Status},
};

/// Decodes the body of a create or an update.
/// Errors: 400 if the body is not an object of the resource, or violates strict field validation; 415 for unsupported
/// content types.
pub(crate) fn decode(call: &Call<'_>, content: &[u8], content_type: &str) -> Result<Value, Status> {
    let resource = &call.resource;
    let format = Format::of(content_type)?;
    let DecodedBody { mut value, strict_errors: mut oddities } =
        body::object(content, format, &resource.kind)?;
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (sent_version, sent_kind) = (text("apiVersion"), text("kind"));
    let expected = resource.api_version();
    if resource.custom.is_some() {
        let missing = if sent_kind.is_empty() { Some("Kind") } else { None };
        if let Some(what) = missing {
            let shown = String::from_utf8_lossy(content);
            let start: String = shown.chars().take(30).collect();
            let more = if start.len() < shown.len() { " ..." } else { "" };
            return Err(Status::bad_request(format!(
                "the object provided is unrecognized (must be of type {}): Object '{what}' is missing in '{shown}' \
                 ({start}{more})",
                resource.kind
            )));
        }
        if sent_version != expected {
            return Err(Status::bad_request(format!(
                "the API version in the data ({sent_version}) does not match the expected API version ({expected})"
            )));
        }
    } else {
        built_in_kind(
            &call.kinds,
            (&resource.group, &resource.version, &resource.kind),
            &sent_version,
            &sent_kind,
        )?;
        value["apiVersion"] = expected.clone().into();
        value["kind"] = resource.kind.to_string().into();
    }
    let unknown = check_fields(call, &mut value).map_err(|why| wrong_kind(call, &why))?;
    oddities.extend(unknown.into_iter().filter(|text| !oddities.contains(text)).collect::<Vec<_>>());
    match call.field_validation {
        FieldValidation::Ignore => {}
        FieldValidation::Warn => call.warn_all(oddities),
        FieldValidation::Strict if oddities.is_empty() => {}
        FieldValidation::Strict => {
            let mut list = oddities.join(", ");
            if format == Format::Yaml && list.starts_with("line ") {
                list = format!("yaml: unmarshal errors:\n  {list}");
            }
            return Err(wrong_kind(call, &format!("strict decoding error: {list}")));
        }
    }
    Ok(value)
}

fn wrong_kind(call: &Call<'_>, why: &str) -> Status {
    let (kind, version) = (&call.resource.kind, go::quoted(&call.resource.version));
    Status::bad_request(format!("{kind} in version {version} cannot be handled as a {kind}: {why}"))
}

/// Checks that a body is a `Scale`, for every resource.
/// Errors: 400 as for objects.
pub(crate) fn check_is_scale(call: &Call<'_>, sent: &Value) -> Result<(), Status> {
    let text = |name: &str| sent.get(name).and_then(Value::as_str).unwrap_or_default();
    built_in_kind(&call.kinds, ("autoscaling", "v1", "Scale"), text("apiVersion"), text("kind"))
}

/// Versions that are no longer served but still readable, with their kinds.
/// Source: kubernetes 1.36 `pkg/api/legacyscheme`.
const REMOVED_VERSIONS: [(&str, &[&str]); 11] = [
    ("apps/v1beta1", &["ControllerRevision", "Deployment", "StatefulSet"]),
    ("apps/v1beta2", &["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"]),
    ("batch/v1beta1", &["CronJob"]),
    ("coordination.k8s.io/v1beta1", &["Lease"]),
    ("discovery.k8s.io/v1beta1", &["EndpointSlice"]),
    ("events.k8s.io/v1beta1", &["Event"]),
    ("extensions/v1beta1", &["DaemonSet", "Deployment", "Ingress", "NetworkPolicy", "ReplicaSet"]),
    ("networking.k8s.io/v1beta1", &["Ingress", "IngressClass"]),
    ("policy/v1beta1", &["PodDisruptionBudget"]),
    ("rbac.authorization.k8s.io/v1beta1", &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]),
    ("storage.k8s.io/v1beta1", &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"]),
];

/// Checks the kind of a body. `target` is the expected group, version and kind.
/// Source: kube-apiserver 1.36, measured: the decoder's errors for a body of another kind.
fn built_in_kind(
    kinds: &Kinds,
    target: (&str, &str, &str),
    sent_version: &str,
    sent_kind: &str,
) -> Result<(), Status> {
    let (target_group, target_version, target) = target;
    let expected = if target_group.is_empty() {
        target_version.to_owned()
    } else {
        format!("{target_group}/{target_version}")
    };
    let (kind, version) = (if sent_kind.is_empty() { target } else { sent_kind }, sent_version);
    let (group, bare) = version.rsplit_once('/').unwrap_or(("", version));
    let known = kinds.find_kind(group, bare, kind).is_some_and(|resource| resource.custom.is_none());
    if kind == target {
        if version.is_empty() || version == expected {
            return Ok(());
        }
        let retired =
            REMOVED_VERSIONS.iter().any(|(retired, kinds)| *retired == version && kinds.contains(&kind));
        if retired || known && group == target_group {
            return Err(Status::bad_request(format!(
                "the API version in the data ({version}) does not match the expected API version ({expected})"
            )));
        }
    }
    let package =
        if target_group.is_empty() { "core" } else { target_group.split('.').next().unwrap_or_default() };
    if known {
        return Err(Status::bad_request(format!(
            "{kind} in version {} cannot be handled as a {target}: converting ({bare}.{kind}) to \
             ({package}.{target}): unknown conversion",
            go::quoted(bare)
        )));
    }
    Err(Status::bad_request(format!(
        "{kind} in version {} cannot be handled as a {target}: no kind {} is registered for version {} in scheme \
         \"pkg/runtime/scheme.go:111\"",
        go::quoted(bare),
        go::quoted(kind),
        go::quoted(version)
    )))
}

/// Checks the types of an object and removes unknown fields. Returns the problems for strict validation: `unknown field
/// "spec.foo"`.
fn check_fields(call: &Call<'_>, object: &mut Value) -> Result<Vec<String>, String> {
    let resource = &call.resource;
    if resource.custom.is_none() {
        if let Some(error) = builtin::decode_errors(resource, object) {
            return Err(error);
        }
        let unknown = builtin::unknown_fields(resource, object);
        meta::normalise(object);
        return Ok(unknown.into_iter().map(|path| unknown_field(&path)).collect());
    }
    if let Some(error) = meta::type_error(object) {
        return Err(format!("json: cannot unmarshal {error}"));
    }
    let mut unknown: Vec<String> =
        meta::normalise(object).iter().map(|name| unknown_field(&format!("metadata.{name}"))).collect();
    let pruned = crd::prune(object, resource.schema.schema());
    let embedded = crd::prune_embedded(object, resource.schema.schema());
    unknown.extend(pruned.iter().chain(&embedded).map(|path| unknown_field(path)));
    Ok(unknown)
}

fn unknown_field(path: &str) -> String {
    format!("unknown field {}", go::quoted(path))
}

/// Decodes the result of a patch. Error messages quote `shown`, or the patched object.
/// Source: kube-apiserver 1.36 `jsonPatcher.applyPatchToCurrentObject`, `applyPatchToObject`.
/// Errors: 422 if the result is no object of the resource, or violates strict field validation.
pub(crate) fn decode_patched(
    call: &Call<'_>,
    object: &mut Value,
    oddities: Vec<String>,
    original: Option<&str>,
) -> Result<(), Status> {
    // The object for error messages, before fields are removed.
    let before = original.is_none().then(|| object.clone());
    let invalid = |why: &str| {
        let before = before.as_ref().map(Value::to_string);
        let error = FieldError::invalid("patch", before.as_deref().or(original).unwrap_or_default(), why);
        Status::invalid("", "", "", &[error])
    };
    let sent_kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
    if call.resource.custom.is_none() && sent_kind != &*call.resource.kind {
        let (target, version) = (&call.resource.kind, &call.resource.version);
        return Err(invalid(&format!(
            "converting ({version}.{sent_kind}) to (core.{target}): unknown conversion"
        )));
    }
    let unknown = check_fields(call, object).map_err(|why| invalid(&why))?;
    let all: Vec<String> = oddities.into_iter().chain(unknown).collect();
    match call.field_validation {
        FieldValidation::Ignore => {}
        FieldValidation::Warn => call.warn_all(all),
        FieldValidation::Strict if all.is_empty() => {}
        FieldValidation::Strict => {
            return Err(invalid(&format!("strict decoding error: {}", all.join(", "))));
        }
    }
    Ok(())
}

/// Checks that the result of an apply can be decoded. Its types are correct already.
/// Source: kube-apiserver 1.36, measured.
/// Errors: 500 for a text of another format, such as a quantity, a time or base64. Integers of any size are accepted.
pub(crate) fn check_applied(call: &Call<'_>, object: &Value) -> Result<(), Status> {
    let resource = &call.resource;
    let error = if resource.custom.is_none() { builtin::decode_errors(resource, object) } else { None };
    let Some(error) = error.filter(|error| !error.starts_with("json: ")) else { return Ok(()) };
    let from_json = if error.starts_with("illegal base64") { "error decoding from json: " } else { "" };
    let kind = fields::format_kind(&resource.api_version(), &resource.kind);
    let (namespace, name) = (meta::namespace(object), meta::name(object));
    Err(Status::internal_without_details(format!(
        "failed to convert new object ({namespace}/{name}; {kind}) to proper version: unable to convert unstructured \
         object to {kind}: {from_json}{error}"
    )))
}

/// Sets the namespace of the request in the object.
/// Errors: 400 if the object names another namespace.
pub(crate) fn match_namespace(call: &Call<'_>, object: &mut Value) -> Result<(), Status> {
    let sent = meta::namespace(object);
    if !call.resource.namespaced {
        // The real server drops the namespace of a cluster-scoped object.
        meta::remove(object, "namespace");
        return Ok(());
    }
    if !sent.is_empty() && sent != call.namespace {
        let message = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Status::bad_request(message));
    }
    meta::set(object, "namespace", call.namespace);
    Ok(())
}

/// Checks that the object has the name of the path.
/// Errors: 400 if the names differ or the object has no name.
pub(crate) fn match_name(call: &Call<'_>, object: &Value) -> Result<(), Status> {
    let (sent, name) = (meta::name(object), call.name);
    if sent.is_empty() {
        let message =
            format!("the name of the object ({name} based on URL) was undeterminable: name must be provided");
        return Err(Status::bad_request(message));
    }
    if sent != name {
        let message = format!("the name of the object ({sent}) does not match the name on the URL ({name})");
        return Err(Status::bad_request(message));
    }
    Ok(())
}
