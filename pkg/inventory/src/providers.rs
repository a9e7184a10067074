mod definition;
mod entry;

use std::time::Duration;

use api::{ProviderId, ProviderType};
use apply::{ApiError, Apply, Hints, List, ObjectKey, Onto, Revision, Waiting};
use manifest::Object;
use provider::InstalledProvider;
use tokio::time::Instant;

use crate::{ManagementCluster, cluster::definition_kind};

use definition::DEFINITION;
pub use entry::kind as entry_kind;

/// What every write of ours is made as.
pub const FIELD_MANAGER: &str = "capstan";

/// Label value and annotation prefix of what capstan keeps on a cluster for itself.
pub const PREFIX: &str = "capstan.dev";

/// A definition without objects is established in a moment, also on a busy server.
const ESTABLISHED_WITHIN: Duration = Duration::from_mins(1);

/// The most tries to write the definition while the server writes it too.
const ATTEMPTS: usize = 4;

/// What is installed, as the `Provider` objects say that every tool of Cluster API knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderInventory {
    /// By namespace and name, as the server lists them.
    pub providers: Vec<InstalledProvider>,
    /// Whether the definition is there: without it nothing was ever installed.
    pub is_defined: bool,
    /// What a first installation that was cut off was to install, with versions.
    pub unfinished: Option<Vec<InstalledProvider>>,
}

/// An inventory that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum InventoryError {
    /// The server.
    #[error("cannot read or write the provider inventory")]
    Api(#[from] ApiError),
    /// The definition lacks the version this binary knows.
    #[error("the definition `{DEFINITION}` on the cluster does not serve v1alpha3")]
    Version,
    /// The definition was written and does not get established.
    #[error("the definition `{DEFINITION}` is not established: {message}")]
    NotEstablished {
        /// What its condition says.
        message: String,
    },
    /// A `Provider` object that says nothing usable.
    #[error("inventory entry `{entry}` has {problem}")]
    Entry {
        /// `namespace/name`.
        entry: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// The definition and an entry for each provider, as they are once all are installed.
pub fn inventory_objects(installed: &[InstalledProvider]) -> Vec<Object> {
    std::iter::once(definition::definition(None)).chain(installed.iter().map(entry::write)).collect()
}

impl ProviderInventory {
    /// Entries of a provider, in any namespace.
    pub fn of(&self, id: &ProviderId) -> impl Iterator<Item = &InstalledProvider> {
        let id = id.clone();
        self.providers.iter().filter(move |installed| installed.id == id)
    }

    /// The names of installed providers of a type, each once.
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

    /// The core provider, when it is certain which one it is.
    pub fn core(&self) -> Option<&InstalledProvider> {
        let mut cores =
            self.providers.iter().filter(|installed| installed.id.provider_type == ProviderType::Core);
        cores.next().filter(|_| cores.next().is_none())
    }
}

impl ManagementCluster {
    /// Reads the inventory, in two requests side by side.
    pub async fn inventory(&self) -> Result<ProviderInventory, InventoryError> {
        let (definition, entries) = futures::join!(self.inventory_definition(), self.inventory_entries());
        let Some(definition) = definition? else { return Ok(ProviderInventory::default()) };
        if !definition::serves_our_version(&definition) {
            return Err(InventoryError::Version);
        }
        let entries = entries?;
        for entry in &entries {
            self.revisions.note(entry);
        }
        let providers = entries.iter().map(entry::read).collect::<Result<_, _>>()?;
        Ok(ProviderInventory {
            providers,
            is_defined: true,
            unfinished: definition::unfinished(&definition)?,
        })
    }

    /// Makes sure that the definition is there, complete and established. Noting what a first installation is going to
    /// install; with none, a note that is there stays. Writes nothing when nothing would change.
    pub async fn define_inventory(
        &self,
        unfinished: Option<&[InstalledProvider]>,
    ) -> Result<(), InventoryError> {
        let note = unfinished.map(definition::note);
        self.write_definition(|live| note.clone().or_else(|| live.and_then(definition::noted))).await
    }

    /// Takes the note of a first installation away: it is complete.
    pub async fn finish_first_installation(&self) -> Result<(), InventoryError> {
        self.write_definition(|_| None).await
    }

    /// Notes that a provider is installed in a version.
    pub async fn record_provider(&self, installed: &InstalledProvider) -> Result<(), InventoryError> {
        Ok(self.keep(&entry::kind(), &entry::write(installed)).await?)
    }

    /// Notes that a provider is no longer there.
    pub async fn forget_provider(&self, installed: &InstalledProvider) -> Result<(), InventoryError> {
        Ok(self.drop_kept(&entry::kind(), &ObjectKey::of(&entry::write(installed))).await?)
    }

    async fn inventory_definition(&self) -> Result<Option<Object>, ApiError> {
        self.server.get(&definition_kind(), "", DEFINITION).await
    }

    async fn inventory_entries(&self) -> Result<Vec<Object>, ApiError> {
        match self.server.list(&entry::kind(), &List::default()).await {
            Err(error) if error.is_not_found() => Ok(Vec::new()),
            entries => entries,
        }
    }

    /// Writes the definition with the note that is made of the live one, onto the revision that was read.
    async fn write_definition(
        &self,
        note: impl Fn(Option<&Object>) -> Option<String>,
    ) -> Result<(), InventoryError> {
        for attempt in 1.. {
            let live = self.inventory_definition().await?;
            let note = note(live.as_ref());
            match self.replace_definition(live, note).await {
                // The server itself writes it too, until it is established.
                Err(InventoryError::Api(error)) if error.is_conflict() && attempt < ATTEMPTS => {}
                written => return written,
            }
        }
        Ok(())
    }

    async fn replace_definition(
        &self,
        live: Option<Object>,
        note: Option<String>,
    ) -> Result<(), InventoryError> {
        if live.as_ref().is_some_and(|live| definition::is_as_it_should_be(live, note.as_deref())) {
            return Ok(());
        }
        if live.as_ref().is_some_and(|live| !definition::serves_our_version(live)) {
            return Err(InventoryError::Version);
        }
        let wanted = definition::definition(note.as_deref());
        let onto = live.as_ref().map_or(Onto::Absent, |live| Onto::Revision(Revision::of(live)));
        let how = Apply { onto, ..Apply::default() };
        let written = self.server.apply(&definition_kind(), &wanted, FIELD_MANAGER, how).await?;
        if definition::is_established(&written) {
            return Ok(());
        }
        let waiting = Waiting {
            objects: vec![(ObjectKey::of(&wanted), Hints::default())],
            labels: String::new(),
            until: Some((Instant::now() + ESTABLISHED_WITHIN).into_std()),
        };
        match self.server.wait(&waiting).await?.into_iter().next() {
            None => Ok(()),
            Some(blocker) => Err(InventoryError::NotEstablished { message: blocker.status.message }),
        }
    }
}

#[cfg(test)]
mod tests;
