//! Desired objects: from manifests to a set that can be planned. Pure.

mod checks;
mod digest;
mod normalise;
mod scope;

use manifest::Object;

use self::{
    checks::cross_check,
    digest::digest_for,
    normalise::{normalise, shape_problems},
    scope::{Scopes, defined_types},
};
use crate::{
    ApplyOptions, ManagedType, ObjectKey, ObjectPolicies, OwnershipMarks, ServedKinds, StatusHints, key_of,
};

pub(crate) use digest::ONCE_DIGEST;

/// A desired object.
#[derive(Clone, Debug)]
pub struct DesiredObject {
    /// The key of the object.
    pub key: ObjectKey,
    /// The version in which the object is written.
    pub version: String,
    /// The object with the marks of its owner.
    pub object: Object,
    /// The policies of the object.
    pub policies: ObjectPolicies,
    /// The hints for reading the status of the object.
    pub hints: StatusHints,
    /// The digest that decides if the object has changed: hex SHA-256 of its JSON without the marks. With the policy
    /// `Once` the digest is a constant.
    pub digest: String,
    /// The kinds that a CustomResourceDefinition or an APIService defines.
    pub managed_types: Vec<ManagedType>,
}

/// All objects of a set, each once, in the order of the input.
#[derive(Clone, Debug, Default)]
pub struct DesiredSet {
    /// The objects in the order of the input.
    pub objects: Vec<DesiredObject>,
}

/// An object that cannot be applied to any server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{object}: {problem}")]
pub struct InvalidObject {
    /// The key of the object.
    pub object: ObjectKey,
    /// The problem of the object.
    pub problem: String,
}

/// Prepares objects for planning: checks types, folds `stringData`, sets namespaces, reads policies, adds marks and
/// computes digests.
///
/// Kinds come from definitions in the set, from the server or from an APIService of the set. Definitions in the set
/// win. The caller adds kinds that the server will serve later to `kinds`, see [`crate::defined_kinds`].
/// Source: component-operator-runtime (apply).
/// # Errors
/// All problems of all objects.
pub fn build_desired_set(
    objects: Vec<Object>,
    kinds: &ServedKinds,
    marks: &OwnershipMarks,
    options: &ApplyOptions,
) -> Result<DesiredSet, Vec<InvalidObject>> {
    let scopes = Scopes::new(&objects, kinds, options);
    let (mut desired, mut bad) = (Vec::with_capacity(objects.len()), Vec::new());
    for object in objects {
        match prepare(object, &scopes, marks, options) {
            Ok(object) => desired.push(object),
            Err(problems) => bad.extend(problems),
        }
    }
    bad.extend(cross_check(&desired));
    if bad.is_empty() { Ok(DesiredSet { objects: desired }) } else { Err(bad) }
}

fn prepare(
    mut object: Object,
    scopes: &Scopes<'_>,
    marks: &OwnershipMarks,
    options: &ApplyOptions,
) -> Result<DesiredObject, Vec<InvalidObject>> {
    let mut problems = shape_problems(&object);
    problems.extend(normalise(&mut object, &marks.reserved));
    let policies = ObjectPolicies::of(&object, options).unwrap_or_else(|wrong| {
        problems.extend(wrong);
        ObjectPolicies::default()
    });
    let hints = status_hints(&object, &options.prefix).unwrap_or_else(|wrong| {
        problems.push(wrong);
        StatusHints::default()
    });
    problems.extend(resolve_namespace(&mut object, scopes, &options.namespace).err());
    let key = key_of(&object);
    if let Some(kinds) = unpurgeable_kind(&key).filter(|_| policies.purge_order.is_some()) {
        problems.push(format!("{kinds} must not define a purge order"));
    }
    if !problems.is_empty() {
        let object = with_placeholders(key);
        return Err(problems
            .into_iter()
            .map(|problem| InvalidObject { object: object.clone(), problem })
            .collect());
    }
    let digest = digest_for(&object, policies.policies.reconcile, options.component_digest.as_deref());
    marks.mark(&mut object, &digest);
    let version = object.version().to_owned();
    Ok(DesiredObject { key, version, policies, hints, digest, managed_types: defined_types(&object), object })
}

/// Returns the key with placeholders for missing parts.
fn with_placeholders(mut key: ObjectKey) -> ObjectKey {
    for (part, word) in [(&mut key.kind, "(no kind)"), (&mut key.name, "(no name)")] {
        if part.is_empty() {
            word.clone_into(part);
        }
    }
    key
}

/// Reads the annotation about the status of an object, so that its errors are reported before the first write.
fn status_hints(object: &Object, prefix: &str) -> Result<StatusHints, String> {
    let key = format!("{prefix}/status-hint");
    let hints = object.annotation(&key).map(StatusHints::parse).transpose();
    hints.map(Option::unwrap_or_default).map_err(|problem| format!("annotation `{key}`: {problem}"))
}

/// Sets the namespace of namespaced objects without one, and removes the namespace of cluster-scoped objects.
fn resolve_namespace(object: &mut Object, scopes: &Scopes<'_>, default: &str) -> Result<(), String> {
    // A missing kind has already been reported.
    if object.kind().is_empty() || object.api_version().is_empty() {
        return Ok(());
    }
    match scopes.is_namespaced(object)? {
        false if !object.namespace().is_empty() => object.set_namespace(""),
        true if object.namespace().is_empty() && default.is_empty() => {
            return Err("requires a namespace".to_owned());
        }
        true if object.namespace().is_empty() => object.set_namespace(default),
        _ => {}
    }
    Ok(())
}

/// Returns the plural of kinds whose objects cannot be deleted at the end of a wave, because other objects depend on
/// them.
fn unpurgeable_kind(key: &ObjectKey) -> Option<&'static str> {
    match () {
        () if key.is_namespace() => Some("namespaces"),
        () if key.is_crd() => Some("custom resource definitions"),
        () if key.is_api_service() => Some("api services"),
        () => None,
    }
}

#[cfg(test)]
mod tests;
