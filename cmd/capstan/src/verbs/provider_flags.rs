//! The flags that name providers, shared by the verbs that take them.

use api::{ProviderId, ProviderRef, ProviderType};

use crate::{Failure, Within as _};

/// Flags of which exactly one is given.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Provider, one of")]
pub(crate) struct OneProvider {
    /// Core provider, as cluster-api:v1.14.0
    #[arg(long, value_name = "NAME[:VERSION]")]
    core: Option<String>,

    /// Bootstrap provider, as kubeadm:v1.14.0
    #[arg(short, long, value_name = "NAME[:VERSION]")]
    bootstrap: Option<String>,

    /// Control plane provider, as kubeadm:v1.14.0
    #[arg(short, long, value_name = "NAME[:VERSION]")]
    control_plane: Option<String>,

    /// Infrastructure provider, as aws:v2.11.1
    #[arg(short, long, value_name = "NAME[:VERSION]")]
    infrastructure: Option<String>,

    /// IPAM provider, as in-cluster:v1.0.0
    #[arg(long, value_name = "NAME[:VERSION]")]
    ipam: Option<String>,

    /// Runtime extension provider, as nutanix:v0.30.0
    #[arg(long, value_name = "NAME[:VERSION]")]
    runtime_extension: Option<String>,

    /// Add-on provider, as helm:v0.3.0
    #[arg(long, value_name = "NAME[:VERSION]")]
    addon: Option<String>,
}

impl OneProvider {
    /// The provider that was named, with the version that was written.
    /// # Errors
    /// When none or several flags are given, or the value is no provider reference.
    pub(crate) fn chosen(&self) -> Result<(ProviderId, Option<String>), Failure> {
        let flags = [
            (ProviderType::Core, &self.core),
            (ProviderType::Bootstrap, &self.bootstrap),
            (ProviderType::ControlPlane, &self.control_plane),
            (ProviderType::Infrastructure, &self.infrastructure),
            (ProviderType::Ipam, &self.ipam),
            (ProviderType::RuntimeExtension, &self.runtime_extension),
            (ProviderType::Addon, &self.addon),
        ];
        let given: Vec<(ProviderType, &str)> = flags
            .into_iter()
            .filter_map(|(provider_type, value)| value.as_deref().map(|value| (provider_type, value)))
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let all =
            || ProviderType::ALL.map(|provider_type| format!("`--{}`", provider_type.flag())).join(", ");
        match given.as_slice() {
            [(provider_type, value)] => resolve(*provider_type, value),
            [] => Err(Failure::user("no provider is named").hint(format!("give one of {}", all()))),
            [(first, _), (second, _), ..] => Err(Failure::user(format!(
                "`--{}` and `--{}` name two providers, only one can be given",
                first.flag(),
                second.flag()
            ))),
        }
    }
}

/// Reads the value of a provider flag.
pub(crate) fn resolve(
    provider_type: ProviderType,
    value: &str,
) -> Result<(ProviderId, Option<String>), Failure> {
    let reference = ProviderRef::parse(value)
        .within(|| format!("invalid value `{value}` of `--{}`", provider_type.flag()))?;
    Ok((ProviderId::new(provider_type, reference.name), reference.version))
}

/// Flags that may each name several providers, as for installing them.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Providers")]
pub(crate) struct SeveralProviders {
    /// Core provider, as cluster-api:v1.14.0 [default: the newest release]
    #[arg(long, global = true, value_name = "NAME[:VERSION]")]
    core: Option<String>,

    /// Bootstrap providers, as kubeadm:v1.14.0; `-` for none [default: the newest kubeadm]
    #[arg(short, long, global = true, value_name = "NAME[:VERSION],…", value_delimiter = ',')]
    bootstrap: Vec<String>,

    /// Control plane providers, as kubeadm:v1.14.0; `-` for none [default: the newest kubeadm]
    #[arg(short, long, global = true, value_name = "NAME[:VERSION],…", value_delimiter = ',')]
    control_plane: Vec<String>,

    /// Infrastructure providers, as aws:v2.11.1
    #[arg(short, long, global = true, value_name = "NAME[:VERSION],…", value_delimiter = ',')]
    infrastructure: Vec<String>,

    /// IPAM providers, as in-cluster:v1.0.0
    #[arg(long, global = true, value_name = "NAME[:VERSION],…", value_delimiter = ',')]
    ipam: Vec<String>,

    /// Runtime extension providers; none is built in but nutanix, others need an entry in the configuration
    #[arg(long, global = true, value_name = "NAME[:VERSION],…", value_delimiter = ',')]
    runtime_extension: Vec<String>,

    /// Add-on providers, as helm:v0.3.0
    #[arg(long, global = true, value_name = "NAME[:VERSION],…", value_delimiter = ',')]
    addon: Vec<String>,
}

/// What is written to get no bootstrap or control plane provider at all.
const NONE: &str = "-";

impl SeveralProviders {
    /// The providers of a first installation: those named, with Cluster API and kubeadm for what is not.
    /// Shape: by type, in the order they are named.
    /// Source: clusterctl v1.14 client/init.go (addDefaultProviders).
    pub(crate) fn of_first_installation(&self) -> Result<Vec<(ProviderId, Option<String>)>, Failure> {
        let core = match self.core.as_deref().filter(|core| !core.is_empty()) {
            Some(NONE) => {
                return Err(Failure::user("the core provider cannot be left out")
                    .hint("give `--core cluster-api:VERSION`"));
            }
            Some(core) => vec![core.to_owned()],
            None => vec!["cluster-api".to_owned()],
        };
        let with_default = |given: &[String]| match given {
            [] => vec!["kubeadm".to_owned()],
            given => given.iter().filter(|name| *name != NONE).cloned().collect(),
        };
        let named = [
            (ProviderType::Core, core),
            (ProviderType::Bootstrap, with_default(&self.bootstrap)),
            (ProviderType::ControlPlane, with_default(&self.control_plane)),
            (ProviderType::Infrastructure, self.infrastructure.clone()),
            (ProviderType::Ipam, self.ipam.clone()),
            (ProviderType::RuntimeExtension, self.runtime_extension.clone()),
            (ProviderType::Addon, self.addon.clone()),
        ];
        named
            .into_iter()
            .flat_map(|(provider_type, values)| values.into_iter().map(move |value| (provider_type, value)))
            .map(|(provider_type, value)| resolve(provider_type, &value))
            .collect()
    }
}
