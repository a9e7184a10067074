use std::error::Error;

use super::rules::{as_error, one_of};
use crate::settings::{KubeconfigError, KubeconfigLockError, SettingsError};

pub(super) fn hints(error: &(dyn Error + 'static)) -> Vec<String> {
    if let Some(error) = as_error::<SettingsError>(error) {
        return configuration(error).into_iter().collect();
    }
    if let Some(KubeconfigLockError::Held { lock, .. }) = as_error(error) {
        return vec![format!(
            "if no kubectl or capstan is at work, remove the lock: `rm {}`",
            lock.display()
        )];
    }
    match as_error::<KubeconfigError>(error) {
        Some(KubeconfigError::Sandbox(failure)) => failure.distinct_hints().map(str::to_owned).collect(),
        Some(error) => kubeconfig(error).into_iter().collect(),
        None => Vec::new(),
    }
}

fn configuration(error: &SettingsError) -> Option<String> {
    match error {
        SettingsError::Format { .. } => Some("write it as .yaml, .json, .toml or .env".to_owned()),
        SettingsError::Unreadable { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            Some("check the path after `--config`; relative paths start at the working folder".to_owned())
        }
        SettingsError::Unreadable { .. } | SettingsError::NotText { .. } => None,
    }
}

fn kubeconfig(error: &KubeconfigError) -> Option<String> {
    match error {
        KubeconfigError::NotFound { looked_at } => {
            let places: Vec<String> = looked_at.iter().map(|path| path.display().to_string()).collect();
            let looked =
                if places.is_empty() { "nowhere, HOME is not set".to_owned() } else { places.join(", ") };
            Some(format!("looked at {looked}; name a file with `--kubeconfig` or KUBECONFIG"))
        }
        KubeconfigError::NoCurrentContext { known } if known.is_empty() => None,
        KubeconfigError::NoCurrentContext { known } => {
            Some(format!("name one with `--kubeconfig-context`: {}", one_of(known)))
        }
        KubeconfigError::NoSuchContext { near, .. } if !near.is_empty() => {
            Some(format!("did you mean {}?", one_of(near)))
        }
        KubeconfigError::NoSuchContext { known, .. } if known.is_empty() => None,
        KubeconfigError::NoSuchContext { known, .. } => Some(format!("it has {}", one_of(known))),
        KubeconfigError::Unreadable { .. }
        | KubeconfigError::Unmergeable { .. }
        | KubeconfigError::Sandbox(_) => None,
    }
}
