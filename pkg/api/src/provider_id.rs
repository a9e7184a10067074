use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ProviderType;

/// Type and name of a provider. Sorted as clusterctl lists providers: by type, then by the bytes of the name.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct ProviderId {
    /// Type of the provider.
    #[serde(rename = "type")]
    pub provider_type: ProviderType,
    /// Name within the type, such as `aws`.
    pub name: String,
}

impl ProviderId {
    /// Joins type and name without a check.
    pub fn new(provider_type: ProviderType, name: impl Into<String>) -> Self {
        Self { provider_type, name: name.into() }
    }

    /// Returns the provider label, such as `infrastructure-aws`.
    ///
    /// The label is the value of the provider label on every object and the name of the inventory object.
    /// Folders in local repositories and overrides, and components of image overrides, have the same name.
    pub fn label(&self) -> String {
        format!("{}{}", self.provider_type.label_prefix(), self.name)
    }
}

impl fmt::Display for ProviderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.provider_type.label_prefix(), self.name)
    }
}
