//! Checks of moving objects on the source.

use std::collections::BTreeMap;

use apply::ObjectKey;
use inventory::PreflightProblem;
use workload::{Content, Facts, Replicas};

use super::{Findings, Purpose, Stage, listed, problem, remark};
use crate::mark::{RESTORE, is_mark_of_save};

/// Checks that objects are provisioned, initialized, have nodes, and are not being deleted. Warns about roll-outs,
/// blocked objects, GitOps tools, and pauses by the user.
/// Source: clusterctl v1.14 client/cluster/mover.go (checkProvisioningCompleted), which has the same conditions.
/// Differs: all problems are reported at once, and objects in deletion are refused. Objects that the user paused may
/// move and stay paused.
pub(crate) fn check_objects(moving: &[&Facts], stage: Stage<'_>, purpose: Purpose) -> Findings {
    let those = |is: &dyn Fn(&Facts) -> bool| -> Vec<&ObjectKey> {
        moving.iter().filter(|facts| is(facts)).map(|facts| &facts.key).collect()
    };
    let mut found = Findings::default();
    if !matches!(stage, Stage::Deleting(_)) {
        let unready = unready(moving);
        match purpose {
            Purpose::Leave => found.problems.extend(unready),
            Purpose::Keep => found.warnings.extend(unready.into_iter().map(|problem| remark(problem.text))),
        }
        found.problems.extend(going(&those));
        found.warnings.extend(restless(&those));
    }
    found.warnings.extend(paused(&those, stage));
    found.warnings.extend(gitops(moving));
    found
}

type Those<'a, 'f> = &'a dyn Fn(&dyn Fn(&Facts) -> bool) -> Vec<&'f ObjectKey>;

/// Returns the problems of objects that are not ready, with hints.
pub(crate) fn unready(moving: &[&Facts]) -> Vec<PreflightProblem> {
    let rules = [
        ("the infrastructure is not provisioned yet", lacks_infrastructure as fn(&Content) -> bool),
        ("the control plane is not initialized yet", lacks_control_plane),
        ("there is no node yet", lacks_node),
    ];
    let told = |(reason, is): (&str, fn(&Content) -> bool)| {
        let found: Vec<&Facts> = moving.iter().copied().filter(|facts| is(&facts.content)).collect();
        let keys = listed(found.iter().map(|facts| &facts.key));
        (!found.is_empty()).then(|| problem(format!("{reason}: {keys}"), look(&found)))
    };
    rules.into_iter().filter_map(told).collect()
}

/// Returns a hint to describe the Cluster of the first object. If the object names no Cluster, the hint has
/// placeholders.
fn look(found: &[&Facts]) -> String {
    let of_first = found.first().and_then(|facts| {
        let cluster = match facts.content {
            Content::Cluster(_) => Some(&facts.key.name),
            _ => facts.cluster_name.as_ref(),
        };
        Some(format!("{} -n {}", cluster?, facts.key.namespace))
    });
    let cluster = of_first.unwrap_or_else(|| "NAME -n NAMESPACE".to_owned());
    format!("`capstan describe cluster {cluster}` shows how far it is; move when it is ready")
}

fn lacks_infrastructure(of: &Content) -> bool {
    matches!(of, Content::Cluster(cluster) if !cluster.infrastructure_provisioned)
}

fn lacks_control_plane(of: &Content) -> bool {
    matches!(of, Content::Cluster(cluster) if !cluster.control_plane_initialized)
}

fn lacks_node(of: &Content) -> bool {
    matches!(of, Content::Machine { has_node: false })
}

/// Returns a problem for objects that are being deleted.
fn going(those: Those<'_, '_>) -> Option<PreflightProblem> {
    let hint = "wait until they are gone, or see which finalizer holds them; on the target they would come to life again";
    let keys = those(&|facts| facts.is_just_going());
    (!keys.is_empty()).then(|| problem(format!("being deleted: {}", listed(keys)), hint))
}

/// Warns about roll-outs, and about objects that block the move.
fn restless(those: Those<'_, '_>) -> Vec<PreflightProblem> {
    let rolling =
        those(&|facts| matches!(&facts.content, Content::Replicas(replicas) if is_rolling(*replicas)));
    let holding = those(&|facts| facts.blocks_move);
    let mut told = Vec::new();
    if !rolling.is_empty() {
        told.push(problem(
            format!("a roll-out is under way, and goes on at the target: {}", listed(rolling)),
            "it is safer to move when it is over",
        ));
    }
    if !holding.is_empty() {
        told.push(remark(format!("holds the move up until its provider lets go: {}", listed(holding))));
    }
    told
}

fn is_rolling(replicas: Replicas) -> bool {
    let Replicas { desired, current, up_to_date, is_observed } = replicas;
    !is_observed || current != desired || up_to_date.is_some_and(|up_to_date| up_to_date != desired)
}

fn paused(those: Those<'_, '_>, stage: Stage<'_>) -> Vec<PreflightProblem> {
    let by_user = those(&|facts| facts.is_paused && facts.paused_by.is_none());
    let is_of_save = |facts: &Facts| facts.paused_by.as_deref().is_some_and(is_mark_of_save);
    let by_save = those(&is_of_save);
    let by_another = those(&|facts| {
        facts.paused_by.is_some() && facts.paused_by.as_deref() != stage.run() && !is_of_save(facts)
    });
    let mut told = Vec::new();
    if !by_user.is_empty() {
        told.push(remark(format!("paused already, and stays so on the target: {}", listed(by_user))));
    }
    if !by_save.is_empty() {
        told.push(remark(format!("paused by a save, and resumed in the end: {}", listed(by_save))));
    }
    if !by_another.is_empty() {
        told.push(remark(format!(
            "paused by a move of which there is no journal any more, and resumed in the end: {}",
            listed(by_another)
        )));
    }
    told
}

/// Warns about GitOps tools that create deleted objects again.
fn gitops(moving: &[&Facts]) -> Vec<PreflightProblem> {
    let mut by_tool: BTreeMap<&str, Vec<&ObjectKey>> = BTreeMap::new();
    for facts in moving {
        if let Some(tool) = facts.gitops {
            by_tool.entry(tool).or_default().push(&facts.key);
        }
    }
    let told = |(tool, keys): (&str, Vec<&ObjectKey>)| {
        problem(
            format!("{tool} would write again on the source what is moved away: {}", listed(keys)),
            format!("suspend them in {tool} first, and point it at the target afterwards"),
        )
    };
    by_tool.into_iter().map(told).collect()
}

/// Returns problems for objects that carry the mark of a save or a restore. These objects cannot move.
pub(crate) fn check_marks(moving: &[&Facts]) -> Vec<PreflightProblem> {
    let those = |is: fn(&str) -> bool| -> Vec<_> {
        let with = moving.iter().filter(|facts| facts.paused_by.as_deref().is_some_and(is));
        with.map(|facts| &facts.key).collect()
    };
    let saved = those(is_mark_of_save);
    let restored = those(|run| run == RESTORE);
    let mut told = Vec::new();
    if !saved.is_empty() {
        told.push(problem(
            format!("being saved to files: {}", listed(saved)),
            "wait until that is done; if it was cut off, the same command or `capstan move --abort --to-directory DIR` resumes them",
        ));
    }
    if !restored.is_empty() {
        told.push(problem(
            format!("being restored from files: {}", listed(restored)),
            "wait until that is done; if it was cut off, the same command goes on",
        ));
    }
    told
}

/// Checks objects that an earlier move without a journal was about to delete. Each object comes with its presence on
/// the target; none without a target.
pub(crate) fn check_half_deleted(moving: &[(&Facts, Option<bool>)]) -> Findings {
    let left = moving.iter().filter(|(facts, _)| facts.is_deleted_for_move);
    let (lost, copied): (Vec<_>, Vec<_>) = left.partition(|(_, there)| *there == Some(false));
    let keys = |objects: Vec<&(&Facts, _)>| listed(objects.into_iter().map(|(facts, _)| &facts.key));
    let mut found = Findings::default();
    if !lost.is_empty() {
        found.problems.push(problem(
            format!("half deleted by an earlier move, and not on this target: {}", keys(lost)),
            "go on with that move to its own target, or take the annotation \
             `clusterctl.cluster.x-k8s.io/delete-for-move` off objects that are to stay",
        ));
    }
    if !copied.is_empty() {
        found.warnings.push(remark(format!("half deleted by an earlier move: {}", keys(copied))));
    }
    found
}
