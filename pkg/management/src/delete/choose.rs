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
    #[error("cannot determine the providers to delete")]
    UnknownProviders {
        providers: Vec<ProviderSelectionError>,
        /// The installed providers as `ns/label version`, for a hint.
        installed: Vec<String>,
    },
    /// Objects of the kinds to delete remain. Nothing was deleted.
    #[error("cannot delete CustomResourceDefinitions: objects of these kinds exist")]
    InUse { providers: Vec<(api::ProviderId, Vec<DefinitionInUse>)> },
}

/// A named provider that cannot be identified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{provider}` {problem}")]
pub struct ProviderSelectionError {
    /// The provider as the user named it.
    pub provider: String,
    /// The provider is not installed, is installed twice, or has another version.
    pub problem: String,
}

/// Returns the providers to delete in order: the reverse of their installation, core last.
/// # Errors
/// `UnknownProviders` with every named provider that cannot be identified.
pub(super) fn choose_providers(
    inventory: &ProviderInventory,
    request: Option<&ProvidersRequest>,
) -> Result<Vec<InstalledProvider>, DeleteError> {
    let mut selected = match request {
        None => inventory.providers.clone(),
        Some(request) => find_named(inventory, request)?,
    };
    selected.sort_by_key(|installed| Reverse(installed.id.provider_type));
    Ok(selected)
}

fn find_named(
    inventory: &ProviderInventory,
    request: &ProvidersRequest,
) -> Result<Vec<InstalledProvider>, DeleteError> {
    let mut selected: Vec<InstalledProvider> = Vec::new();
    let mut unknown = Vec::new();
    for (id, version) in &request.providers {
        let entries: Vec<_> = inventory.entries_of(id).collect();
        match single_entry(&entries, version.as_deref()) {
            Ok(one) if selected.contains(one) => {}
            Ok(one) => selected.push(one.clone()),
            Err(problem) => unknown.push(ProviderSelectionError { provider: id.label(), problem }),
        }
    }
    if unknown.is_empty() {
        return Ok(selected);
    }
    let shown = |one: &InstalledProvider| format!("{}/{} {}", one.namespace, one.id.label(), one.version);
    Err(DeleteError::UnknownProviders {
        providers: unknown,
        installed: inventory.providers.iter().map(shown).collect(),
    })
}

fn single_entry<'i>(
    entries: &[&'i InstalledProvider],
    version: Option<&str>,
) -> Result<&'i InstalledProvider, String> {
    match (entries, version) {
        ([], _) => Err("is not installed".to_owned()),
        ([one], Some(version)) if one.version != version => {
            Err(format!("has version {}, not {version}", one.version))
        }
        ([one], _) => Ok(one),
        (several, _) => {
            let namespaces: Vec<_> = several.iter().map(|one| format!("`{}`", one.namespace)).collect();
            Err(format!("is installed in several namespaces: {}", namespaces.join(", ")))
        }
    }
}
