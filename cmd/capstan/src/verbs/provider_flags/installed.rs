use api::{ProviderId, ProviderType};
use management::{ProvidersRequest, UpgradeItem};

use super::resolve;
use crate::{Failure, session::Session};

/// Flags that name providers which are installed already.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Providers")]
pub(crate) struct NamedProviders {
    /// Core provider, as cluster-api:v1.14.0
    #[arg(long, value_name = "NAME[:VERSION]")]
    core: Option<String>,

    /// Bootstrap providers, as kubeadm:v1.14.0
    #[arg(short, long, value_name = "NAME[:VERSION],…", value_delimiter = ',')]
    bootstrap: Vec<String>,

    /// Control plane providers, as kubeadm:v1.14.0
    #[arg(short, long, value_name = "NAME[:VERSION],…", value_delimiter = ',')]
    control_plane: Vec<String>,

    /// Infrastructure providers, as aws:v2.11.1
    #[arg(short, long, value_name = "NAME[:VERSION],…", value_delimiter = ',')]
    infrastructure: Vec<String>,

    /// IPAM providers, as in-cluster:v1.0.0
    #[arg(long, value_name = "NAME[:VERSION],…", value_delimiter = ',')]
    ipam: Vec<String>,

    /// Runtime extension providers, as nutanix:v0.30.0
    #[arg(long, value_name = "NAME[:VERSION],…", value_delimiter = ',')]
    runtime_extension: Vec<String>,

    /// Add-on providers, as helm:v0.3.0
    #[arg(long, value_name = "NAME[:VERSION],…", value_delimiter = ',')]
    addon: Vec<String>,
}

impl NamedProviders {
    /// The providers that are named, by type, in the order they are named.
    pub(crate) fn requested(&self) -> Result<ProvidersRequest, Failure> {
        let providers = self.values().map(|(of, value)| resolve(of, value)).collect::<Result<_, _>>()?;
        Ok(ProvidersRequest { providers })
    }

    /// The same with the version each is to get.
    pub(crate) fn upgrade_items(&self, session: &Session) -> Result<Vec<UpgradeItem>, Failure> {
        self.values().map(|(of, value)| upgrade_item(of, value, session)).collect()
    }

    fn values(&self) -> impl Iterator<Item = (ProviderType, &str)> {
        let lists: [(ProviderType, &[String]); 7] = [
            (ProviderType::Core, self.core.as_slice()),
            (ProviderType::Bootstrap, &self.bootstrap),
            (ProviderType::ControlPlane, &self.control_plane),
            (ProviderType::Infrastructure, &self.infrastructure),
            (ProviderType::Ipam, &self.ipam),
            (ProviderType::RuntimeExtension, &self.runtime_extension),
            (ProviderType::Addon, &self.addon),
        ];
        let named =
            lists.into_iter().flat_map(|(of, values)| values.iter().map(move |value| (of, value.as_str())));
        named.filter(|(_, value)| !value.is_empty())
    }
}

/// Reads a provider with its version. A name that is known nowhere is reported before a missing version.
fn upgrade_item(of: ProviderType, value: &str, session: &Session) -> Result<UpgradeItem, Failure> {
    UpgradeItem::parse(of, value).or_else(|error| {
        let failure = Failure::user(format!("invalid value `{value}` of `--{}`", of.flag()));
        let id = ProviderId::new(of, value);
        let is_name = !value.contains([':', '/']);
        Err(match session.config()?.provider(&id)? {
            Err(unknown) if is_name && !unknown.near.is_empty() => failure.because(&unknown),
            _ => failure.because(&error).hint("name the version to go to, as `NAME:VERSION`"),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_listed_by_type_and_empty_values_are_none() {
        let flags = NamedProviders {
            core: Some(String::new()),
            infrastructure: vec!["aws".to_owned(), "docker:v1.0.0".to_owned()],
            bootstrap: vec!["kubeadm".to_owned()],
            ..NamedProviders::default()
        };
        let names: Vec<String> =
            flags.requested().unwrap().providers.iter().map(|(id, _)| id.to_string()).collect();
        assert_eq!(names, ["bootstrap-kubeadm", "infrastructure-aws", "infrastructure-docker"]);
    }
}
