//! What `upgrade apply` is asked for.

use api::{Contract, ProviderId, ProviderRef, ProviderType, check_dns_label};
use serde::{Deserialize, Serialize};

use crate::{OnUnfinished, WaitFor};

/// What `upgrade apply` is asked for.
#[derive(Clone, Debug)]
pub struct UpgradeRequest {
    /// The contract to go to; or the providers with their versions.
    pub target: UpgradeTarget,
    /// Whether a lower version is fine.
    pub allow_downgrade: bool,
    /// Whether more than three minor versions may be skipped.
    pub allow_skip: bool,
    /// Whether replicas set on Deployments by users are kept.
    pub keep_replicas: bool,
    /// Whether node selectors, tolerations and affinities set by users are kept.
    pub keep_placement: bool,
    /// Whether cert-manager is left alone.
    pub skip_cert_manager: bool,
    /// What to wait for in the end.
    pub wait: WaitFor,
    /// Whether every object is shown as it would be.
    pub thorough: bool,
    /// The reaction to an unfinished move.
    pub unfinished: OnUnfinished,
}

/// Where an upgrade goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UpgradeTarget {
    /// The newest versions that work with this contract.
    Contract(Contract),
    /// These versions, in the order of their flags.
    Providers(Vec<UpgradeItem>),
}

/// A provider with the version it is to have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpgradeItem {
    /// Which provider.
    pub provider: ProviderId,
    /// The namespace it must be in, where one was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The version to go to, as it was written.
    pub version: String,
}

/// A text that names no provider with a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not of the form [namespace/]name:version")]
pub struct InvalidUpgradeItem {
    /// What was written.
    pub text: String,
}

impl UpgradeItem {
    /// Reads `name:version`, or `namespace/name:version` as older releases of the peer wrote it.
    /// Source: clusterctl v1.14 client/upgrade.go (parseUpgradeItem); differs: there, the version is lower-cased too when a
    /// namespace stands in front.
    /// # Errors
    /// When it has another form, or no version.
    pub fn parse(provider_type: ProviderType, text: &str) -> Result<Self, InvalidUpgradeItem> {
        let invalid = || InvalidUpgradeItem { text: text.to_owned() };
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
    /// Whether both ask for the same, in whatever order.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Contract(one), Self::Contract(two)) => one == two,
            (Self::Providers(one), Self::Providers(two)) => sorted(one) == sorted(two),
            _ => false,
        }
    }
}

/// The namespace says nothing: a provider is installed once.
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
    fn what_has_another_form_is_refused() {
        for text in
            ["", "aws", "aws:", ":v1.0.0", "ns/aws", "ns/aws:", "/aws:v1.0.0", "a/b/aws:v1.0.0", "aws:v1:v2"]
        {
            assert!(UpgradeItem::parse(ProviderType::Infrastructure, text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_order_of_flags_makes_no_other_target() {
        let item = |text: &str| UpgradeItem::parse(ProviderType::Infrastructure, text).unwrap();
        let target = |items: &[&str]| UpgradeTarget::Providers(items.iter().copied().map(item).collect());
        let first = target(&["aws:v2.1.0", "docker:v1.2.0"]);
        assert!(first.is_same_as(&target(&["ns/docker:v1.2.0", "aws:v2.1.0"])));
        assert!(!first.is_same_as(&target(&["docker:v1.2.1", "aws:v2.1.0"])));
        assert!(!first.is_same_as(&UpgradeTarget::Contract(Contract::new("v1beta2"))));
    }
}
