use std::{
    fs, io,
    path::{Path, PathBuf},
};

use repository::{CHART_FOLDER, LockError, LockFile, LockSettings, UnlockedPolicy};

use super::{ConfigSource, Globals, config_source};
use crate::{Environment, Failure, WithContext as _, failure::Kind};

const OFF: &str = "off";

/// Returns the path of the lock file, which may not exist. `None` if the lock is off.
/// The path is the named one, or else next to the configuration file, or else in the working folder.
pub(crate) fn lock_file(globals: &Globals, environment: &Environment) -> Option<PathBuf> {
    match globals.lock.as_deref() {
        Some(OFF) => None,
        Some(path) if !path.is_empty() => Some(environment.resolve(path)),
        _ => {
            let beside = match config_source(globals.config.as_deref(), environment) {
                ConfigSource::File(path) => path.parent().map(Path::to_owned),
                ConfigSource::Url(_) | ConfigSource::None => None,
            };
            Some(beside.unwrap_or_else(|| environment.current_dir().to_owned()).join(LockFile::FILE))
        }
    }
}

/// Returns the folder with archives of locked charts, beside the lock.
pub(crate) fn chart_folder(lock: &Path) -> PathBuf {
    lock.with_file_name(CHART_FOLDER)
}

/// Reads a lock. `None` if the file does not exist.
pub(crate) fn read_lock(path: &Path) -> Result<Option<LockFile>, Failure> {
    let unusable = || format!("cannot use the lock `{}`", path.display());
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.with_context(unusable)?,
    };
    let lock = LockFile::parse(&text).map_err(|error| {
        let hint = match &error {
            LockError::Version { .. } => {
                "use the version of capstan that wrote it, or remove it and create a new lock with `capstan lock`"
            }
            LockError::Form { .. } | LockError::Duplicate { .. } => {
                "restore a reviewed version of the file, or remove it and create a new lock with `capstan lock`"
            }
        };
        Failure::from(error).hint(hint).with_context(unusable())
    })?;
    Ok(Some(lock))
}

pub(crate) fn lock_settings(
    globals: &Globals,
    environment: &Environment,
) -> Result<Option<LockSettings>, Failure> {
    let unlocked = if globals.locked { UnlockedPolicy::Refused } else { UnlockedPolicy::Allowed };
    let Some(path) = lock_file(globals, environment) else {
        return match unlocked {
            UnlockedPolicy::Allowed => Ok(None),
            UnlockedPolicy::Refused => Err(Failure::user("`--locked` cannot be combined with `--lock off`")),
        };
    };
    match read_lock(&path)? {
        Some(lock) => Ok(Some(LockSettings {
            lock,
            location: path.display().to_string(),
            unlocked_policy: unlocked,
            chart_folder: Some(chart_folder(&path)),
        })),
        None if globals.lock.is_none() && unlocked == UnlockedPolicy::Allowed => Ok(None),
        None => {
            let message = format!("the lock `{}` does not exist", path.display());
            Err(Failure::new(Kind::Environment, message).hint("create it with `capstan lock`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_is_beside_the_configuration_or_at_the_given_path() {
        let environment = Environment::new([("HOME", "/nowhere")], "/work");
        let file = |config: Option<&str>, lock: Option<&str>| {
            let globals = Globals {
                config: config.map(str::to_owned),
                lock: lock.map(str::to_owned),
                ..Globals::default()
            };
            lock_file(&globals, &environment)
        };
        for (config, lock, expected) in [
            (None, None, Some("/work/capstan.lock")),
            (Some("lab/clusterctl.yaml"), None, Some("/work/lab/capstan.lock")),
            (Some("https://example.com/c.yaml"), None, Some("/work/capstan.lock")),
            (Some("lab/clusterctl.yaml"), Some("other.lock"), Some("/work/other.lock")),
            (None, Some("./off"), Some("/work/./off")),
            (None, Some("off"), None),
        ] {
            assert_eq!(file(config, lock), expected.map(PathBuf::from), "{config:?} {lock:?}");
        }
    }
}
