//! The plan of a move. Planning reads both clusters, checks everything and writes nothing.

mod cluster_choice;
mod duplicate_clusters;
mod empty_selection;
mod overwrite;
mod references;
mod report;
mod restore;
mod target_planner;

use std::collections::{BTreeMap, BTreeSet};

use api::{Contract, output::MovePhase};
use apply::{ApiKind, ObjectKey};
use futures::future::try_join;
use inventory::{ClusterIdentity, ContractCheck, ManagementCluster, PreflightProblem, PreflightProblems};
use workload::{
    Discovery, KeepReason, MoveChoice, MoveDecision, NodeId, ObjectFacts, Scope, Selection,
    TerminatingPolicy, discover,
};

pub use self::restore::plan_restore;
use self::{
    cluster_choice::choose_clusters,
    empty_selection::{nothing_to_move, nothing_to_save},
    target_planner::TargetPlanner,
};
use crate::{
    MoveError, MoveJournal, MoveRequest, MoveSide, find_move_journal,
    preflight::{
        Findings, Purpose, Stage, check_marked_for_deletion, check_marks, check_objects, check_selection,
        unready_problems,
    },
    target_key,
};

/// The plan of a move.
#[derive(Clone, Debug)]
pub struct MovePlan {
    /// The objects of the source.
    pub discovered: Discovery,
    /// The chosen Clusters by `namespace/name`; none for all.
    pub clusters: Option<BTreeSet<String>>,
    /// The treatment of objects that are being deleted.
    pub terminating: TerminatingPolicy,
    /// The decision about each object of the source.
    pub selection: Selection,
    /// The moving objects in groups.
    pub groups: Vec<Vec<NodeId>>,
    /// The effect on the target for each moving object; empty without a target.
    pub target_effects: BTreeMap<NodeId, TargetEffect>,
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
pub enum TargetEffect {
    /// The object does not exist.
    Create,
    /// The object exists and gets the content of the source.
    Update,
    /// The object exists and stays unchanged, because it is cluster-scoped.
    LeaveAlone,
}

/// The contract check for both clusters: objects must be stored in the current contract.
/// Source: clusterctl v1.14 client/move.go (getClusterClient, CheckCAPIContract without options).
const CONTRACT_CHECK: ContractCheck = ContractCheck { accepted: &[Contract::CURRENT], is_optional: false };

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
    Box::pin(plan_with(source, target, request, Purpose::Move)).await
}

/// Plans a move or a save. The purpose decides which findings are problems.
pub(super) async fn plan_with(
    source: &ManagementCluster,
    target: Option<&ManagementCluster>,
    request: &MoveRequest,
    purpose: Purpose,
) -> Result<MovePlan, MoveError> {
    let (unfinished, finished) = Box::pin(find_last_move(source, target, request)).await?;
    check_contracts(source, target).await?;
    let scope = Scope { namespaces: request.namespaces.clone() };
    let discovered = Box::pin(discover(source, &scope)).await;
    let discovered = discovered.map_err(|source| MoveError::discover(MoveSide::Source, source))?;
    let stage = Stage::of(unfinished.as_ref());
    let mut findings = Findings::default();
    let choice =
        choose_clusters(source, &discovered.graph, request, stage, finished.is_some(), &mut findings).await?;
    let terminating = match purpose {
        Purpose::Move => TerminatingPolicy::Include,
        Purpose::Backup => TerminatingPolicy::Exclude,
    };
    let mut plan = MovePlan::new(discovered, &MoveChoice { terminating, ..choice });
    plan.check_source(request, stage, purpose, &mut findings);
    if let Some(target) = target {
        findings.problems.extend(check_marks(&plan.moving_facts()));
        let looked = TargetPlanner { source, target, request, stage };
        Box::pin(looked.plan_target(&mut plan, &mut findings)).await?;
    } else {
        findings.add(check_marked_for_deletion(&plan.marked_for_deletion(|_| None)));
    }
    if purpose == Purpose::Backup && findings.problems.is_empty() {
        findings.problems = nothing_to_save(source, request, &plan).await;
    }
    if !findings.problems.is_empty() {
        return Err(PreflightProblems { problems: findings.problems }.into());
    }
    if purpose == Purpose::Move && unfinished.is_none() && plan.has_nothing_to_move() {
        plan.finished = finished;
        if plan.finished.is_none() {
            findings.warnings.push(nothing_to_move(source, request).await);
        }
    }
    plan.warnings = findings.warnings;
    plan.unfinished = unfinished;
    Ok(plan)
}

/// Returns the last move between the two clusters: an unfinished move, or a finished move with the requested scope.
/// Fails if source and target are the same cluster.
async fn find_last_move(
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
    let Some(journal) = find_move_journal(Some(source), Some(target)).await? else { return Ok((None, None)) };
    let fits = journal.check_request(&here, &there, request);
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
        cluster.check_contract(CONTRACT_CHECK).await.map_err(|source| MoveError::Contract { side, source })
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
        target_key(&self.facts(node).key, &request.namespace_map)
    }

    /// Returns the kinds of the moving objects on the source, one for each object.
    pub(super) fn moving_kinds(&self) -> impl Iterator<Item = &ApiKind> {
        self.selection.moving().map(|node| &self.facts(node).object_type.kind)
    }

    /// True if no object moves, apart from cluster-scoped objects that exist on the target.
    pub(super) fn has_nothing_to_move(&self) -> bool {
        self.selection.moving().all(|node| self.target_effects.get(&node) == Some(&TargetEffect::LeaveAlone))
    }

    /// Returns the choice of the plan, with the known Clusters.
    pub(super) fn choice(&self, request: &MoveRequest) -> MoveChoice {
        MoveChoice {
            terminating: self.terminating,
            ..MoveChoice::from_names(&request.namespaces, self.clusters.as_ref())
        }
    }

    /// Applies a choice to the source. The target is not known yet.
    fn new(discovered: Discovery, choice: &MoveChoice) -> Self {
        let selection = discovered.graph.select(choice);
        let place = |(namespace, name): &(String, String)| format!("{namespace}/{name}");
        Self {
            groups: discovered.graph.groups(&selection),
            clusters: choice.clusters.as_ref().map(|clusters| clusters.iter().map(place).collect()),
            terminating: choice.terminating,
            discovered,
            selection,
            target_effects: BTreeMap::new(),
            new_namespaces: Vec::new(),
            unfinished: None,
            finished: None,
            warnings: Vec::new(),
        }
    }

    /// Returns the facts of an object.
    pub(crate) fn facts(&self, node: NodeId) -> &ObjectFacts {
        &self.discovered.graph.node(node).facts
    }

    /// True if an existing target object stays unchanged.
    pub(crate) fn is_cluster_scoped(&self, node: NodeId) -> bool {
        matches!(
            self.selection.decision(node),
            MoveDecision::Moves { kept: Some(KeepReason::ClusterScoped), .. }
        )
    }

    /// True if Clusters that stay use an object that moves.
    pub(crate) fn is_still_used(&self, node: NodeId) -> bool {
        matches!(self.selection.decision(node), MoveDecision::Moves { kept: Some(KeepReason::StillUsed), .. })
    }

    /// True if an object moves and is deleted on the source.
    pub(crate) fn leaves_source(&self, node: NodeId) -> bool {
        matches!(self.selection.decision(node), MoveDecision::Moves { kept: None, .. })
    }

    /// Names the moving objects that are not ready, in words: a Cluster without infrastructure, a Machine without a
    /// node.
    pub fn unready(&self) -> Vec<String> {
        unready_problems(&self.moving_facts()).into_iter().map(|problem| problem.text).collect()
    }

    fn moving_facts(&self) -> Vec<&ObjectFacts> {
        self.selection.moving().map(|node| self.facts(node)).collect()
    }

    fn check_source(
        &self,
        request: &MoveRequest,
        stage: Stage<'_>,
        purpose: Purpose,
        findings: &mut Findings,
    ) {
        let moving = self.moving_facts();
        findings.add(check_objects(&moving, stage, purpose));
        findings.add(check_selection(&self.discovered.graph, &self.selection));
        if matches!(stage, Stage::New) {
            findings.problems.extend(cluster_choice::check_status_kinds(&moving, &request.include_status));
        }
    }

    /// Returns the moving objects that are marked for deletion, each with its presence on the target.
    fn marked_for_deletion(
        &self,
        is_there: impl Fn(NodeId) -> Option<bool>,
    ) -> Vec<(&ObjectFacts, Option<bool>)> {
        let moving = self.selection.moving().filter(|node| self.facts(*node).is_deleted_for_move);
        moving.map(|node| (self.facts(node), is_there(node))).collect()
    }
}

#[cfg(test)]
mod tests;
