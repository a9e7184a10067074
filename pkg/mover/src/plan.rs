//! The plan of a move. Planning reads both clusters, checks everything and writes nothing.

mod choose;
mod empty;
mod look;
mod overwrite;
mod references;
mod report;
mod restore;
mod twins;

use std::collections::{BTreeMap, BTreeSet};

use api::{Contract, output::MovePhase};
use apply::ObjectKey;
use futures::future::try_join;
use inventory::{ClusterIdentity, ContractCheck, ManagementCluster, PreflightProblem, PreflightProblems};
use workload::{
    Choice, Discovered, Facts, Going, KeptBecause, MoveDecision, NodeId, Scope, Selection, discover,
};

pub use self::restore::plan_restore;
use self::{
    choose::choose,
    empty::{nothing_to_move, nothing_to_save},
    look::Looked,
};
use crate::{
    MoveError, MoveJournal, MoveRequest, MoveSide, move_state, on_target,
    preflight::{
        Findings, Purpose, Stage, check_half_deleted, check_marks, check_objects, check_selection, unready,
    },
};

/// The plan of a move.
#[derive(Clone, Debug)]
pub struct MovePlan {
    /// The objects of the source.
    pub discovered: Discovered,
    /// The chosen Clusters by `namespace/name`; none for all.
    pub clusters: Option<BTreeSet<String>>,
    /// The treatment of objects that are being deleted.
    pub going: Going,
    /// The decision about each object of the source.
    pub selection: Selection,
    /// The moving objects in groups.
    pub groups: Vec<Vec<NodeId>>,
    /// The effect on the target for each moving object; empty without a target.
    pub on_target: BTreeMap<NodeId, OnTarget>,
    /// Namespaces that must be created on the target.
    pub new_namespaces: Vec<String>,
    /// The unfinished move that this plan resumes.
    pub unfinished: Option<MoveJournal>,
    /// A finished move between the same clusters with the same scope, if it left no object to move.
    pub finished: Option<MoveJournal>,
    /// Warnings, such as references to objects that stay, and GitOps owners.
    pub warnings: Vec<PreflightProblem>,
}

/// The effect of a move on an object of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnTarget {
    /// The object does not exist.
    Create,
    /// The object exists and gets the content of the source.
    Update,
    /// The object exists and stays unchanged, because it is cluster-scoped.
    LeaveAlone,
}

/// The contract check for both clusters: objects must be stored in the current contract.
/// Source: clusterctl v1.14 client/move.go (getClusterClient, CheckCAPIContract without options).
const CURRENT: ContractCheck = ContractCheck { accepted: &[Contract::CURRENT], is_optional: false };

/// Reads both clusters and checks everything. Writes nothing.
///
/// Without a target (a dry run like that of clusterctl, or a move to a directory), only the source is checked.
/// An unfinished move between the same clusters with the same scope is planned to its end. Its own pauses and
/// half-finished deletions are no problems then.
/// # Errors
/// `Problems` with all problems of both clusters. `SameCluster`. `Journal` if another move is unfinished, or if the
/// unfinished move has another scope or target.
pub async fn plan_move(
    source: &ManagementCluster,
    target: Option<&ManagementCluster>,
    request: &MoveRequest,
) -> Result<MovePlan, MoveError> {
    Box::pin(plan_with(source, target, request, Purpose::Leave)).await
}

/// Plans a move or a save. The purpose decides which findings are problems.
pub(super) async fn plan_with(
    source: &ManagementCluster,
    target: Option<&ManagementCluster>,
    request: &MoveRequest,
    purpose: Purpose,
) -> Result<MovePlan, MoveError> {
    let (unfinished, finished) = Box::pin(last_move(source, target, request)).await?;
    check_contracts(source, target).await?;
    let scope = Scope { namespaces: request.namespaces.clone() };
    let discovered = Box::pin(discover(source, &scope)).await;
    let discovered = discovered.map_err(|source| MoveError::discover(MoveSide::Source, source))?;
    let stage = Stage::of(unfinished.as_ref());
    let mut found = Findings::default();
    let choice = choose(source, &discovered.graph, request, stage, finished.is_some(), &mut found).await?;
    let going = match purpose {
        Purpose::Leave => Going::Selected,
        Purpose::Keep => Going::LeftOut,
    };
    let mut plan = MovePlan::of(discovered, &Choice { going, ..choice });
    plan.check_source(request, stage, purpose, &mut found);
    if let Some(target) = target {
        found.problems.extend(check_marks(&plan.moving_facts()));
        let looked = Looked { source, target, request, stage };
        Box::pin(looked.fill(&mut plan, &mut found)).await?;
    } else {
        found.add(check_half_deleted(&plan.half_deleted(|_| None)));
    }
    if purpose == Purpose::Keep && found.problems.is_empty() {
        found.problems = nothing_to_save(source, request, &plan).await;
    }
    if !found.problems.is_empty() {
        return Err(PreflightProblems { problems: found.problems }.into());
    }
    if purpose == Purpose::Leave && unfinished.is_none() && plan.moves_nothing() {
        plan.finished = finished;
        if plan.finished.is_none() {
            found.warnings.push(nothing_to_move(source, request).await);
        }
    }
    plan.warnings = found.warnings;
    plan.unfinished = unfinished;
    Ok(plan)
}

/// Returns the last move between the two clusters: an unfinished move, or a finished move with the requested scope.
/// Fails if source and target are the same cluster.
async fn last_move(
    source: &ManagementCluster,
    target: Option<&ManagementCluster>,
    request: &MoveRequest,
) -> Result<(Option<MoveJournal>, Option<MoveJournal>), MoveError> {
    let Some(target) = target else { return Ok((None, None)) };
    let (here, there) =
        try_join(identity(source, MoveSide::Source), identity(target, MoveSide::Target)).await?;
    if here.uid == there.uid {
        return Err(MoveError::SameCluster);
    }
    let Some(journal) = move_state(Some(source), Some(target)).await? else { return Ok((None, None)) };
    let fits = journal.check(&here, &there, request);
    if journal.is_unfinished() {
        fits?;
        return Ok((Some(journal), None));
    }
    let is_done = journal.phase == MovePhase::Finished && fits.is_ok();
    Ok((None, is_done.then_some(journal)))
}

pub(super) async fn identity(
    cluster: &ManagementCluster,
    side: MoveSide,
) -> Result<ClusterIdentity, MoveError> {
    cluster.identity().await.map_err(|source| MoveError::Api { side, source })
}

async fn check_contracts(
    source: &ManagementCluster,
    target: Option<&ManagementCluster>,
) -> Result<(), MoveError> {
    let check = |cluster: ManagementCluster, side| async move {
        cluster.check_contract(CURRENT).await.map_err(|source| MoveError::Contract { side, source })
    };
    let of_target = async {
        match target {
            Some(target) => check(target.clone(), MoveSide::Target).await,
            None => Ok(()),
        }
    };
    try_join(check(source.clone(), MoveSide::Source), of_target).await?;
    Ok(())
}

impl MovePlan {
    /// Returns the key of an object on the target, where its namespace may differ.
    pub fn key_on_target(&self, node: NodeId, request: &MoveRequest) -> ObjectKey {
        on_target(&self.facts(node).key, &request.namespace_map)
    }

    /// True if no object moves, apart from cluster-scoped objects that exist on the target.
    pub(super) fn moves_nothing(&self) -> bool {
        self.selection.moving().all(|node| self.on_target.get(&node) == Some(&OnTarget::LeaveAlone))
    }

    /// Returns the choice of the plan, with the known Clusters.
    pub(super) fn choice(&self, request: &MoveRequest) -> Choice {
        Choice { going: self.going, ..Choice::of_places(&request.namespaces, self.clusters.as_ref()) }
    }

    /// Applies a choice to the source. The target is not known yet.
    fn of(discovered: Discovered, choice: &Choice) -> Self {
        let selection = discovered.graph.select(choice);
        let place = |(namespace, name): &(String, String)| format!("{namespace}/{name}");
        Self {
            groups: discovered.graph.groups(&selection),
            clusters: choice.clusters.as_ref().map(|clusters| clusters.iter().map(place).collect()),
            going: choice.going,
            discovered,
            selection,
            on_target: BTreeMap::new(),
            new_namespaces: Vec::new(),
            unfinished: None,
            finished: None,
            warnings: Vec::new(),
        }
    }

    /// Returns the facts of an object.
    pub(crate) fn facts(&self, node: NodeId) -> &Facts {
        &self.discovered.graph.node(node).facts
    }

    /// True if an existing target object stays unchanged.
    pub(crate) fn is_global(&self, node: NodeId) -> bool {
        matches!(self.selection.fate(node), MoveDecision::Moves { kept: Some(KeptBecause::Global), .. })
    }

    /// True if Clusters that stay use an object that moves.
    pub(crate) fn is_still_used(&self, node: NodeId) -> bool {
        matches!(self.selection.fate(node), MoveDecision::Moves { kept: Some(KeptBecause::StillUsed), .. })
    }

    /// True if an object moves and is deleted on the source.
    pub(crate) fn leaves(&self, node: NodeId) -> bool {
        matches!(self.selection.fate(node), MoveDecision::Moves { kept: None, .. })
    }

    /// Names the moving objects that are not ready, in words: a Cluster without infrastructure, a Machine without a
    /// node.
    pub fn unready(&self) -> Vec<String> {
        unready(&self.moving_facts()).into_iter().map(|problem| problem.text).collect()
    }

    fn moving_facts(&self) -> Vec<&Facts> {
        self.selection.moving().map(|node| self.facts(node)).collect()
    }

    fn check_source(&self, request: &MoveRequest, stage: Stage<'_>, purpose: Purpose, found: &mut Findings) {
        let moving = self.moving_facts();
        found.add(check_objects(&moving, stage, purpose));
        found.add(check_selection(&self.discovered.graph, &self.selection));
        if matches!(stage, Stage::New) {
            found.problems.extend(choose::check_status_kinds(&moving, &request.include_status));
        }
    }

    /// Returns the moving objects that are marked for deletion, each with its presence on the target.
    fn half_deleted(&self, is_there: impl Fn(NodeId) -> Option<bool>) -> Vec<(&Facts, Option<bool>)> {
        let moving = self.selection.moving().filter(|node| self.facts(*node).is_deleted_for_move);
        moving.map(|node| (self.facts(node), is_there(node))).collect()
    }
}

#[cfg(test)]
mod tests;
