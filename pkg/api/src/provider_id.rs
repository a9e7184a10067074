use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ProviderType;

/// Which provider: type and name. Ordered as the peer lists them, by type, then by the bytes of the name.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct ProviderId {
    /// Sort of provider.
    #[serde(rename = "type")]
    pub provider_type: ProviderType,
    /// Name within the type, such as `aws`.
    pub name: String,
}

impl ProviderId {
    /// Joins type and name; nothing is checked here.
    pub fn new(provider_type: ProviderType, name: impl Into<String>) -> Self {
        Self { provider_type, name: name.into() }
    }

    /// The provider label, such as `infrastructure-aws`: value of the label on every object, folder name in local
    /// repositories and overrides, component of image overrides, name of the inventory object.
    pub fn label(&self) -> String {
        format!("{}{}", self.provider_type.label_prefix(), self.name)
    }
}

impl fmt::Display for ProviderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.provider_type.label_prefix(), self.name)
    }
}
