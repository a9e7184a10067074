use std::{
    borrow::Cow,
    collections::BTreeMap,
    error::Error,
    path::{Component, Path, PathBuf},
};

use manifest::{Map, Value, envsubst::Template};

use super::{ConfigError, ConfigFile, Environment, UnknownKey, file, text, unknown_keys};

/// The configuration of one run: an optional file, overridden by the environment.
#[derive(Clone, Debug)]
pub struct Config {
    origin: Option<String>,
    folder: Option<PathBuf>,
    tree: Map<String, Value>,
    environment: Environment,
}

/// A single configuration value and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The value as text.
    pub text: String,
    /// The environment variable or the file.
    pub origin: api::output::Origin,
}

impl Config {
    /// Parses a configuration file. Without a file, only the environment applies.
    /// # Errors
    /// `Undecodable` if the text is invalid for its format. Values of keys are checked on use, so that an invalid image
    /// override does not stop `config repositories`.
    pub fn new(file: Option<ConfigFile>, environment: Environment) -> Result<Self, ConfigError> {
        let Some(file) = file else {
            return Ok(Self { origin: None, folder: None, tree: Map::new(), environment });
        };
        match file::decode(&file, &environment) {
            Ok(tree) => Ok(Self { origin: Some(file.origin), folder: file.folder, tree, environment }),
            Err(source) => Err(ConfigError::Undecodable { origin: file.origin, source }),
        }
    }

    /// The path or url of the file, if any.
    pub fn origin(&self) -> Option<&str> {
        self.origin.as_deref()
    }

    /// The environment that takes precedence over the file.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Looks up a single value, first in the environment (upper case, `-` as `_`), then in the file. A variable that is
    /// set but empty hides the file.
    /// Source: clusterctl v1.14 client/config (viper reader).
    pub fn setting(&self, name: &str) -> Option<Setting> {
        let variable = environment_variable(name);
        if let Some(value) = self.environment.get(&variable) {
            let origin = api::output::Origin::Environment { variable };
            return Some(Setting { text: value.to_owned(), origin });
        }
        self.file_setting(name)
    }

    /// Looks up a single value in the file only.
    pub fn file_setting(&self, name: &str) -> Option<Setting> {
        let text = text::value_text(self.tree.get(&name.to_lowercase())?)?.into_owned();
        let file = self.origin.clone().unwrap_or_default();
        Some(Setting { text, origin: api::output::Origin::ConfigFile { file } })
    }

    /// The lower-case names of all keys in the file that have a single value.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tree
            .iter()
            .filter(|(_, value)| !value.is_object() && !value.is_array())
            .map(|(key, _)| key.as_str())
    }

    /// The configured overrides folder, which replaces the default folders of the platform.
    ///
    /// Shape: `None` if the key is unset or blank. `${NAME}` is replaced by environment variables. A relative path
    /// starts at the working folder; if all variables are empty, the folder is the working folder itself. Spaces around
    /// the path are kept.
    /// # Errors
    /// `Substitution` if a `${…}` is invalid.
    pub fn overrides_folder(&self) -> Result<Option<PathBuf>, ConfigError> {
        let setting = self.setting("overridesFolder").filter(|setting| !setting.text.trim().is_empty());
        let path = setting.map(|setting| self.substitute("overridesFolder", &setting.text)).transpose()?;
        Ok(path.map(PathBuf::from))
    }

    /// Tokens for GitHub Enterprise by host: the section `github-enterprise-tokens`, read from the file only.
    ///
    /// Shape: hosts are in lower case, as in urls, with a port if the url has one.
    /// # Errors
    /// `Shape` if the section is not a map of hosts to tokens. Errors never contain tokens.
    pub fn github_enterprise_tokens(&self) -> Result<BTreeMap<String, String>, ConfigError> {
        self.host_tokens("github-enterprise-tokens")
    }

    /// Tokens for GitLab by host: the section `gitlab-tokens`. Shape and errors as for GitHub Enterprise.
    pub fn gitlab_tokens(&self) -> Result<BTreeMap<String, String>, ConfigError> {
        self.host_tokens("gitlab-tokens")
    }

    fn host_tokens(&self, key: &'static str) -> Result<BTreeMap<String, String>, ConfigError> {
        let hosts = match self.section(key) {
            None => return Ok(BTreeMap::new()),
            Some(Value::Object(hosts)) => hosts,
            Some(other) => return Err(self.shape_error(key, "a mapping from hosts to tokens", other)),
        };
        let token = |(host, token): (&String, &Value)| match token {
            Value::Array(_) | Value::Object(_) => {
                Err(self.shape_error(format!("{key}.{host}"), "text", token))
            }
            token => Ok((host.clone(), text::value_text(token).unwrap_or_default().into_owned())),
        };
        hosts.iter().map(token).collect()
    }

    /// Probable typing errors: keys similar to a known key, and unknown keys inside known sections.
    pub fn unknown_keys(&self) -> Vec<UnknownKey> {
        unknown_keys::find(&self.tree)
    }

    pub(super) fn section(&self, key: &str) -> Option<&Value> {
        self.tree.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn display_origin(&self) -> String {
        self.origin.clone().unwrap_or_else(|| "the environment".to_owned())
    }

    pub(super) fn shape_error(
        &self,
        key: impl Into<String>,
        expected: &'static str,
        found: &Value,
    ) -> ConfigError {
        ConfigError::Shape {
            origin: self.display_origin(),
            key: key.into(),
            expected,
            found: text::kind_name(found),
        }
    }

    /// The text of a field of a section. `true` and `false` become `1` and `0`; other values follow the rules for
    /// variables. `None` if absent or null.
    /// Source: clusterctl v1.14 through mapstructure, which viper uses to decode sections.
    pub(super) fn field(section: &Map<String, Value>, key: &str) -> Option<String> {
        match section.get(key)? {
            Value::Bool(flag) => Some(u8::from(*flag).to_string()),
            value => text::value_text(value).map(Cow::into_owned),
        }
    }

    /// Replaces environment variables in a path or url. Unset variables are empty. Variables of the file are not used.
    pub(super) fn substitute(&self, key: &str, text: &str) -> Result<String, ConfigError> {
        self.expand(text).map_err(|source| ConfigError::Substitution {
            origin: self.display_origin(),
            key: key.to_owned(),
            source,
        })
    }

    pub(super) fn expand(&self, text: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
        let value = |name: &str| Some(Cow::Borrowed(self.environment.get(name).unwrap_or_default()));
        Ok(Template::parse(text)?.render(&mut { value })?)
    }

    /// Makes a relative provider url absolute, starting at the folder of the configuration file, without `.` and `..`.
    /// Other urls stay as written.
    /// Differs: clusterctl v1.14 rejects relative paths.
    pub(super) fn absolute_url(&self, url: String) -> String {
        if url.contains("://") || url.starts_with('/') || url.starts_with("file:/") {
            return url;
        }
        let path = match &self.folder {
            Some(folder) => folder.join(&url),
            None => PathBuf::from(url),
        };
        clean_path(&path).to_string_lossy().into_owned()
    }
}

/// Removes `.`, `..` and repeated separators from a path.
pub(crate) fn clean_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // `..` is dropped at the root and kept at the start of a relative path.
            Component::ParentDir if plain.file_name().is_some_and(|name| name != "..") => {
                plain.pop();
            }
            Component::ParentDir if plain.has_root() => {}
            other => plain.push(other),
        }
    }
    plain
}

/// The environment variable for a configuration key.
///
/// Characters whose upper case has several characters stay as written: `ß` does not become `SS`.
/// Source: clusterctl v1.14 through Go strings.ToUpper.
pub fn environment_variable(name: &str) -> String {
    let upper = |c: char| {
        let mut upper = c.to_uppercase();
        match (upper.next(), upper.next()) {
            (Some(single), None) => single,
            _ => c,
        }
    };
    name.chars().map(|c| if c == '-' { '_' } else { upper(c) }).collect()
}
