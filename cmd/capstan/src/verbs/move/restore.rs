//! Creates saved objects from a folder or from an archive.

use api::output::{MoveAction, MoveReport, MovedObject};
use apply::ObjectKey;
use inventory::ManagementCluster;
use mover::{MovePlan, MoveRequest, RestoreOptions, RestoreOutcome, SavedObjects, TargetEffect};

use super::{execute::warn, text};
use crate::{
    Failure,
    events::ProgressFormat,
    session::Session,
    settings::{LeaseFlags, OutputFormat},
    ui::format_count,
};

pub(in crate::verbs) struct RestoreRun<'a> {
    /// The path of the archive or folder with the objects.
    pub(in crate::verbs) name: String,
    pub(in crate::verbs) objects: &'a SavedObjects,
    pub(in crate::verbs) request: &'a MoveRequest,
    pub(in crate::verbs) options: RestoreOptions<'a>,
    pub(in crate::verbs) format: OutputFormat,
    pub(in crate::verbs) dry_run: bool,
    pub(in crate::verbs) progress: ProgressFormat,
}

pub(in crate::verbs) struct RestoreResult {
    pub(in crate::verbs) restored: RestoreOutcome,
    pub(in crate::verbs) warnings: Vec<String>,
}

impl RestoreRun<'_> {
    /// Plans a restore, and shows or executes the plan. `None` for a plan that was only shown.
    pub(in crate::verbs) fn run(
        &self,
        target: &ManagementCluster,
        lease: &LeaseFlags,
        session: &mut Session,
    ) -> Result<Option<RestoreResult>, Failure> {
        if self.dry_run {
            let plan = self.plan(target, session)?;
            return self.show(target, &plan, session).map(|()| None);
        }
        let done = lease
            .hold("restore", &[target], session, |clusters, session| self.execute(&clusters[0], session))?;
        session.show_cluster_result(self.progress, self.result_text(&done.restored));
        Ok(Some(done))
    }

    /// Returns a text such as ``restored 8 objects from `a.tar.gz`; 2 objects existed``.
    fn result_text(&self, restored: &RestoreOutcome) -> String {
        let existed = match restored.kept.len() {
            0 => String::new(),
            kept => format!("; {} already existed", format_count(kept, "object")),
        };
        let created = format_count(restored.created.len(), "object");
        format!("restored {created} from `{}`{existed}", self.name)
    }

    fn plan(&self, target: &ManagementCluster, session: &Session) -> Result<MovePlan, Failure> {
        session.messages().progress().begin("reading the cluster");
        let plan = mover::plan_restore(target, self.objects, self.request, self.options);
        let plan = session.block_on(Box::pin(plan))?;
        warn(&plan, &session.cluster_events(self.progress));
        Ok(plan)
    }

    fn execute(&self, target: &ManagementCluster, session: &Session) -> Result<RestoreResult, Failure> {
        let plan = self.plan(target, session)?;
        let restore = mover::restore_objects(target, self.request, &plan, self.objects, self.options);
        let resume_hint =
            "re-run the same command to complete the restore; new Clusters stay paused until then";
        let restored = session.block_on(Box::pin(restore)).map_err(|failure| {
            if session.writes().any_sent() {
                failure.with_resume_hint("while restoring objects", resume_hint)
            } else {
                failure
            }
        })?;
        let events = session.cluster_events(self.progress);
        if let Some(paused) = restored.paused_text() {
            events.warning(paused);
        }
        let warnings = plan.warnings.iter().map(|warning| warning.text.clone()).collect();
        Ok(RestoreResult { restored, warnings })
    }

    fn show(
        &self,
        target: &ManagementCluster,
        plan: &MovePlan,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let mut report = plan.report(&self.name, Some(target.server().address()), self.request);
        for moving in &mut report.moving {
            moving.kept = None;
            if moving.action != MoveAction::LeaveAlone {
                moving.action = MoveAction::Create;
            }
        }
        debug_assert!(plan.target_effects.values().all(|there| *there != TargetEffect::Update));
        session.print(self.format, &report, text::plan)
    }
}

/// Returns the result of every object, in the form of a move.
pub(super) fn report(restored: &RestoreOutcome) -> MoveReport {
    let moved_objects = |keys: &[ObjectKey], outcome: &'static str| -> Vec<MovedObject> {
        let one = |key: &ObjectKey| MovedObject { object: key.clone(), outcome: outcome.to_owned() };
        keys.iter().map(one).collect()
    };
    let objects =
        [moved_objects(&restored.created, "created"), moved_objects(&restored.kept, "existed, unchanged")];
    MoveReport {
        run: "restore".to_owned(),
        journal: None,
        objects: objects.concat(),
        differences: Vec::new(),
    }
}
