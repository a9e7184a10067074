use api::{ProviderType, UnknownProviderType};
use transport::UnknownHostKind;

use super::UndecodableConfig;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The text is not of its format.
    #[error("cannot read the configuration `{origin}`")]
    Undecodable {
        /// Path or URL.
        origin: String,
        /// What is wrong with the text.
        #[source]
        source: UndecodableConfig,
    },
    /// A key holds something else than it must.
    #[error("`{key}` in `{origin}` is {found}, it must be {expected}")]
    Shape {
        /// Path or URL.
        origin: String,
        /// The key, with its parents.
        key: String,
        /// What a user could write.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// Entries under `providers` that name no usable provider; all of them.
    #[error("{} in `{origin}` cannot be used: {}", entries(problems.len()), list(problems))]
    Providers {
        /// Path or URL.
        origin: String,
        /// One for each bad entry, in file order.
        problems: Vec<ProviderProblem>,
    },
    /// Patches of provider components that cannot be read; all of them.
    #[error("patches in `{origin}` cannot be used: {}", problems.join("; "))]
    Patches {
        /// Path or URL.
        origin: String,
        /// Each with its place.
        problems: Vec<String>,
    },
    /// A URL or path of the configuration whose `${…}` cannot be read.
    #[error("`{key}` in `{origin}` cannot be substituted")]
    Substitution {
        /// Path or URL of the configuration.
        origin: String,
        /// The key, with its parents.
        key: String,
        /// Where the template is wrong.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// An entry under `providers` that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("providers[{index}] ({name:?}, {provider_type:?}): {reason}")]
pub struct ProviderProblem {
    /// Position in the list, from 0.
    pub index: usize,
    /// Name as written.
    pub name: String,
    /// Type as written.
    pub provider_type: String,
    /// What is wrong.
    pub reason: ProviderReason,
}

/// What can be wrong with a provider entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderReason {
    /// Not a mapping.
    #[error("an entry has the keys name, type and url")]
    NotAMapping,
    /// No name.
    #[error("name is empty")]
    EmptyName,
    /// Upper case letters.
    #[error("name must be in lower case")]
    UpperCaseName,
    /// `cluster-api` as something else than the core provider.
    #[error("the name `cluster-api` belongs to {}", ProviderType::Core)]
    CoreName,
    /// A core provider under another name.
    #[error("a {} must be named `cluster-api`", ProviderType::Core)]
    CoreType,
    /// A name Kubernetes refuses.
    #[error("{0}")]
    Name(api::InvalidDnsName),
    /// No url.
    #[error("url is empty")]
    EmptyUrl,
    /// A text that is no url.
    #[error("url cannot be read: {0}")]
    Url(&'static str),
    /// A url whose `${…}` cannot be read.
    #[error("url cannot be substituted: {0}")]
    Substitution(String),
    /// A type nobody knows.
    #[error("{source}; the types are {}", types())]
    Type {
        /// The type that was written.
        source: UnknownProviderType,
    },
    /// A kind of host nobody knows.
    #[error(transparent)]
    Kind {
        /// The kind that was written.
        source: UnknownHostKind,
    },
}

fn types() -> String {
    ProviderType::ALL.map(ProviderType::as_str).join(", ")
}

fn entries(count: usize) -> String {
    if count == 1 { "1 provider".to_owned() } else { format!("{count} providers") }
}

fn list(problems: &[ProviderProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
