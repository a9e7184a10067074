//! The migration of stored objects to the storage version of their definition.

mod definition;
#[cfg(test)]
mod tests;

use futures::{StreamExt, TryStreamExt, stream};
use manifest::{Map, Object, Value};
use serde_json::json;

use crate::{ApiError, ApiKind, Event, ListQuery, PatchTarget, Server};

use definition::Definition;

/// The most conflicts on the status of a definition before the migration fails.
const MAX_CONFLICTS: usize = 5;

/// The number of objects between two progress events.
const PROGRESS_INTERVAL: usize = 100;

/// The field manager of a migration. It owns nothing, because no field is written.
const MANAGER: &str = "capstan-migration";

/// The result of a migration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageMigration {
    /// The number of written objects.
    pub objects: usize,
    /// The versions removed from `status.storedVersions`.
    pub versions: Vec<String>,
}

/// The error of an incomplete migration. A migration can be repeated.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum MigrationError {
    /// The new definition lacks the version in which objects are stored now.
    #[error(
        "cannot migrate `{definition}`: the new definition has no version `{version}`, in which objects are stored"
    )]
    StorageVersionRemoved { definition: String, version: String },
    /// A request failed.
    #[error("cannot migrate the objects of `{definition}` to version `{version}`")]
    Api {
        definition: String,
        /// The storage version; empty if it is unknown.
        version: String,
        #[source]
        source: Box<ApiError>,
    },
}

impl Server {
    /// Brings all objects of a definition to its storage version and updates `status.storedVersions`, before `next`
    /// replaces the definition. Requests are paged and concurrent. An object that was changed or deleted meanwhile
    /// counts as migrated. None if no migration is necessary.
    ///
    /// An empty merge patch writes each object again: it carries no content, changes no field and adds no manager.
    /// Source: clusterctl v1.14 (crd_migration.go); kube-apiserver 1.36 (measured: an empty merge patch is written only
    /// if the stored version differs). differs: clusterctl reads one page and writes one object after the other by a
    /// full PUT. The server refuses its status if the definition was changed during the migration.
    /// # Errors
    /// `StorageVersionRemoved` before any write, unless `next` has the storage version.
    pub async fn migrate(&self, next: &Object) -> Result<Option<StorageMigration>, MigrationError> {
        let mut migrated = StorageMigration::default();
        let (mut reached, mut conflicts) = (None, 0);
        loop {
            let Some(live) = self.definition(next.name()).await? else { return Ok(None) };
            if !definition::has_version(next, &live.storage) {
                return Err(live.storage_version_removed());
            }
            if live.is_migrated() {
                return Ok(reached.map(|_| migrated));
            }
            if reached.as_ref() != Some(&live.storage) {
                migrated.objects = self.rewrite(&live).await.map_err(|error| live.error(error))?;
                reached = Some(live.storage.clone());
            }
            migrated.versions = live.obsolete_versions();
            match self.set_stored_versions(&live).await {
                Ok(_) => return Ok(Some(migrated)),
                Err(error) if error.is_conflict() && conflicts < MAX_CONFLICTS => conflicts += 1,
                Err(error) => return Err(live.error(error)),
            }
        }
    }

    async fn definition(&self, name: &str) -> Result<Option<Definition>, MigrationError> {
        match self.get(&definition::kind(), "", name).await {
            Ok(object) => Ok(object.as_ref().map(Definition::of)),
            Err(error) => Err(MigrationError::Api {
                definition: name.to_owned(),
                version: String::new(),
                source: Box::new(error),
            }),
        }
    }

    /// Writes every object of a definition without changes; returns the number of objects.
    async fn rewrite(&self, definition: &Definition) -> Result<usize, ApiError> {
        let preferred = self.kind(&definition.kind).await?;
        // The storage version avoids a double conversion.
        let stored = self.kinds().await?.version(&definition.kind, &definition.storage).cloned();
        let kind = stored.unwrap_or(preferred);
        let all = ListQuery { metadata_only: true, ..ListQuery::default() };
        let objects = self.list(&kind, &all).await?;
        let of = objects.len();
        let tell = |done| {
            let event = Event::Migrating { definition: definition.name.clone(), done, total: Some(of) };
            self.events().send(&event);
        };
        tell(0);
        let writes = stream::iter(objects).map(|object| self.rewrite_one(&kind, object));
        let mut writes = writes.buffer_unordered(self.max_in_flight());
        let mut done = 0;
        while writes.try_next().await?.is_some() {
            done += 1;
            if done % PROGRESS_INTERVAL == 0 || done == of {
                tell(done);
            }
        }
        Ok(done)
    }

    async fn rewrite_one(&self, kind: &ApiKind, object: Object) -> Result<(), ApiError> {
        let nothing = Value::Object(Map::new());
        match self
            .patch(kind, object.namespace(), object.name(), &nothing, MANAGER, PatchTarget::Object)
            .await
        {
            Err(error) if !error.is_not_found() && !error.is_conflict() => Err(error),
            _ => Ok(()),
        }
    }

    async fn set_stored_versions(&self, live: &Definition) -> Result<Object, ApiError> {
        let status = json!({
            "metadata": {"resourceVersion": live.resource_version},
            "status": {"storedVersions": [live.storage]}
        });
        self.patch(&definition::kind(), "", &live.name, &status, MANAGER, PatchTarget::Status).await
    }
}
