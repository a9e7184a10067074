use std::cmp::Reverse;

use apply::InUse;
use inventory::ProviderInventory;
use provider::InstalledProvider;

use crate::ProvidersRequest;

/// What only a deletion runs into.
#[derive(Debug, thiserror::Error)]
pub enum DeleteError {
    /// Providers that are not installed, or in several namespaces, or in another version.
    #[error("cannot tell what is to be deleted")]
    Unknown {
        /// All of them.
        providers: Vec<NotChosen>,
        /// What is installed, as `ns/label version`, for a hint.
        installed: Vec<String>,
    },
    /// Objects of the kinds that are to go; nothing was deleted.
    #[error("there are still objects of kinds that are to go")]
    InUse {
        /// Each provider with its definitions and examples.
        providers: Vec<(api::ProviderId, Vec<InUse>)>,
    },
}

/// A provider that was named and cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{provider}` {problem}")]
pub struct NotChosen {
    /// As it was named.
    pub provider: String,
    /// It is not installed, installed twice, or in another version.
    pub problem: String,
}

/// The providers that are to go, in the order they go: the reverse of their installation, core last.
/// # Errors
/// `Unknown` with everything that was named and cannot be meant.
pub(super) fn choose(
    inventory: &ProviderInventory,
    request: Option<&ProvidersRequest>,
) -> Result<Vec<InstalledProvider>, DeleteError> {
    let mut chosen = match request {
        None => inventory.providers.clone(),
        Some(request) => named(inventory, request)?,
    };
    chosen.sort_by_key(|installed| Reverse(installed.id.provider_type));
    Ok(chosen)
}

fn named(
    inventory: &ProviderInventory,
    request: &ProvidersRequest,
) -> Result<Vec<InstalledProvider>, DeleteError> {
    let mut chosen: Vec<InstalledProvider> = Vec::new();
    let mut unknown = Vec::new();
    for (id, version) in &request.providers {
        let entries: Vec<_> = inventory.of(id).collect();
        match only(&entries, version.as_deref()) {
            Ok(one) if chosen.contains(one) => {}
            Ok(one) => chosen.push(one.clone()),
            Err(problem) => unknown.push(NotChosen { provider: id.label(), problem }),
        }
    }
    if unknown.is_empty() {
        return Ok(chosen);
    }
    let shown = |one: &InstalledProvider| format!("{}/{} {}", one.namespace, one.id.label(), one.version);
    Err(DeleteError::Unknown {
        providers: unknown,
        installed: inventory.providers.iter().map(shown).collect(),
    })
}

fn only<'i>(
    entries: &[&'i InstalledProvider],
    version: Option<&str>,
) -> Result<&'i InstalledProvider, String> {
    match (entries, version) {
        ([], _) => Err("is not installed".to_owned()),
        ([one], Some(version)) if one.version != version => {
            Err(format!("is installed in version {}, not in {version}", one.version))
        }
        ([one], _) => Ok(one),
        (several, _) => {
            let namespaces: Vec<_> = several.iter().map(|one| format!("`{}`", one.namespace)).collect();
            Err(format!("is installed in several namespaces: {}", namespaces.join(", ")))
        }
    }
}
