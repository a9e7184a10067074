//! Permissions that a move needs on both clusters.

use std::collections::{BTreeMap, BTreeSet};

use apply::{ApiKind, DeniedPermission, ObjectKey, Permission};
use inventory::{PreflightProblem, lease_permissions};

use super::problem;
use crate::MoveSide;

/// Verbs on the source: objects are read, paused, marked and deleted.
const SOURCE_VERBS: [&str; 4] = ["get", "list", "patch", "delete"];
/// Verbs on the target: objects are created or replaced, read and resumed. An abort deletes the objects.
const TARGET_VERBS: [&str; 6] = ["get", "list", "create", "update", "patch", "delete"];
/// Verbs for the journal, which is a ConfigMap.
const JOURNAL_VERBS: [&str; 4] = ["get", "create", "update", "patch"];

/// Objects of one kind in one namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ResourceScope {
    /// API group.
    pub(crate) group: String,
    /// Plural name of the kind.
    pub(crate) resource: String,
    /// Namespace; empty for cluster-scoped objects.
    pub(crate) namespace: String,
}

impl ResourceScope {
    /// Returns the scope of an object, whose namespace may differ between the clusters.
    pub(crate) fn of(kind: &ApiKind, key: &ObjectKey) -> Self {
        Self { group: kind.group.clone(), resource: kind.plural.clone(), namespace: key.namespace.clone() }
    }
}

/// Returns the permissions that one side must grant.
/// Shape: `journal` is the namespace of the journal on this side, if known; `new_namespaces` are the namespaces to
/// create.
pub(crate) fn needed_permissions(
    side: MoveSide,
    moving: &BTreeSet<ResourceScope>,
    journal: Option<&str>,
    new_namespaces: &[String],
) -> Vec<Permission> {
    let one = |verb: &&str, group: &str, resource: &str, namespace: &str| Permission {
        verb: (*verb).to_owned(),
        group: group.to_owned(),
        resource: resource.to_owned(),
        namespace: namespace.to_owned(),
    };
    let verbs: &[&str] = match side {
        MoveSide::Source => &SOURCE_VERBS,
        MoveSide::Target => &TARGET_VERBS,
    };
    let objects = moving.iter().flat_map(|among| {
        verbs.iter().map(move |verb| one(verb, &among.group, &among.resource, &among.namespace))
    });
    let journal = journal.into_iter();
    let journal =
        journal.flat_map(|place| JOURNAL_VERBS.iter().map(move |verb| one(verb, "", "configmaps", place)));
    let namespaces = (!new_namespaces.is_empty()).then(|| one(&"create", "", "namespaces", ""));
    objects
        .chain(journal)
        .chain(namespaces)
        .chain(lease_permissions())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// Returns the denied permissions of one side as problems. Kinds of one namespace that lack the same verbs share a
/// problem.
pub(crate) fn permission_problems(side: MoveSide, denied: &[DeniedPermission]) -> Vec<PreflightProblem> {
    let mut verbs: BTreeMap<(&str, String), BTreeSet<&str>> = BTreeMap::new();
    for DeniedPermission { permission, .. } in denied {
        let Permission { verb, group, resource, namespace } = permission;
        let dot = if group.is_empty() { "" } else { "." };
        verbs.entry((namespace, format!("`{resource}{dot}{group}`"))).or_default().insert(verb);
    }
    let mut lines: BTreeMap<(&str, Vec<&str>), Vec<String>> = BTreeMap::new();
    for ((namespace, resource), verbs) in verbs {
        lines.entry((namespace, verbs.into_iter().collect())).or_default().push(resource);
    }
    let reported = |((namespace, verbs), resources): ((&str, Vec<&str>), Vec<String>)| {
        let place = match namespace {
            "" => "cluster-wide".to_owned(),
            namespace => format!("in namespace `{namespace}`"),
        };
        problem(
            format!(
                "missing permission on the {side} cluster: {} {} {place}",
                verbs.join(", "),
                resources.join(", ")
            ),
            "request these permissions, or connect as a user who has them",
        )
    };
    lines.into_iter().map(reported).collect()
}
