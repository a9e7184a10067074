//! Moves that are interrupted in every phase of their journal.

use api::output::MovePhase;
use inventory::ManagementCluster;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use support::{kind, scripted_connection::OutgoingRequest};

use serde_json::Value;

use crate::testing::move_world::{StartedWorld, State, World, keeper, move_lab, request, state};
use crate::{
    JournalStore, MoveError, MoveJournal, MoveRoute, abort_move, execute_move, plan_move, testing::Lab,
};

const PATIENCE: Duration = Duration::from_mins(10);

/// The writes at which runs are interrupted, counted from the start of a phase. The first two write the journal on one
/// cluster and on the other.
pub(super) const POINTS: [(MovePhase, &[u64]); 8] = [
    (MovePhase::Pausing, &[2, 5]),
    (MovePhase::Creating, &[1, 20]),
    (MovePhase::Verifying, &[2]),
    (MovePhase::Deleting, &[1, 2, 12]),
    (MovePhase::Resuming, &[1, 4]),
    (MovePhase::Finished, &[1, 2]),
    (MovePhase::Aborting, &[2, 12]),
    (MovePhase::Aborted, &[1]),
];

/// A write of a run, counted from the start of a phase.
#[derive(Clone)]
pub(super) struct InterruptionPoint {
    pub(super) phase: MovePhase,
    write: u64,
    has_started: Arc<AtomicBool>,
    writes: Arc<AtomicU64>,
}

impl InterruptionPoint {
    pub(super) fn all() -> impl Iterator<Item = Self> {
        POINTS
            .into_iter()
            .flat_map(|(phase, writes)| writes.iter().map(move |write| Self::new(phase, *write)))
    }

    pub(super) fn new(phase: MovePhase, write: u64) -> Self {
        Self { phase, write, has_started: Arc::default(), writes: Arc::default() }
    }

    pub(super) fn is_of_abort(&self) -> bool {
        self.phase >= MovePhase::Aborting
    }

    /// Returns the keeper of a process that notices the start of the phase.
    pub(super) fn keeper(&self, process: &str) -> JournalStore {
        let this = self.clone();
        let store = move |journal: &MoveJournal| {
            this.has_started.fetch_or(journal.phase == this.phase, Ordering::Relaxed);
            Ok(())
        };
        JournalStore { write_journal: Arc::new(store), ..keeper(process) }
    }

    pub(super) fn is_reached(&self, request: &OutgoingRequest<'_>) -> bool {
        let counts =
            self.has_started.load(Ordering::Relaxed) && request.is_write() && !request.is_lease_request();
        counts && self.writes.fetch_add(1, Ordering::Relaxed) + 1 == self.write
    }

    /// Interrupts a move at this point, or the abort of a move in phase `Creating`.
    pub(super) async fn interrupt(&self, world: &World) -> StartedWorld {
        let started = self.before(world).await;
        let point = self.clone();
        let lines = started.lab.breaking_at(move |request| point.is_reached(request));
        let (source, target) = (lines.source().await, lines.target().await);
        let ended = lines.until_broken(Box::pin(self.run(&source, &target, "1"))).await;
        assert!(ended.is_none(), "{self:?}: it ended: {ended:?}");
        futures::join!(started.lab.source.wait_until_idle(), started.lab.target.wait_until_idle());
        started
    }

    /// Returns the world before the interrupted run.
    pub(super) async fn before(&self, world: &World) -> StartedWorld {
        if self.is_of_abort() {
            return Box::pin(Self::new(MovePhase::Creating, 20).interrupt(world)).await;
        }
        world.start().await
    }

    /// Runs the move or abort that is interrupted at this point.
    pub(super) async fn run(
        &self,
        source: &ManagementCluster,
        target: &ManagementCluster,
        process: &str,
    ) -> Result<(), MoveError> {
        let keeper = self.keeper(process);
        if self.is_of_abort() {
            return Box::pin(abort_move(MoveRoute { source, target }, PATIENCE, &keeper)).await.map(drop);
        }
        move_with(source, target, &keeper).await
    }
}

impl std::fmt::Debug for InterruptionPoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "write {} of {:?}", self.write, self.phase)
    }
}

/// Runs a move that may have nothing left to do.
pub(super) async fn move_with(
    source: &ManagementCluster,
    target: &ManagementCluster,
    keeper: &JournalStore,
) -> Result<(), MoveError> {
    let request = request();
    let plan = Box::pin(plan_move(source, Some(target), &request)).await?;
    Box::pin(execute_move(MoveRoute { source, target }, &request, plan, keeper)).await.map(drop)
}

/// Runs the same command again, without interruptions.
pub(super) async fn move_again(lab: &Lab) -> Result<(), MoveError> {
    let lines = lab.lines();
    move_with(&lines.source().await, &lines.target().await, &keeper("2")).await
}

pub(super) async fn abort(lab: &Lab) -> Result<(), MoveError> {
    let lines = lab.lines();
    let (source, target, keeper) = (lines.source().await, lines.target().await, keeper("2"));
    Box::pin(abort_move(MoveRoute { source: &source, target: &target }, PATIENCE, &keeper)).await.map(drop)
}

/// Returns the states before and after a move.
pub(super) async fn before_and_after(world: &World) -> [State; 2] {
    let started = world.start().await;
    let before = state(&started.lab).await;
    move_lab(&started.lab, &request(), "1").await.unwrap();
    [before, state(&started.lab).await]
}

/// Fails if a Cluster of the namespace runs on both clusters.
pub(super) async fn assert_no_twins(lab: &Lab, when: &str) {
    let at_work = |clusters: Vec<Value>| -> Vec<String> {
        let of_team = clusters.iter().filter(|cluster| cluster["metadata"]["namespace"] == "team");
        let at_work = of_team.filter(|cluster| cluster["spec"]["paused"] != true);
        at_work.map(|cluster| cluster["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    };
    let [here, there] =
        [at_work(lab.source.list(kind::CLUSTER).await), at_work(lab.target.list(kind::CLUSTER).await)];
    let twins: Vec<&String> = here.iter().filter(|name| there.contains(name)).collect();
    assert!(twins.is_empty(), "{when}: at work on both sides: {twins:?}");
}

const JOURNAL: &str = "cluster-api-system/capstan-move";

pub(super) async fn delete_journals(lab: &Lab) {
    for side in [&lab.source, &lab.target] {
        if side.get(kind::CONFIG_MAP, JOURNAL).await.is_some() {
            side.delete(kind::CONFIG_MAP, JOURNAL).await;
        }
    }
}
