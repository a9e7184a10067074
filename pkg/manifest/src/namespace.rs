//! The target namespace of a set of objects: finding it, and moving all objects and references into it.

use serde_json::{Value, json};

use crate::object::type_name;
use crate::{Object, ObjectRef};

#[cfg(test)]
mod tests;

/// A set of objects with several Namespaces, so the target is ambiguous.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found {} objects of kind `Namespace`; provider components must have at most one", names.len())]
pub struct AmbiguousNamespace {
    /// The names of the Namespaces, in input order.
    pub names: Vec<String>,
}

/// A reference to a namespace that cannot be moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum NamespaceError {
    /// The annotation that names a Certificate is not `<namespace>/<name>`.
    #[error("annotation `{INJECT_CA_FROM}` of `{object}` must be `<namespace>/<name>`, not `{found}`")]
    InjectCaFrom { object: ObjectRef, found: String },
    /// The `spec` of a Certificate is no mapping, or its DNS names are no list of strings.
    #[error("`{path}` of `{object}` must be {expected}, not {found}")]
    Certificate {
        object: ObjectRef,
        /// The field, such as `spec.dnsNames[1]`.
        path: String,
        /// The expected type, such as `a string`.
        expected: &'static str,
        /// The actual type, such as `a number`.
        found: &'static str,
    },
}

/// The annotation that names a Certificate for cert-manager's CA injector.
const INJECT_CA_FROM: &str = "cert-manager.io/inject-ca-from";

const NAMESPACE: &str = "Namespace";

/// The cluster-scoped kinds; all other kinds count as namespaced.
///
/// Source: clusterctl v1.14 internal/util/objs.go (`IsResourceNamespaced`). The list is incomplete (APIService and
/// ClusterIssuer are missing) and ignores groups. It stays as it is, because scripts depend on the result.
const CLUSTER_SCOPED_KINDS: [&str; 16] = [
    NAMESPACE,
    "Node",
    "PersistentVolume",
    "PodSecurityPolicy",
    "CertificateSigningRequest",
    "ClusterRoleBinding",
    "ClusterRole",
    "VolumeAttachment",
    "StorageClass",
    "CSIDriver",
    "CSINode",
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "CustomResourceDefinition",
    "PriorityClass",
    "RuntimeClass",
];

/// True if objects of a kind get a namespace, regardless of group.
fn is_namespaced(kind: &str) -> bool {
    !CLUSTER_SCOPED_KINDS.contains(&kind)
}

/// Returns the target namespace of provider components: the name of their Namespace object.
///
/// Ignores Namespaces without a name before the first named one.
/// Source: clusterctl v1.14 client/repository/components.go (`inspectTargetNamespace`).
/// # Errors
/// [`AmbiguousNamespace`] if there are several; a target namespace does not help, the components must change.
pub fn target_namespace(objects: &[Object]) -> Result<Option<&str>, AmbiguousNamespace> {
    let mut names = objects.iter().filter(|it| it.kind() == NAMESPACE).map(Object::name);
    let found = names.by_ref().find(|name| !name.is_empty());
    // A Namespace without a name after the first named one counts as another Namespace.
    let others: Vec<_> = names.map(str::to_owned).collect();
    match found {
        Some(name) if !others.is_empty() => {
            Err(AmbiguousNamespace { names: std::iter::once(name.to_owned()).chain(others).collect() })
        }
        found => Ok(found),
    }
}

/// Appends a Namespace object, if the set has none.
///
/// Source: clusterctl v1.14 client/repository/components.go (`addNamespaceIfMissing`).
pub fn ensure_namespace_object(objects: &mut Vec<Object>, namespace: &str) {
    if objects.iter().any(|it| it.kind() == NAMESPACE) {
        return;
    }
    let object = json!({"apiVersion": "v1", "kind": NAMESPACE, "metadata": {"name": namespace}});
    if let Value::Object(fields) = object {
        objects.push(Object::from_map(fields));
    }
}

/// Moves all objects into one namespace. [`move_references`] then moves the references to them.
///
/// Renames Namespace objects, and sets the namespace of every other object not known to be cluster-scoped. The DNS names
/// of Certificates follow, because they depend on the former namespace.
///
/// Skips the items of a List, and metadata that is no mapping. Any former namespace is replaced, also one that is no
/// text. Therefore bindings are decoded afterwards, with [`KindSet::References`](crate::typed::KindSet).
/// Source: clusterctl v1.14 client/repository/components.go (`fixTargetNamespace`).
/// # Errors
/// One entry for each Certificate with invalid DNS names; the objects are then partly changed and must not be used.
pub fn set_namespace(objects: &mut [Object], namespace: &str) -> Result<(), Vec<NamespaceError>> {
    let mut errors = Vec::new();
    for object in objects {
        let before = object.namespace().to_owned();
        // Metadata that is no mapping stays as written; the API server rejects the object.
        let can_move = object.get(&["metadata"]).is_none_or(Value::is_object);
        if can_move && object.kind() == NAMESPACE && object.name() != namespace {
            object.set_name(namespace);
        }
        if can_move && is_namespaced(object.kind()) && before != namespace {
            object.set_namespace(namespace);
        }
        if object.kind() == "Certificate" {
            let moved = move_dns_names(object, &before, namespace);
            errors.extend(moved.err().map(|cause| cause.with_object(object)));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Moves the references of objects into one namespace: subjects of bindings, services of webhooks and CRDs, and the CA
/// annotation.
///
/// Expects objects of decoded kinds after [`round_trip`](crate::typed::round_trip); skips fields of an unexpected type.
/// # Errors
/// One entry for each reference that cannot be moved; the objects are then partly changed and must not be used.
pub fn move_references(objects: &mut [Object], namespace: &str) -> Result<(), Vec<NamespaceError>> {
    let mut errors = Vec::new();
    for object in objects {
        let moved = match object.kind() {
            "ClusterRoleBinding" | "RoleBinding" => {
                move_subjects(object, namespace);
                Ok(())
            }
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
                move_webhook_services(object, namespace);
                move_ca_annotation(object, namespace)
            }
            "CustomResourceDefinition" => {
                move_conversion_service(object, namespace);
                move_ca_annotation(object, namespace)
            }
            _ => Ok(()),
        };
        errors.extend(moved.err().map(|cause| cause.with_object(object)));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn move_subjects(object: &mut Object, namespace: &str) {
    let strays = |subject: &Value| {
        let at = subject.get("namespace").and_then(Value::as_str).unwrap_or_default();
        !at.is_empty() && at != namespace
    };
    if !object.get(&["subjects"]).and_then(Value::as_array).is_some_and(|all| all.iter().any(strays)) {
        return;
    }
    if let Some(Value::Array(subjects)) = object.get_mut(&["subjects"]) {
        for subject in subjects.iter_mut().filter(|it| strays(it)) {
            subject["namespace"] = namespace.into();
        }
    }
}

fn move_webhook_services(object: &mut Object, namespace: &str) {
    const SERVICE: &str = "/clientConfig/service";
    let strays =
        |webhook: &Value| webhook.pointer(SERVICE).is_some_and(|it| is_in_other_namespace(it, namespace));
    if !object.get(&["webhooks"]).and_then(Value::as_array).is_some_and(|all| all.iter().any(strays)) {
        return;
    }
    if let Some(Value::Array(webhooks)) = object.get_mut(&["webhooks"]) {
        for service in webhooks.iter_mut().filter_map(|it| it.pointer_mut(SERVICE)) {
            move_service(service, namespace);
        }
    }
}

/// Moves the conversion service. The first path belongs to `v1`, the second to `v1beta1`; decoding keeps only the right
/// one.
fn move_conversion_service(object: &mut Object, namespace: &str) {
    const CURRENT: &[&str] = &["spec", "conversion", "webhook", "clientConfig", "service"];
    const BETA: &[&str] = &["spec", "conversion", "webhookClientConfig", "service"];
    for path in [CURRENT, BETA] {
        if object.get(path).is_some_and(|service| is_in_other_namespace(service, namespace))
            && let Some(service) = object.get_mut(path)
        {
            move_service(service, namespace);
        }
    }
}

fn is_in_other_namespace(service: &Value, namespace: &str) -> bool {
    service.is_object() && service.get("namespace").and_then(Value::as_str) != Some(namespace)
}

fn move_service(service: &mut Value, namespace: &str) {
    if let Value::Object(fields) = service {
        fields.insert("namespace".to_owned(), namespace.into());
    }
}

/// A reference that cannot be moved, before its object is known.
enum UnmovableReference {
    InjectCaFrom { found: String },
    Certificate { path: String, expected: &'static str, found: &'static str },
}

impl UnmovableReference {
    fn with_object(self, object: &Object) -> NamespaceError {
        let object = ObjectRef::of(object);
        match self {
            Self::InjectCaFrom { found } => NamespaceError::InjectCaFrom { object, found },
            Self::Certificate { path, expected, found } => {
                NamespaceError::Certificate { object, path, expected, found }
            }
        }
    }
}

fn move_ca_annotation(object: &mut Object, namespace: &str) -> Result<(), UnmovableReference> {
    let Some(found) = object.annotation(INJECT_CA_FROM) else { return Ok(()) };
    match found.split_once('/') {
        Some((_, name)) if !name.contains('/') => {
            let moved = format!("{namespace}/{name}");
            if found != moved {
                object.set_annotation(INJECT_CA_FROM, &moved);
            }
            Ok(())
        }
        _ => Err(UnmovableReference::InjectCaFrom { found: found.to_owned() }),
    }
}

/// Replaces the namespace in the DNS names of services, `<service>.<namespace>.svc`, once per name.
fn move_dns_names(object: &mut Object, from: &str, to: &str) -> Result<(), UnmovableReference> {
    let names = match object.get(&["spec"]) {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Object(spec)) => match spec.get("dnsNames") {
            None => return Ok(()),
            Some(Value::Array(names)) => names,
            Some(other) => return Err(wrong_type("spec.dnsNames".to_owned(), "a list", other)),
        },
        Some(other) => return Err(wrong_type("spec".to_owned(), "a mapping", other)),
    };
    let (before, after) = (format!(".{from}."), format!(".{to}."));
    let mut moved = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        let text = name.as_str();
        let text = text.ok_or_else(|| wrong_type(format!("spec.dnsNames[{index}]"), "a string", name))?;
        moved.push(Value::from(text.replacen(&before, &after, 1)));
    }
    if moved != *names
        && let Some(names) = object.get_mut(&["spec", "dnsNames"])
    {
        *names = Value::Array(moved);
    }
    Ok(())
}

fn wrong_type(path: String, expected: &'static str, found: &Value) -> UnmovableReference {
    UnmovableReference::Certificate { path, expected, found: type_name(found) }
}
