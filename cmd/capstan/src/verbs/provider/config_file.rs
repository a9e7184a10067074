//! The configuration file that `provider add` and `provider remove` edit.

use std::{
    fs,
    path::{Path, PathBuf},
};

use api::{ProviderType, near_names};
use provider::config::{Config, ConfigError, ConfigFile, ConfigFormat, ProviderConfig};

use crate::{
    Failure, Within as _,
    failure::Kind,
    session::Session,
    settings::{self, Source},
    ui::write_file_atomically,
};

/// A file that may hold tokens is its owner's alone.
const MODE: u32 = 0o600;

/// A clusterctl.yaml and its text; empty if there is no such file yet.
pub(super) struct EditedFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

impl EditedFile {
    /// Reads the file that other commands read, or names the one they will find once it is there.
    /// # Errors
    /// The configuration is not a YAML file, or it cannot be read.
    pub(super) fn read(session: &Session) -> Result<Self, Failure> {
        let path = path(session)?;
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                let message = format!("cannot read `{}`", path.display());
                return Err(Failure::new(Kind::Environment, message).because(&error));
            }
        };
        Ok(Self { path, text })
    }

    /// Returns the providers of the configuration if the file had this text.
    /// # Errors
    /// The text is no valid configuration.
    pub(super) fn providers(
        &self,
        text: String,
        session: &Session,
    ) -> Result<Vec<ProviderConfig>, ConfigError> {
        let file = ConfigFile {
            origin: self.path.display().to_string(),
            folder: self.path.parent().map(Path::to_owned),
            format: ConfigFormat::Yaml,
            text,
        };
        Config::new(Some(file), session.environment().variables())?.providers()
    }

    /// Replaces the file with this text.
    pub(super) fn write(&self, text: &str) -> Result<(), Failure> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).within(|| format!("cannot make the folder `{}`", folder.display()))?;
        }
        Ok(write_file_atomically(&self.path, text.as_bytes(), MODE)?)
    }
}

fn path(session: &Session) -> Result<PathBuf, Failure> {
    let path = match settings::source(session.globals().config.as_deref(), session.environment()) {
        Source::File(path) => path,
        Source::None => settings::config_home(session.environment())
            .map(|folder| folder.join("cluster-api").join("clusterctl.yaml"))
            .ok_or_else(|| {
                Failure::user("there is no home folder to keep clusterctl.yaml in")
                    .hint("set HOME, or name a file with `--config`")
            })?,
        Source::Url(url) => {
            let url = repository::shown_text(&url);
            return Err(Failure::user(format!("cannot write to `{url}`")).hint("name a file with `--config`"));
        }
    };
    let extension = path.extension().and_then(std::ffi::OsStr::to_str);
    match extension.and_then(ConfigFormat::from_extension) {
        Some(ConfigFormat::Yaml) => Ok(path),
        _ => Err(Failure::user(format!("cannot edit `{}`: it is not YAML", path.display()))
            .hint("edit its `providers` by hand, or name a YAML file with `--config`")),
    }
}

/// Reads the value of `--type`.
pub(super) fn provider_type(text: &str) -> Result<ProviderType, Failure> {
    let types = || ProviderType::ALL.map(ProviderType::flag);
    let known = |candidate: &ProviderType| candidate.flag() == text || candidate.as_str() == text;
    ProviderType::ALL.into_iter().find(known).ok_or_else(|| {
        let failure = Failure::user(format!("unknown provider type `{text}`"));
        match near_names(text, types()).first() {
            Some(near) => failure.hint(format!("did you mean `--type {near}`?")),
            None => failure.hint(format!("take one of {} with `--type`", types().join(", "))),
        }
    })
}
