//! What reading an object into a Go struct and writing it again does to it.
//!
//! The peer decodes a few kinds to edit them, which shows in what it prints: fields that Kubernetes 1.36 does not know
//! vanish, empty optional fields vanish, required fields appear, quantities get their canonical text, and a value of
//! the wrong type is an error. A table of fields and one walk over the JSON tree do the same here; no struct is ever built,
//! and subtrees in which nothing changes are only looked at.
//!
//! Absent on purpose: validation. What an API server refuses for other reasons than its type passes.

use crate::builtin;
use crate::{Object, ObjectRef};

mod quantity;
mod time;
mod walk;

#[cfg(test)]
mod tests;

/// Which kinds to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinds {
    /// What provider components decode: workloads, bindings, webhook configurations and CRDs.
    Components,
    /// What cluster templates decode: the same without workloads, whose images nobody looks at there.
    Template,
    /// Workloads alone: all that the manifest of cert-manager decodes.
    Workloads,
}

/// A part of an object that its kind cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypedError {
    /// The kind is one that is decoded, in a group or version that is not.
    #[error("`{object}` has the apiVersion `{found}`, expected `{}`", expected.join("` or `"))]
    Version {
        /// The object.
        object: ObjectRef,
        /// Its group and version.
        found: String,
        /// The ones that are known.
        expected: Vec<&'static str>,
    },
    /// A value has another type than its field.
    #[error("`{path}` of `{object}` must be {expected}, not {found}")]
    Field {
        /// The object.
        object: ObjectRef,
        /// The field, such as `spec.template.spec.containers[0].env[1].value`.
        path: String,
        /// What belongs there, such as `a string`.
        expected: &'static str,
        /// What is there: a type, such as `a number`, or the text itself where that is what is wrong.
        found: String,
    },
}

/// Rewrites an object to what the peer prints after decoding it; an object of a kind that is not decoded stays as it
/// is.
///
/// Applying it twice changes nothing more. The object is copied if another clone of it is alive.
/// Source: apimachinery v0.36.3 pkg/runtime/converter.go over the types of clusterctl v1.14; differs: there, integers
/// wrap at 32 bits (`replicas: 4294967297` becomes 1) and a list of numbers passes for bytes; here both are errors.
/// # Errors
/// One entry for each value of the wrong type, in the order of their paths; the object is then half changed and not to
/// be used.
pub fn round_trip(object: &mut Object, kinds: Kinds) -> Result<(), Vec<TypedError>> {
    let found = object.api_version();
    let Some(DecodedKind { versions, .. }) =
        DECODED.iter().find(|it| it.kind == object.kind() && kinds.include(it.is_workload))
    else {
        return Ok(());
    };
    let of = builtin::kind(object.group(), object.version(), object.kind());
    match of.filter(|_| versions.contains(&found)) {
        Some(of) => {
            let mismatches = walk::walk(of, object.as_map_mut());
            refuse(object, mismatches)
        }
        None => Err(vec![TypedError::Version {
            object: ObjectRef::of(object),
            found: found.to_owned(),
            expected: versions.to_vec(),
        }]),
    }
}

/// Checks that a Cluster of Cluster API holds values of the right types; other objects and versions pass.
///
/// Nothing is changed: what the author wrote is what is printed.
/// Source: apimachinery v0.36.3 pkg/runtime/converter.go over the types of clusterctl v1.14, which decodes the Clusters
/// of a provider's template to find their ClusterClasses; differs: there, integers wrap at 32 bits.
/// # Errors
/// One entry for each value of the wrong type, in the order of their paths.
pub fn check_cluster(object: &Object) -> Result<(), Vec<TypedError>> {
    let alias = match (object.kind(), object.api_version()) {
        ("Cluster", "cluster.x-k8s.io/v1beta2") => "cluster-v1beta2",
        ("Cluster", "cluster.x-k8s.io/v1beta1") => "cluster-v1beta1",
        _ => return Ok(()),
    };
    let Some(of) = builtin::find(alias, "Cluster") else { return Ok(()) };
    let mut copy = object.as_map().clone();
    refuse(object, walk::walk(of, &mut copy))
}

fn refuse(object: &Object, mismatches: Vec<walk::Mismatch>) -> Result<(), Vec<TypedError>> {
    if mismatches.is_empty() {
        return Ok(());
    }
    let of = ObjectRef::of(object);
    let error = |it: walk::Mismatch| TypedError::Field {
        object: of.clone(),
        path: it.path,
        expected: it.expected,
        found: it.found,
    };
    Err(mismatches.into_iter().map(error).collect())
}

impl Kinds {
    fn include(self, workload: bool) -> bool {
        match self {
            Self::Components => true,
            Self::Template => !workload,
            Self::Workloads => workload,
        }
    }
}

/// A kind that is decoded. The group has no part in whether a kind is: a Deployment of another group is an error, as it is
/// for the peer.
struct DecodedKind {
    kind: &'static str,
    is_workload: bool,
    versions: &'static [&'static str],
}

const fn decoded(kind: &'static str, is_workload: bool, versions: &'static [&'static str]) -> DecodedKind {
    DecodedKind { kind, is_workload, versions }
}

const APPS: &[&str] = &["apps/v1"];
const RBAC: &[&str] = &["rbac.authorization.k8s.io/v1"];
const ADMISSION: &[&str] = &["admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1beta1"];
const DEFINITIONS: &[&str] = &["apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"];

static DECODED: [DecodedKind; 7] = [
    decoded("Deployment", true, APPS),
    decoded("DaemonSet", true, APPS),
    decoded("ClusterRoleBinding", false, RBAC),
    decoded("RoleBinding", false, RBAC),
    decoded("MutatingWebhookConfiguration", false, ADMISSION),
    decoded("ValidatingWebhookConfiguration", false, ADMISSION),
    decoded("CustomResourceDefinition", false, DEFINITIONS),
];
