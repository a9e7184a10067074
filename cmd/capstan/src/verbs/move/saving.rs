//! Reads the objects of a move into a folder or into an archive.

use std::{collections::BTreeSet, io};

use api::output::{MoveAction, MoveReport, MovedObject};
use apply::{ObjectKey, object_name};
use inventory::ManagementCluster;
use mover::{LeftOutObject, MovePlan, MoveRequest, SaveFormat, SaveMode, SavedObject, StoreSavedFn};

use super::{journal_file::keeper_under_lease, text};
use crate::{Failure, failure::Kind, session::Session, settings::OutputFormat};

#[derive(Clone, Copy)]
pub(in crate::verbs) struct Saving<'a> {
    pub(in crate::verbs) source: &'a ManagementCluster,
    pub(in crate::verbs) request: &'a MoveRequest,
    pub(in crate::verbs) how: SaveMode,
    pub(in crate::verbs) into: SaveFormat,
    pub(in crate::verbs) format: OutputFormat,
}

pub(in crate::verbs) struct Done {
    pub(in crate::verbs) objects: Vec<ObjectKey>,
    pub(in crate::verbs) left_out: Vec<LeftOutObject>,
    lost: Vec<LeftOutObject>,
}

impl Saving<'_> {
    pub(in crate::verbs) fn plan(&self, session: &Session) -> Result<MovePlan, Failure> {
        session.messages().progress().begin("looking at the cluster");
        let keeper = keeper_under_lease(session.environment());
        let plan = mover::plan_save(self.source, self.request, self.how, self.into, &keeper);
        session.block_on(Box::pin(plan))
    }

    pub(in crate::verbs) fn show(
        &self,
        plan: &MovePlan,
        to: &str,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let mut report = plan.report(self.source.server().address(), Some(to), self.request);
        for moving in &mut report.moving {
            (moving.action, moving.kept) = (MoveAction::Save, None);
        }
        if self.into == SaveFormat::Archive {
            // Among all namespaces, only objects of the Clusters are relevant.
            let left_out: BTreeSet<_> =
                plan.left_out().iter().map(|left| object_name(&left.object)).collect();
            report.staying.retain(|staying| left_out.contains(&staying.object));
            let namespaces: BTreeSet<_> =
                report.moving.iter().map(|one| one.object.namespace.clone()).collect();
            report.namespaces = namespaces.into_iter().filter(|name| !name.is_empty()).collect();
        }
        session.print(self.format, &report, text::plan)
    }

    /// Reads all objects. An interruption still resumes paused Clusters.
    /// `again` is the hint to resume the Clusters after a second interruption.
    pub(in crate::verbs) fn carry_out(
        &self,
        plan: MovePlan,
        keep: &mut (dyn FnMut(SavedObject) -> io::Result<()> + Send),
        again: &str,
        session: &Session,
    ) -> Result<Done, Failure> {
        let keeper = keeper_under_lease(session.environment());
        let planned: BTreeSet<ObjectKey> = plan.left_out().into_iter().map(|left| left.object).collect();
        let mut objects = Vec::new();
        let mut noting = |object: SavedObject| {
            objects.push(object.key.clone());
            keep(object)
        };
        let noting: &mut StoreSavedFn<'_> = &mut noting;
        let save = mover::save_objects(self.source, self.request, plan, self.how, &keeper, noting);
        let saved = match session.block_on(Box::pin(save)) {
            Err(failure) if failure.kind() == Kind::Interrupted && self.how == SaveMode::Paused => {
                let resume = mover::resume_interrupted_save(self.source, self.request, &keeper);
                let goes_on = match session.block_on(Box::pin(resume)) {
                    Ok(resumed) => format!("nothing was saved; {}", resumed_in_words(resumed.len())),
                    Err(_) => format!("Clusters may still be paused; {again}"),
                };
                return Err(failure.half_way("while it saved objects", goes_on));
            }
            saved => saved?,
        };
        let lost = saved.left_out.iter().filter(|left| !planned.contains(&left.object)).cloned().collect();
        Ok(Done { objects, left_out: saved.left_out, lost })
    }

    /// Prints the result of every object for scripts. clusterctl prints nothing here.
    pub(in crate::verbs) fn report(&self, done: &Done, session: &mut Session) -> Result<(), Failure> {
        done.warn_lost(session);
        let moved =
            |object: &ObjectKey| MovedObject { object: object_name(object), outcome: "saved".to_owned() };
        let objects = done.objects.iter().map(moved).collect();
        let report = MoveReport { run: "save".to_owned(), journal: None, objects, differences: Vec::new() };
        session.print(self.format, &report, |_, _| String::new())
    }
}

impl Done {
    /// Warns about objects that disappeared during the save.
    pub(in crate::verbs) fn warn_lost(&self, session: &Session) {
        for LeftOutObject { object, why } in &self.lost {
            session.messages().warning(format!("{object} is left out: {why}"));
        }
    }
}

/// Returns a text such as `resumed 2 Clusters and ClusterClasses`.
pub(in crate::verbs) fn resumed_in_words(count: usize) -> String {
    let what = if count == 1 { "Cluster or ClusterClass" } else { "Clusters and ClusterClasses" };
    format!("resumed {count} {what}")
}
