//! The journal of an upgrade: its options, its progress, and the manifests before the upgrade.
//!
//! The journal is stored as Secrets in the namespace of the core provider, because manifests may contain credentials.
//!
//! ```text
//! capstan-upgrade                          request, versions, progress ─────────────────┐ names and digests
//! capstan-upgrade-<provider label>.<t>.<i> part i of the manifests, started at t ◄──────┘
//! ```
//!
//! `capstan-upgrade` is written last: without it there is no journal, and the next upgrade deletes leftover parts.

mod index;
mod manifests;

use api::ProviderId;
use api::labels::{CAPSTAN_DOMAIN, FIELD_MANAGER};
use apply::{ApiError, ApplyPrecondition, ApplyRequest, ListQuery, ObjectRevision, WriteMode};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use inventory::{ManagementCluster, ProviderInventory, secret_kind};
use jiff::Timestamp;
use manifest::{Object, Value};
use provider::InstalledProvider;
use serde_json::json;

use crate::LifecycleError;

use index::invalid_journal;
use manifests::{digest, pack, unpack};

pub use index::UpgradeError;
pub(crate) use index::{JournalEntry, JournalIndex, UpgradePhase};
pub(crate) use manifests::restorable_object;

pub(crate) struct UpgradeJournal {
    cluster: ManagementCluster,
    namespace: String,
    /// The content that was last read or written.
    pub(crate) index: JournalIndex,
    /// The revision that was last read or written. `None` for a new journal.
    revision: Option<ObjectRevision>,
}

/// A provider and its objects before the upgrade, for a new journal.
pub(crate) struct PreviousState<'a> {
    pub(crate) installed: InstalledProvider,
    pub(crate) to: String,
    pub(crate) kustomization: Option<String>,
    pub(crate) objects: Vec<&'a Object>,
}

const JOURNAL_NAME: &str = "capstan-upgrade";
const INDEX_KEY: &str = "journal";
const PART_KEY: &str = "manifests";

/// The label of all journal Secrets. A provider label would let other tools delete them with the provider.
const LABEL: (&str, &str) = ("journal", "upgrade");

fn selector() -> String {
    format!("{CAPSTAN_DOMAIN}/{}={}", LABEL.0, LABEL.1)
}

/// Returns the journal of the last upgrade, finished or not. Sends one request.
pub(crate) async fn upgrade_journal(
    cluster: &ManagementCluster,
    inventory: &ProviderInventory,
) -> Result<Option<UpgradeJournal>, LifecycleError> {
    let Some(namespace) = core_namespace(inventory) else { return Ok(None) };
    let found = cluster.server.get(&secret_kind(), &namespace, JOURNAL_NAME).await?;
    let Some(secret) = found else { return Ok(None) };
    let index = JournalIndex::parse(&secret_data(&secret, INDEX_KEY)?)?;
    let revision = Some(ObjectRevision::of(&secret));
    Ok(Some(UpgradeJournal { cluster: cluster.clone(), namespace, index, revision }))
}

/// Returns the journal if the upgrade is unfinished.
pub(crate) async fn unfinished_upgrade(
    cluster: &ManagementCluster,
    inventory: &ProviderInventory,
) -> Result<Option<UpgradeJournal>, LifecycleError> {
    Ok(upgrade_journal(cluster, inventory).await?.filter(UpgradeJournal::is_unfinished))
}

/// Deletes manifests without an index, which runs leave if they are interrupted at the start or at the end.
pub(crate) async fn delete_journal_leftovers(
    cluster: &ManagementCluster,
    inventory: &ProviderInventory,
) -> Result<(), ApiError> {
    match core_namespace(inventory) {
        Some(namespace) => delete_journal_parts(cluster, &namespace, &[]).await,
        None => Ok(()),
    }
}

/// Deletes manifests except those with the given names.
async fn delete_journal_parts(
    cluster: &ManagementCluster,
    namespace: &str,
    keep: &[String],
) -> Result<(), ApiError> {
    let kind = secret_kind();
    let list = ListQuery {
        namespace: Some(namespace.to_owned()),
        labels: selector(),
        metadata_only: true,
        ..ListQuery::default()
    };
    for secret in cluster.server.list(&kind, &list).await? {
        let name = secret.name();
        if name != JOURNAL_NAME && !keep.iter().any(|kept| kept == name) {
            cluster.server.delete(&kind, namespace, name, Some(&ObjectRevision::of(&secret))).await?;
        }
    }
    Ok(())
}

/// Returns the namespace of the core provider.
fn core_namespace(inventory: &ProviderInventory) -> Option<String> {
    let is_core = |installed: &&InstalledProvider| installed.id.provider_type == api::ProviderType::Core;
    inventory.providers.iter().find(is_core).map(|core| core.namespace.clone())
}

impl UpgradeJournal {
    /// True if the upgrade can be resumed.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.index.phase != UpgradePhase::Finished
    }

    /// Writes a journal and reads the manifests back before any other change.
    /// An existing journal must be finished. One write replaces the existing journal, so the last upgrade can
    /// be rolled back until then.
    pub(crate) async fn create(
        cluster: &ManagementCluster,
        inventory: &ProviderInventory,
        replaced: Option<Self>,
        mut index: JournalIndex,
        previous: Vec<PreviousState<'_>>,
    ) -> Result<Self, LifecycleError> {
        let namespace = core_namespace(inventory).ok_or_else(|| {
            invalid_journal("the core provider is not installed, and its namespace holds the journal")
        })?;
        let now = Timestamp::now();
        index.begun = format!("{now:.0}");
        let stamp = now.as_millisecond();
        let kind = secret_kind();
        let mut written = Vec::new();
        for PreviousState { installed, to, kustomization, objects } in previous {
            let parts = pack(&objects).map_err(|error| invalid_journal(error.to_string()))?;
            let name = |part: usize| format!("{JOURNAL_NAME}-{}.{stamp}.{}", installed.id.label(), part + 1);
            let entry = JournalEntry {
                digest: digest(&parts),
                secrets: (0..parts.len()).map(name).collect(),
                namespace: installed.namespace,
                from: installed.version,
                provider: installed.id,
                to,
                kustomization,
                done: false,
            };
            for (name, part) in entry.secrets.iter().zip(&parts) {
                let secret = secret(&namespace, name, PART_KEY, part);
                cluster
                    .server
                    .create(&kind, &secret, FIELD_MANAGER, WriteMode::Real)
                    .await
                    .map_err(write_error)?;
                written.push(name.clone());
            }
            index.providers.push(entry);
        }
        let revision = replaced.and_then(|old| old.revision);
        let mut journal = Self { cluster: cluster.clone(), namespace, index, revision };
        journal.read_manifests().await?;
        journal.save().await.map_err(write_error)?;
        delete_journal_parts(cluster, &journal.namespace, &written).await?;
        Ok(journal)
    }

    /// Writes the current index.
    /// # Errors
    /// A conflict if another run changed or deleted the journal.
    pub(crate) async fn save(&mut self) -> Result<(), ApiError> {
        let kind = secret_kind();
        let text =
            serde_json::to_vec(&self.index).expect("an index has no maps, so no keys that are no text");
        let secret = secret(&self.namespace, JOURNAL_NAME, INDEX_KEY, &text);
        let onto = self.revision.clone().map_or(ApplyPrecondition::Absent, ApplyPrecondition::Revision);
        let options = ApplyRequest { precondition: onto, mode: WriteMode::Real };
        let written = self.cluster.server.apply(&kind, &secret, FIELD_MANAGER, options).await?;
        self.revision = Some(ObjectRevision::of(&written));
        Ok(())
    }

    /// Records that a provider reached the version of the phase: the new version, or the previous one.
    pub(crate) async fn record_done(&mut self, provider: &ProviderId) -> Result<(), ApiError> {
        let done = self.index.phase != UpgradePhase::RollingBack;
        let Some(entry) = self.index.providers.iter_mut().find(|entry| entry.provider == *provider) else {
            return Ok(());
        };
        if entry.done == done {
            return Ok(());
        }
        entry.done = done;
        self.save().await
    }

    /// Records the phase of the upgrade.
    pub(crate) async fn enter_phase(&mut self, phase: UpgradePhase) -> Result<(), ApiError> {
        if self.index.phase == phase {
            return Ok(());
        }
        self.index.phase = phase;
        self.save().await
    }

    /// Returns the previous objects of each provider, in index order. Sends one request.
    /// # Errors
    /// `UpgradeJournal` if a part is missing or differs from the written content.
    pub(crate) async fn read_manifests(&self) -> Result<Vec<Vec<Object>>, LifecycleError> {
        let list =
            ListQuery { namespace: Some(self.namespace.clone()), labels: selector(), ..ListQuery::default() };
        let secrets = self.cluster.server.list(&secret_kind(), &list).await?;
        let part = |name: &String| {
            let found = secrets.iter().find(|secret| secret.name() == name);
            let found = found
                .ok_or_else(|| invalid_journal(format!("its Secret {}/{name} is missing", self.namespace)))?;
            secret_data(found, PART_KEY)
        };
        let provider = |entry: &JournalEntry| {
            let parts = entry.secrets.iter().map(part).collect::<Result<Vec<_>, _>>()?;
            if digest(&parts) != entry.digest {
                return Err(invalid_journal(format!(
                    "the manifests of `{}` do not match their checksum",
                    entry.provider
                )));
            }
            unpack(&parts).map_err(|error| invalid_journal(error.to_string()))
        };
        Ok(self.index.providers.iter().map(provider).collect::<Result<_, _>>()?)
    }

    /// Deletes the journal, the index first.
    pub(crate) async fn delete(&self) -> Result<(), ApiError> {
        let kind = secret_kind();
        self.cluster.server.delete(&kind, &self.namespace, JOURNAL_NAME, self.revision.as_ref()).await?;
        delete_journal_parts(&self.cluster, &self.namespace, &[]).await
    }
}

fn write_error(source: ApiError) -> UpgradeError {
    UpgradeError::WriteJournal { source: Box::new(source) }
}

fn secret(namespace: &str, name: &str, key: &str, content: &[u8]) -> Object {
    let value = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "namespace": namespace,
            "name": name,
            "labels": { format!("{CAPSTAN_DOMAIN}/{}", LABEL.0): LABEL.1 },
        },
        "type": "Opaque",
        "data": { key: BASE64.encode(content) },
    });
    Object::try_from(value).expect("a mapping is written above")
}

fn secret_data(secret: &Object, key: &str) -> Result<Vec<u8>, UpgradeError> {
    let text = secret.get(&["data", key]).and_then(Value::as_str);
    let decoded = text.and_then(|text| BASE64.decode(text).ok());
    decoded.ok_or_else(|| {
        invalid_journal(format!("Secret {}/{} has no `{key}`", secret.namespace(), secret.name()))
    })
}
