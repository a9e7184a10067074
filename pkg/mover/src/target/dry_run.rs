use std::{collections::BTreeMap, sync::Arc};

use apply::{ApiError, ApiKind, List, ObjectKey, Page, WriteMode};
use futures::future::join_all;
use inventory::{FIELD_MANAGER, ManagementCluster};
use manifest::{Object, Value};
use workload::TypeFacts;

use super::There;
use crate::{MoveSide, create::without_delete_for_move};

/// Objects of a kind in one namespace that are to be tried on the target.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    /// Their kind, as it is written.
    pub(crate) of: Arc<TypeFacts>,
    /// Their namespace on the source; empty for the whole cluster.
    pub(crate) namespace: String,
    /// By name.
    pub(crate) objects: BTreeMap<String, Attempt>,
}

/// How an object is tried.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    /// Its key on the target.
    pub(crate) key: ObjectKey,
    /// What it would replace there; none for what would be created.
    pub(crate) replaces: Option<There>,
}

/// What came of trying.
#[derive(Debug, Default)]
pub(crate) struct Tried {
    /// What the target would not take.
    pub(crate) refused: Vec<(ObjectKey, ApiError)>,
    /// What cannot be tried: an admission webhook does not take part in dry runs.
    pub(crate) untried: Vec<ObjectKey>,
}

/// What a server says when a webhook has side effects.
/// Source: kube-apiserver 1.36, apiserver/pkg/admission/plugin/webhook/errors (NewDryRunUnsupportedErr).
const NO_DRY_RUN: &str = "does not support dry run";
/// What a server makes itself, and owners, who are not on the target yet.
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

impl Trial {
    /// Reads these objects and creates or replaces each on the target as a dry run. No more than a page of them is held.
    /// Secrets and ConfigMaps are read one by one: most of those that are there stay.
    /// # Errors
    /// When a side does not answer; a refusal is no error here.
    pub(crate) async fn run(
        &self,
        source: &ManagementCluster,
        target: &ManagementCluster,
        tried: &mut Tried,
    ) -> Result<(), (MoveSide, ApiError)> {
        let at_source = |error| (MoveSide::Source, error);
        let kind = &self.of.kind;
        if kind.group.is_empty() {
            let names: Vec<&String> = self.objects.keys().collect();
            for names in names.chunks(source.server.max_in_flight()) {
                let read = names.iter().map(|name| source.server.get(kind, &self.namespace, name));
                let objects =
                    join_all(read).await.into_iter().collect::<Result<Vec<_>, _>>().map_err(at_source)?;
                self.try_all(objects.into_iter().flatten(), target, tried).await?;
            }
            return Ok(());
        }
        let namespace = (!self.namespace.is_empty()).then(|| self.namespace.clone());
        let mut pages = source.server.pages(kind, &List { namespace, ..List::default() });
        while let Some(Page::First(objects) | Page::Next(objects)) = pages.next().await.map_err(at_source)? {
            self.try_all(objects.into_iter(), target, tried).await?;
        }
        Ok(())
    }

    async fn try_all(
        &self,
        objects: impl Iterator<Item = Object>,
        target: &ManagementCluster,
        tried: &mut Tried,
    ) -> Result<(), (MoveSide, ApiError)> {
        let chosen = objects.filter_map(|object| Some((self.objects.get(object.name())?, object)));
        let tries = chosen.map(|(attempt, object)| attempt.make(target, &self.of.kind, object));
        for (key, error) in join_all(tries).await.into_iter().flatten() {
            tried.note(key, error).map_err(|error| (MoveSide::Target, error))?;
        }
        Ok(())
    }
}

impl Tried {
    /// Notes what a target said to an object.
    /// # Errors
    /// When it said nothing.
    pub(crate) fn note(&mut self, key: ObjectKey, error: ApiError) -> Result<(), ApiError> {
        match error {
            ApiError::Status { code: 400, ref message, .. } if message.contains(NO_DRY_RUN) => {
                self.untried.push(key);
            }
            ApiError::Status { .. } => self.refused.push((key, error)),
            unreachable => return Err(unreachable),
        }
        Ok(())
    }
}

impl Attempt {
    async fn make(
        &self,
        target: &ManagementCluster,
        kind: &ApiKind,
        object: Object,
    ) -> Option<(ObjectKey, ApiError)> {
        let Some(there) = &self.replaces else { return try_one(target, kind, &self.key, object).await };
        let mut object = sendable(object, &self.key);
        if let Some(metadata) = object.get_mut(&["metadata"]).and_then(Value::as_object_mut) {
            metadata.insert("uid".to_owned(), there.uid.as_str().into());
            metadata.insert("resourceVersion".to_owned(), there.version.as_str().into());
        }
        match target.server.replace(kind, &object, FIELD_MANAGER, WriteMode::DryRun).await {
            // It was changed, or went, meanwhile.
            Err(error) if error.is_conflict() || error.is_not_found() => None,
            Err(error) => Some((self.key.clone(), error)),
            Ok(_) => None,
        }
    }
}

/// Tries to create an object; what keeps it from that, if anything does.
pub(crate) async fn try_one(
    target: &ManagementCluster,
    kind: &ApiKind,
    key: &ObjectKey,
    object: Object,
) -> Option<(ObjectKey, ApiError)> {
    match target.server.create(kind, &sendable(object, key), FIELD_MANAGER, WriteMode::DryRun).await {
        // It came meanwhile.
        Err(error) if error.is_already_there() => None,
        Err(error) => Some((key.clone(), error)),
        Ok(_) => None,
    }
}

/// What is sent of an object that is tried.
fn sendable(mut object: Object, key: &ObjectKey) -> Object {
    object.as_map_mut().remove("status");
    if let Some(metadata) = object.get_mut(&["metadata"]).and_then(|metadata| metadata.as_object_mut()) {
        metadata.retain(|field, _| !NOT_SENT.contains(&field.as_str()));
        without_delete_for_move(metadata);
    }
    if !key.namespace.is_empty() {
        object.set_namespace(&key.namespace);
    }
    object
}
