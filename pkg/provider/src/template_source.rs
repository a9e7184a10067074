//! Templates and provider defaults from a management cluster: ConfigMaps, and the provider inventory.

use std::collections::BTreeSet;

use api::{ProviderId, ProviderType};

use crate::{
    management_cluster::{ManagementCluster, ManagementClusterError},
    template_text::TemplateText,
};

/// A template in a ConfigMap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigMapSource {
    /// The namespace of the ConfigMap.
    pub namespace: String,
    /// The name of the ConfigMap.
    pub name: String,
    /// The key of the template.
    pub key: String,
}

impl ConfigMapSource {
    /// The default key.
    /// Source: clusterctl v1.14 (DefaultCustomTemplateConfigMapKey).
    pub const DEFAULT_KEY: &'static str = "template";

    /// Reads the template.
    pub async fn read(
        &self,
        cluster: &dyn ManagementCluster,
    ) -> Result<TemplateText, ManagementClusterError> {
        let text = cluster.config_map_key(&self.namespace, &self.name, &self.key).await?;
        Ok(TemplateText {
            file: format!("ConfigMap {}/{}, key {}", self.namespace, self.name, self.key),
            text,
        })
    }
}

/// The reason why the inventory determines no default provider or version.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum DefaultReleaseError {
    #[error(transparent)]
    ManagementCluster(#[from] ManagementClusterError),
    #[error("no {0} is installed")]
    NotInstalled(ProviderType),
    #[error("several providers are installed: {}", list(_0))]
    SeveralProviders(BTreeSet<String>),
    #[error("`{0}` is not installed")]
    ProviderNotInstalled(ProviderId),
    #[error("`{provider}` is installed in several versions: {}", list(versions))]
    SeveralVersions { provider: ProviderId, versions: BTreeSet<String> },
}

fn list(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// The name of the only installed infrastructure provider.
/// Source: clusterctl v1.14 client/cluster/inventory.go (GetDefaultProviderName).
pub async fn default_infrastructure(cluster: &dyn ManagementCluster) -> Result<String, DefaultReleaseError> {
    let installed = cluster.installed_providers().await?;
    let of_type = installed.into_iter().filter(|it| it.id.provider_type == ProviderType::Infrastructure);
    let names: BTreeSet<String> = of_type.map(|it| it.id.name).collect();
    match single(names) {
        Ok(Some(name)) => Ok(name),
        Ok(None) => Err(DefaultReleaseError::NotInstalled(ProviderType::Infrastructure)),
        Err(names) => Err(DefaultReleaseError::SeveralProviders(names)),
    }
}

/// The only installed version of a provider.
/// Source: clusterctl v1.14 client/cluster/inventory.go (GetProviderVersion).
pub async fn installed_version(
    cluster: &dyn ManagementCluster,
    id: &ProviderId,
) -> Result<String, DefaultReleaseError> {
    let installed = cluster.installed_providers().await?;
    let versions: BTreeSet<String> =
        installed.into_iter().filter(|it| it.id == *id).map(|it| it.version).collect();
    match single(versions) {
        Ok(Some(version)) => Ok(version),
        Ok(None) => Err(DefaultReleaseError::ProviderNotInstalled(id.clone())),
        Err(versions) => Err(DefaultReleaseError::SeveralVersions { provider: id.clone(), versions }),
    }
}

/// The only element, or `None` for an empty set. Fails with the set if there are several.
fn single(mut set: BTreeSet<String>) -> Result<Option<String>, BTreeSet<String>> {
    if set.len() > 1 { Err(set) } else { Ok(set.pop_first()) }
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;
    use crate::{
        InstalledProvider,
        testing::{FakeManagementCluster, block_on},
    };

    fn installed(providers: &[(ProviderType, &str, &str)]) -> FakeManagementCluster {
        let one = |&(provider_type, name, version): &(ProviderType, &str, &str)| InstalledProvider {
            id: ProviderId::new(provider_type, name),
            version: version.to_owned(),
            namespace: format!("{name}-system"),
        };
        FakeManagementCluster {
            providers: providers.iter().map(one).collect(),
            ..FakeManagementCluster::default()
        }
    }

    use ProviderType::{Bootstrap, Infrastructure};

    #[test]
    fn the_only_infrastructure_provider_is_the_default() {
        let ask = |cluster: FakeManagementCluster| block_on(default_infrastructure(&cluster));
        let one = installed(&[(Bootstrap, "kubeadm", "v1.0.0"), (Infrastructure, "aws", "v2.0.0")]);
        assert_eq!(ask(one).unwrap(), "aws");
        let none = ask(installed(&[])).unwrap_err();
        assert!(matches!(none, DefaultReleaseError::NotInstalled(Infrastructure)), "{none}");
        let two = installed(&[(Infrastructure, "docker", "v1.0.0"), (Infrastructure, "aws", "v2.0.0")]);
        let several = ask(two).unwrap_err();
        assert_data_eq!(several.to_string(), str!["several providers are installed: aws, docker"]);
    }

    #[test]
    fn the_only_installed_version_is_the_default() {
        let aws = ProviderId::new(Infrastructure, "aws");
        let ask = |cluster: FakeManagementCluster| block_on(installed_version(&cluster, &aws));
        assert_eq!(ask(installed(&[(Infrastructure, "aws", "v2.0.0")])).unwrap(), "v2.0.0");
        let missing = ask(installed(&[(Bootstrap, "aws", "v2.0.0")])).unwrap_err();
        assert!(matches!(&missing, DefaultReleaseError::ProviderNotInstalled(id) if *id == aws), "{missing}");
        let two = installed(&[(Infrastructure, "aws", "v2.0.0"), (Infrastructure, "aws", "v2.1.0")]);
        let several = ask(two).unwrap_err();
        assert_data_eq!(
            several.to_string(),
            str!["`infrastructure-aws` is installed in several versions: v2.0.0, v2.1.0"]
        );
    }

    #[test]
    fn a_template_in_a_config_map_is_named_by_it() {
        let cluster = FakeManagementCluster {
            config_maps: vec![("team/t/template", "a: 1")],
            ..FakeManagementCluster::default()
        };
        let source = |name: &str| ConfigMapSource {
            namespace: "team".to_owned(),
            name: name.to_owned(),
            key: ConfigMapSource::DEFAULT_KEY.to_owned(),
        };
        let text = block_on(async { source("t").read(&cluster).await }).unwrap();
        assert_eq!((text.file.as_str(), text.text.as_str()), ("ConfigMap team/t, key template", "a: 1"));
        let error = block_on(async { source("other").read(&cluster).await }).unwrap_err();
        assert_eq!(error.question, "ConfigMap team/other, key template");
    }
}
