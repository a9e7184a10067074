use repository::NotAsLocked;

use super::rules::one_of;
use crate::suggested_commands::quoted;

pub(super) fn hints(error: &NotAsLocked) -> Vec<String> {
    match error {
        NotAsLocked::Provider { provider, .. } => {
            vec![format!("lock it with `capstan lock --update {provider}`")]
        }
        NotAsLocked::Version { provider, version, .. } => {
            vec![format!("leave the version out, or lock the other one with `{}`", update(provider, version))]
        }
        NotAsLocked::File { near, .. } if !near.is_empty() => vec![format!("did you mean {}?", one_of(near))],
        NotAsLocked::File { provider, version, file, .. } => {
            vec![format!(
                "where it is a file of the release, lock it with `capstan lock --file {}`, or all of it with `{}`",
                quoted(file, None),
                update(provider, version)
            )]
        }
        NotAsLocked::Kustomization { provider, differences, .. } if differences.is_empty() => vec![format!(
            "name it in clusterctl.yaml, under `kustomization` of the provider, and lock it with `capstan lock --update {provider}`"
        )],
        NotAsLocked::Kustomization { provider, .. } => vec![format!(
            "look at what changed; where it is as it should be, accept it with `capstan lock --update {provider}`"
        )],
        NotAsLocked::Content { provider, version, .. } => {
            vec![format!(
                "look at what changed; where it is as it should be, accept it with `{}`",
                update(provider, version)
            )]
        }
    }
}

/// The version of cert-manager is that of the configuration.
fn update(provider: &str, version: &str) -> String {
    if provider == provider::config::CertManager::LABEL {
        return format!("capstan lock --update {provider}");
    }
    format!("capstan lock --update {provider}:{version}")
}
