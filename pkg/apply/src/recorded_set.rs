//! A named set of objects on a cluster: applied, pruned and deleted as a whole, with its record in a ConfigMap.

use std::{
    io::{Read as _, Write as _},
    time::{Duration, Instant},
};

use data_encoding::BASE64;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use futures::{FutureExt as _, future::BoxFuture};
use manifest::{Object, Value};
use serde_json::json;

use crate::{
    ApiError, ApiKind, ApplyOptions, ApplyRequest, ApplySet, ApplySetStore, Blocker, DeletePolicy, Engine,
    EngineError, EngineOutcome, GroupKind, InUseCheck, ListQuery, ObjectKey, OwnershipMarks, PlannedSet,
    PruneTiming, ReadByName, RunOptions, SaveAt, Server,
};

/// The keys of the set in its ConfigMap, as JSON and as compressed JSON.
const SET_KEY: &str = "applySet";
const COMPRESSED_KEY: &str = "applySet.json.gz";
/// The size above which the set is compressed. An object holds at most 1 MiB.
const MAX_PLAIN_BYTES: usize = 512 << 10;
/// The largest set that is read from a record.
const MAX_SET_BYTES: u64 = 64 << 20;
/// The time for waits between waves if the caller does not wait.
const WAVE_TIMEOUT: Duration = Duration::from_mins(5);

/// A named set of objects on a cluster.
#[derive(Clone, Debug)]
pub struct RecordedSet {
    /// The server of the objects.
    pub server: Server,
    /// The namespace of the record.
    pub namespace: String,
    /// The name of the ConfigMap with the record.
    pub record: String,
    /// The origin of the objects, such as a folder. The record has it in the annotation `PREFIX/source`.
    pub source: Option<String>,
    /// The time of the first record.
    pub save_at: SaveAt,
    /// The marks of the objects.
    pub marks: OwnershipMarks,
    /// The options of plans and writes.
    pub options: ApplyOptions,
}

/// The objects for a plan.
#[derive(Clone, Debug, Default)]
pub struct SetObjects {
    /// The desired objects.
    pub objects: Vec<Object>,
    /// Objects that stay on the cluster as they are, and leave the record.
    pub left_alone: Vec<ObjectKey>,
    /// True to validate the changes by a dry run of the server, which doubles the requests.
    pub server_check: bool,
}

/// A record of applied objects.
#[derive(Debug)]
pub struct SetRecordSummary {
    /// The name of the record.
    pub record: String,
    /// The number of applied objects. An error if the record cannot be read.
    pub objects: Result<usize, RecordedSetError>,
}

/// The reason why a set cannot be applied or deleted.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum RecordedSetError {
    #[error("cannot read the record of applied objects: ConfigMap {namespace}/{name}: {reason}")]
    Record { namespace: String, name: String, reason: String },
    #[error("some objects are not ready after {after:?}")]
    NotReady { after: Duration, blockers: Vec<Blocker> },
    #[error("some objects are not deleted after {after:?}")]
    NotDeleted { after: Duration, blockers: Vec<Blocker> },
    #[error(transparent)]
    Engine(Box<EngineError>),
    #[error(transparent)]
    Api(#[from] ApiError),
}

impl From<EngineError> for RecordedSetError {
    fn from(error: EngineError) -> Self {
        Self::Engine(Box::new(error))
    }
}

impl RecordedSet {
    /// Lists the records in a namespace whose names start with a prefix.
    /// # Errors
    /// The ConfigMaps cannot be listed.
    pub async fn list(
        server: &Server,
        namespace: &str,
        prefix: &str,
    ) -> Result<Vec<SetRecordSummary>, ApiError> {
        let kind = server.kind(&GroupKind::new("", "ConfigMap")).await?;
        let query = ListQuery { namespace: Some(namespace.to_owned()), ..ListQuery::default() };
        let take = |found: &mut Vec<SetRecordSummary>, object: Object| {
            if object.name().starts_with(prefix) {
                let objects = read_set(&object).map(|set| set.items.len());
                let objects = objects.map_err(|reason| unreadable(namespace, object.name(), reason));
                found.push(SetRecordSummary { record: object.name().to_owned(), objects });
            }
        };
        server.pages(&kind, &query).gather(take).await
    }

    /// Plans the change from the recorded objects to the given ones.
    /// # Errors
    /// All problems of all objects.
    pub async fn plan(&self, objects: SetObjects) -> Result<PlannedSet, RecordedSetError> {
        let SetObjects { objects, left_alone, server_check } = objects;
        let mut recorded = self.recorded().await?.unwrap_or_default();
        recorded.items.retain(|item| !left_alone.iter().any(|key| self.is_same(key, &item.key)));
        let engine = self.engine();
        let planned = engine.plan_objects(recorded, objects, ReadByName::All).await;
        let mut planned = planned.map_err(|error| match error {
            EngineError::Api(error) => error.into(),
            error => RecordedSetError::from(error),
        })?;
        let desired = &mut planned.desired.objects;
        for namespace in desired.iter_mut().filter(|object| object.key.is_namespace()) {
            // Other objects may be in it.
            namespace.policies.policies.delete = DeletePolicy::OrphanOnDelete;
        }
        if server_check {
            Box::pin(engine.dry_run(&mut planned, |_| true)).await?;
            planned.keep_unchanged();
        }
        Ok(planned)
    }

    /// Executes a plan. With a timeout, waits until the objects are ready.
    /// # Errors
    /// `NotReady` after the timeout. The same calls resume an interrupted run.
    pub async fn apply(
        &self,
        plan: &mut PlannedSet,
        timeout: Option<Duration>,
    ) -> Result<(), RecordedSetError> {
        let record = self.open_record().await?;
        let started_at = Instant::now();
        let run = RunOptions {
            save_at: self.save_at,
            deadline: Some(started_at + timeout.unwrap_or(WAVE_TIMEOUT)),
            wait_for_last: timeout.is_some(),
            prune: PruneTiming::Immediately,
            ..RunOptions::new(&record)
        };
        match Box::pin(self.engine().apply(plan, run)).await? {
            EngineOutcome::Done => Ok(()),
            EngineOutcome::Waiting(blockers) => {
                Err(RecordedSetError::NotReady { after: started_at.elapsed(), blockers })
            }
        }
    }

    /// Returns the origin of the recorded objects; empty if it is unknown. None without a record.
    /// # Errors
    /// The failure of the server.
    pub async fn recorded_source(&self) -> Result<Option<String>, RecordedSetError> {
        let found = self.read_record().await?;
        let source = |record: &Object| record.annotation(&self.source_annotation()).map(str::to_owned);
        Ok(found.map(|record| source(&record).unwrap_or_default()))
    }

    /// Plans the deletion of all recorded objects. None without a record.
    /// # Errors
    /// The record cannot be read.
    pub async fn plan_removal(&self) -> Result<Option<PlannedSet>, RecordedSetError> {
        let Some(recorded) = self.recorded().await? else { return Ok(None) };
        Ok(Some(self.engine().plan_deletion(recorded).await?))
    }

    /// Checks that no object of another owner uses a definition of the set.
    /// # Errors
    /// `Engine` with the definitions in use.
    pub async fn check_removable(&self, plan: &PlannedSet) -> Result<(), RecordedSetError> {
        Ok(self.engine().check_in_use(&plan.set, InUseCheck::Perform).await?)
    }

    /// Executes the plan of a deletion.
    /// # Errors
    /// Nothing is deleted while objects of other owners use definitions of the set. `NotDeleted` after the timeout.
    pub async fn remove(&self, plan: &mut PlannedSet, timeout: Duration) -> Result<(), RecordedSetError> {
        let record = self.open_record().await?;
        let started_at = Instant::now();
        let run = RunOptions {
            deadline: Some(started_at + timeout),
            wait_for_last: true,
            ..RunOptions::new(&record)
        };
        match Box::pin(self.engine().delete(plan, run)).await? {
            EngineOutcome::Done => Ok(()),
            EngineOutcome::Waiting(blockers) => {
                Err(RecordedSetError::NotDeleted { after: started_at.elapsed(), blockers })
            }
        }
    }

    /// True if a key of a manifest, which may have no namespace, is that of a recorded object.
    fn is_same(&self, key: &ObjectKey, recorded: &ObjectKey) -> bool {
        let is_default = key.namespace.is_empty() && recorded.namespace == self.options.namespace;
        key == recorded
            || is_default && key.group_kind() == recorded.group_kind() && key.name == recorded.name
    }

    fn engine(&self) -> Engine<'_> {
        Engine { server: &self.server, marks: &self.marks, options: &self.options }
    }

    /// Reads the recorded objects. None without a record.
    async fn recorded(&self) -> Result<Option<ApplySet>, RecordedSetError> {
        let Some(found) = self.read_record().await? else { return Ok(None) };
        read_set(&found).map(Some).map_err(|reason| unreadable(&self.namespace, &self.record, reason))
    }

    async fn read_record(&self) -> Result<Option<Object>, ApiError> {
        let kind = self.open_record().await?.kind;
        self.server.get(&kind, &self.namespace, &self.record).await
    }

    fn source_annotation(&self) -> String {
        format!("{}/source", self.options.prefix)
    }

    async fn open_record(&self) -> Result<SetRecord<'_>, ApiError> {
        let kind = self.server.kind(&GroupKind::new("", "ConfigMap")).await?;
        Ok(SetRecord { set: self, kind })
    }
}

/// The record of a set.
struct SetRecord<'a> {
    set: &'a RecordedSet,
    kind: ApiKind,
}

impl ApplySetStore for SetRecord<'_> {
    /// Writes the record. Deletes the record of an empty set.
    fn save<'a>(&'a self, set: &'a ApplySet) -> BoxFuture<'a, Result<(), ApiError>> {
        async move {
            let RecordedSet { server, namespace, record, options, .. } = self.set;
            if set.items.is_empty() {
                server.delete(&self.kind, namespace, record, None).await.map(drop)
            } else {
                let mut object = config_map(namespace, record, set);
                if let Some(source) = &self.set.source {
                    object.set_annotation(&self.set.source_annotation(), source);
                }
                let written =
                    server.apply(&self.kind, &object, &options.field_manager, ApplyRequest::default());
                written.await.map(drop)
            }
        }
        .boxed()
    }
}

fn config_map(namespace: &str, name: &str, set: &ApplySet) -> Object {
    let text = serde_json::to_string(&set.without_fields());
    let text = text.expect("invariant: an apply set has text keys alone");
    let mut object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
    });
    if text.len() <= MAX_PLAIN_BYTES {
        object["data"] = json!({SET_KEY: text});
    } else {
        object["binaryData"] = json!({COMPRESSED_KEY: BASE64.encode(&compressed(text.as_bytes()))});
    }
    Object::try_from(object).expect("invariant: the literal above is a mapping")
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("invariant: memory can be written")
}

fn unreadable(namespace: &str, name: &str, reason: String) -> RecordedSetError {
    RecordedSetError::Record { namespace: namespace.to_owned(), name: name.to_owned(), reason }
}

/// Reads the set in a record, or the reason why it cannot be read.
fn read_set(record: &Object) -> Result<ApplySet, String> {
    let text = |path: &[&str]| record.get(path).and_then(Value::as_str);
    let json = match (text(&["data", SET_KEY]), text(&["binaryData", COMPRESSED_KEY])) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(packed)) => unpacked(packed)?,
        (None, None) => return Err(format!("it has neither the key `{SET_KEY}` nor `{COMPRESSED_KEY}`")),
    };
    serde_json::from_slice(&json).map_err(|error| error.to_string())
}

fn unpacked(text: &str) -> Result<Vec<u8>, String> {
    let packed = BASE64.decode(text.as_bytes()).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let read = GzDecoder::new(&*packed).take(MAX_SET_BYTES).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ApplySetItem;

    #[test]
    fn a_large_set_is_compressed_and_read_again() {
        for count in [3, 5_000] {
            let item = |at: usize| ApplySetItem {
                key: ObjectKey {
                    group: "apps".to_owned(),
                    kind: "Deployment".to_owned(),
                    namespace: "some-namespace".to_owned(),
                    name: format!("name-{at}"),
                },
                version: "v1".to_owned(),
                digest: format!("{at:064x}"),
                ..ApplySetItem::default()
            };
            let set = ApplySet { items: (0..count).map(item).collect() };
            let record = config_map("kube-system", "record", &set);
            assert_eq!(read_set(&record).unwrap(), set);
            let size = record.into_value().to_string().len();
            assert!(size < 1 << 20, "{size}");
        }
    }

    #[test]
    fn a_record_of_another_form_is_named() {
        let of = |data: Value| {
            let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "binaryData": data});
            read_set(&Object::try_from(object).unwrap()).unwrap_err()
        };
        assert!(of(json!({})).contains("neither the key"));
        assert!(!of(json!({COMPRESSED_KEY: "AAAA"})).is_empty());
        assert!(!of(json!({COMPRESSED_KEY: "%"})).is_empty());
    }
}
