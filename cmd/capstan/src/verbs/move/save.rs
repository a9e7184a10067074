//! Reads the objects of a move into a folder or into an archive.

use std::{collections::BTreeSet, io};

use api::output::{MoveAction, MoveReport, MovedObject};
use apply::ObjectKey;
use inventory::ManagementCluster;
use mover::{LeftOutObject, MovePlan, MoveRequest, SaveFormat, SaveMode, SavedObject, StoreSavedFn};

use super::{journal_file::journal_store_under_lease, text};
use crate::{Failure, failure::Kind, session::Session, settings::OutputFormat, ui::Messages};

#[derive(Clone, Copy)]
pub(in crate::verbs) struct SaveRun<'a> {
    pub(in crate::verbs) source: &'a ManagementCluster,
    pub(in crate::verbs) request: &'a MoveRequest,
    pub(in crate::verbs) how: SaveMode,
    pub(in crate::verbs) into: SaveFormat,
    pub(in crate::verbs) format: OutputFormat,
}

pub(in crate::verbs) struct SaveResult {
    pub(in crate::verbs) objects: Vec<ObjectKey>,
    pub(in crate::verbs) left_out: Vec<LeftOutObject>,
    disappeared: Vec<LeftOutObject>,
}

impl SaveRun<'_> {
    pub(in crate::verbs) fn plan(&self, session: &Session) -> Result<MovePlan, Failure> {
        session.messages().progress().begin("reading the cluster");
        let store = journal_store_under_lease(session.environment());
        let plan = mover::plan_save(self.source, self.request, self.how, self.into, &store);
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
            let left_out: BTreeSet<_> = plan.left_out().iter().map(|left| left.object.clone()).collect();
            report.staying.retain(|staying| left_out.contains(&staying.object));
            let namespaces: BTreeSet<_> =
                report.moving.iter().map(|one| one.object.namespace.clone()).collect();
            report.namespaces = namespaces.into_iter().filter(|name| !name.is_empty()).collect();
        }
        session.print(self.format, &report, text::plan)
    }

    /// Reads all objects. An interruption still resumes paused Clusters.
    /// `again` is the hint to resume the Clusters after a second interruption.
    pub(in crate::verbs) fn execute(
        &self,
        plan: MovePlan,
        keep: &mut (dyn FnMut(SavedObject) -> io::Result<()> + Send),
        resume_hint: &str,
        session: &Session,
    ) -> Result<SaveResult, Failure> {
        let store = journal_store_under_lease(session.environment());
        let planned: BTreeSet<ObjectKey> = plan.left_out().into_iter().map(|left| left.object).collect();
        let mut objects = Vec::new();
        let mut record = |object: SavedObject| {
            objects.push(object.key.clone());
            keep(object)
        };
        let noting: &mut StoreSavedFn<'_> = &mut record;
        let save = mover::save_objects(self.source, self.request, plan, self.how, &store, noting);
        let saved = match session.block_on(Box::pin(save)) {
            Err(failure) if failure.kind() == Kind::Interrupted && self.how == SaveMode::Paused => {
                let resume = mover::resume_interrupted_save(self.source, self.request, &store);
                let hint = match session.block_on(Box::pin(resume)) {
                    Ok(resumed) => format!("nothing was saved; {}", resumed_in_words(resumed.len())),
                    Err(_) => format!("Clusters may still be paused; {resume_hint}"),
                };
                return Err(failure.with_resume_hint("while saving objects", hint));
            }
            saved => saved?,
        };
        let lost = saved.left_out.iter().filter(|left| !planned.contains(&left.object)).cloned().collect();
        Ok(SaveResult { objects, left_out: saved.left_out, disappeared: lost })
    }

    /// Prints the result of every object for scripts. clusterctl prints nothing here.
    pub(in crate::verbs) fn report(&self, done: &SaveResult, session: &mut Session) -> Result<(), Failure> {
        done.warn_disappeared(session.messages());
        let moved = |object: &ObjectKey| MovedObject { object: object.clone(), outcome: "saved".to_owned() };
        let objects = done.objects.iter().map(moved).collect();
        let report = MoveReport { run: "save".to_owned(), journal: None, objects, differences: Vec::new() };
        session.print(self.format, &report, |_, _| String::new())
    }
}

impl SaveResult {
    /// Warns about objects that disappeared during the save.
    pub(in crate::verbs) fn warn_disappeared(&self, messages: &Messages) {
        for LeftOutObject { object, why } in &self.disappeared {
            messages.warning(format!("skipped {object}: {why}"));
        }
    }
}

/// Returns a text such as `resumed 2 Clusters and ClusterClasses`.
pub(in crate::verbs) fn resumed_in_words(count: usize) -> String {
    let what = if count == 1 { "Cluster or ClusterClass" } else { "Clusters and ClusterClasses" };
    format!("resumed {count} {what}")
}
