//! Comparison of source and target: providers, kinds, namespaces and existing objects.

use std::collections::{BTreeMap, BTreeSet};

use api::Version;
use apply::{GroupKind, ObjectKey, ServedKinds};
use inventory::{PreflightProblem, ProviderInventory};
use provider::InstalledProvider;
use workload::TypeFacts;

use super::{Findings, Stage, listed, problem, remark};
use crate::target::{NamespaceState, TargetView};

/// Checks that the target has each provider of the source in the same or a newer version.
/// Source: clusterctl v1.14 client/cluster/mover.go (checkTargetProviders).
/// Differs: all problems are reported at once, and an undefined inventory on the target is not created.
pub(crate) fn check_providers(
    source: &ProviderInventory,
    target: &ProviderInventory,
) -> Vec<PreflightProblem> {
    if !target.is_defined {
        let ids: Vec<String> = source.providers.iter().map(|one| format!("`{}`", one.id)).collect();
        let flags: String = source.providers.iter().map(|one| flag(one) + " ").collect();
        let text = format!("the target has no providers; the source has {}", ids.join(", "));
        return vec![problem(text, format!("install them with `capstan init {flags}--kubeconfig TARGET`"))];
    }
    let unfinished = target.unfinished.as_ref().map(|_| {
        problem(
            "the installation on the target was interrupted",
            "complete it with `capstan init --kubeconfig TARGET`",
        )
    });
    let lacking = source.providers.iter().filter_map(|needed| missing_provider(needed, target));
    unfinished.into_iter().chain(lacking).collect()
}

/// Returns the flag that names a provider in its version.
fn flag(InstalledProvider { id, version, .. }: &InstalledProvider) -> String {
    format!("--{} {}:{version}", id.provider_type.flag(), id.name)
}

fn missing_provider(needed: &InstalledProvider, target: &ProviderInventory) -> Option<PreflightProblem> {
    let InstalledProvider { id, version, .. } = needed;
    let there: Vec<&str> = target.entries_of(id).map(|installed| installed.version.as_str()).collect();
    if there.is_empty() {
        let hint = format!("install it with `capstan init {} --kubeconfig TARGET`", flag(needed));
        return Some(problem(format!("`{id}` {version} is missing on the target"), hint));
    }
    let newest = |version: &&&str| Version::parse(version).ok();
    let fits = match (Version::parse(version).ok(), there.iter().filter_map(|one| newest(&one)).max()) {
        (Some(needed), Some(newest)) => newest >= needed,
        _ => there.contains(&version.as_str()),
    };
    (!fits).then(|| {
        problem(
            format!("`{id}` is {version} on the source and {} on the target", there.join(", ")),
            format!("upgrade it with `capstan upgrade apply {} --kubeconfig TARGET`", flag(needed)),
        )
    })
}

/// Checks that the target serves each kind in the version of its objects.
pub(crate) fn check_kinds<'t>(
    moving: impl IntoIterator<Item = &'t TypeFacts>,
    target: &ServedKinds,
) -> Vec<PreflightProblem> {
    let mut missing: BTreeMap<GroupKind, &str> = BTreeMap::new();
    for of in moving {
        let kind = of.kind.group_kind();
        if target.version(&kind, &of.kind.version).is_none() {
            missing.insert(kind, &of.kind.version);
        }
    }
    let reported = |(kind, version): (GroupKind, &str)| match target.preferred(&kind) {
        Some(served) => problem(
            format!("the target does not serve `{kind}` in {version}; it serves {}", served.version),
            "install the same provider release on both clusters",
        ),
        None => problem(
            format!("the target does not serve kind `{kind}`"),
            "install the provider of this kind on the target",
        ),
    };
    missing.into_iter().map(reported).collect()
}

/// Checks that no namespace for the objects is being deleted.
pub(crate) fn check_namespaces(target: &BTreeMap<String, NamespaceState>) -> Vec<PreflightProblem> {
    let terminating = target.iter().filter(|(_, state)| **state == NamespaceState::Terminating);
    let reported = |(name, _): (&String, &NamespaceState)| {
        problem(
            format!("namespace `{name}` is being deleted on the target"),
            "wait until it is deleted; the move then creates it again",
        )
    };
    terminating.map(reported).collect()
}

/// Checks that no two objects get the same key, and that each mapped namespace holds a moving object.
/// Shape: `places` are source keys, each with its target key.
pub(crate) fn check_target_keys(
    target_keys: &[(&ObjectKey, ObjectKey)],
    map: &BTreeMap<String, String>,
    stage: Stage<'_>,
) -> Vec<PreflightProblem> {
    let mut at: BTreeMap<&ObjectKey, &ObjectKey> = BTreeMap::new();
    let mut problems = Vec::new();
    for (from, to) in target_keys {
        if let Some(other) = at.insert(to, from) {
            problems.push(problem(
                format!("{other} and {from} would both become {to}"),
                "map each namespace to a different one",
            ));
        }
    }
    // A resumed move no longer sees the objects that were moved before.
    if matches!(stage, Stage::New) {
        let used: BTreeSet<&str> = target_keys.iter().map(|(from, _)| from.namespace.as_str()).collect();
        let unused = map.iter().filter(|(from, _)| !used.contains(from.as_str()));
        problems.extend(unused.map(|(from, to)| {
            problem(
                format!("cannot map namespace `{from}` to `{to}`: no object moves from `{from}`"),
                format!("add `--namespace {from}`, or omit `--map-namespace`"),
            )
        }));
    }
    problems
}

/// Checks objects that exist on the target. Objects in deletion are problems. Objects that a new move overwrites are
/// warnings.
pub(crate) fn check_existing(overwritten: &[ObjectKey], view: &TargetView, stage: Stage<'_>) -> Findings {
    let terminating: Vec<&ObjectKey> =
        view.objects.iter().filter(|(_, there)| there.is_terminating).map(|(key, _)| key).collect();
    let mut findings = Findings::default();
    if !terminating.is_empty() {
        findings.problems.push(problem(
            format!("objects are being deleted on the target: {}", listed(terminating)),
            "wait until they are deleted, or remove the blocking finalizers",
        ));
    }
    if matches!(stage, Stage::New) && !overwritten.is_empty() {
        let text = format!("objects exist on the target and are overwritten: {}", listed(overwritten));
        findings.warnings.push(remark(text));
    }
    findings
}
