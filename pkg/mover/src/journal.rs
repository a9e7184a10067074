//! How far a move is, kept where it survives the machine that runs it: on both clusters, and on disk for the user.
//!
//! ```text
//! on a cluster   ConfigMap capstan-move beside the core provider   journal  JSON, gzipped when large
//!                                                                  report   gzipped, once the move is finished
//! which holds    standing(source, target)                          pure
//! writing        HeldJournal: take, update, finish; under the leases of both clusters
//! ```
//!
//! **Writes.** The leases of both clusters keep other runs away. Every write names the revision it replaces, and a copy that
//! is gone or has changed stops the run. The target's is written after it, but for the end (`Finished`, `Aborted`), which the target learns first:
//! the source may be thrown away as soon as it says so. What a phase allows is done only once both copies say so.
//!
//! **Kills.** So each copy alone is safe to go on from, and together they say:
//!
//! | cut off between the writes of        | source          | target            | what holds
//! |--------------------------------------|-----------------|-------------------|-----------
//! | a new move                           | new             | none, or finished | the source's: nothing was done yet
//! | a phase, or whom it is held by       | newer sign      | older sign        | the source's; nothing of the new phase was done
//! | `Finished`, `Aborted`                | unfinished      | ended             | the unfinished: its last phase is gone through again
//! | (one deleted by hand)                | there or not    | there or not      | the other; it is written anew on both
//! | (both deleted by hand)               | none            | none              | none: a move begins anew, known by its marks
//!
//! A copy of another move that has ended counts as none.

mod copy;
mod held;
mod remaining;
mod report;
mod sides;
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
use workload::Choice;

use crate::{ClusterChoice, MoveRequest, mark::is_mark_of_save};

pub use copy::NAME as JOURNAL_NAME;
pub(crate) use held::HeldJournal;
pub(crate) use remaining::RemainingJournal;
pub use report::{MoveReport, move_report};
use sides::Sides;

/// So many bytes of a digest name the source in the id of a run.
const SOURCE_BYTES: usize = 4;

/// How far a move is, as both clusters and the disk keep it. Holds names and uids, no content.
///
/// On a cluster: ConfigMap `capstan-move` in the namespace of the core provider, key `journal`, JSON; key `report` (binary)
/// the gzipped report of every object once there is one, when it fits.
/// One move at a time out of a cluster and into it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MoveJournal {
    /// [`MoveJournal::FORMAT`]; another number is of another release.
    pub format: u32,
    /// Which move: the value of the mark on what it paused.
    pub run: String,
    /// When it began, RFC 3339.
    pub begun: String,
    /// From where.
    pub source: ClusterIdentity,
    /// To where.
    pub target: ClusterIdentity,
    /// Out of these namespaces.
    pub namespaces: BTreeSet<String>,
    /// These Clusters by `namespace/name`; all when none.
    #[serde(default)]
    pub clusters: Option<BTreeSet<String>>,
    /// The selector they were chosen by, as asked.
    #[serde(default)]
    pub selector: Option<String>,
    /// From which namespace to which, as asked.
    #[serde(default)]
    pub namespace_map: BTreeMap<String, String>,
    /// How far it is.
    pub phase: MovePhase,
    /// Clusters and ClusterClasses, and how they are to be in the end.
    #[serde(default)]
    pub paused: Vec<PausedObject>,
    /// What moves and was on the target before, by its key there: an abort leaves it. Written together with
    /// [`MovePhase::Creating`].
    #[serde(default)]
    pub existed: Vec<ObjectKey>,
    /// Namespaces that were made on the target; written before they are made.
    #[serde(default)]
    pub made_namespaces: Vec<String>,
    /// Objects that move, counted when it began to create: none while nothing was created.
    #[serde(default)]
    pub objects: usize,
    /// Who works on it.
    pub holder: Holder,
}

/// A Cluster or a ClusterClass that has to rest during the move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PausedObject {
    /// Which one, on the source.
    pub object: ObjectKey,
    /// Whether the user had paused it: it stays so, here and there.
    pub was_paused: bool,
    /// Whether it stays on the source as well.
    pub is_kept: bool,
}

/// The run that wrote a journal last. The lease of the cluster says whether it still works.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The machine, by name.
    pub host: String,
    /// The process on it, unique also across restarts of the machine. It works on one move at a time.
    pub process: String,
    /// Counts every write up: the newer of two copies is the one with the higher sign.
    pub sign: u64,
}

/// Which end of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MoveSide {
    /// Where objects are.
    Source,
    /// Where they go.
    Target,
}

/// Keeps something on disk.
pub type JournalStore<T> = Arc<dyn Fn(&T) -> io::Result<()> + Send + Sync>;

/// What the caller does for a journal: it knows the machine and the disk.
#[derive(Clone)]
pub struct JournalKeeper {
    /// This process.
    pub holder: Holder,
    /// Whether the process of a holder is known to be gone (same machine, and no such process); else unknown.
    pub is_gone: Arc<dyn Fn(&Holder) -> bool + Send + Sync>,
    /// Keeps a journal on disk; an error stops the move only before its first write.
    pub store: JournalStore<MoveJournal>,
    /// Keeps the report of a finished move on disk.
    pub store_report: JournalStore<MoveReport>,
}

/// A journal that cannot be read, kept or taken over.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A move that was begun has another scope or other ends.
    #[error("an unfinished move stands in the way: {what}")]
    Another {
        /// What is another, in words.
        what: String,
        /// The end of the unfinished move that is another cluster.
        other_end: Option<MoveSide>,
        /// The journal.
        journal: Box<MoveJournal>,
    },
    /// What is on the cluster says of itself that it is a journal, and cannot be used.
    #[error("the journal on the {side} cluster, ConfigMap {place}, cannot be used: {problem}")]
    Unusable {
        /// Where.
        side: MoveSide,
        /// `namespace/name` of the ConfigMap.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// It is kept beside the core provider, and which one that is cannot be told.
    #[error("cannot find out where the journal on the {side} cluster is kept")]
    Place {
        /// Where.
        side: MoveSide,
        /// Why.
        #[source]
        source: Box<InventoryError>,
    },
    /// It cannot be read or written.
    #[error("cannot keep a journal on the {side} cluster")]
    NotKept {
        /// Where.
        side: MoveSide,
        /// Why.
        #[source]
        source: Box<ApiError>,
    },
    /// It cannot be kept on disk.
    #[error("cannot keep a journal on disk")]
    Disk(#[source] io::Error),
    /// The journal was written or deleted by somebody else while this run worked.
    #[error("the journal of this move was changed or deleted by another run")]
    TakenOver,
}

impl Holder {
    /// Whether this is the same process.
    fn is_process_of(&self, other: &Self) -> bool {
        self.host == other.host && self.process == other.process
    }
}

/// The journal that holds, of those on the clusters, whatever its phase. None when there is none.
/// # Errors
/// `Unusable`, and `Place` or `NotKept` when a server does not answer.
pub async fn move_state(
    source: Option<&ManagementCluster>,
    target: Option<&ManagementCluster>,
) -> Result<Option<MoveJournal>, JournalError> {
    let read = |cluster: Option<&ManagementCluster>, side| {
        let cluster = cluster.cloned();
        async move {
            match cluster {
                Some(cluster) => Ok(copy::Copy::read(&cluster, side).await?.journal),
                None => Ok(None),
            }
        }
    };
    let (source, target) = try_join!(read(source, MoveSide::Source), read(target, MoveSide::Target))?;
    Ok(sides::standing(source.as_ref(), target.as_ref()).cloned())
}

/// The unfinished move whose journal is on a cluster of this inventory. One request.
/// # Errors
/// `Unusable`, and `NotKept` when the server does not answer.
pub async fn unfinished_move(
    cluster: &ManagementCluster,
    inventory: &ProviderInventory,
) -> Result<Option<MoveJournal>, JournalError> {
    // Which side it is of, the journal says itself.
    let copy = copy::Copy::read_beside(cluster, MoveSide::Source, inventory).await?;
    Ok(copy.journal.filter(MoveJournal::is_unfinished))
}

impl MoveJournal {
    /// The layout this binary writes and reads.
    pub const FORMAT: u32 = 1;

    /// A move that begins: nothing is paused yet. The Clusters are those that were chosen, by `namespace/name`; none for
    /// all.
    pub(crate) fn begin(
        source: ClusterIdentity,
        target: ClusterIdentity,
        request: &MoveRequest,
        clusters: Option<BTreeSet<String>>,
        keeper: &JournalKeeper,
    ) -> Self {
        let selector = match &request.clusters {
            ClusterChoice::Labelled(selector) => Some(selector.clone()),
            ClusterChoice::All | ClusterChoice::Named(_) => None,
        };
        let now = Timestamp::now();
        Self {
            format: Self::FORMAT,
            run: run_id(now, &source, &keeper.holder),
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
            objects: 0,
            holder: Holder { sign: 0, ..keeper.holder.clone() },
        }
    }

    /// Whether a request is to do what this journal is about.
    /// # Errors
    /// `Another`, with what is another.
    pub(crate) fn check(
        &self,
        source: &ClusterIdentity,
        target: &ClusterIdentity,
        request: &MoveRequest,
    ) -> Result<(), JournalError> {
        self.check_ends(source, target)?;
        if self.phase == MovePhase::Aborting {
            return Err(self.in_the_way("it is being undone"));
        }
        let chosen = match &request.clusters {
            ClusterChoice::All => self.clusters.is_none(),
            ClusterChoice::Labelled(selector) => self.selector.as_ref() == Some(selector),
            ClusterChoice::Named(names) => self.selector.is_none() && self.is_of(names),
        };
        self.check_scope(&request.namespaces, &request.namespace_map, chosen)
    }

    /// Whether it goes from one cluster to the other.
    /// # Errors
    /// `Another`, with the ends it has.
    pub(crate) fn check_ends(
        &self,
        source: &ClusterIdentity,
        target: &ClusterIdentity,
    ) -> Result<(), JournalError> {
        self.check_end(MoveSide::Source, source)?;
        self.check_end(MoveSide::Target, target)
    }

    /// Checks that a cluster is this end of the move.
    /// # Errors
    /// `Another`, with the end it has.
    fn check_end(&self, side: MoveSide, cluster: &ClusterIdentity) -> Result<(), JournalError> {
        let (end, way) = match side {
            MoveSide::Source => (&self.source, "comes from"),
            MoveSide::Target => (&self.target, "goes to"),
        };
        if end.uid == cluster.uid {
            return Ok(());
        }
        let what = format!("it {way} `{}`", end.address);
        Err(JournalError::Another { what, other_end: Some(side), journal: Box::new(self.clone()) })
    }

    /// Whether a run that has prepared another journal may go on with this one instead.
    fn check_same(&self, other: &Self) -> Result<(), JournalError> {
        self.check_ends(&other.source, &other.target)?;
        if self.phase == MovePhase::Aborting && other.phase != MovePhase::Aborting {
            return Err(self.in_the_way("it is being undone"));
        }
        // What was deleted on the source already is not found there when Clusters are chosen again.
        let chosen = self.selector == other.selector
            && match (&self.clusters, &other.clusters) {
                (Some(begun), Some(asked)) => asked.is_subset(begun),
                (begun, asked) => begun.is_none() && asked.is_none(),
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
            return Err(self.in_the_way(&format!("it is out of {}", listed(&self.namespaces))));
        }
        if !same_clusters {
            return Err(self.in_the_way(&match (&self.selector, &self.clusters) {
                (Some(selector), _) => format!("its Clusters are those with `{selector}`"),
                (None, Some(clusters)) => format!("its Clusters are {}", listed(clusters)),
                (None, None) => "it is of all Clusters".to_owned(),
            }));
        }
        if self.namespace_map != *map {
            let pairs: BTreeSet<_> =
                self.namespace_map.iter().map(|(from, to)| format!("{from}={to}")).collect();
            let pairs = if pairs.is_empty() { "none".to_owned() } else { listed(&pairs) };
            return Err(self.in_the_way(&format!("its namespaces are mapped by {pairs}")));
        }
        Ok(())
    }

    /// Whether it is of the Clusters of these names, `name` or `namespace/name`, and of no others.
    fn is_of(&self, names: &BTreeSet<String>) -> bool {
        let Some(clusters) = &self.clusters else { return false };
        let is = |cluster: &str, name: &str| {
            cluster == name || cluster.split_once('/').is_some_and(|(_, alone)| alone == name)
        };
        names.iter().all(|name| clusters.iter().any(|cluster| is(cluster, name)))
            && clusters.iter().all(|cluster| names.iter().any(|name| is(cluster, name)))
    }

    pub(super) fn in_the_way(&self, what: &str) -> JournalError {
        JournalError::Another { what: what.to_owned(), other_end: None, journal: Box::new(self.clone()) }
    }

    /// What it moves.
    pub(crate) fn choice(&self) -> Choice {
        Choice::of_places(&self.namespaces, self.clusters.as_ref())
    }

    /// Whether there is something to go on with.
    pub fn is_unfinished(&self) -> bool {
        !matches!(self.phase, MovePhase::Finished | MovePhase::Aborted)
    }

    /// True while nothing was deleted on the source.
    pub(crate) fn can_be_undone(&self) -> bool {
        !matches!(self.phase, MovePhase::Deleting | MovePhase::Resuming)
    }
}

/// True if a run moves out of a cluster, by its id.
pub(crate) fn is_source_of(cluster: &ClusterIdentity, run: &str) -> bool {
    source_of(run).is_some_and(|source| source == hex_digest(&cluster.uid, SOURCE_BYTES))
}

/// The digest of the source in the id of a run; none in marks of saves and restores.
pub(crate) fn source_of(run: &str) -> Option<&str> {
    let (_, source) = run.split_once('-')?;
    let is_digest = source.len() == 2 * SOURCE_BYTES && source.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then_some(source).filter(|_| !is_mark_of_save(run))
}

/// Short enough for the name of a file and to be read aloud; no two moves have the same. Its end names the source: copies on
/// a target carry no other trace of where they came from.
fn run_id(now: Timestamp, source: &ClusterIdentity, holder: &Holder) -> String {
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

impl fmt::Debug for JournalKeeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalKeeper").field("holder", &self.holder).finish_non_exhaustive()
    }
}
