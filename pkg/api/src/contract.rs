use std::fmt;

use serde::{Deserialize, Serialize};

/// An API version of Cluster API that a provider implements, such as `v1beta2`.
///
/// Stored as text, because metadata files of old or future releases name contracts unknown to this binary.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Contract(String);

impl Contract {
    /// The contract of the newest Cluster API release, `v1beta2`.
    /// Source: clusterctl v1.14 (current contract).
    pub const CURRENT: &'static str = "v1beta2";

    /// The contracts whose providers work together with [`Contract::CURRENT`], newest first.
    /// Source: clusterctl v1.14 (compatible contracts).
    pub const COMPATIBLE: [&'static str; 2] = ["v1beta2", "v1beta1"];

    /// Creates a contract from the text of a metadata file, without a check.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text of the contract.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True if a provider of this contract works together with providers of [`Contract::CURRENT`].
    pub fn is_compatible(&self) -> bool {
        Self::COMPATIBLE.contains(&self.as_str())
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
