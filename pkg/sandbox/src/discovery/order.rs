//! The order of groups, versions and resources in discovery.

use std::{cmp::Reverse, sync::Arc};

use crate::{builtin, kinds::ResourceType};

/// Returns all resources in discovery order: built-in resources first, then `custom` by group, version and plural.
/// Custom resources in a built-in group follow the built-in resources of the group.
///
/// Source: the APIService of a custom group has the lowest priority (kube-apiserver 1.36, crdregistration). Groups of
/// equal priority are sorted by name; versions by stability and number. The real server lists the resources of a custom
/// version in random order; aggregated discovery sorts the resources.
pub(crate) fn discovery_order(custom: Vec<Arc<ResourceType>>) -> Vec<Arc<ResourceType>> {
    let builtin = builtin::resources();
    let place = |group: &str| builtin.iter().position(|resource| &*resource.group == group);
    let mut keyed: Vec<_> = builtin
        .iter()
        .cloned()
        .chain(custom)
        .enumerate()
        .map(|(index, resource)| {
            let place = place(&resource.group);
            let group = if place.is_some() { String::new() } else { resource.group.to_string() };
            let within = match resource.custom {
                None => GroupPosition::Builtin(index),
                Some(_) => {
                    GroupPosition::Custom(Reverse(stability(&resource.version)), Arc::clone(&resource.plural))
                }
            };
            ((place.unwrap_or(usize::MAX), group, within), resource)
        })
        .collect();
    keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
    keyed.into_iter().map(|(_, resource)| resource).collect()
}

/// The sort key of a resource in its group.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum GroupPosition {
    Builtin(usize),
    Custom(Reverse<Stability>, Arc<str>),
}

/// The stability of a version; a greater value is preferred.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stability {
    /// A version not of the form `v1`, `v1beta1` or `v1alpha1`; alphabetically earlier versions are preferred.
    Other(Reverse<String>),
    /// Alpha 1, beta 2, stable 3; then the number after `v`, then the number after `alpha` or `beta`.
    Known(u8, u64, u64),
}

/// Source: apimachinery 0.36, version.CompareKubeAwareVersionStrings.
fn stability(version: &str) -> Stability {
    parse_version(version).unwrap_or_else(|| Stability::Other(Reverse(version.to_owned())))
}

fn parse_version(version: &str) -> Option<Stability> {
    let number = |text: &str| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        if is_number { text.parse().ok() } else { None }
    };
    let rest = version.strip_prefix('v')?;
    for (word, rank) in [("alpha", 1), ("beta", 2)] {
        if let Some((major, minor)) = rest.split_once(word) {
            return Some(Stability::Known(rank, number(major)?, number(minor)?));
        }
    }
    Some(Stability::Known(3, number(rest)?, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_come_before_beta_alpha_and_foreign_ones() {
        let mut versions =
            ["foo10", "v1", "v2beta1", "v10", "v1alpha2", "v2", "v1beta10", "foo1", "v2beta2", "v01"];
        versions.sort_by_key(|version| Reverse(stability(version)));
        assert_eq!(
            versions,
            ["v10", "v2", "v1", "v2beta2", "v2beta1", "v1beta10", "v1alpha2", "foo1", "foo10", "v01"]
        );
    }
}
