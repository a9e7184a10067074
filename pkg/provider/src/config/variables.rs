use std::{borrow::Cow, collections::BTreeMap};

use api::output::Origin;

use super::{Config, reader::environment_variable};

/// The values of `${NAME}`. Precedence: command line, environment, configuration file.
#[derive(Clone, Debug)]
pub struct Variables<'c> {
    config: &'c Config,
    command_line: BTreeMap<String, CommandLineValue>,
}

/// A value given by a flag or an argument.
#[derive(Clone, Debug)]
pub struct CommandLineValue {
    /// The value as given on the command line.
    pub text: String,
    /// The flag, or the name of the argument.
    pub flag: &'static str,
}

/// The value of a variable and its origin.
#[derive(Clone, Debug)]
pub struct ResolvedVariable<'v> {
    /// The value after precedence is applied.
    pub text: Cow<'v, str>,
    /// The flag, environment variable or file.
    pub origin: Origin,
}

impl<'c> Variables<'c> {
    /// Starts with the environment and the file of a configuration.
    pub fn new(config: &'c Config) -> Self {
        Self { config, command_line: BTreeMap::new() }
    }

    /// Sets a value that nothing else overrides. Names are case-insensitive: `${cluster_name}` matches `CLUSTER_NAME`.
    /// Source: clusterctl v1.14 (viper Set).
    pub fn set(&mut self, name: &str, text: impl Into<String>, flag: &'static str) {
        self.command_line.insert(name.to_lowercase(), CommandLineValue { text: text.into(), flag });
    }

    /// The value of a variable, if set. An empty value counts as set.
    pub fn get(&self, name: &str) -> Option<ResolvedVariable<'_>> {
        if let Some(value) = self.command_line.get(&name.to_lowercase()) {
            let origin = Origin::CommandLine { flag: value.flag.to_owned() };
            return Some(ResolvedVariable { text: Cow::Borrowed(&value.text), origin });
        }
        let setting = self.config.setting(name)?;
        Some(ResolvedVariable { text: Cow::Owned(setting.text), origin: setting.origin })
    }

    /// The underlying configuration.
    pub fn config(&self) -> &Config {
        self.config
    }

    /// Names of set variables similar to this name, for a hint.
    pub fn suggestions(&self, name: &str) -> Vec<String> {
        let environment = self.config.environment();
        let from_file: Vec<String> = self.config.names().map(str::to_uppercase).collect();
        let known = environment.names().chain(from_file.iter().map(String::as_str));
        api::similar_names(&environment_variable(name), known).into_iter().map(str::to_owned).collect()
    }
}
