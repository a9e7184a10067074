//! The options of `upgrade apply`.

use api::{Contract, ProviderId, ProviderRef, ProviderType, check_dns_label, plan::UpgradeOptions};
use serde::{Deserialize, Serialize};

use crate::{UnfinishedPolicy, WaitOptions};

/// The options of `upgrade apply`.
#[derive(Clone, Debug)]
pub struct UpgradeRequest {
    /// The target contract, or the providers with their versions.
    pub target: UpgradeTarget,
    /// The allowed versions and the kept fields.
    pub options: UpgradeOptions,
    /// The wait at the end of the upgrade.
    pub wait: WaitOptions,
    /// True if the plan shows the result for every object.
    pub server_dry_run: bool,
    /// The reaction to an unfinished move.
    pub unfinished: UnfinishedPolicy,
}

/// The target of an upgrade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UpgradeTarget {
    /// The newest versions that work with this contract.
    Contract(Contract),
    /// The named versions, in the order of their flags.
    Providers(Vec<UpgradeItem>),
}

/// A provider with its target version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpgradeItem {
    /// The identity of the provider.
    pub provider: ProviderId,
    /// The namespace that the provider must be in. `None` for any namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The target version, as the user wrote it.
    pub version: String,
}

/// An error if a text is not a provider with a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not of the form [namespace/]name:version")]
pub struct UpgradeItemError {
    /// The invalid text.
    pub text: String,
}

impl UpgradeItem {
    /// Parses `name:version`, or `namespace/name:version` as older releases of clusterctl wrote it.
    /// Source: clusterctl v1.14 client/upgrade.go (parseUpgradeItem); differs: there, a version after a
    /// namespace is converted to lower case too.
    /// # Errors
    /// Fails if the text has another form, or no version.
    pub fn parse(provider_type: ProviderType, text: &str) -> Result<Self, UpgradeItemError> {
        let invalid = || UpgradeItemError { text: text.to_owned() };
        let (namespace, named) = match text.split_once('/') {
            Some((namespace, named)) => (Some(namespace.to_lowercase()), named),
            None => (None, text),
        };
        if namespace.as_deref().is_some_and(|namespace| check_dns_label(namespace).is_err()) {
            return Err(invalid());
        }
        let ProviderRef { name, version } = ProviderRef::parse(named).map_err(|_| invalid())?;
        let version = version.ok_or_else(invalid)?;
        Ok(Self { provider: ProviderId::new(provider_type, name), namespace, version })
    }
}

impl UpgradeTarget {
    /// True if both targets are equal, in any order.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Contract(one), Self::Contract(two)) => one == two,
            (Self::Providers(one), Self::Providers(two)) => sorted(one) == sorted(two),
            _ => false,
        }
    }
}

/// Returns sorted items without namespaces, because a provider is installed only once.
fn sorted(items: &[UpgradeItem]) -> Vec<(&ProviderId, &str)> {
    let mut sorted: Vec<_> = items.iter().map(|item| (&item.provider, &*item.version)).collect();
    sorted.sort_unstable();
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_with_its_version_is_read_with_and_without_a_namespace() {
        let read = |text: &str| {
            let item = UpgradeItem::parse(ProviderType::Infrastructure, text).unwrap();
            (item.namespace, item.provider.to_string(), item.version)
        };
        let plain = (None, "infrastructure-aws".to_owned(), "v2.1.0".to_owned());
        assert_eq!(read("aws:v2.1.0"), plain);
        assert_eq!(read("AWS:v2.1.0"), plain);
        assert_eq!(read("Capa-System/aws:v2.1.0"), (Some("capa-system".to_owned()), plain.1, plain.2));
    }

    #[test]
    fn malformed_provider_versions_are_rejected() {
        for text in
            ["", "aws", "aws:", ":v1.0.0", "ns/aws", "ns/aws:", "/aws:v1.0.0", "a/b/aws:v1.0.0", "aws:v1:v2"]
        {
            assert!(UpgradeItem::parse(ProviderType::Infrastructure, text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_order_of_flags_does_not_change_the_target() {
        let item = |text: &str| UpgradeItem::parse(ProviderType::Infrastructure, text).unwrap();
        let target = |items: &[&str]| UpgradeTarget::Providers(items.iter().copied().map(item).collect());
        let first = target(&["aws:v2.1.0", "docker:v1.2.0"]);
        assert!(first.is_same_as(&target(&["ns/docker:v1.2.0", "aws:v2.1.0"])));
        assert!(!first.is_same_as(&target(&["docker:v1.2.1", "aws:v2.1.0"])));
        assert!(!first.is_same_as(&UpgradeTarget::Contract(Contract::new("v1beta2"))));
    }
}
