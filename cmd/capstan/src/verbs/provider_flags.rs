//! The flags that name providers, shared by the verbs that take them.

mod installed;

use std::collections::BTreeSet;

use api::{ProviderId, ProviderRef, ProviderType};
use management::ProvidersRequest;

use crate::{Failure, Within as _};

pub(crate) use installed::NamedProviders;

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
    /// Whether any is named.
    pub(crate) fn is_given(&self) -> bool {
        self.flags().iter().any(|(_, value)| value.as_deref().is_some_and(|value| !value.is_empty()))
    }

    fn flags(&self) -> [(ProviderType, &Option<String>); 7] {
        [
            (ProviderType::Core, &self.core),
            (ProviderType::Bootstrap, &self.bootstrap),
            (ProviderType::ControlPlane, &self.control_plane),
            (ProviderType::Infrastructure, &self.infrastructure),
            (ProviderType::Ipam, &self.ipam),
            (ProviderType::RuntimeExtension, &self.runtime_extension),
            (ProviderType::Addon, &self.addon),
        ]
    }

    /// The provider that was named, with the version that was written.
    /// # Errors
    /// When none or several flags are given, or the value is no provider reference.
    pub(crate) fn chosen(&self) -> Result<(ProviderId, Option<String>), Failure> {
        let given: Vec<(ProviderType, &str)> = self
            .flags()
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
    /// Whether any is named, or declined.
    pub(crate) fn is_given(&self) -> bool {
        self.lists().iter().any(|(_, values)| !values.is_empty())
    }

    /// The providers that are named, and no others.
    /// Shape: by type, in the order they are named.
    pub(crate) fn requested(&self) -> Result<ProvidersRequest, Failure> {
        refuse_no_core(self.core.as_deref())?;
        resolve_all(self.lists())
    }

    /// The types of which none is wanted, as a `-` says.
    pub(crate) fn declined(&self) -> Vec<ProviderType> {
        let declines = |values: &[String]| values.iter().any(|value| value == NONE);
        self.lists().into_iter().filter(|(_, values)| declines(values)).map(|(of, _)| of).collect()
    }

    /// The providers of a first installation: those named, with Cluster API and kubeadm for what is not.
    /// Shape: by type, in the order they are named.
    /// Source: clusterctl v1.14 client/init.go (addDefaultProviders).
    pub(crate) fn of_first_installation(&self) -> Result<ProvidersRequest, Failure> {
        refuse_no_core(self.core.as_deref())?;
        let mut lists = self.lists();
        for (provider_type, values) in &mut lists {
            let default = match provider_type {
                ProviderType::Core => "cluster-api",
                ProviderType::Bootstrap | ProviderType::ControlPlane => "kubeadm",
                _ => continue,
            };
            if values.is_empty() {
                values.push(default.to_owned());
            }
        }
        resolve_all(lists)
    }

    /// The flags as they are typed, each with all its values.
    pub(crate) fn as_typed(&self) -> Vec<String> {
        let given = self.lists().into_iter().filter(|(_, values)| !values.is_empty());
        given.flat_map(|(of, values)| [format!("--{}", of.flag()), values.join(",")]).collect()
    }

    fn lists(&self) -> [(ProviderType, Vec<String>); 7] {
        let core = self.core.iter().filter(|core| !core.is_empty()).cloned().collect();
        [
            (ProviderType::Core, core),
            (ProviderType::Bootstrap, self.bootstrap.clone()),
            (ProviderType::ControlPlane, self.control_plane.clone()),
            (ProviderType::Infrastructure, self.infrastructure.clone()),
            (ProviderType::Ipam, self.ipam.clone()),
            (ProviderType::RuntimeExtension, self.runtime_extension.clone()),
            (ProviderType::Addon, self.addon.clone()),
        ]
    }
}

fn refuse_no_core(core: Option<&str>) -> Result<(), Failure> {
    match core {
        Some(NONE) => {
            Err(Failure::user("the core provider cannot be left out")
                .hint("give `--core cluster-api:VERSION`"))
        }
        _ => Ok(()),
    }
}

fn resolve_all(lists: [(ProviderType, Vec<String>); 7]) -> Result<ProvidersRequest, Failure> {
    let named = lists
        .into_iter()
        .flat_map(|(provider_type, values)| values.into_iter().map(move |value| (provider_type, value)))
        .filter(|(_, value)| value != NONE);
    let providers: Vec<(ProviderId, Option<String>)> =
        named.map(|(provider_type, value)| resolve(provider_type, &value)).collect::<Result<_, _>>()?;
    let mut seen = BTreeSet::new();
    if let Some((twice, _)) = providers.iter().find(|(id, _)| !seen.insert(id)) {
        return Err(Failure::user(format!("`{twice}` is named twice")));
    }
    Ok(ProvidersRequest { providers })
}
