use std::path::{Path, PathBuf};

use crate::Environment;

/// Returns the folder for user configuration. `None` if neither the variable nor a home folder is known.
/// Shape: `XDG_CONFIG_HOME` counts if the value is absolute after `~` and `$HOME` at its start are replaced.
/// Otherwise the platform folder. Creates nothing.
/// Source: clusterctl v1.14 through adrg/xdg 0.5, run; differs: there, every command creates the folder.
pub(crate) fn config_home(environment: &Environment) -> Option<PathBuf> {
    folder("XDG_CONFIG_HOME", ".config", "Library/Application Support", environment)
}

/// Returns the folder for persistent state.
pub(crate) fn state_home(environment: &Environment) -> Option<PathBuf> {
    folder("XDG_STATE_HOME", ".local/state", "Library/Application Support", environment)
}

/// Returns the folder for cached files.
pub(crate) fn cache_home(environment: &Environment) -> Option<PathBuf> {
    folder("XDG_CACHE_HOME", ".cache", "Library/Caches", environment)
}

fn folder(variable: &str, on_linux: &str, on_macos: &str, environment: &Environment) -> Option<PathBuf> {
    let home = environment.home();
    let set = environment.text(variable).map(|text| expand_home(text, home));
    set.filter(|path| path.is_absolute()).or_else(|| {
        if cfg!(windows) {
            return environment.text("LOCALAPPDATA").map(PathBuf::from);
        }
        home.map(|home| home.join(if cfg!(target_os = "macos") { on_macos } else { on_linux }))
    })
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
    fn persistent_state_has_its_own_folder() {
        let folder =
            |xdg: &str| state_home(&Environment::new([("HOME", "/home/me"), ("XDG_STATE_HOME", xdg)], "/"));
        assert_eq!(folder("/var/me"), Some("/var/me".into()));
        assert_eq!(folder("relative"), Some("/home/me/.local/state".into()));
    }

    #[test]
    fn cached_files_have_their_own_folder() {
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
