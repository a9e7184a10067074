//! Checks of moving objects on the source.

use std::collections::BTreeMap;

use apply::ObjectKey;
use inventory::PreflightProblem;
use workload::{ContentFacts, ObjectFacts, ReplicaCounts};

use super::{Findings, Purpose, Stage, listed, problem, remark};
use crate::mark::{RESTORE_MARK, is_save_mark};

/// Checks that objects are provisioned, initialized, have nodes, and are not being deleted. Warns about roll-outs,
/// blocked objects, GitOps tools, and pauses by the user.
/// Source: clusterctl v1.14 client/cluster/mover.go (checkProvisioningCompleted), which has the same conditions.
/// Differs: all problems are reported at once, and objects in deletion are refused. Objects that the user paused may
/// move and stay paused.
pub(crate) fn check_objects(moving: &[&ObjectFacts], stage: Stage<'_>, purpose: Purpose) -> Findings {
    let keys_where = |is: &dyn Fn(&ObjectFacts) -> bool| -> Vec<&ObjectKey> {
        moving.iter().filter(|facts| is(facts)).map(|facts| &facts.key).collect()
    };
    let mut findings = Findings::default();
    if !matches!(stage, Stage::Deleting(_)) {
        let unready = unready_problems(moving);
        match purpose {
            Purpose::Move => findings.problems.extend(unready),
            Purpose::Backup => {
                findings.warnings.extend(unready.into_iter().map(|problem| remark(problem.text)));
            }
        }
        findings.problems.extend(terminating_problem(&keys_where));
        findings.warnings.extend(activity_warnings(&keys_where, purpose));
    }
    findings.warnings.extend(pause_warnings(&keys_where, stage, purpose));
    if purpose == Purpose::Move {
        findings.warnings.extend(gitops_warnings(moving));
    }
    findings
}

type KeysWhere<'a, 'f> = &'a dyn Fn(&dyn Fn(&ObjectFacts) -> bool) -> Vec<&'f ObjectKey>;

/// Returns the problems of objects that are not ready, with hints.
pub(crate) fn unready_problems(moving: &[&ObjectFacts]) -> Vec<PreflightProblem> {
    let rules = [
        ("the infrastructure is not provisioned yet", lacks_infrastructure as fn(&ContentFacts) -> bool),
        ("the control plane is not initialized yet", lacks_control_plane),
        ("Machines have no node yet", lacks_node),
    ];
    let reported = |(reason, is): (&str, fn(&ContentFacts) -> bool)| {
        let found: Vec<&ObjectFacts> = moving.iter().copied().filter(|facts| is(&facts.content)).collect();
        let keys = listed(found.iter().map(|facts| &facts.key));
        (!found.is_empty()).then(|| problem(format!("{reason}: {keys}"), describe_hint(&found)))
    };
    rules.into_iter().filter_map(reported).collect()
}

/// Returns a hint to describe the Cluster of the first object. If the object names no Cluster, the hint has
/// placeholders.
fn describe_hint(found: &[&ObjectFacts]) -> String {
    let of_first = found.first().and_then(|facts| {
        let cluster = match facts.content {
            ContentFacts::Cluster(_) => Some(&facts.key.name),
            _ => facts.cluster_name.as_ref(),
        };
        Some(format!("{} -n {}", cluster?, facts.key.namespace))
    });
    let cluster = of_first.unwrap_or_else(|| "NAME -n NAMESPACE".to_owned());
    format!("check its progress with `capstan describe cluster {cluster}`, and move when it is ready")
}

fn lacks_infrastructure(of: &ContentFacts) -> bool {
    matches!(of, ContentFacts::Cluster(cluster) if !cluster.infrastructure_provisioned)
}

fn lacks_control_plane(of: &ContentFacts) -> bool {
    matches!(of, ContentFacts::Cluster(cluster) if !cluster.control_plane_initialized)
}

fn lacks_node(of: &ContentFacts) -> bool {
    matches!(of, ContentFacts::Machine { has_node: false })
}

/// Returns a problem for objects that are being deleted.
fn terminating_problem(keys_where: KeysWhere<'_, '_>) -> Option<PreflightProblem> {
    let hint = "wait until they are deleted, or remove the blocking finalizers; the move would create them again on the target";
    let keys = keys_where(&|facts| facts.is_terminating_outside_move());
    (!keys.is_empty()).then(|| problem(format!("objects are being deleted: {}", listed(keys)), hint))
}

/// Warns about roll-outs, and about objects that block the move.
fn activity_warnings(keys_where: KeysWhere<'_, '_>, purpose: Purpose) -> Vec<PreflightProblem> {
    let rolling = keys_where(
        &|facts| matches!(&facts.content, ContentFacts::Replicas(replicas) if is_rolling(*replicas)),
    );
    let holding = keys_where(&|facts| facts.blocks_move);
    let mut warnings = Vec::new();
    if !rolling.is_empty() {
        let rolling = listed(rolling);
        warnings.push(match purpose {
            Purpose::Move => problem(
                format!("a rollout is in progress and continues on the target: {rolling}"),
                "move after the rollout to reduce risk",
            ),
            Purpose::Backup => remark(format!("a rollout is in progress: {rolling}")),
        });
    }
    if !holding.is_empty() && purpose == Purpose::Move {
        warnings.push(remark(format!(
            "the move waits until the provider stops blocking it: {}",
            listed(holding)
        )));
    }
    warnings
}

fn is_rolling(replicas: ReplicaCounts) -> bool {
    let ReplicaCounts { desired, current, up_to_date, is_observed } = replicas;
    !is_observed || current != desired || up_to_date.is_some_and(|up_to_date| up_to_date != desired)
}

fn pause_warnings(
    keys_where: KeysWhere<'_, '_>,
    stage: Stage<'_>,
    purpose: Purpose,
) -> Vec<PreflightProblem> {
    let by_user = keys_where(&|facts| facts.is_paused && facts.paused_by.is_none());
    let is_of_save = |facts: &ObjectFacts| facts.paused_by.as_deref().is_some_and(is_save_mark);
    let by_save = keys_where(&is_of_save);
    let by_another = keys_where(&|facts| {
        facts.paused_by.is_some() && facts.paused_by.as_deref() != stage.run() && !is_of_save(facts)
    });
    let (user_text, save_text, other_text) = match purpose {
        Purpose::Move => (
            "already paused, and stays paused on the target",
            "paused by a save; the move resumes them at the end",
            "paused by an earlier move without a journal; this move resumes them at the end",
        ),
        Purpose::Backup => (
            "paused, and stays paused after a restore",
            "paused by a save; a restore resumes them",
            "paused by an earlier move; a restore resumes them",
        ),
    };
    let found = [(user_text, by_user), (save_text, by_save), (other_text, by_another)];
    let present = found.into_iter().filter(|(_, keys)| !keys.is_empty());
    present.map(|(text, keys)| remark(format!("{text}: {}", listed(keys)))).collect()
}

/// Warns about GitOps tools that create deleted objects again.
fn gitops_warnings(moving: &[&ObjectFacts]) -> Vec<PreflightProblem> {
    let mut by_tool: BTreeMap<&str, Vec<&ObjectKey>> = BTreeMap::new();
    for facts in moving {
        if let Some(tool) = facts.gitops_tool {
            by_tool.entry(tool).or_default().push(&facts.key);
        }
    }
    let reported = |(tool, keys): (&str, Vec<&ObjectKey>)| {
        problem(
            format!("{tool} would create moved objects again on the source: {}", listed(keys)),
            format!("suspend them in {tool} first; after the move, let {tool} manage the target"),
        )
    };
    by_tool.into_iter().map(reported).collect()
}

/// Returns problems for objects that carry the mark of a save or a restore. These objects cannot move.
pub(crate) fn check_marks(moving: &[&ObjectFacts]) -> Vec<PreflightProblem> {
    let keys_where = |is: fn(&str) -> bool| -> Vec<_> {
        let with = moving.iter().filter(|facts| facts.paused_by.as_deref().is_some_and(is));
        with.map(|facts| &facts.key).collect()
    };
    let saved = keys_where(is_save_mark);
    let restored = keys_where(|run| run == RESTORE_MARK);
    let mut problems = Vec::new();
    if !saved.is_empty() {
        problems.push(problem(
            format!("objects are being saved to files: {}", listed(saved)),
            "wait until the save ends; if it was interrupted, re-run it or run `capstan move --abort --to-directory DIR`",
        ));
    }
    if !restored.is_empty() {
        problems.push(problem(
            format!("objects are being restored from files: {}", listed(restored)),
            "wait until the restore ends; if it was interrupted, re-run the same command",
        ));
    }
    problems
}

/// Checks objects that an earlier move without a journal was about to delete. Each object comes with its presence on
/// the target; none without a target.
pub(crate) fn check_marked_for_deletion(moving: &[(&ObjectFacts, Option<bool>)]) -> Findings {
    let marked = moving.iter().filter(|(facts, _)| facts.is_deleted_for_move);
    let (lost, copied): (Vec<_>, Vec<_>) = marked.partition(|(_, there)| *there == Some(false));
    let keys = |objects: Vec<&(&ObjectFacts, _)>| listed(objects.into_iter().map(|(facts, _)| &facts.key));
    let mut findings = Findings::default();
    if !lost.is_empty() {
        findings.problems.push(problem(
            format!("an earlier move marked objects for deletion, and they do not exist on this target: {}", keys(lost)),
            "complete that move to its target, or remove the annotation `clusterctl.cluster.x-k8s.io/delete-for-move` from objects to keep",
        ));
    }
    if !copied.is_empty() {
        findings
            .warnings
            .push(remark(format!("an earlier move marked objects for deletion: {}", keys(copied))));
    }
    findings
}
