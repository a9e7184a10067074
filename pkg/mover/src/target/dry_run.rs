use std::{collections::BTreeMap, sync::Arc};

use api::labels::FIELD_MANAGER;
use apply::{ApiError, ApiKind, ListQuery, ObjectKey, ObjectPage, WriteMode};
use futures::future::join_all;
use inventory::ManagementCluster;
use manifest::{Object, Value};
use workload::TypeFacts;

use super::TargetObject;
use crate::{MoveSide, create::remove_delete_for_move};

/// Objects of one kind in one namespace to try on the target.
#[derive(Clone, Debug)]
pub(crate) struct DryRunBatch {
    /// The type in which the objects are written.
    pub(crate) object_type: Arc<TypeFacts>,
    /// Namespace on the source; empty for cluster-scoped objects.
    pub(crate) namespace: String,
    /// Attempts by object name.
    pub(crate) objects: BTreeMap<String, DryRun>,
}

/// A dry run of one object.
#[derive(Clone, Debug)]
pub(crate) struct DryRun {
    /// Key on the target.
    pub(crate) key: ObjectKey,
    /// The existing object to replace; none for a creation.
    pub(crate) replaces: Option<TargetObject>,
}

/// The results of dry runs.
#[derive(Debug, Default)]
pub(crate) struct DryRunResults {
    /// Objects that the target rejects.
    pub(crate) rejected: Vec<(ObjectKey, ApiError)>,
    /// Objects that cannot be tried, because an admission webhook does not support dry runs.
    pub(crate) unsupported: Vec<ObjectKey>,
}

/// Part of the server message about a webhook with side effects.
/// Source: kube-apiserver 1.36, apiserver/pkg/admission/plugin/webhook/errors (NewDryRunUnsupportedErr).
const DRY_RUN_UNSUPPORTED: &str = "does not support dry run";
/// Metadata fields that the server sets, and owners, which are not on the target yet.
const NOT_SENT: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "ownerReferences",
    "resourceVersion",
    "uid",
];

impl DryRunBatch {
    /// Reads these objects, and creates or replaces each on the target as a dry run. Holds at most one page of objects.
    /// Secrets and ConfigMaps are read one by one, because most of them stay.
    /// # Errors
    /// Fails if a side does not answer. A rejected object is no error.
    pub(crate) async fn run(
        &self,
        source: &ManagementCluster,
        target: &ManagementCluster,
        results: &mut DryRunResults,
    ) -> Result<(), (MoveSide, ApiError)> {
        let at_source = |error| (MoveSide::Source, error);
        let kind = &self.object_type.kind;
        if kind.group.is_empty() {
            let names: Vec<&String> = self.objects.keys().collect();
            for names in names.chunks(source.server.max_in_flight()) {
                let read = names.iter().map(|name| source.server.get(kind, &self.namespace, name));
                let objects =
                    join_all(read).await.into_iter().collect::<Result<Vec<_>, _>>().map_err(at_source)?;
                self.run_all(objects.into_iter().flatten(), target, results).await?;
            }
            return Ok(());
        }
        let namespace = (!self.namespace.is_empty()).then(|| self.namespace.clone());
        let mut pages = source.server.pages(kind, &ListQuery { namespace, ..ListQuery::default() });
        while let Some(ObjectPage::First(objects) | ObjectPage::Next(objects)) =
            pages.next().await.map_err(at_source)?
        {
            self.run_all(objects.into_iter(), target, results).await?;
        }
        Ok(())
    }

    async fn run_all(
        &self,
        objects: impl Iterator<Item = Object>,
        target: &ManagementCluster,
        results: &mut DryRunResults,
    ) -> Result<(), (MoveSide, ApiError)> {
        let chosen = objects.filter_map(|object| Some((self.objects.get(object.name())?, object)));
        let tries = chosen.map(|(attempt, object)| attempt.run(target, &self.object_type.kind, object));
        for (key, error) in join_all(tries).await.into_iter().flatten() {
            results.record(key, error).map_err(|error| (MoveSide::Target, error))?;
        }
        Ok(())
    }
}

impl DryRunResults {
    /// Records the response of the target to an object.
    /// # Errors
    /// Fails if the target did not respond.
    pub(crate) fn record(&mut self, key: ObjectKey, error: ApiError) -> Result<(), ApiError> {
        match error {
            ApiError::Status { code: 400, ref message, .. } if message.contains(DRY_RUN_UNSUPPORTED) => {
                self.unsupported.push(key);
            }
            ApiError::Status { .. } => self.rejected.push((key, error)),
            unreachable => return Err(unreachable),
        }
        Ok(())
    }
}

impl DryRun {
    async fn run(
        &self,
        target: &ManagementCluster,
        kind: &ApiKind,
        object: Object,
    ) -> Option<(ObjectKey, ApiError)> {
        let Some(there) = &self.replaces else {
            return dry_run_create(target, kind, &self.key, object).await;
        };
        let mut object = dry_run_body(object, &self.key);
        if let Some(metadata) = object.get_mut(&["metadata"]).and_then(Value::as_object_mut) {
            metadata.insert("uid".to_owned(), there.uid.as_str().into());
            metadata.insert("resourceVersion".to_owned(), there.version.as_str().into());
        }
        match target.server.replace(kind, &object, FIELD_MANAGER, WriteMode::DryRun).await {
            // The object was changed or deleted meanwhile.
            Err(error) if error.is_conflict() || error.is_not_found() => None,
            Err(error) => Some((self.key.clone(), error)),
            Ok(_) => None,
        }
    }
}

/// Creates an object as a dry run, and returns the error if the target rejects the object.
pub(crate) async fn dry_run_create(
    target: &ManagementCluster,
    kind: &ApiKind,
    key: &ObjectKey,
    object: Object,
) -> Option<(ObjectKey, ApiError)> {
    match target.server.create(kind, &dry_run_body(object, key), FIELD_MANAGER, WriteMode::DryRun).await {
        // The object was created meanwhile.
        Err(error) if error.is_already_exists() => None,
        Err(error) => Some((key.clone(), error)),
        Ok(_) => None,
    }
}

/// Returns the part of an object that a dry run sends.
fn dry_run_body(mut object: Object, key: &ObjectKey) -> Object {
    object.as_map_mut().remove("status");
    if let Some(metadata) = object.get_mut(&["metadata"]).and_then(|metadata| metadata.as_object_mut()) {
        metadata.retain(|field, _| !NOT_SENT.contains(&field.as_str()));
        remove_delete_for_move(metadata);
    }
    if !key.namespace.is_empty() {
        object.set_namespace(&key.namespace);
    }
    object
}
