//! The order of groups, versions and resources.

use std::{cmp::Reverse, sync::Arc};

use crate::{builtin, kinds::ResourceType};

/// All resources as discovery lists them: the built-in ones, then `custom` ones by group, version and plural. Those
/// that share a group with built-in ones follow these.
///
/// Source: the APIService of a custom group has the least priority (kube-apiserver 1.36, crdregistration), and equals
/// are sorted by name; versions by how stable and how new they are. The real server lists the resources of a custom
/// version by chance; aggregated discovery sorts them.
pub(crate) fn in_order(custom: Vec<Arc<ResourceType>>) -> Vec<Arc<ResourceType>> {
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
                None => Within::Builtin(index),
                Some(_) => {
                    Within::Custom(Reverse(stability(&resource.version)), Arc::clone(&resource.plural))
                }
            };
            ((place.unwrap_or(usize::MAX), group, within), resource)
        })
        .collect();
    keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
    keyed.into_iter().map(|(_, resource)| resource).collect()
}

/// The place of a resource in its group.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Within {
    Builtin(usize),
    Custom(Reverse<Stability>, Arc<str>),
}

/// The better version is the greater one.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stability {
    /// Not of the form `v1`, `v1beta1`, `v1alpha1`: the earlier in the alphabet the better.
    Other(Reverse<String>),
    /// Alpha 1, beta 2, stable 3; then the number after `v`, then the other number.
    Known(u8, u64, u64),
}

/// Source: apimachinery 0.36, version.CompareKubeAwareVersionStrings.
fn stability(version: &str) -> Stability {
    known(version).unwrap_or_else(|| Stability::Other(Reverse(version.to_owned())))
}

fn known(version: &str) -> Option<Stability> {
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
