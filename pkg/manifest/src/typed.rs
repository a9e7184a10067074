//! The effect of decoding an object into a Go struct and encoding it again.
//!
//! clusterctl decodes a few kinds to edit them, which changes its output. Fields unknown to Kubernetes 1.36 and empty
//! optional fields vanish, required fields appear, quantities become canonical. A value of the wrong type is an error.
//!
//! Here, a table of fields and one walk over the JSON tree have the same effect. No structs are built, and subtrees
//! without changes are only read.
//!
//! Deliberately absent: validation. Values that an API server rejects for reasons other than their type pass.

use crate::builtin;
use crate::{Object, ObjectRef};

mod time;
mod walk;

#[cfg(test)]
mod tests;

/// The kinds to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindSet {
    /// The kinds with images: workloads. Their images are overridden before objects move into a namespace.
    Workloads,
    /// The kinds with references to a namespace: bindings, webhook configurations and CRDs. Of cluster templates, only
    /// these are decoded, because their images are not inspected.
    References,
}

/// A part of an object that does not fit its kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum TypedError {
    /// The kind is decoded, but not in this group or version.
    #[error("`{object}` has the apiVersion `{found}`, expected `{}`", expected.join("` or `"))]
    Version {
        object: ObjectRef,
        /// The group and version of the object.
        found: String,
        /// The supported groups and versions.
        expected: Vec<&'static str>,
    },
    /// A value does not have the type of its field.
    #[error("`{path}` of `{object}` must be {expected}, not {found}")]
    Field {
        object: ObjectRef,
        /// The field, such as `spec.template.spec.containers[0].env[1].value`.
        path: String,
        /// The expected type, such as `a string`.
        expected: &'static str,
        /// The actual type, such as `a number`, or the invalid text itself.
        found: String,
    },
}

/// Rewrites an object as clusterctl prints it after decoding; other kinds stay unchanged.
///
/// A second call changes nothing. The object is copied if another clone exists.
/// Source: apimachinery v0.36.3 pkg/runtime/converter.go over the types of clusterctl v1.14; differs: in the original,
/// integers wrap at 32 bits (`replicas: 4294967297` becomes 1) and a list of numbers passes for bytes; here both are
/// errors.
/// # Errors
/// One entry for each value of the wrong type, in the order of their paths; the object is then partly changed and must
/// not be used.
pub fn round_trip(object: &mut Object, kinds: KindSet) -> Result<(), Vec<TypedError>> {
    let found = object.api_version();
    let Some(DecodedKind { versions, .. }) =
        DECODED_KINDS.iter().find(|it| it.kind == object.kind() && kinds.includes(it.is_workload))
    else {
        return Ok(());
    };
    let of = builtin::kind(object.group(), object.version(), object.kind());
    match of.filter(|_| versions.contains(&found)) {
        Some(of) => {
            let mismatches = walk::walk(of, object.as_map_mut());
            to_errors(object, mismatches)
        }
        None => Err(vec![TypedError::Version {
            object: ObjectRef::of(object),
            found: found.to_owned(),
            expected: versions.to_vec(),
        }]),
    }
}

/// Checks the types of the values in a Cluster of Cluster API; other objects and versions pass.
///
/// The object stays unchanged, as templates print it as written.
/// Source: apimachinery v0.36.3 pkg/runtime/converter.go over the types of clusterctl v1.14, which decodes the Clusters
/// of a template to find their ClusterClasses; differs: in the original, integers wrap at 32 bits.
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
    to_errors(object, walk::walk(of, &mut copy))
}

fn to_errors(object: &Object, mismatches: Vec<walk::Mismatch>) -> Result<(), Vec<TypedError>> {
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

impl KindSet {
    fn includes(self, workload: bool) -> bool {
        match self {
            Self::References => !workload,
            Self::Workloads => workload,
        }
    }
}

/// A decoded kind. The group is ignored here: as in clusterctl, a Deployment of another group is an error.
struct DecodedKind {
    kind: &'static str,
    is_workload: bool,
    versions: &'static [&'static str],
}

const fn decoded_kind(
    kind: &'static str,
    is_workload: bool,
    versions: &'static [&'static str],
) -> DecodedKind {
    DecodedKind { kind, is_workload, versions }
}

const APPS: &[&str] = &["apps/v1"];
const RBAC: &[&str] = &["rbac.authorization.k8s.io/v1"];
const ADMISSION: &[&str] = &["admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1beta1"];
const DEFINITIONS: &[&str] = &["apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"];

static DECODED_KINDS: [DecodedKind; 7] = [
    decoded_kind("Deployment", true, APPS),
    decoded_kind("DaemonSet", true, APPS),
    decoded_kind("ClusterRoleBinding", false, RBAC),
    decoded_kind("RoleBinding", false, RBAC),
    decoded_kind("MutatingWebhookConfiguration", false, ADMISSION),
    decoded_kind("ValidatingWebhookConfiguration", false, ADMISSION),
    decoded_kind("CustomResourceDefinition", false, DEFINITIONS),
];
