//! Source and target side by side: providers, kinds, namespaces, and what is on the target already.

use std::collections::{BTreeMap, BTreeSet};

use api::Version;
use apply::{GroupKind, Kinds, ObjectKey};
use inventory::{Problem, ProviderInventory};
use provider::InstalledProvider;
use workload::TypeFacts;

use super::{Findings, Stage, listed, problem, remark};
use crate::target::{NamespaceState, TargetView};

/// Each provider of the source is on the target, not older there.
/// Source: clusterctl v1.14 client/cluster/mover.go (checkTargetProviders); differs: all is told at once, and the inventory
/// is not defined on a target that has none.
pub(crate) fn check_providers(source: &ProviderInventory, target: &ProviderInventory) -> Vec<Problem> {
    if !target.is_defined {
        let ids: Vec<String> = source.providers.iter().map(|one| format!("`{}`", one.id)).collect();
        let flags: String = source.providers.iter().map(|one| flag(one) + " ").collect();
        let text = format!("no provider is installed on the target; the source has {}", ids.join(", "));
        return vec![problem(text, format!("install them: `capstan init {flags}--kubeconfig TARGET`"))];
    }
    let unfinished = target.unfinished.as_ref().map(|_| {
        problem(
            "the installation of the target was cut off",
            "complete it: `capstan init --kubeconfig TARGET`",
        )
    });
    let lacking = source.providers.iter().filter_map(|needed| lacking(needed, target));
    unfinished.into_iter().chain(lacking).collect()
}

/// The flag that names a provider in its version.
fn flag(InstalledProvider { id, version, .. }: &InstalledProvider) -> String {
    format!("--{} {}:{version}", id.provider_type.flag(), id.name)
}

fn lacking(needed: &InstalledProvider, target: &ProviderInventory) -> Option<Problem> {
    let InstalledProvider { id, version, .. } = needed;
    let there: Vec<&str> = target.of(id).map(|installed| installed.version.as_str()).collect();
    if there.is_empty() {
        let hint = format!("install it: `capstan init {} --kubeconfig TARGET`", flag(needed));
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
            format!("upgrade it: `capstan upgrade apply {} --kubeconfig TARGET`", flag(needed)),
        )
    })
}

/// The target serves each kind in the version its objects are written in.
pub(crate) fn check_kinds<'t>(
    moving: impl IntoIterator<Item = &'t TypeFacts>,
    target: &Kinds,
) -> Vec<Problem> {
    let mut missing: BTreeMap<GroupKind, &str> = BTreeMap::new();
    for of in moving {
        let kind = of.kind.group_kind();
        if target.version(&kind, &of.kind.version).is_none() {
            missing.insert(kind, &of.kind.version);
        }
    }
    let told = |(kind, version): (GroupKind, &str)| match target.preferred(&kind) {
        Some(served) => problem(
            format!("the target serves `{kind}` in {} and not in {version}", served.version),
            "bring the provider of this kind to the same release on both sides",
        ),
        None => problem(
            format!("the target has no kind `{kind}`"),
            "install the provider of this kind on the target",
        ),
    };
    missing.into_iter().map(told).collect()
}

/// No namespace that objects go to is on its way out.
pub(crate) fn check_namespaces(target: &BTreeMap<String, NamespaceState>) -> Vec<Problem> {
    let going = target.iter().filter(|(_, state)| **state == NamespaceState::Going);
    let told = |(name, _): (&String, &NamespaceState)| {
        problem(
            format!("namespace `{name}` of the target is being deleted"),
            "wait until it is gone; it is then made anew",
        )
    };
    going.map(told).collect()
}

/// No two objects would come to the same place, and each namespace that is mapped holds something that moves.
/// Shape: `places` are the keys on the source, each with that on the target.
pub(crate) fn check_places(
    places: &[(&ObjectKey, ObjectKey)],
    map: &BTreeMap<String, String>,
    stage: Stage<'_>,
) -> Vec<Problem> {
    let mut at: BTreeMap<&ObjectKey, &ObjectKey> = BTreeMap::new();
    let mut problems = Vec::new();
    for (from, to) in places {
        if let Some(other) = at.insert(to, from) {
            problems.push(problem(
                format!("{other} and {from} would both become {to}"),
                "map the namespaces to different ones",
            ));
        }
    }
    // What was moved before is no longer there to be counted.
    if matches!(stage, Stage::New) {
        let used: BTreeSet<&str> = places.iter().map(|(from, _)| from.namespace.as_str()).collect();
        let unused = map.iter().filter(|(from, _)| !used.contains(from.as_str()));
        problems.extend(unused.map(|(from, to)| {
            problem(
                format!("nothing moves out of namespace `{from}`, which is mapped to `{to}`"),
                "name it with `--namespace` too, or leave `--map-namespace` out",
            )
        }));
    }
    problems
}

/// What is on the target already: what goes there stands in the way, the rest is told when this move did not make it.
pub(crate) fn check_there(overwritten: &[ObjectKey], view: &TargetView, stage: Stage<'_>) -> Findings {
    let going: Vec<&ObjectKey> =
        view.there.iter().filter(|(_, there)| there.is_going).map(|(key, _)| key).collect();
    let mut found = Findings::default();
    if !going.is_empty() {
        found.problems.push(problem(
            format!("being deleted on the target: {}", listed(going)),
            "wait until they are gone, or see which finalizer holds them",
        ));
    }
    if matches!(stage, Stage::New) && !overwritten.is_empty() {
        let text = format!("on the target already, and overwritten: {}", listed(overwritten));
        found.warnings.push(remark(text));
    }
    found
}
