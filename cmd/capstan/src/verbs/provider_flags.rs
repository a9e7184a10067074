//! The flags that name providers, shared by several verbs.

use std::collections::BTreeSet;

use api::{ProviderId, ProviderRef, ProviderType};
use management::{ProvidersRequest, UpgradeItem};

use crate::{Failure, WithContext as _, session::Session};

/// Declares a flag per provider type.
macro_rules! provider_flags {
    (
        $(#[$attribute:meta])* $name:ident: $values:ty, $value_name:literal, $delimiter:expr,
        global = $global:literal, core: $core:literal, bootstrap: $bootstrap:literal, control_plane: $control_plane:literal
    ) => {
        #[derive(Clone, Debug, Default, clap::Args)]
        $(#[$attribute])*
        pub(crate) struct $name {
            #[arg(long, global = $global, help = $core, value_name = "NAME[:VERSION]")]
            core: Option<String>,

            #[arg(short, long, global = $global, help = $bootstrap, value_name = $value_name, value_delimiter = $delimiter)]
            bootstrap: $values,

            #[arg(short, long, global = $global, help = $control_plane, value_name = $value_name, value_delimiter = $delimiter)]
            control_plane: $values,

            /// Infrastructure provider, such as aws:v2.11.1
            #[arg(short, long, global = $global, value_name = $value_name, value_delimiter = $delimiter)]
            infrastructure: $values,

            /// IPAM provider, such as in-cluster:v1.0.0
            #[arg(long, global = $global, value_name = $value_name, value_delimiter = $delimiter)]
            ipam: $values,

            /// Runtime extension, such as nutanix:v0.30.0
            #[arg(long, global = $global, value_name = $value_name, value_delimiter = $delimiter)]
            runtime_extension: $values,

            /// Add-on provider, such as helm:v0.3.0
            #[arg(long, global = $global, value_name = $value_name, value_delimiter = $delimiter)]
            addon: $values,
        }

        impl $name {
            /// Returns the values of each flag, by type.
            fn lists(&self) -> [(ProviderType, Vec<&str>); 7] {
                [
                    // An empty value counts as absent.
                    (ProviderType::Core, self.core.iter().map(String::as_str).filter(|core| !core.is_empty()).collect()),
                    (ProviderType::Bootstrap, self.bootstrap.iter().map(String::as_str).collect()),
                    (ProviderType::ControlPlane, self.control_plane.iter().map(String::as_str).collect()),
                    (ProviderType::Infrastructure, self.infrastructure.iter().map(String::as_str).collect()),
                    (ProviderType::Ipam, self.ipam.iter().map(String::as_str).collect()),
                    (ProviderType::RuntimeExtension, self.runtime_extension.iter().map(String::as_str).collect()),
                    (ProviderType::Addon, self.addon.iter().map(String::as_str).collect()),
                ]
            }

            /// Returns every non-empty value by type, in command line order.
            #[allow(dead_code, reason = "some verbs need only the lists")]
            fn values(&self) -> impl Iterator<Item = (ProviderType, &str)> {
                let lists = self.lists().into_iter();
                let values = lists.flat_map(|(of, values)| values.into_iter().map(move |value| (of, value)));
                values.filter(|(_, value)| !value.is_empty())
            }
        }
    };
}

provider_flags! {
    /// Flags of which exactly one is given.
    #[command(next_help_heading = "Provider, one of")]
    OneProvider: Option<String>, "NAME[:VERSION]", None::<char>, global = false,
    core: "Core provider, such as cluster-api:v1.14.0",
    bootstrap: "Bootstrap provider, such as kubeadm:v1.14.0",
    control_plane: "Control plane provider, such as kubeadm:v1.14.0"
}

provider_flags! {
    /// Flags that name installed providers.
    #[command(next_help_heading = "Providers")]
    NamedProviders: Vec<String>, "NAME[:VERSION],…", ',', global = false,
    core: "Core provider, such as cluster-api:v1.14.0",
    bootstrap: "Bootstrap providers, such as kubeadm:v1.14.0",
    control_plane: "Control plane providers, such as kubeadm:v1.14.0"
}

provider_flags! {
    /// Flags that name the providers of an installation.
    #[command(next_help_heading = "Providers")]
    SeveralProviders: Vec<String>, "NAME[:VERSION],…", ',', global = true,
    core: "Core provider [default: the newest cluster-api]",
    bootstrap: "Bootstrap providers, or `-` [default: kubeadm]",
    control_plane: "Control plane provider, or `-` [default: kubeadm]"
}

/// The value that disables the default bootstrap or control plane provider.
const NONE: &str = "-";

impl OneProvider {
    pub(crate) fn is_given(&self) -> bool {
        self.values().next().is_some()
    }

    /// Returns the named provider, with its version if given.
    pub(crate) fn provider_and_version(&self) -> Result<(ProviderId, Option<String>), Failure> {
        let given: Vec<(ProviderType, &str)> = self.values().collect();
        match given.as_slice() {
            [(provider_type, value)] => parse_provider(*provider_type, value),
            [] => {
                let all = ProviderType::ALL.map(|of| format!("`--{}`", of.flag())).join(", ");
                Err(Failure::user("the provider is missing").hint(format!("use one of {all}")))
            }
            [(first, _), (second, _), ..] => Err(Failure::user(format!(
                "`--{}` cannot be combined with `--{}`: the command requires exactly one provider",
                first.flag(),
                second.flag()
            ))),
        }
    }
}

impl NamedProviders {
    pub(crate) fn requested(&self) -> Result<ProvidersRequest, Failure> {
        let providers =
            self.values().map(|(of, value)| parse_provider(of, value)).collect::<Result<_, _>>()?;
        Ok(ProvidersRequest { providers })
    }

    /// Returns the named providers with their target versions.
    pub(crate) fn upgrade_items(&self, session: &Session) -> Result<Vec<UpgradeItem>, Failure> {
        self.values().map(|(of, value)| upgrade_item(of, value, session)).collect()
    }
}

impl SeveralProviders {
    /// True if any provider is named or declined.
    pub(crate) fn is_given(&self) -> bool {
        self.lists().iter().any(|(_, values)| !values.is_empty())
    }

    /// Returns only the named providers, by type, in command line order.
    pub(crate) fn requested(&self) -> Result<ProvidersRequest, Failure> {
        self.parse_all(&self.lists())
    }

    /// Returns the types disabled by `-`.
    pub(crate) fn declined(&self) -> Vec<ProviderType> {
        self.lists().into_iter().filter(|(_, values)| values.contains(&NONE)).map(|(of, _)| of).collect()
    }

    /// Returns the providers of a first installation: the named ones, and Cluster API and kubeadm for types without a
    /// name.
    /// Source: clusterctl v1.14 client/init.go (addDefaultProviders).
    pub(crate) fn first_installation(&self) -> Result<ProvidersRequest, Failure> {
        let mut lists = self.lists();
        for (provider_type, values) in lists.iter_mut().filter(|(_, values)| values.is_empty()) {
            match provider_type {
                ProviderType::Core => values.push("cluster-api"),
                ProviderType::Bootstrap | ProviderType::ControlPlane => values.push("kubeadm"),
                _ => {}
            }
        }
        self.parse_all(&lists)
    }

    /// Returns the flags as typed, each with all its values.
    pub(crate) fn to_args(&self) -> Vec<String> {
        let given = self.lists().into_iter().filter(|(_, values)| !values.is_empty());
        given.flat_map(|(of, values)| [format!("--{}", of.flag()), values.join(",")]).collect()
    }

    fn parse_all(&self, lists: &[(ProviderType, Vec<&str>); 7]) -> Result<ProvidersRequest, Failure> {
        if self.core.as_deref() == Some(NONE) {
            return Err(Failure::user(
                "`--core -` is not allowed: every installation needs the core provider",
            )
            .hint("use `--core cluster-api:VERSION`"));
        }
        let values = lists.iter().flat_map(|(of, values)| values.iter().map(|value| (*of, *value)));
        let named = values.filter(|(_, value)| *value != NONE);
        let providers: Vec<(ProviderId, Option<String>)> =
            named.map(|(of, value)| parse_provider(of, value)).collect::<Result<_, _>>()?;
        let mut seen = BTreeSet::new();
        if let Some((twice, _)) = providers.iter().find(|(id, _)| !seen.insert(id)) {
            return Err(Failure::user(format!("the provider `{twice}` is given twice")));
        }
        Ok(ProvidersRequest { providers })
    }
}

/// Parses the value of a provider flag.
pub(crate) fn parse_provider(of: ProviderType, value: &str) -> Result<(ProviderId, Option<String>), Failure> {
    let reference = ProviderRef::parse(value)
        .with_context(|| format!("invalid value `{value}` for `--{}`", of.flag()))?;
    Ok((ProviderId::new(of, reference.name), reference.version))
}

/// Parses a provider with its version. Reports an unknown name before a missing version.
fn upgrade_item(of: ProviderType, value: &str, session: &Session) -> Result<UpgradeItem, Failure> {
    UpgradeItem::parse(of, value).or_else(|error| {
        let failure = Failure::user(format!("invalid value `{value}` for `--{}`", of.flag()));
        let is_name = !value.contains([':', '/']);
        Err(match session.config()?.provider(&ProviderId::new(of, value))? {
            Err(unknown) if is_name && !unknown.suggestions.is_empty() => failure.because(&unknown),
            _ => failure.because(&error).hint("add the target version, such as `NAME:VERSION`"),
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
