//! The copy of a journal on one cluster.

use std::{
    io::{self, Read, Write as _},
    time::Duration,
};

use api::labels::{CAPSTAN_DOMAIN, FIELD_MANAGER};
use api::{ProviderType, shell_word};
use apply::{ApiError, ApplyPrecondition, ApplyRequest, ObjectRevision, WriteMode};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use inventory::{ManagementCluster, ProviderInventory, config_map_kind, known_kind};
use manifest::{Object, Value};
use serde::Deserialize;
use serde_json::json;

use super::{JournalError, MoveJournal, MoveSide};

/// Name of the ConfigMap. Without labels of Cluster API and without owners, no move includes it.
pub const NAME: &str = "capstan-move";
pub(super) const REPORT_KEY: &str = "report";
const JOURNAL_KEY: &str = "journal";
/// Key of the words of the command that completes a restore as a JSON list, see [`super::RestoreRecord`].
pub(super) const RESTORE_KEY: &str = "restore";
/// Label with which the deletion of the core provider also deletes the ConfigMap.
const LABEL: (&str, &str) = ("journal", "move");
/// Namespace of the ConfigMap if there is no core provider.
const NAMESPACE: &str = "capi-system";

/// Maximum size of a journal in plain text. Larger journals are gzipped, because only programs read them.
const PLAIN_BYTES: usize = 128 << 10;
/// Maximum size of the keys and values of a ConfigMap, with room for the keys.
/// Source: Kubernetes 1.36, pkg/apis/core (MaxSecretSize), which counts bytes before base64.
const MAX_BYTES: usize = (1 << 20) - 1024;
/// Maximum unpacked size of a journal or report.
const MAX_UNPACKED_BYTES: u64 = 256 << 20;
/// Maximum number of attempts for a write that conflicts with earlier writes of this run.
const MAX_ATTEMPTS: usize = 4;

/// A copy as it was last read or written.
#[derive(Debug)]
pub(super) struct JournalCopy {
    pub(super) cluster: ManagementCluster,
    side: MoveSide,
    pub(super) namespace: String,
    /// The journal of the copy; none if missing.
    pub(super) journal: Option<MoveJournal>,
    /// The packed report, as it is on the cluster.
    pub(super) report: Option<String>,
    /// The command that completes a restore.
    pub(super) restore_command: Option<String>,
    /// The revision that was last read or written; none if missing.
    pub(super) revision: Option<ObjectRevision>,
}

/// The content of a write, built once for both sides.
pub(super) struct JournalContent<'j> {
    journal: &'j MoveJournal,
    data: Value,
    binary: Value,
}

impl<'j> JournalContent<'j> {
    /// Builds the content. A report that does not fit beside the journal is left out, because the disk holds the
    /// report.
    pub(super) fn new(journal: &'j MoveJournal, report: Option<&[u8]>) -> Self {
        let text = serde_json::to_string(journal).expect("invariant: a journal has text keys alone");
        let (mut data, mut binary) = (json!({}), json!({}));
        let mut bytes = text.len();
        if bytes <= PLAIN_BYTES {
            data[JOURNAL_KEY] = text.into();
        } else {
            let packed = pack(&text);
            bytes = packed.len();
            binary[JOURNAL_KEY] = BASE64.encode(packed).into();
        }
        if let Some(report) = report.filter(|report| bytes + report.len() <= MAX_BYTES) {
            binary[REPORT_KEY] = BASE64.encode(report).into();
        }
        Self { journal, data, binary }
    }
}

impl JournalCopy {
    /// Reads a copy with three requests, two of them in parallel.
    pub(super) async fn read(cluster: &ManagementCluster, side: MoveSide) -> Result<Self, JournalError> {
        let inventory = Box::pin(cluster.inventory()).await;
        let inventory =
            inventory.map_err(|source| JournalError::UnknownNamespace { side, source: Box::new(source) })?;
        Self::read_with_inventory(cluster, side, &inventory).await
    }

    /// Reads a copy with one request, given the inventory.
    pub(super) async fn read_with_inventory(
        cluster: &ManagementCluster,
        side: MoveSide,
        inventory: &ProviderInventory,
    ) -> Result<Self, JournalError> {
        let core = inventory.providers.iter().find(|one| one.id.provider_type == ProviderType::Core);
        let namespace = core.map_or_else(|| NAMESPACE.to_owned(), |core| core.namespace.clone());
        let (journal, report, restore_command, revision) = (None, None, None, None);
        let mut copy =
            Self { cluster: cluster.clone(), side, namespace, journal, report, restore_command, revision };
        Box::pin(copy.refresh()).await?;
        Ok(copy)
    }

    pub(super) async fn refresh(&mut self) -> Result<(), JournalError> {
        let found = self.cluster.server.get(&config_map_kind(), &self.namespace, NAME).await;
        let found = found.map_err(|source| self.api_error(source))?;
        let Some(found) = found else {
            (self.journal, self.report, self.restore_command, self.revision) = (None, None, None, None);
            return Ok(());
        };
        self.cluster.revisions.record(&found);
        self.restore_command = restore_command(&found);
        self.journal = match parse_journal(&found).map_err(|problem| self.unusable_error(problem))? {
            None if self.restore_command.is_none() => {
                return Err(self.unusable_error(format!("key `{JOURNAL_KEY}` is missing")));
            }
            journal => journal,
        };
        self.report = found.get(&["binaryData", REPORT_KEY]).and_then(Value::as_str).map(str::to_owned);
        self.revision = Some(ObjectRevision::of(&found));
        Ok(())
    }

    /// Replaces the last known revision, or creates the first one.
    /// # Errors
    /// `TakenOver` if another run wrote or deleted the journal meanwhile.
    pub(super) async fn write(
        &mut self,
        content: &JournalContent<'_>,
        timeout: Duration,
    ) -> Result<(), JournalError> {
        let object = self.config_map(&content.data, &content.binary);
        let server = self.cluster.server.retrying_for(timeout);
        let mut last = None;
        for _ in 0..MAX_ATTEMPTS {
            let onto = self.revision.clone().map_or(ApplyPrecondition::Absent, ApplyPrecondition::Revision);
            let is_new = onto == ApplyPrecondition::Absent;
            let options = ApplyRequest { precondition: onto, mode: WriteMode::Real };
            let error = match server.apply(&config_map_kind(), &object, FIELD_MANAGER, options).await {
                Ok(written) => {
                    self.revision = Some(ObjectRevision::of(&written));
                    return Ok(());
                }
                Err(error) => error,
            };
            match error.code() {
                Some(404) if is_new => self.create_namespace().await?,
                Some(404) => return Err(JournalError::TakenOver),
                Some(409) => {
                    self.refresh().await?;
                    if !self.journal.as_ref().is_some_and(|live| is_own_write(live, content.journal)) {
                        return Err(JournalError::TakenOver);
                    }
                }
                _ => return Err(self.api_error(error)),
            }
            last = Some(error);
        }
        Err(last.map_or(JournalError::TakenOver, |error| self.api_error(error)))
    }

    pub(super) fn config_map(&self, data: &Value, binary: &Value) -> Object {
        let whole = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": NAME,
                "namespace": self.namespace,
                "labels": {format!("{CAPSTAN_DOMAIN}/{}", LABEL.0): LABEL.1},
            },
            "data": data,
            "binaryData": binary,
        });
        Object::try_from(whole).expect("invariant: the literal above is a mapping")
    }

    async fn create_namespace(&self) -> Result<(), JournalError> {
        let kind = known_kind("", "v1", "Namespace", "namespaces", false);
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}});
        let namespace = Object::try_from(namespace).expect("invariant: the literal above is a mapping");
        match self.cluster.server.create(&kind, &namespace, FIELD_MANAGER, WriteMode::Real).await {
            Err(error) if !error.is_already_exists() => Err(self.api_error(error)),
            _ => Ok(()),
        }
    }

    pub(super) fn api_error(&self, source: ApiError) -> JournalError {
        JournalError::Api { side: self.side, source: Box::new(source) }
    }

    pub(super) fn unusable_error(&self, problem: String) -> JournalError {
        let place = format!("{}/{NAME}", self.namespace);
        JournalError::Unusable { side: self.side, place, problem }
    }
}

/// True if the journal on the cluster is an earlier write of the same process, whose answer was lost.
fn is_own_write(live: &MoveJournal, sent: &MoveJournal) -> bool {
    live.run == sent.run
        && live.holder.is_same_process(&sent.holder)
        && live.holder.write_number <= sent.holder.write_number
}

/// Returns the command that completes a restore. Each word is quoted, because users paste the command into a shell. None
/// for a command of another program.
fn restore_command(config_map: &Object) -> Option<String> {
    let text = config_map.get(&["data", RESTORE_KEY])?.as_str()?;
    let words: Vec<String> = serde_json::from_str(text).ok()?;
    let is_ours = words.first().is_some_and(|program| program == "capstan");
    is_ours.then(|| words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "))
}

fn parse_journal(config_map: &Object) -> Result<Option<MoveJournal>, String> {
    /// The common field of all formats.
    #[derive(Deserialize)]
    struct FormatHeader {
        format: u32,
    }
    let value = |field| config_map.get(&[field, JOURNAL_KEY]).and_then(Value::as_str);
    let text = match (value("data"), value("binaryData")) {
        (Some(text), _) => text.as_bytes().to_owned(),
        (None, Some(packed)) => unpack(packed)?,
        (None, None) => return Ok(None),
    };
    let broken = |error: serde_json::Error| format!("it cannot be read: {error}");
    let head: FormatHeader = serde_json::from_slice(&text).map_err(broken)?;
    if head.format != MoveJournal::FORMAT {
        let (has, known) = (head.format, MoveJournal::FORMAT);
        return Err(format!("it has format {has}; this version supports format {known}"));
    }
    serde_json::from_slice(&text).map(Some).map_err(broken)
}

/// Gzips a text.
pub(super) fn pack(text: &str) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::default());
    let packed = writer.write_all(text.as_bytes()).and_then(|()| writer.finish());
    packed.expect("invariant: writing to memory does not fail")
}

/// Returns the bytes of a gzipped value in base64.
/// # Errors
/// The problem in words.
pub(super) fn unpack(packed: &str) -> Result<Vec<u8>, String> {
    let packed = BASE64.decode(packed).map_err(|error| format!("it cannot be read: {error}"))?;
    let mut bytes = Vec::new();
    let read: io::Result<usize> =
        GzDecoder::new(&*packed).take(MAX_UNPACKED_BYTES + 1).read_to_end(&mut bytes);
    let read = read.map_err(|error| format!("it cannot be decompressed: {error}"))?;
    match u64::try_from(read) {
        Ok(read) if read <= MAX_UNPACKED_BYTES => Ok(bytes),
        _ => Err(format!("it is larger than {} MiB", MAX_UNPACKED_BYTES >> 20)),
    }
}
