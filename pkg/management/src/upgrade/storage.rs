//! Stored versions during a rollback: an old definition cannot be restored while objects may be stored in a version
//! that the old definition lacks.
//!
//! The list of stored versions may name versions without objects. The server only removes versions other than the
//! storage version from the list. Therefore the new definition first switches to the old storage version. A second
//! check then confirms that no objects exist.

use api::labels::FIELD_MANAGER;
use apply::{ApiError, ListQuery, ObjectKey, PatchTarget, defined_kinds, key_of};
use inventory::{ManagementCluster, crd_kind, storage_version};
use manifest::{Object, Value};
use serde_json::json;

use super::{
    definitions::{is_served, stored_versions, versions_missing},
    journal::UpgradeError,
};
use crate::LifecycleError;

/// The number of retries after conflicting writes to a definition.
const MAX_CONFLICTS: usize = 5;

/// The conversion strategy of definitions whose versions differ only by name.
const NO_CONVERSION: &str = "None";

/// A definition that must drop stored versions before the old one is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StorageRollback {
    definition: String,
    /// The storage version of the old definition.
    storage: String,
    /// The versions that the old definition lacks.
    removed_versions: Vec<String>,
    /// The conversion strategy of the old definition, such as `Webhook`.
    conversion: String,
}

/// Finds the definitions that must drop stored versions before old definitions are applied. Writes nothing.
/// # Errors
/// An inner error is the reason why a definition cannot be restored.
pub(crate) async fn storage_rollbacks(
    cluster: &ManagementCluster,
    labels: String,
    old: &[Object],
) -> Result<Vec<Result<StorageRollback, String>>, ApiError> {
    let live = cluster.server.list(&crd_kind(), &ListQuery { labels, ..ListQuery::default() }).await?;
    let mut found = Vec::new();
    for old in old.iter().filter(|old| old.is_crd()) {
        let Some(live) = live.iter().find(|live| live.name() == old.name()) else { continue };
        let forgotten = versions_missing(live, old);
        if !forgotten.is_empty() {
            found.push(plan_storage_rollback(cluster, live, old, forgotten).await?);
        }
    }
    Ok(found)
}

async fn plan_storage_rollback(
    cluster: &ManagementCluster,
    live: &Object,
    old: &Object,
    forgotten: Vec<String>,
) -> Result<Result<StorageRollback, String>, ApiError> {
    let (definition, lacks) = (live.name().to_owned(), forgotten.join(", "));
    if let Some(example) = find_object(cluster, live).await? {
        return Ok(Err(format!(
            "objects of `{definition}` such as {example} may be stored as {lacks}, which the old definition lacks"
        )));
    }
    let storage = storage_version(old).unwrap_or_default().to_owned();
    if is_served(live, &storage).is_none() {
        return Ok(Err(format!(
            "`{definition}` no longer has version {storage}, in which the old definition stores objects"
        )));
    }
    let conversion = old.get(&["spec", "conversion", "strategy"]).and_then(Value::as_str);
    let conversion = conversion.unwrap_or(NO_CONVERSION).to_owned();
    Ok(Ok(StorageRollback { definition, storage, removed_versions: forgotten, conversion }))
}

/// Removes stored versions from a definition, right before the old definition is applied.
/// # Errors
/// `CannotRollBack` if objects exist by now. Changes up to then lose nothing.
pub(crate) async fn remove_stored_versions(
    cluster: &ManagementCluster,
    rollback: &StorageRollback,
) -> Result<(), LifecycleError> {
    let mut conflicts = 0;
    loop {
        match try_remove_stored_versions(cluster, rollback).await {
            Err(LifecycleError::Api(error)) if error.is_conflict() && conflicts < MAX_CONFLICTS => {
                conflicts += 1;
            }
            result => return result,
        }
    }
}

async fn try_remove_stored_versions(
    cluster: &ManagementCluster,
    back: &StorageRollback,
) -> Result<(), LifecycleError> {
    let StorageRollback { definition, storage, removed_versions: forgotten, conversion } = back;
    let kind = crd_kind();
    let Some(mut live) = cluster.server.get(&kind, "", definition).await? else { return Ok(()) };
    if storage_version(&live) != Some(storage) {
        let mut patch = json!({
            "metadata": {"resourceVersion": live.get(&["metadata", "resourceVersion"])},
            "spec": {"versions": with_storage_version(&live, storage)},
        });
        if conversion == NO_CONVERSION {
            // Another manager injected the certificate, so applying the old definition could not remove the
            // certificate.
            patch["spec"]["conversion"] = json!({"strategy": NO_CONVERSION, "webhook": null});
        }
        live =
            cluster.server.patch(&kind, "", definition, &patch, FIELD_MANAGER, PatchTarget::Object).await?;
    }
    if let Some(example) = find_object(cluster, &live).await? {
        let reasons = vec![format!("{example} of `{definition}` was created during the rollback")];
        return Err(UpgradeError::CannotRollBack { reasons }.into());
    }
    let remaining: Vec<_> = stored_versions(&live)
        .filter(|version| !forgotten.iter().any(|removed| removed == version))
        .collect();
    let patch = json!({
        "metadata": {"resourceVersion": live.get(&["metadata", "resourceVersion"])},
        "status": {"storedVersions": remaining},
    });
    cluster.server.patch(&kind, "", definition, &patch, FIELD_MANAGER, PatchTarget::Status).await?;
    Ok(())
}

/// Returns one object of a definition, from any owner. `None` if there is none.
async fn find_object(
    cluster: &ManagementCluster,
    definition: &Object,
) -> Result<Option<ObjectKey>, ApiError> {
    let kinds = defined_kinds(definition);
    // Objects in the storage version need no conversion.
    let in_storage = kinds.iter().find(|kind| storage_version(definition) == Some(&kind.version));
    let Some(kind) = in_storage.or(kinds.first()) else { return Ok(None) };
    let list = ListQuery { metadata_only: true, limit: Some(1), ..ListQuery::default() };
    match cluster.server.list(kind, &list).await {
        Err(error) if error.is_not_found() => Ok(None),
        found => Ok(found?.first().map(key_of)),
    }
}

fn versions(definition: &Object) -> &[Value] {
    definition.get(&["spec", "versions"]).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the versions of a definition with another storage version.
fn with_storage_version(definition: &Object, storage: &str) -> Vec<Value> {
    let mut versions = versions(definition).to_vec();
    for version in &mut versions {
        version["storage"] = (version["name"] == storage).into();
    }
    versions
}
