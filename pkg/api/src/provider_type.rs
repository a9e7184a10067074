use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::similar_names;

/// The seven provider types, in the order in which clusterctl lists and installs them.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
pub enum ProviderType {
    /// Cluster API itself.
    #[serde(rename = "CoreProvider")]
    Core,
    /// Turns machines into nodes.
    #[serde(rename = "BootstrapProvider")]
    Bootstrap,
    /// Runs the control plane of workload clusters.
    #[serde(rename = "ControlPlaneProvider")]
    ControlPlane,
    /// Provides machines and networks.
    #[serde(rename = "InfrastructureProvider")]
    Infrastructure,
    /// Hands out IP addresses.
    #[serde(rename = "IPAMProvider")]
    Ipam,
    /// Serves runtime hooks.
    #[serde(rename = "RuntimeExtensionProvider")]
    RuntimeExtension,
    /// Installs add-ons into workload clusters.
    #[serde(rename = "AddonProvider")]
    Addon,
}

/// An unknown provider type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider type `{text}`")]
pub struct UnknownProviderType {
    /// The rejected text.
    pub text: String,
    /// Provider types with a similar spelling.
    pub suggestions: Vec<&'static str>,
}

impl ProviderType {
    /// All types, in listing order.
    pub const ALL: [ProviderType; 7] = [
        ProviderType::Core,
        ProviderType::Bootstrap,
        ProviderType::ControlPlane,
        ProviderType::Infrastructure,
        ProviderType::Ipam,
        ProviderType::RuntimeExtension,
        ProviderType::Addon,
    ];

    /// Returns the type as written in `clusterctl.yaml` and the inventory, such as `InfrastructureProvider`.
    pub fn as_str(self) -> &'static str {
        match self {
            ProviderType::Core => "CoreProvider",
            ProviderType::Bootstrap => "BootstrapProvider",
            ProviderType::ControlPlane => "ControlPlaneProvider",
            ProviderType::Infrastructure => "InfrastructureProvider",
            ProviderType::Ipam => "IPAMProvider",
            ProviderType::RuntimeExtension => "RuntimeExtensionProvider",
            ProviderType::Addon => "AddonProvider",
        }
    }

    /// Returns the prefix of the name in a provider label; empty for the core provider.
    pub fn label_prefix(self) -> &'static str {
        match self {
            ProviderType::Core => "",
            ProviderType::Bootstrap => "bootstrap-",
            ProviderType::ControlPlane => "control-plane-",
            ProviderType::Infrastructure => "infrastructure-",
            ProviderType::Ipam => "ipam-",
            ProviderType::RuntimeExtension => "runtime-extension-",
            ProviderType::Addon => "addon-",
        }
    }

    /// Returns the command-line flag that names a provider of this type, without dashes.
    pub fn flag(self) -> &'static str {
        match self {
            ProviderType::Core => "core",
            ProviderType::Bootstrap => "bootstrap",
            ProviderType::ControlPlane => "control-plane",
            ProviderType::Infrastructure => "infrastructure",
            ProviderType::Ipam => "ipam",
            ProviderType::RuntimeExtension => "runtime-extension",
            ProviderType::Addon => "addon",
        }
    }

    /// Returns the conventional name of the components file.
    /// Source: provider contract, naming conventions; the plural of runtime extensions follows clusterctl.
    pub fn components_file(self) -> &'static str {
        match self {
            ProviderType::Core => "core-components.yaml",
            ProviderType::Bootstrap => "bootstrap-components.yaml",
            ProviderType::ControlPlane => "control-plane-components.yaml",
            ProviderType::Infrastructure => "infrastructure-components.yaml",
            ProviderType::Ipam => "ipam-components.yaml",
            ProviderType::RuntimeExtension => "runtime-extensions-components.yaml",
            ProviderType::Addon => "addon-components.yaml",
        }
    }
}

impl fmt::Display for ProviderType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ProviderType {
    type Err = UnknownProviderType;

    /// Parses a provider type. Case-sensitive, like clusterctl.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|candidate| candidate.as_str() == text).ok_or_else(|| {
            UnknownProviderType {
                text: text.to_owned(),
                suggestions: similar_names(text, Self::ALL.map(Self::as_str)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Row: PRV-22
    #[test]
    fn each_type_has_the_conventional_components_file() {
        let files: Vec<_> = ProviderType::ALL.into_iter().map(ProviderType::components_file).collect();
        assert_eq!(
            files,
            [
                "core-components.yaml",
                "bootstrap-components.yaml",
                "control-plane-components.yaml",
                "infrastructure-components.yaml",
                "ipam-components.yaml",
                "runtime-extensions-components.yaml",
                "addon-components.yaml",
            ]
        );
    }

    #[test]
    fn a_type_in_the_wrong_case_is_refused_with_the_right_one() {
        let error = "infrastructureProvider".parse::<ProviderType>().unwrap_err();
        assert_eq!(error.suggestions, ["InfrastructureProvider"]);
    }
}
