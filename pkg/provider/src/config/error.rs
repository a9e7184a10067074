use api::{ProviderType, UnknownProviderType};
use transport::UnknownHostKind;

use super::UndecodableConfig;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ConfigError {
    #[error("cannot read the configuration `{origin}`")]
    Undecodable {
        origin: String,
        #[source]
        source: UndecodableConfig,
    },
    #[error("`{key}` in `{origin}` must be {expected}, not {found}")]
    Shape { origin: String, key: String, expected: &'static str, found: &'static str },
    #[error("{} in `{origin}`: {}", entries(problems.len()), list(problems))]
    Providers { origin: String, problems: Vec<ProviderProblem> },
    #[error("invalid patches in `{origin}`: {}", problems.join("; "))]
    Patches { origin: String, problems: Vec<String> },
    #[error("cannot substitute variables in `{key}` of `{origin}`")]
    Substitution {
        origin: String,
        key: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// An invalid entry of `providers`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("providers[{index}] ({name:?}, {provider_type:?}): {reason}")]
pub struct ProviderProblem {
    /// The position in the list, from 0.
    pub index: usize,
    /// The name as written.
    pub name: String,
    /// The type as written.
    pub provider_type: String,
    /// The reason why the entry is refused.
    pub reason: ProviderProblemReason,
}

/// The reason why a provider entry is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum ProviderProblemReason {
    #[error("an entry must be a mapping with name, type and url")]
    NotAMapping,
    #[error("name is empty")]
    EmptyName,
    #[error("name must be in lower case")]
    UpperCaseName,
    #[error("the name `cluster-api` is reserved for {}", ProviderType::Core)]
    CoreName,
    #[error("a {} must be named `cluster-api`", ProviderType::Core)]
    CoreType,
    #[error("{0}")]
    Name(api::DnsNameError),
    #[error("url is empty")]
    EmptyUrl,
    #[error("invalid url: {0}")]
    Url(&'static str),
    #[error("cannot substitute variables in url: {0}")]
    Substitution(String),
    #[error("{source}; known types: {}", types())]
    Type { source: UnknownProviderType },
    #[error(transparent)]
    Kind { source: UnknownHostKind },
}

fn types() -> String {
    ProviderType::ALL.map(ProviderType::as_str).join(", ")
}

fn entries(count: usize) -> String {
    if count == 1 { "1 invalid provider".to_owned() } else { format!("{count} invalid providers") }
}

fn list(problems: &[ProviderProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
