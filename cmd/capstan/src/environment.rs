use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

/// The process environment of a run, read once at the start.
///
/// Only this file reads `std::env`. Other code receives this value, so two runs with different environments fit in
/// one process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    current_dir: PathBuf,
}

impl Environment {
    /// Reads the environment of this process.
    #[expect(clippy::disallowed_methods, reason = "only this module reads the process environment")]
    pub fn from_process() -> Self {
        Self {
            variables: std::env::vars_os().collect(),
            // A deleted current folder is an error only when the folder is needed.
            current_dir: std::env::current_dir().unwrap_or_default(),
        }
    }

    /// Returns an environment with only these variables, for runs inside another program.
    pub fn new<N: Into<OsString>, V: Into<OsString>>(
        variables: impl IntoIterator<Item = (N, V)>,
        current_dir: impl Into<PathBuf>,
    ) -> Self {
        Self {
            variables: variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            current_dir: current_dir.into(),
        }
    }

    /// Returns the value of a variable. An empty variable is `Some("")`.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Returns the value of a variable. `None` if the variable is unset, empty or invalid text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(OsStr::to_str).filter(|text| !text.is_empty())
    }

    /// Returns all variables unchanged, for child processes.
    pub fn all(&self) -> Vec<(OsString, OsString)> {
        self.variables.clone().into_iter().collect()
    }

    /// Returns the base folder of relative paths.
    pub fn current_dir(&self) -> &Path {
        &self.current_dir
    }

    /// Resolves a path relative to the current folder.
    pub fn resolve(&self, path: impl AsRef<Path>) -> PathBuf {
        self.current_dir.join(path)
    }

    /// Returns the home folder from its variable. Like clusterctl, does not read the password database.
    pub fn home(&self) -> Option<&Path> {
        let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        self.get(variable).filter(|home| !home.is_empty()).map(Path::new)
    }

    /// Returns the variables in the type of the libraries, without variables that are invalid text.
    pub fn variables(&self) -> provider::config::Environment {
        let text = |(name, value): (&OsString, &OsString)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        };
        provider::config::Environment::new(self.variables.iter().filter_map(text))
    }
}
