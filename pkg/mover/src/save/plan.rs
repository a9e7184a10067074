//! The plan of a save.

use std::collections::{BTreeMap, BTreeSet};

use apply::Permission;
use inventory::{ManagementCluster, PreflightProblem, PreflightProblems};
use workload::{ExcludeReason, MoveDecision, ObjectFacts};

use super::{LeftOutObject, SaveFormat, SaveMode, file_format::file_name, pause};
use crate::{
    JournalStore, MoveError, MoveJournal, MovePlan, MoveRequest, MoveSide,
    error::api_error,
    find_move_journal,
    mark::save_process,
    pause::PausableKind,
    plan::plan_with,
    preflight::{Purpose, listed, permission_problems, problem},
};

/// Reads the source and checks everything as for a move, and that each object has a file of its own. Writes nothing.
/// Objects that are not ready or in deletion prevent a save into files. An archive, made every night, includes the
/// former and leaves out the latter; the plan warns about both.
/// # Errors
/// `Problems` with all problems. `SaveDuringMove` while objects are moved away. `SaveInProgress` while another run saves.
pub async fn plan_save(
    source: &ManagementCluster,
    request: &MoveRequest,
    mode: SaveMode,
    format: SaveFormat,
    store: &JournalStore,
) -> Result<MovePlan, MoveError> {
    let journal = Box::pin(find_move_journal(Some(source), None)).await?.filter(MoveJournal::is_unfinished);
    let overlaps = |journal: &MoveJournal| {
        request.namespaces.is_empty() || !journal.namespaces.is_disjoint(&request.namespaces)
    };
    if let Some(journal) = journal.filter(overlaps) {
        return Err(MoveError::SaveDuringMove { journal: Box::new(journal) });
    }
    let purpose = match format {
        SaveFormat::Archive => Purpose::Backup,
        SaveFormat::Files => Purpose::Move,
    };
    let plan = Box::pin(plan_with(source, None, request, purpose)).await?;
    let moving: Vec<&ObjectFacts> = plan.selection.moving().map(|node| plan.facts(node)).collect();
    let mut runs = moving.iter().filter_map(|facts| facts.paused_by.as_deref());
    if let Some(run) = runs.find(|run| pause::may_be_active(run, store)) {
        return Err(MoveError::SaveInProgress { process: save_process(run).unwrap_or_default().to_owned() });
    }
    let mut problems = check_other_pauses(&moving);
    if format == SaveFormat::Files {
        problems.extend(check_file_names(&moving));
    }
    if mode == SaveMode::Paused {
        let wanted = pause_permissions(&moving);
        let access = source.server.check_permissions(&wanted).await.map_err(api_error(MoveSide::Source))?;
        problems.extend(permission_problems(MoveSide::Source, &access.denied));
    }
    if !problems.is_empty() {
        return Err(PreflightProblems { problems }.into());
    }
    Ok(plan)
}

impl MovePlan {
    /// Returns the names of the files that a save of this plan writes.
    pub fn file_names(&self) -> BTreeSet<String> {
        self.selection.moving().map(|node| file_name(&self.facts(node).key)).collect()
    }

    /// Returns the objects that belong to moving objects and stay.
    pub fn left_out(&self) -> Vec<LeftOutObject> {
        let graph = &self.discovered.graph;
        let left = |(node, _)| match self.selection.decision(node) {
            MoveDecision::Moves { .. }
            | MoveDecision::Stays(
                ExcludeReason::NotLinked | ExcludeReason::OtherNamespace | ExcludeReason::NotChosen(_),
            ) => None,
            MoveDecision::Stays(why) => Some((node, why)),
        };
        let reported = |(node, why)| LeftOutObject {
            object: self.facts(node).key.clone(),
            why: graph.exclude_text(why),
        };
        graph.iter().filter_map(left).map(reported).collect()
    }
}

/// Returns problems for objects that would share a file.
fn check_file_names(moving: &[&ObjectFacts]) -> Vec<PreflightProblem> {
    let mut files: BTreeMap<String, Vec<&ObjectFacts>> = BTreeMap::new();
    for facts in moving {
        // Names are compared without case, because some file systems ignore case.
        files.entry(file_name(&facts.key).to_lowercase()).or_default().push(facts);
    }
    let reported = |objects: &Vec<&ObjectFacts>| {
        let kinds: Vec<String> = objects.iter().map(|facts| facts.key.group_kind().to_string()).collect();
        problem(
            format!(
                "cannot save {} to `{}`: several kinds share this file name: {}",
                objects[0].key,
                file_name(&objects[0].key),
                kinds.join(", ")
            ),
            "save them with `capstan backup`, which stores them separately",
        )
    };
    files.values().filter(|objects| objects.len() > 1).map(reported).collect()
}

/// Returns a problem for objects that a move or a restore has paused, because the other changes of that run are
/// unknown.
fn check_other_pauses(moving: &[&ObjectFacts]) -> Vec<PreflightProblem> {
    let is_foreign =
        |facts: &&&ObjectFacts| facts.paused_by.as_deref().is_some_and(|run| save_process(run).is_none());
    let foreign: Vec<_> = moving.iter().filter(is_foreign).map(|facts| &facts.key).collect();
    let hint = "complete that move or restore, or remove the annotation `capstan.dev/move`";
    let reported = (!foreign.is_empty()).then(|| {
        problem(format!("objects are paused by an interrupted move or restore: {}", listed(foreign)), hint)
    });
    reported.into_iter().collect()
}

fn pause_permissions(moving: &[&ObjectFacts]) -> Vec<Permission> {
    let wanted: BTreeSet<Permission> = moving
        .iter()
        .filter(|facts| PausableKind::of(&facts.key).is_some())
        .map(|facts| Permission {
            verb: "patch".to_owned(),
            group: facts.key.group.clone(),
            resource: facts.object_type.kind.plural.clone(),
            namespace: facts.key.namespace.clone(),
        })
        .collect();
    wanted.into_iter().collect()
}
