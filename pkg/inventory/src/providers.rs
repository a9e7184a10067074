mod definition;
mod entry;

use std::time::Duration;

use api::labels::FIELD_MANAGER;
use api::{ErrorExplanation, Explain, ProviderId, ProviderType, labels::LabelsByOwner};
use apply::{
    ApiError, ApplyPrecondition, ApplyRequest, ListQuery, ObjectRevision, StatusHints, WaitRequest, key_of,
};
use manifest::Object;
use provider::InstalledProvider;
use tokio::time::Instant;

use crate::{ManagementCluster, cluster::crd_kind};

use definition::{Annotations, DEFINITION};
pub use entry::kind as entry_kind;

/// The time limit for a new definition to become established. Without objects, a moment suffices even on a busy server.
const ESTABLISH_TIMEOUT: Duration = Duration::from_mins(1);

/// The maximum number of attempts to write the definition while the server writes it concurrently.
const MAX_ATTEMPTS: usize = 4;

/// The installed providers, read from the `Provider` objects that all tools of Cluster API use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderInventory {
    /// Providers sorted by namespace and name, as the server lists them.
    pub providers: Vec<InstalledProvider>,
    /// True if the definition exists. Without a definition, no provider was ever installed.
    pub is_defined: bool,
    /// Providers and versions of an interrupted first installation.
    pub unfinished: Option<Vec<InstalledProvider>>,
    /// The labels that users chose for objects.
    pub labels: LabelsByOwner,
}

/// A failure to read or write the inventory.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum InventoryError {
    #[error("cannot read or write the provider inventory")]
    Api(#[from] ApiError),
    #[error("the definition `{DEFINITION}` on the cluster does not serve v1alpha3")]
    UnsupportedVersion,
    /// The server has not established the definition in time.
    #[error("the definition `{DEFINITION}` is not established: {message}")]
    NotEstablished { message: String },
    /// A `Provider` object is invalid.
    #[error("inventory entry `{entry}` has {problem}")]
    InvalidEntry { entry: String, problem: String },
}

impl Explain for InventoryError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Api(source) => ErrorExplanation::cause(source),
            Self::UnsupportedVersion | Self::NotEstablished { .. } | Self::InvalidEntry { .. } => {
                ErrorExplanation::default()
            }
        }
    }
}

/// Returns the definition and an entry for each provider, in the state of a completed installation.
pub fn inventory_objects(installed: &[InstalledProvider]) -> Vec<Object> {
    std::iter::once(definition::definition(&Annotations::default()))
        .chain(installed.iter().map(entry::write))
        .collect()
}

impl ProviderInventory {
    /// Returns the entries of a provider in all namespaces.
    pub fn entries_of(&self, id: &ProviderId) -> impl Iterator<Item = &InstalledProvider> {
        let id = id.clone();
        self.providers.iter().filter(move |installed| installed.id == id)
    }

    /// Returns the names of installed providers of a type, sorted and without duplicates.
    pub fn names(&self, of: ProviderType) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .providers
            .iter()
            .filter(|installed| installed.id.provider_type == of)
            .map(|installed| installed.id.name.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the core provider. None if there is no core provider, or more than one.
    pub fn core_provider(&self) -> Option<&InstalledProvider> {
        let mut cores =
            self.providers.iter().filter(|installed| installed.id.provider_type == ProviderType::Core);
        cores.next().filter(|_| cores.next().is_none())
    }
}

impl ManagementCluster {
    /// Reads the inventory with two concurrent requests.
    pub async fn inventory(&self) -> Result<ProviderInventory, InventoryError> {
        let (definition, entries) = futures::join!(self.inventory_definition(), self.inventory_entries());
        let Some(definition) = definition? else { return Ok(ProviderInventory::default()) };
        if !definition::serves_supported_version(&definition) {
            return Err(InventoryError::UnsupportedVersion);
        }
        let entries = entries?;
        for entry in &entries {
            self.revisions.record(entry);
        }
        let providers = entries.iter().map(entry::read).collect::<Result<_, _>>()?;
        Ok(ProviderInventory {
            providers,
            is_defined: true,
            unfinished: definition::parse_unfinished(&definition)?,
            labels: definition::parse_labels(&definition)?,
        })
    }

    /// Creates or updates the definition and waits until it is established. Writes nothing if the definition is up to
    /// date.
    ///
    /// `unfinished` records the providers of a first installation; without it, an existing record stays. `labels`
    /// replaces the recorded labels.
    pub async fn define_inventory(
        &self,
        unfinished: Option<&[InstalledProvider]>,
        labels: &LabelsByOwner,
    ) -> Result<(), InventoryError> {
        let unfinished = unfinished.map(definition::format_unfinished);
        self.write_definition(|live| Annotations {
            unfinished: unfinished.clone().or(live.unfinished),
            labels: definition::format_labels(labels),
        })
        .await
    }

    /// Removes the record of the first installation after its completion.
    pub async fn finish_first_installation(&self) -> Result<(), InventoryError> {
        self.write_definition(|live| Annotations { unfinished: None, ..live }).await
    }

    /// Records an installed provider and its version.
    pub async fn record_provider(&self, installed: &InstalledProvider) -> Result<(), InventoryError> {
        Ok(self.store_object(&entry::kind(), &entry::write(installed)).await?)
    }

    /// Removes the record of a provider.
    pub async fn delete_provider_record(&self, installed: &InstalledProvider) -> Result<(), InventoryError> {
        Ok(self.delete_stored_object(&entry::kind(), &key_of(&entry::write(installed))).await?)
    }

    /// Removes the recorded labels of a provider.
    pub async fn forget_labels(&self, id: &ProviderId) -> Result<(), InventoryError> {
        let mut labels = self.inventory().await?.labels;
        match labels.remove(&id.label()) {
            Some(_) => self.define_inventory(None, &labels).await,
            None => Ok(()),
        }
    }

    async fn inventory_definition(&self) -> Result<Option<Object>, ApiError> {
        self.server.get(&crd_kind(), "", DEFINITION).await
    }

    async fn inventory_entries(&self) -> Result<Vec<Object>, ApiError> {
        match self.server.list(&entry::kind(), &ListQuery::default()).await {
            Err(error) if error.is_not_found() => Ok(Vec::new()),
            entries => entries,
        }
    }

    /// Writes the definition onto the live revision. `annotations_from` derives the annotations from the live ones.
    async fn write_definition(
        &self,
        annotations_from: impl Fn(Annotations) -> Annotations,
    ) -> Result<(), InventoryError> {
        for attempt in 1.. {
            let live = self.inventory_definition().await?;
            let annotations = annotations_from(live.as_ref().map(Annotations::of).unwrap_or_default());
            match self.replace_definition(live, &annotations).await {
                // The server also writes the definition until it is established.
                Err(InventoryError::Api(error)) if error.is_conflict() && attempt < MAX_ATTEMPTS => {}
                written => return written,
            }
        }
        Ok(())
    }

    async fn replace_definition(
        &self,
        live: Option<Object>,
        annotations: &Annotations,
    ) -> Result<(), InventoryError> {
        if live.as_ref().is_some_and(|live| definition::is_up_to_date(live, annotations)) {
            return Ok(());
        }
        if live.as_ref().is_some_and(|live| !definition::serves_supported_version(live)) {
            return Err(InventoryError::UnsupportedVersion);
        }
        let wanted = definition::definition(annotations);
        let onto = live
            .as_ref()
            .map_or(ApplyPrecondition::Absent, |live| ApplyPrecondition::Revision(ObjectRevision::of(live)));
        let options = ApplyRequest { precondition: onto, ..ApplyRequest::default() };
        let written = self.server.apply(&crd_kind(), &wanted, FIELD_MANAGER, options).await?;
        if definition::is_established(&written) {
            return Ok(());
        }
        let waiting = WaitRequest {
            objects: vec![(key_of(&wanted), StatusHints::default())],
            labels: String::new(),
            deadline: Some((Instant::now() + ESTABLISH_TIMEOUT).into_std()),
        };
        match self.server.wait(&waiting).await?.into_iter().next() {
            None => Ok(()),
            Some(blocker) => Err(InventoryError::NotEstablished { message: blocker.status.message }),
        }
    }
}

#[cfg(test)]
mod tests;
