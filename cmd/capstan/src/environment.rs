use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

/// Everything a run takes from the process around it, read once at the start.
///
/// This file alone reads `std::env`; whoever needs a variable is handed this value, so two runs with different
/// environments fit in one process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    current_dir: PathBuf,
}

impl Environment {
    /// Takes the snapshot.
    #[expect(clippy::disallowed_methods, reason = "the one place where the process environment is read")]
    pub fn of_process() -> Self {
        Self {
            variables: std::env::vars_os().collect(),
            // A folder that was deleted under us is no reason to fail before it is needed.
            current_dir: std::env::current_dir().unwrap_or_default(),
        }
    }

    /// An environment of these variables alone, for runs inside another program.
    pub fn new<N: Into<OsString>, V: Into<OsString>>(
        variables: impl IntoIterator<Item = (N, V)>,
        current_dir: impl Into<PathBuf>,
    ) -> Self {
        Self {
            variables: variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            current_dir: current_dir.into(),
        }
    }

    /// The value of a variable; set and empty is `Some("")`.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// The value of a variable that is set and not empty, where it is valid text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(OsStr::to_str).filter(|text| !text.is_empty())
    }

    /// All variables as they are, for programs that are started.
    pub fn all(&self) -> Vec<(OsString, OsString)> {
        self.variables.clone().into_iter().collect()
    }

    /// The folder relative paths start from.
    pub fn current_dir(&self) -> &Path {
        &self.current_dir
    }

    /// A path as it is meant from the current folder.
    pub fn resolve(&self, path: impl AsRef<Path>) -> PathBuf {
        self.current_dir.join(path)
    }

    /// The home folder, by its variable alone: the password database is not asked, as the peer does not ask it.
    pub fn home(&self) -> Option<&Path> {
        let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        self.get(variable).filter(|home| !home.is_empty()).map(Path::new)
    }

    /// The same variables as the libraries take them; those that are not valid text are left out.
    pub fn variables(&self) -> provider::config::Environment {
        let text = |(name, value): (&OsString, &OsString)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        };
        provider::config::Environment::new(self.variables.iter().filter_map(text))
    }
}
