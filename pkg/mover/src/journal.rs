//! The journal of a move. Copies on both clusters and on disk survive the machine that runs the move.
//!
//! ```text
//! on a cluster   ConfigMap capstan-move beside the core provider   journal  JSON, gzipped when large
//!                                                                  report   gzipped, once the move is finished
//!                                                                  restore  the command of an unfinished restore
//! choice         valid_journal(source, target)                     pure
//! writing        JournalLease: acquire, update, finish; under the leases of both clusters
//! ```
//!
//! **Writes.** The leases of both clusters exclude other runs. Every write names the revision that it replaces, and a
//! missing or changed copy stops the run. The source copy is written before the target copy.
//! Only `Finished` and `Aborted` reach the target first, because the source may be destroyed as soon as its copy has
//! ended. A run acts on a phase only after both copies have the phase.
//!
//! **Interruptions.** Each copy alone is safe to resume from. Both copies together decide:
//!
//! | interrupted between the writes of    | source          | target            | valid copy
//! |--------------------------------------|-----------------|-------------------|-----------
//! | a new move                           | new             | none, or finished | source copy: nothing was done yet
//! | a phase or a holder                  | higher number   | lower number      | source copy: the phase has not begun
//! | `Finished`, `Aborted`                | unfinished      | ended             | unfinished copy: its phase runs again
//! | (one deleted by hand)                | exists or not   | exists or not     | remaining copy: written to both again
//! | (both deleted by hand)               | none            | none              | none: a new move finds the marks
//!
//! A copy of another move that has ended is ignored.

mod copies;
mod copy;
mod lease;
mod remaining;
mod report;
mod restore_record;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, io,
    sync::Arc,
};

use api::output::MovePhase;
use apply::{ApiError, ObjectKey};
use futures::try_join;
use inventory::{ClusterIdentity, InventoryError, ManagementCluster, ProviderInventory};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use workload::MoveChoice;

use crate::{ClusterChoice, MoveRequest, mark::is_save_mark};

use copies::JournalCopies;
pub use copy::NAME as JOURNAL_NAME;
pub(crate) use lease::JournalLease;
pub(crate) use remaining::RemainingJournal;
pub use report::{MoveReport, find_move_report};
pub(crate) use restore_record::RestoreRecord;

/// Number of digest bytes that name the source in a run id.
const SOURCE_BYTES: usize = 4;

/// The state of a move, as both clusters and the disk store it. The journal holds names and uids, no content.
///
/// On a cluster: ConfigMap `capstan-move` in the namespace of the core provider. Key `journal` holds JSON, gzipped if
/// large. Key `report` (binary) holds the gzipped report of every object after the move, if it fits.
/// A cluster is the source or the target of one move at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MoveJournal {
    /// The format number: [`MoveJournal::FORMAT`], or another number in journals of other releases.
    pub format: u32,
    /// Run id: the value of the mark on paused objects.
    pub run: String,
    /// Start time, RFC 3339.
    pub begun: String,
    /// The source cluster.
    pub source: ClusterIdentity,
    /// The target cluster.
    pub target: ClusterIdentity,
    /// Namespaces that the move takes objects from.
    pub namespaces: BTreeSet<String>,
    /// Clusters of the move by `namespace/name`; none for all.
    #[serde(default)]
    pub clusters: Option<BTreeSet<String>>,
    /// The requested label selector of the Clusters.
    #[serde(default)]
    pub selector: Option<String>,
    /// Requested target namespaces by source namespace.
    #[serde(default)]
    pub namespace_map: BTreeMap<String, String>,
    /// The current phase.
    pub phase: MovePhase,
    /// Clusters and ClusterClasses of the move, each with its state before the pause.
    #[serde(default)]
    pub paused: Vec<PausedObject>,
    /// Moving objects that existed on the target before, by target key: an abort keeps them. Written together with
    /// [`MovePhase::Creating`].
    #[serde(default)]
    pub existed: Vec<ObjectKey>,
    /// Namespaces that the move creates on the target; written before they are created.
    #[serde(default)]
    pub made_namespaces: Vec<String>,
    /// True if the journal was lost, and the marks on paused objects led to this move. It may have deleted objects before.
    #[serde(default)]
    pub is_recovered: bool,
    /// Number of moving objects, counted when phase `Creating` starts; 0 before.
    #[serde(default)]
    pub objects: usize,
    /// The run that holds the move.
    pub holder: JournalHolder,
}

/// A Cluster or a ClusterClass that is paused during the move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PausedObject {
    /// Key on the source.
    pub object: ObjectKey,
    /// True if the user had paused the object: the pause stays on both clusters.
    pub was_paused: bool,
    /// True if the object also stays on the source.
    pub is_kept: bool,
}

/// The run that last wrote a journal. The lease of the cluster shows if the run is still active.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalHolder {
    /// Name of the machine.
    pub host: String,
    /// Process on the machine, unique across restarts. A process works on one move at a time.
    pub process: String,
    /// Number of writes: the copy with the higher number is newer.
    #[serde(rename = "sign")]
    pub write_number: u64,
}

/// One side of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MoveSide {
    /// The cluster that objects leave.
    Source,
    /// The cluster that objects move to.
    Target,
}

/// A function that stores a value on disk.
pub type JournalWriteFn<T> = Arc<dyn Fn(&T) -> io::Result<()> + Send + Sync>;

/// The services of the caller for a journal: its process and its disk.
#[derive(Clone)]
pub struct JournalStore {
    /// The process of this run.
    pub holder: JournalHolder,
    /// True if the process of a holder is known to have ended. Unknown processes count as running.
    pub has_ended: Arc<dyn Fn(&JournalHolder) -> bool + Send + Sync>,
    /// Stores a journal on disk. An error stops the move only before its first write.
    pub write_journal: JournalWriteFn<MoveJournal>,
    /// Stores the report of a finished move on disk.
    pub write_report: JournalWriteFn<MoveReport>,
}

/// A journal that cannot be read, written or taken over.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum JournalError {
    /// An unfinished move has another scope or other clusters.
    #[error("another move is unfinished: {what}")]
    Conflict {
        /// The difference, in words.
        what: String,
        /// The side whose cluster differs.
        conflicting_side: Option<MoveSide>,
        journal: Box<MoveJournal>,
    },
    /// The journal on a cluster is invalid.
    #[error("cannot use the journal on the {side} cluster, ConfigMap {place}: {problem}")]
    Unusable {
        side: MoveSide,
        /// `namespace/name` of the ConfigMap.
        place: String,
        problem: String,
    },
    /// The journal belongs beside the core provider, and the core provider cannot be determined.
    #[error("cannot determine the journal namespace on the {side} cluster")]
    UnknownNamespace {
        side: MoveSide,
        #[source]
        source: Box<InventoryError>,
    },
    /// The journal on a cluster cannot be read or written.
    #[error("cannot read or write the journal on the {side} cluster")]
    Api {
        side: MoveSide,
        #[source]
        source: Box<ApiError>,
    },
    /// The journal cannot be stored on disk.
    #[error("cannot write the journal to disk")]
    Disk(#[source] io::Error),
    /// Another run wrote or deleted the journal while this run worked.
    #[error("another run changed or deleted the journal of this move")]
    TakenOver,
}

impl JournalHolder {
    /// True if both holders are the same process.
    fn is_same_process(&self, other: &Self) -> bool {
        self.host == other.host && self.process == other.process
    }
}

/// Returns the valid journal of these clusters, in any phase. None if there is no journal.
/// # Errors
/// `Unusable`. `UnknownNamespace` or `Api` if a server does not answer.
pub async fn find_move_journal(
    source: Option<&ManagementCluster>,
    target: Option<&ManagementCluster>,
) -> Result<Option<MoveJournal>, JournalError> {
    let read = |cluster: Option<&ManagementCluster>, side| {
        let cluster = cluster.cloned();
        async move {
            match cluster {
                Some(cluster) => Ok(copy::JournalCopy::read(&cluster, side).await?.journal),
                None => Ok(None),
            }
        }
    };
    let (source, target) = try_join!(read(source, MoveSide::Source), read(target, MoveSide::Target))?;
    Ok(copies::valid_journal(source.as_ref(), target.as_ref()).cloned())
}

/// The runs that a cluster records.
#[derive(Clone, Debug, Default)]
pub struct RecordedRuns {
    /// The unfinished move from or to the cluster.
    pub unfinished_move: Option<MoveJournal>,
    /// The command that completes a restore. The restore is unfinished if [`crate::restoring_objects`] finds objects.
    pub restore_command: Option<String>,
}

/// Reads the runs that the cluster of this inventory records. One request.
/// # Errors
/// `Unusable`. `Api` if the server does not answer.
pub async fn recorded_runs(
    cluster: &ManagementCluster,
    inventory: &ProviderInventory,
) -> Result<RecordedRuns, JournalError> {
    // The side matters only to error messages: the journal itself names both clusters.
    let copy = copy::JournalCopy::read_with_inventory(cluster, MoveSide::Source, inventory).await?;
    Ok(RecordedRuns {
        unfinished_move: copy.journal.filter(MoveJournal::is_unfinished),
        restore_command: copy.restore_command,
    })
}

impl MoveJournal {
    /// The format that this program writes and reads.
    pub const FORMAT: u32 = 1;

    /// Returns the journal of a new move that has paused nothing. The chosen Clusters are given by `namespace/name`,
    /// none for all.
    pub(crate) fn new(
        source: ClusterIdentity,
        target: ClusterIdentity,
        request: &MoveRequest,
        clusters: Option<BTreeSet<String>>,
        store: &JournalStore,
    ) -> Self {
        let selector = match &request.clusters {
            ClusterChoice::Labelled(selector) => Some(selector.clone()),
            ClusterChoice::All | ClusterChoice::Named(_) => None,
        };
        let now = Timestamp::now();
        Self {
            format: Self::FORMAT,
            run: run_id(now, &source, &store.holder),
            begun: format!("{now:.0}"),
            source,
            target,
            namespaces: request.namespaces.clone(),
            clusters,
            selector,
            namespace_map: request.namespace_map.clone(),
            phase: MovePhase::Pausing,
            paused: Vec::new(),
            existed: Vec::new(),
            made_namespaces: Vec::new(),
            is_recovered: false,
            objects: 0,
            holder: JournalHolder { write_number: 0, ..store.holder.clone() },
        }
    }

    /// Checks that a request asks for this move.
    /// # Errors
    /// `Conflict` with the difference.
    pub(crate) fn check_request(
        &self,
        source: &ClusterIdentity,
        target: &ClusterIdentity,
        request: &MoveRequest,
    ) -> Result<(), JournalError> {
        self.check_clusters(source, target)?;
        if self.phase == MovePhase::Aborting {
            return Err(self.conflict_error("it is being aborted"));
        }
        let chosen = match &request.clusters {
            ClusterChoice::All => self.clusters.is_none(),
            ClusterChoice::Labelled(selector) => self.selector.as_ref() == Some(selector),
            ClusterChoice::Named(names) => self.selector.is_none() && self.has_exactly(names),
        };
        self.check_scope(&request.namespaces, &request.namespace_map, chosen)
    }

    /// Checks that the move is between these clusters.
    /// # Errors
    /// `Conflict` with the side that differs.
    pub(crate) fn check_clusters(
        &self,
        source: &ClusterIdentity,
        target: &ClusterIdentity,
    ) -> Result<(), JournalError> {
        self.check_cluster(MoveSide::Source, source)?;
        self.check_cluster(MoveSide::Target, target)
    }

    /// Checks that a cluster is this side of the move.
    /// # Errors
    /// `Conflict` with the side.
    fn check_cluster(&self, side: MoveSide, cluster: &ClusterIdentity) -> Result<(), JournalError> {
        let (end, way) = match side {
            MoveSide::Source => (&self.source, "moves from"),
            MoveSide::Target => (&self.target, "moves to"),
        };
        if end.uid == cluster.uid {
            return Ok(());
        }
        let what = format!("it {way} `{}`", end.address);
        Err(JournalError::Conflict { what, conflicting_side: Some(side), journal: Box::new(self.clone()) })
    }

    /// Checks that a run that prepared another journal may continue with this one.
    fn check_compatible(&self, other: &Self) -> Result<(), JournalError> {
        self.check_clusters(&other.source, &other.target)?;
        if self.phase == MovePhase::Aborting && other.phase != MovePhase::Aborting {
            return Err(self.conflict_error("it is being aborted"));
        }
        // Clusters that were already deleted on the source are missing when Clusters are chosen again.
        let chosen = self.selector == other.selector
            && match (&self.clusters, &other.clusters) {
                (Some(begun), Some(requested)) => requested.is_subset(begun),
                (begun, requested) => begun.is_none() && requested.is_none(),
            };
        self.check_scope(&other.namespaces, &other.namespace_map, chosen)
    }

    fn check_scope(
        &self,
        namespaces: &BTreeSet<String>,
        map: &BTreeMap<String, String>,
        same_clusters: bool,
    ) -> Result<(), JournalError> {
        let listed = |names: &BTreeSet<String>| {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            names.join(", ")
        };
        if self.namespaces != *namespaces {
            return Err(self.conflict_error(&format!("it moves the namespaces {}", listed(&self.namespaces))));
        }
        if !same_clusters {
            return Err(self.conflict_error(&match (&self.selector, &self.clusters) {
                (Some(selector), _) => format!("it moves the Clusters that match `{selector}`"),
                (None, Some(clusters)) => format!("it moves the Clusters {}", listed(clusters)),
                (None, None) => "it moves all Clusters".to_owned(),
            }));
        }
        if self.namespace_map != *map {
            let pairs: BTreeSet<_> =
                self.namespace_map.iter().map(|(from, to)| format!("{from}={to}")).collect();
            let pairs = if pairs.is_empty() { "none".to_owned() } else { listed(&pairs) };
            return Err(self.conflict_error(&format!("its namespace mapping is {pairs}")));
        }
        Ok(())
    }

    /// True if the move has exactly the Clusters of these names, `name` or `namespace/name`.
    fn has_exactly(&self, names: &BTreeSet<String>) -> bool {
        let Some(clusters) = &self.clusters else { return false };
        let is = |cluster: &str, name: &str| {
            cluster == name || cluster.split_once('/').is_some_and(|(_, alone)| alone == name)
        };
        names.iter().all(|name| clusters.iter().any(|cluster| is(cluster, name)))
            && clusters.iter().all(|cluster| names.iter().any(|name| is(cluster, name)))
    }

    pub(super) fn conflict_error(&self, what: &str) -> JournalError {
        JournalError::Conflict {
            what: what.to_owned(),
            conflicting_side: None,
            journal: Box::new(self.clone()),
        }
    }

    /// Returns the namespaces and Clusters of the move as a choice.
    pub(crate) fn choice(&self) -> MoveChoice {
        MoveChoice::from_names(&self.namespaces, self.clusters.as_ref())
    }

    /// True if the move has neither finished nor been aborted.
    pub fn is_unfinished(&self) -> bool {
        !matches!(self.phase, MovePhase::Finished | MovePhase::Aborted)
    }

    /// True if an unfinished move has deleted nothing on the source.
    pub(crate) fn can_be_undone(&self) -> bool {
        !matches!(self.phase, MovePhase::Deleting | MovePhase::Resuming)
    }
}

/// True if a run moves out of a cluster, according to the run id.
pub(crate) fn is_run_of(cluster: &ClusterIdentity, run: &str) -> bool {
    source_digest(run).is_some_and(|source| source == hex_digest(&cluster.uid, SOURCE_BYTES))
}

/// Returns the digest of the source in a run id; none for marks of saves and restores.
pub(crate) fn source_digest(run: &str) -> Option<&str> {
    let (_, source) = run.split_once('-')?;
    let is_digest = source.len() == 2 * SOURCE_BYTES && source.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then_some(source).filter(|_| !is_save_mark(run))
}

/// Returns a unique id that is short enough for a file name and for reading aloud. Its end names the source, because
/// copies on a target carry no other trace of the source.
fn run_id(now: Timestamp, source: &ClusterIdentity, holder: &JournalHolder) -> String {
    let of = format!("{} {} {} {}", now.as_nanosecond(), source.uid, holder.host, holder.process);
    format!("{}-{}", hex_digest(&of, 6), hex_digest(&source.uid, SOURCE_BYTES))
}

fn hex_digest(of: &str, bytes: usize) -> String {
    let digest = Sha256::digest(of);
    let number = digest.iter().take(bytes).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    format!("{number:0width$x}", width = 2 * bytes)
}

impl fmt::Display for MoveSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "source",
            Self::Target => "target",
        })
    }
}

impl fmt::Debug for JournalStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalKeeper").field("holder", &self.holder).finish_non_exhaustive()
    }
}
