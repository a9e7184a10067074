//! Dependencies between Components: the order of applications and deletions, and what a Component waits for. Pure.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use crate::{Component, ComponentReference, SourceState, source::is_same_source};

/// The key of a Component.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentKey {
    /// The namespace of the Component.
    pub namespace: String,
    /// The name of the Component.
    pub name: String,
}

/// Components that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Components depend on each other: {}", self.path())]
pub struct DependencyCycle {
    /// The Components in the order of their dependencies. The last one depends on the first one.
    pub components: Vec<ComponentKey>,
}

impl ComponentKey {
    /// Returns the key of a Component.
    pub fn of(component: &Component) -> Self {
        Self { namespace: component.namespace().to_owned(), name: component.name().to_owned() }
    }

    /// Returns the keys of the dependencies of a Component.
    pub(crate) fn of_dependencies(component: &Component) -> impl Iterator<Item = Self> {
        component.spec.dependencies.iter().map(|one| Self::of_dependency(one, component.namespace()))
    }

    /// Returns the key of a dependency of a Component in `namespace`.
    pub fn of_dependency(dependency: &ComponentReference, namespace: &str) -> Self {
        let own = dependency.namespace.as_deref().filter(|namespace| !namespace.is_empty());
        Self { namespace: own.unwrap_or(namespace).to_owned(), name: dependency.name.clone() }
    }
}

impl fmt::Display for ComponentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

impl DependencyCycle {
    fn path(&self) -> String {
        let around = self.components.iter().chain(self.components.first());
        around.map(ToString::to_string).collect::<Vec<_>>().join(" -> ")
    }
}

/// Returns the positions of Components such that each one follows its dependencies. Otherwise the order stays.
/// Dependencies outside of the list are ignored.
/// # Errors
/// A cycle.
pub fn dependency_order<'a>(
    components: impl IntoIterator<Item = &'a Component>,
) -> Result<Vec<usize>, DependencyCycle> {
    let components: Vec<&Component> = components.into_iter().collect();
    let positions: BTreeMap<ComponentKey, usize> =
        components.iter().enumerate().map(|(at, component)| (ComponentKey::of(component), at)).collect();
    let dependencies: Vec<Vec<usize>> = components
        .iter()
        .map(|component| {
            ComponentKey::of_dependencies(component).filter_map(|key| positions.get(&key).copied()).collect()
        })
        .collect();
    let (mut order, mut done) = (Vec::new(), BTreeSet::new());
    for start in 0..components.len() {
        // The open Components, each with the number of dependencies that were visited.
        let mut path = vec![(start, 0)];
        while let Some((at, next)) = path.last_mut() {
            let at = *at;
            if done.contains(&at) {
                path.pop();
                continue;
            }
            let Some(dependency) = dependencies[at].get(*next).copied() else {
                done.insert(at);
                order.push(at);
                path.pop();
                continue;
            };
            *next += 1;
            if let Some(begin) = path.iter().position(|(open, _)| *open == dependency) {
                let key = |(at, _): &(usize, usize)| ComponentKey::of(components[*at]);
                return Err(DependencyCycle { components: path[begin..].iter().map(key).collect() });
            }
            path.push((dependency, 0));
        }
    }
    Ok(order)
}

/// Checks that a dependency is ready. `live` is the dependency as the cluster has it.
/// Source: component-operator 0.3, whose texts these are.
/// # Errors
/// The reason to wait.
pub fn check_dependency(
    component: &Component,
    source: &SourceState,
    dependency: &ComponentReference,
    live: Option<&Component>,
) -> Result<(), String> {
    let shown = match &dependency.namespace {
        Some(namespace) if !namespace.is_empty() => format!("{namespace}/{}", dependency.name),
        _ => dependency.name.clone(),
    };
    let Some(live) = live else {
        return Err(format!(
            "dependent component {shown} not found: Component.core.cs.sap.com \"{}\" not found",
            dependency.name
        ));
    };
    let status = &live.status;
    let attempted = (&status.last_attempted_digest, &status.last_attempted_revision);
    if is_same_source(live, component) && attempted != (&source.artifact.digest, &source.artifact.revision) {
        return Err(format!("dependent component {shown} not synced"));
    }
    if !status.is_ready(live.generation()) {
        return Err(format!("dependent component {shown} not ready"));
    }
    Ok(())
}

/// Returns the reason why a Component cannot be deleted yet: other Components depend on it.
pub fn deletion_blocker(component: &Component, all: &[Component]) -> Option<String> {
    let key = ComponentKey::of(component);
    let depends = |other: &&Component| ComponentKey::of_dependencies(other).any(|needed| needed == key);
    blocked_by(all.iter().filter(depends).map(ComponentKey::of))
}

/// Returns the reason why a Component with these dependents cannot be deleted yet.
/// Source: component-operator 0.3.
pub(crate) fn blocked_by(dependents: impl IntoIterator<Item = ComponentKey>) -> Option<String> {
    let mut dependents = dependents.into_iter();
    let first = dependents.next()?;
    let others = match dependents.count() {
        0 => String::new(),
        count => format!(" (and {count} others)"),
    };
    Some(format!("deletion blocked by depending component {first}{others}"))
}

#[cfg(test)]
mod tests;
