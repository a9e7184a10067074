use std::{
    borrow::Cow,
    collections::BTreeMap,
    error::Error,
    path::{Component, Path, PathBuf},
};

use manifest::{Map, Value, envsubst::Template};

use super::{ConfigError, ConfigFile, Environment, UnknownKey, file, text, unknown_keys};

/// The configuration of one run: a file, or none, under the environment.
#[derive(Clone, Debug)]
pub struct Config {
    origin: Option<String>,
    folder: Option<PathBuf>,
    tree: Map<String, Value>,
    environment: Environment,
}

/// A single value of the configuration with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The value as text.
    pub text: String,
    /// The environment variable or the file it comes from.
    pub origin: api::output::Origin,
}

impl Config {
    /// Understands a configuration file; without one, only the environment speaks.
    /// # Errors
    /// `Undecodable` when the text is not of its format. What single keys hold is checked when it is asked for, so
    /// that a bad image override does not stop `config repositories`.
    pub fn new(file: Option<ConfigFile>, environment: Environment) -> Result<Self, ConfigError> {
        let Some(file) = file else {
            return Ok(Self { origin: None, folder: None, tree: Map::new(), environment });
        };
        match file::decode(&file, &environment) {
            Ok(tree) => Ok(Self { origin: Some(file.origin), folder: file.folder, tree, environment }),
            Err(source) => Err(ConfigError::Undecodable { origin: file.origin, source }),
        }
    }

    /// Path or URL of the file, if there is one.
    pub fn origin(&self) -> Option<&str> {
        self.origin.as_deref()
    }

    /// The environment the configuration lies under.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Looks a single value up, in the environment first: upper case, `-` as `_`. A variable that is set and empty
    /// hides the file.
    /// Source: clusterctl v1.14 client/config (viper reader).
    pub fn setting(&self, name: &str) -> Option<Setting> {
        let variable = environment_variable(name);
        if let Some(value) = self.environment.get(&variable) {
            let origin = api::output::Origin::Environment { variable };
            return Some(Setting { text: value.to_owned(), origin });
        }
        self.file_setting(name)
    }

    /// Looks a single value up in the file alone.
    pub fn file_setting(&self, name: &str) -> Option<Setting> {
        let text = text::value_text(self.tree.get(&name.to_lowercase())?)?.into_owned();
        let file = self.origin.clone().unwrap_or_default();
        Some(Setting { text, origin: api::output::Origin::ConfigFile { file } })
    }

    /// The names of all keys of the file that hold a single value, lower case.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tree
            .iter()
            .filter(|(_, value)| !value.is_object() && !value.is_array())
            .map(|(key, _)| key.as_str())
    }

    /// Where overrides of provider files are looked for first, instead of the folders of the platform.
    /// Shape: nothing when the key is unset or blank; `${NAME}` takes environment variables; a relative path starts
    /// at the working folder; blanks around a path belong to it.
    /// # Errors
    /// `Substitution` when a `${…}` in it cannot be read.
    pub fn overrides_folder(&self) -> Result<Option<PathBuf>, ConfigError> {
        let Some(setting) = self.setting("overridesFolder") else { return Ok(None) };
        let path = self.substitute("overridesFolder", &setting.text)?;
        Ok((!path.trim().is_empty()).then(|| PathBuf::from(path)))
    }

    /// Tokens for GitHub Enterprise by host: the section `github-enterprise-tokens`, of the file alone.
    /// Shape: hosts in lower case, as they stand in urls, with a port where there is one.
    /// # Errors
    /// `Shape` when the section holds something else than hosts with tokens; the tokens are not in it.
    pub fn github_enterprise_tokens(&self) -> Result<BTreeMap<String, String>, ConfigError> {
        self.host_tokens("github-enterprise-tokens")
    }

    /// Tokens for GitLab by host: the section `gitlab-tokens`; shape and errors as for GitHub Enterprise.
    pub fn gitlab_tokens(&self) -> Result<BTreeMap<String, String>, ConfigError> {
        self.host_tokens("gitlab-tokens")
    }

    fn host_tokens(&self, key: &'static str) -> Result<BTreeMap<String, String>, ConfigError> {
        let hosts = match self.section(key) {
            None => return Ok(BTreeMap::new()),
            Some(Value::Object(hosts)) => hosts,
            Some(other) => return Err(self.shape(key, "hosts, each with its token", other)),
        };
        let token = |(host, token): (&String, &Value)| match token {
            Value::Array(_) | Value::Object(_) => Err(self.shape(format!("{key}.{host}"), "text", token)),
            token => Ok((host.clone(), text::value_text(token).unwrap_or_default().into_owned())),
        };
        hosts.iter().map(token).collect()
    }

    /// Keys that look like a slip: nearly a key of ours, or unknown inside one of ours.
    pub fn unknown_keys(&self) -> Vec<UnknownKey> {
        unknown_keys::find(&self.tree)
    }

    pub(super) fn section(&self, key: &str) -> Option<&Value> {
        self.tree.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn shown_origin(&self) -> String {
        self.origin.clone().unwrap_or_else(|| "the environment".to_owned())
    }

    pub(super) fn shape(&self, key: impl Into<String>, expected: &'static str, found: &Value) -> ConfigError {
        ConfigError::Shape {
            origin: self.shown_origin(),
            key: key.into(),
            expected,
            found: text::kind(found),
        }
    }

    /// The text of one field of a section, by the rules for variables but for `true` and `false`, which are `1` and
    /// `0`; nothing when absent or null.
    /// Source: clusterctl v1.14 through mapstructure, which viper decodes sections with.
    pub(super) fn field(section: &Map<String, Value>, key: &str) -> Option<String> {
        match section.get(key)? {
            Value::Bool(flag) => Some(u8::from(*flag).to_string()),
            value => text::value_text(value).map(Cow::into_owned),
        }
    }

    /// Puts environment variables into a path or url; unset ones are empty, variables of the file are not seen.
    pub(super) fn substitute(&self, key: &str, text: &str) -> Result<String, ConfigError> {
        self.expand(text).map_err(|source| ConfigError::Substitution {
            origin: self.shown_origin(),
            key: key.to_owned(),
            source,
        })
    }

    pub(super) fn expand(&self, text: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
        let value = |name: &str| Some(Cow::Borrowed(self.environment.get(name).unwrap_or_default()));
        Ok(Template::parse(text)?.render(&mut { value })?)
    }

    /// A provider url written as a relative path: it starts at the folder of the configuration file, `.` and `..` are
    /// taken out. All others stay as they are written.
    /// differs: clusterctl v1.14 refuses relative paths.
    pub(super) fn absolute_url(&self, url: String) -> String {
        if url.contains("://") || url.starts_with('/') {
            return url;
        }
        let path = match &self.folder {
            Some(folder) => folder.join(&url),
            None => PathBuf::from(url),
        };
        without_dots(&path).to_string_lossy().into_owned()
    }
}

/// Takes `.`, `..` and doubled separators out of a path.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // At the root there is nothing above; in a relative path what is above is kept.
            Component::ParentDir if plain.file_name().is_some_and(|name| name != "..") => {
                plain.pop();
            }
            Component::ParentDir if plain.has_root() => {}
            other => plain.push(other),
        }
    }
    plain
}

/// The environment variable that carries a configuration value.
///
/// Characters whose upper case is several characters stay: `ß` is not `SS`.
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
