use std::cmp::Reverse;

use apply::DefinitionInUse;
use inventory::ProviderInventory;
use provider::InstalledProvider;

use crate::ProvidersRequest;

/// An error that only a deletion can produce.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum DeleteError {
    /// The named providers are not installed, are in several namespaces, or have another version.
    #[error("cannot tell what is to be deleted")]
    Unknown {
        providers: Vec<NotChosen>,
        /// The installed providers as `ns/label version`, for a hint.
        installed: Vec<String>,
    },
    /// Objects of the kinds to delete remain. Nothing was deleted.
    #[error("there are still objects of kinds that are to go")]
    InUse { providers: Vec<(api::ProviderId, Vec<DefinitionInUse>)> },
}

/// A named provider that cannot be identified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{provider}` {problem}")]
pub struct NotChosen {
    /// The provider as the user named it.
    pub provider: String,
    /// The provider is not installed, is installed twice, or has another version.
    pub problem: String,
}

/// Returns the providers to delete in order: the reverse of their installation, core last.
/// # Errors
/// `Unknown` with every named provider that cannot be identified.
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
        let entries: Vec<_> = inventory.entries_of(id).collect();
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
