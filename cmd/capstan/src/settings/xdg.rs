use std::path::{Path, PathBuf};

use crate::Environment;

/// The folder user configuration belongs in; nothing when neither it nor a home folder is known.
/// Shape: `XDG_CONFIG_HOME` counts when it is absolute once `~` and `$HOME` at its start are replaced; else the
/// folder of the platform. Nothing is created.
/// Source: clusterctl v1.14 through adrg/xdg 0.5, run; differs: there the folder is created by every command.
pub(crate) fn config_home(environment: &Environment) -> Option<PathBuf> {
    let home = environment.home();
    let set = environment.text("XDG_CONFIG_HOME").map(|text| expand_home(text, home));
    set.filter(|path| path.is_absolute()).or_else(|| platform_default(environment, home))
}

/// The folder for what a program keeps between its runs; nothing when neither it nor a home folder is known.
/// Shape: `XDG_STATE_HOME` counts when it is absolute once `~` and `$HOME` at its start are replaced; else
/// `~/.local/state`, or where the platform keeps such things. Nothing is created.
pub(crate) fn state_home(environment: &Environment) -> Option<PathBuf> {
    let home = environment.home();
    let set = environment.text("XDG_STATE_HOME").map(|text| expand_home(text, home));
    let default = || {
        if cfg!(any(windows, target_os = "macos")) {
            platform_default(environment, home)
        } else {
            home.map(|home| home.join(".local").join("state"))
        }
    };
    set.filter(|path| path.is_absolute()).or_else(default)
}

/// The folder for what can be fetched again; nothing when neither it nor a home folder is known.
/// Shape: `XDG_CACHE_HOME` counts when it is absolute once `~` and `$HOME` at its start are replaced; else `~/.cache`,
/// or where the platform keeps such things. Nothing is created.
pub(crate) fn cache_home(environment: &Environment) -> Option<PathBuf> {
    let home = environment.home();
    let set = environment.text("XDG_CACHE_HOME").map(|text| expand_home(text, home));
    let default = || {
        if cfg!(windows) {
            platform_default(environment, home)
        } else {
            let caches = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
            home.map(|home| home.join(caches))
        }
    };
    set.filter(|path| path.is_absolute()).or_else(default)
}

fn expand_home(text: &str, home: Option<&Path>) -> PathBuf {
    let behind = ["~", "$HOME", "${HOME}"].iter().find_map(|name| text.strip_prefix(name));
    match (behind, home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(text),
    }
}

fn platform_default(environment: &Environment, home: Option<&Path>) -> Option<PathBuf> {
    if cfg!(windows) {
        environment.text("LOCALAPPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home.map(|home| home.join("Library").join("Application Support"))
    } else {
        home.map(|home| home.join(".config"))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn an_empty_or_relative_variable_falls_back_to_the_home_folder() {
        let folder =
            |xdg: &str| config_home(&Environment::new([("HOME", "/home/me"), ("XDG_CONFIG_HOME", xdg)], "/"));
        assert_eq!(folder("/etc/me"), Some("/etc/me".into()));
        assert_eq!(folder(""), Some("/home/me/.config".into()));
        assert_eq!(folder("relative"), Some("/home/me/.config".into()));
        assert_eq!(folder("~/conf"), Some("/home/me/conf".into()));
        assert_eq!(folder("$HOME/conf"), Some("/home/me/conf".into()));
    }

    #[test]
    fn what_is_kept_between_runs_has_a_folder_of_its_own() {
        let folder =
            |xdg: &str| state_home(&Environment::new([("HOME", "/home/me"), ("XDG_STATE_HOME", xdg)], "/"));
        assert_eq!(folder("/var/me"), Some("/var/me".into()));
        assert_eq!(folder("relative"), Some("/home/me/.local/state".into()));
    }

    #[test]
    fn what_can_be_fetched_again_has_a_folder_of_its_own() {
        let folder =
            |xdg: &str| cache_home(&Environment::new([("HOME", "/home/me"), ("XDG_CACHE_HOME", xdg)], "/"));
        assert_eq!(folder("/var/me"), Some("/var/me".into()));
        assert_eq!(folder("relative"), Some("/home/me/.cache".into()));
    }

    #[test]
    fn without_any_home_there_is_no_folder() {
        assert_eq!(config_home(&Environment::default()), None);
    }
}
