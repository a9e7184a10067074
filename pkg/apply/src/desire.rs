//! Objects as they are to be: from manifests to what can be planned. Pure.

mod checks;
mod digest;
mod normalise;
mod scope;

use manifest::Object;

use self::{
    checks::cross_check,
    digest::digest_for,
    normalise::{normalise, problems_of_shape},
    scope::{Scopes, defined_types},
};
use crate::{Hints, Kinds, ManagedType, Marks, ObjectKey, ObjectPolicies, Options};

pub(crate) use digest::ONCE;

/// One object as it is to be.
#[derive(Clone, Debug)]
pub struct Desired {
    /// Which one.
    pub key: ObjectKey,
    /// The version it is written in.
    pub version: String,
    /// The object with the marks of its owner.
    pub object: Object,
    /// Its policies.
    pub policies: ObjectPolicies,
    /// How its status is read.
    pub hints: Hints,
    /// What decides whether it has changed: hex SHA-256 of its JSON without the marks; with policy once a constant word.
    pub digest: String,
    /// The kinds it defines, when it is a CustomResourceDefinition or an APIService.
    pub defines: Vec<ManagedType>,
}

/// All objects of a set, each once, in the order they came.
#[derive(Clone, Debug, Default)]
pub struct DesiredSet {
    /// The objects.
    pub objects: Vec<Desired>,
}

/// An object that cannot be applied, whatever is on the server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{object}: {problem}")]
pub struct BadObject {
    /// Which one.
    pub object: ObjectKey,
    /// What is wrong with it.
    pub problem: String,
}

/// Makes a set of objects ready to be planned: types checked, `stringData` folded, scopes and namespaces settled,
/// policies read, marks put on, digests taken.
///
/// Kinds come from definitions in the set itself (which win), from the server, or from an APIService of the set;
/// what a server will serve only later is added to `kinds` by the caller, see [`crate::defined_kinds`].
/// Source: component-operator-runtime (apply).
/// # Errors
/// Everything that is wrong with any object.
pub fn desire(
    objects: Vec<Object>,
    kinds: &Kinds,
    marks: &Marks,
    options: &Options,
) -> Result<DesiredSet, Vec<BadObject>> {
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
    marks: &Marks,
    options: &Options,
) -> Result<Desired, Vec<BadObject>> {
    let mut problems = problems_of_shape(&object);
    problems.extend(normalise(&mut object, &marks.reserved));
    let policies = ObjectPolicies::of(&object, options).unwrap_or_else(|wrong| {
        problems.extend(wrong);
        ObjectPolicies::default()
    });
    let hints = hints_of(&object, &options.prefix).unwrap_or_else(|wrong| {
        problems.push(wrong);
        Hints::default()
    });
    problems.extend(settle_namespace(&mut object, scopes, &options.namespace).err());
    let key = ObjectKey::of(&object);
    if let Some(kinds) = never_purged(&key).filter(|_| policies.purge_order.is_some()) {
        problems.push(format!("{kinds} must not define a purge order"));
    }
    if !problems.is_empty() {
        let object = told(key);
        return Err(problems
            .into_iter()
            .map(|problem| BadObject { object: object.clone(), problem })
            .collect());
    }
    let digest = digest_for(&object, policies.policies.reconcile, options.component_digest.as_deref());
    marks.put_on(&mut object, &digest);
    let version = object.version().to_owned();
    Ok(Desired { key, version, policies, hints, digest, defines: defined_types(&object), object })
}

/// The key as it is told when parts of it are missing.
fn told(mut key: ObjectKey) -> ObjectKey {
    for (part, word) in [(&mut key.kind, "(no kind)"), (&mut key.name, "(no name)")] {
        if part.is_empty() {
            word.clone_into(part);
        }
    }
    key
}

/// Reads the annotation about an object's status; what is wrong with it is told before anything is written.
fn hints_of(object: &Object, prefix: &str) -> Result<Hints, String> {
    let key = format!("{prefix}/status-hint");
    let hints = object.annotation(&key).map(Hints::parse).transpose();
    hints.map(Option::unwrap_or_default).map_err(|problem| format!("annotation `{key}`: {problem}"))
}

/// Puts namespaced objects without a namespace into the one of the set, and takes it from those that need none.
fn settle_namespace(object: &mut Object, scopes: &Scopes<'_>, default: &str) -> Result<(), String> {
    // What is no kind has been told already.
    if object.kind().is_empty() || object.api_version().is_empty() {
        return Ok(());
    }
    match scopes.is_namespaced(object)? {
        false if !object.namespace().is_empty() => object.set_namespace(""),
        true if object.namespace().is_empty() && default.is_empty() => {
            return Err("needs a namespace".to_owned());
        }
        true if object.namespace().is_empty() => object.set_namespace(default),
        _ => {}
    }
    Ok(())
}

/// What objects are called that cannot be deleted at the end of a wave, as others live by them.
fn never_purged(key: &ObjectKey) -> Option<&'static str> {
    match () {
        () if key.is_namespace() => Some("namespaces"),
        () if key.is_crd() => Some("custom resource definitions"),
        () if key.is_api_service() => Some("api services"),
        () => None,
    }
}

#[cfg(test)]
mod tests;
