//! What a move needs to be allowed on both sides.

use std::collections::{BTreeMap, BTreeSet};

use apply::{Denied, Permission};
use inventory::{Problem, lease_permissions};

use super::problem;
use crate::MoveSide;

/// Objects that move are read, paused, marked and deleted.
const ON_SOURCE: [&str; 4] = ["get", "list", "patch", "delete"];
/// They are created, or replaced, looked at, resumed, and taken away again when the move is undone.
const ON_TARGET: [&str; 6] = ["get", "list", "create", "update", "patch", "delete"];
/// The journal is a ConfigMap.
const JOURNAL: [&str; 4] = ["get", "create", "update", "patch"];

/// Objects of one kind in one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Among {
    /// The API group.
    pub(crate) group: String,
    /// The plural.
    pub(crate) resource: String,
    /// The namespace; empty for the whole cluster.
    pub(crate) namespace: String,
}

/// What one side has to allow.
/// Shape: `journal` is the namespace of the journal there, where it is known; `new_namespaces` whether some have to be made.
pub(crate) fn wanted(
    side: MoveSide,
    moving: &BTreeSet<Among>,
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
        MoveSide::Source => &ON_SOURCE,
        MoveSide::Target => &ON_TARGET,
    };
    let objects = moving.iter().flat_map(|among| {
        verbs.iter().map(move |verb| one(verb, &among.group, &among.resource, &among.namespace))
    });
    let journal = journal.into_iter();
    let journal =
        journal.flat_map(|place| JOURNAL.iter().map(move |verb| one(verb, "", "configmaps", place)));
    let namespaces = (!new_namespaces.is_empty()).then(|| one(&"create", "", "namespaces", ""));
    objects
        .chain(journal)
        .chain(namespaces)
        .chain(lease_permissions())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// What is denied on one side, kinds of one namespace that lack the same verbs in one line.
pub(crate) fn denied(side: MoveSide, denied: &[Denied]) -> Vec<Problem> {
    let mut verbs: BTreeMap<(&str, String), BTreeSet<&str>> = BTreeMap::new();
    for Denied { permission, .. } in denied {
        let Permission { verb, group, resource, namespace } = permission;
        let dot = if group.is_empty() { "" } else { "." };
        verbs.entry((namespace, format!("`{resource}{dot}{group}`"))).or_default().insert(verb);
    }
    let mut lines: BTreeMap<(&str, Vec<&str>), Vec<String>> = BTreeMap::new();
    for ((namespace, resource), verbs) in verbs {
        lines.entry((namespace, verbs.into_iter().collect())).or_default().push(resource);
    }
    let told = |((namespace, verbs), resources): ((&str, Vec<&str>), Vec<String>)| {
        let place = match namespace {
            "" => "in the whole cluster".to_owned(),
            namespace => format!("in namespace `{namespace}`"),
        };
        problem(
            format!("on the {side} you may not {} {} {place}", verbs.join(", "), resources.join(", ")),
            "ask for these permissions, or connect as a user who has them",
        )
    };
    lines.into_iter().map(told).collect()
}
