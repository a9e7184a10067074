use api::{ProviderId, ProviderType, check_dns_subdomain, output::ProviderSource, similar_names};
use manifest::{Map, Value};
use transport::HostKind;

use super::{
    Config, ConfigError, ProviderProblem,
    built_in::built_in_providers,
    error::ProviderProblemReason::{
        self, CoreName, CoreType, EmptyName, EmptyUrl, NotAMapping, UpperCaseName,
    },
    url::url_problem,
};

/// A provider and the location of its releases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderConfig {
    /// The type and name.
    pub id: ProviderId,
    /// The url of the components file, parsed by `repository`.
    pub url: String,
    /// The kind of the host in the url, if the entry specifies one.
    pub kind: Option<HostKind>,
    /// The origin of this entry.
    pub source: ProviderSource,
}

/// A provider that is not configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {provider_type} named `{name}`")]
pub struct UnknownProvider {
    /// The requested type.
    pub provider_type: ProviderType,
    /// The requested name.
    pub name: String,
    /// Similar names of this type.
    pub suggestions: Vec<String>,
    /// The types that have a provider with this name.
    pub other_types: Vec<ProviderType>,
}

impl Config {
    /// All built-in and configured providers, sorted by type, then by name in byte order.
    ///
    /// Shape: one per type and name. An entry of the file replaces a built-in provider. The later of two equal entries
    /// counts.
    /// # Errors
    /// `Providers` with every invalid entry.
    pub fn providers(&self) -> Result<Vec<ProviderConfig>, ConfigError> {
        let mut providers: Vec<ProviderConfig> = built_in_providers().collect();
        for mut provider in self.configured_providers()? {
            match providers.iter_mut().find(|known| known.id == provider.id) {
                Some(known) => {
                    let over_built_in = known.source != ProviderSource::Config;
                    provider.source = if over_built_in {
                        ProviderSource::ConfigOverBuiltIn
                    } else {
                        ProviderSource::Config
                    };
                    *known = provider;
                }
                None => providers.push(provider),
            }
        }
        providers.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(providers)
    }

    /// The provider of a type and name.
    /// # Errors
    /// The outer error if the list cannot be read; the inner error if the list has no such provider.
    pub fn provider(&self, id: &ProviderId) -> Result<Result<ProviderConfig, UnknownProvider>, ConfigError> {
        let mut providers = self.providers()?;
        let Some(at) = providers.iter().position(|provider| provider.id == *id) else {
            return Ok(Err(unknown_provider(id, &providers)));
        };
        Ok(Ok(providers.swap_remove(at)))
    }

    fn configured_providers(&self) -> Result<Vec<ProviderConfig>, ConfigError> {
        let entries = match self.section("providers") {
            None => return Ok(Vec::new()),
            Some(Value::Array(entries)) => entries.as_slice(),
            Some(Value::Object(entry)) if entry.is_empty() => return Ok(Vec::new()),
            // A single entry without a dash counts as a list with one entry, as in viper.
            Some(entry @ Value::Object(_)) => std::slice::from_ref(entry),
            Some(other) => {
                return Err(self.shape_error(
                    "providers",
                    "a list of entries with name, type and url",
                    other,
                ));
            }
        };
        let mut providers = Vec::with_capacity(entries.len());
        let mut problems = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            match self.read_provider(entry) {
                Ok(provider) => providers.push(provider),
                Err(reason) => {
                    let field = |key| {
                        entry.as_object().and_then(|fields| Self::field(fields, key)).unwrap_or_default()
                    };
                    let (name, provider_type) = (field("name"), field("type"));
                    problems.push(ProviderProblem { index, name, provider_type, reason });
                }
            }
        }
        if problems.is_empty() {
            Ok(providers)
        } else {
            Err(ConfigError::Providers { origin: self.display_origin(), problems })
        }
    }

    /// Reads one entry. Source: clusterctl v1.14 client/config (validateProvider), including the order of checks.
    fn read_provider(&self, entry: &Value) -> Result<ProviderConfig, ProviderProblemReason> {
        let fields: &Map<String, Value> = entry.as_object().ok_or(NotAMapping)?;
        let field = |key| Self::field(fields, key).unwrap_or_default();
        let (name, provider_type, url) = (field("name"), field("type"), field("url"));
        if name.is_empty() {
            return Err(EmptyName);
        }
        if name.chars().any(char::is_uppercase) {
            return Err(UpperCaseName);
        }
        match (name == "cluster-api", provider_type == ProviderType::Core.as_str()) {
            (true, false) => return Err(CoreName),
            (false, true) => return Err(CoreType),
            _ => {}
        }
        check_dns_subdomain(&name).map_err(ProviderProblemReason::Name)?;
        let url =
            self.expand(&url).map_err(|error| ProviderProblemReason::Substitution(error.to_string()))?;
        if url.is_empty() {
            return patched_built_in(fields, &name, &provider_type).ok_or(EmptyUrl);
        }
        if let Some(problem) = url_problem(&url) {
            return Err(ProviderProblemReason::Url(problem));
        }
        let provider_type = provider_type.parse().map_err(|source| ProviderProblemReason::Type { source })?;
        let id = ProviderId::new(provider_type, name);
        let kind = Self::field(fields, "kind").filter(|kind| !kind.is_empty());
        let kind = kind
            .map(|kind| kind.parse())
            .transpose()
            .map_err(|source| ProviderProblemReason::Kind { source })?;
        Ok(ProviderConfig { id, url: self.absolute_url(url), kind, source: ProviderSource::Config })
    }
}

/// The built-in provider of an entry that has no url and only patches or a kustomization.
/// Differs: clusterctl v1.14 rejects entries without a url, and has neither patches nor kustomizations.
fn patched_built_in(fields: &Map<String, Value>, name: &str, provider_type: &str) -> Option<ProviderConfig> {
    fields.get("patches").or_else(|| fields.get("kustomization"))?;
    built_in_providers()
        .find(|known| known.id.name == name && known.id.provider_type.as_str() == provider_type)
}

fn unknown_provider(id: &ProviderId, providers: &[ProviderConfig]) -> UnknownProvider {
    let same_type = providers.iter().filter(|known| known.id.provider_type == id.provider_type);
    let other_types = providers.iter().filter(|known| known.id.name == id.name);
    UnknownProvider {
        provider_type: id.provider_type,
        name: id.name.clone(),
        suggestions: similar_names(&id.name, same_type.map(|known| known.id.name.as_str()))
            .into_iter()
            .map(str::to_owned)
            .collect(),
        other_types: other_types.map(|known| known.id.provider_type).collect(),
    }
}
