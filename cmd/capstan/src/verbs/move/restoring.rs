//! Creating what was saved: from a folder, or from an archive.

use api::output::{MoveAction, MoveReport, MovedObject};
use apply::ObjectKey;
use management::{ManagementCluster, MovePlan, MoveRequest, OnTarget, Restored, SavedObjects, object_name};

use super::{carry_out::warn, saving::objects, text};
use crate::{
    Failure,
    events::ProgressFormat,
    session::Session,
    settings::{LeaseFlags, OutputFormat},
};

/// What is restored.
pub(in crate::verbs) struct Source<'a> {
    /// The folder or the file, for people.
    pub(in crate::verbs) name: String,
    pub(in crate::verbs) objects: &'a SavedObjects,
}

/// How it is told.
pub(in crate::verbs) struct How {
    pub(in crate::verbs) format: OutputFormat,
    pub(in crate::verbs) dry_run: bool,
    pub(in crate::verbs) progress: ProgressFormat,
}

/// Plans a restore, and shows the plan or carries it out.
/// # Errors
/// Everything that stands in the way; after that, what could not be created.
pub(in crate::verbs) fn run(
    source: &Source<'_>,
    target: &ManagementCluster,
    request: &MoveRequest,
    how: &How,
    lease: &LeaseFlags,
    session: &mut Session,
) -> Result<(), Failure> {
    if how.dry_run {
        let plan = plan(source, target, request, how, session)?;
        return show(source, target, &plan, request, how, session);
    }
    lease.hold("restore", &[target], session, |clusters, session| {
        carry_out(source, &clusters[0], request, how, session)
    })
}

fn plan(
    source: &Source<'_>,
    target: &ManagementCluster,
    request: &MoveRequest,
    how: &How,
    session: &Session,
) -> Result<MovePlan, Failure> {
    session.messages().progress().begin("looking at the cluster");
    let plan = management::plan_restore(target, source.objects, request);
    let plan = session.block_on(Box::pin(plan))?;
    warn(&plan, &session.cluster_events(how.progress));
    Ok(plan)
}

fn carry_out(
    source: &Source<'_>,
    target: &ManagementCluster,
    request: &MoveRequest,
    how: &How,
    session: &mut Session,
) -> Result<(), Failure> {
    let plan = plan(source, target, request, how, session)?;
    let restore = management::restore_objects(target, request, &plan, source.objects);
    let goes_on = "the same command goes on; until then what it has created stays paused";
    let restored = session.carry_out(Box::pin(restore), goes_on)?;
    let events = session.cluster_events(how.progress);
    if let Some(paused) = restored.paused_in_words() {
        events.warning(paused);
    }
    let kept = match restored.kept.len() {
        0 => String::new(),
        kept => format!(", {} were there", objects(kept)),
    };
    events.end(format!("restored {} from `{}`{kept}", objects(restored.created.len()), source.name));
    session.printer().data(how.format.render(&report(&restored), |_| String::new())?)
}

fn show(
    source: &Source<'_>,
    target: &ManagementCluster,
    plan: &MovePlan,
    request: &MoveRequest,
    how: &How,
    session: &mut Session,
) -> Result<(), Failure> {
    let mut report = plan.report(&source.name, Some(target.server().address()), request);
    for moving in &mut report.moving {
        moving.kept = None;
        if moving.action != MoveAction::LeaveAlone {
            moving.action = MoveAction::Create;
        }
    }
    debug_assert!(plan.on_target.values().all(|there| *there != OnTarget::Update));
    session.printer().data(how.format.render(&report, text::plan)?)
}

fn report(restored: &Restored) -> MoveReport {
    let those = |keys: &[ObjectKey], outcome: &'static str| -> Vec<MovedObject> {
        let one = |key: &ObjectKey| MovedObject { object: object_name(key), outcome: outcome.to_owned() };
        keys.iter().map(one).collect()
    };
    let objects =
        [those(&restored.created, "created"), those(&restored.kept, "was there, and stays as it is")];
    MoveReport {
        run: "restore".to_owned(),
        journal: None,
        objects: objects.concat(),
        differences: Vec::new(),
    }
}
