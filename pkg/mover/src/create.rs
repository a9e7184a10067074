//! Creates the copies on the target, group by group, owners before their dependents. Content is read kind by kind. One
//! page is read while the page before is written, and is dropped after its own write.

mod compare;
mod copy;
mod existing;
mod namespaces;
mod new_objects;
mod read;
mod references;
mod write;

use api::output::MovePhase;
use apply::ObjectKey;
use workload::NodeId;

use crate::{
    MoveError, MoveJournal, MoveSide,
    concurrency::run_concurrently,
    error::{api_error, check_failures},
    request::MAX_DISCOVERIES,
    run::{Created, KnownCopies, MoveContext, Paused, PhasedMove},
};

pub(super) use compare::{content_hash, first_difference, lacks_content_of, without_pause};
pub(super) use copy::{
    CopyOptions, build_copy, field_manager_names, field_managers_patch, is_copy_of, remove_delete_for_move,
};
pub(super) use existing::ExistingObjects;
pub(super) use namespaces::namespace_object;
pub(super) use read::ObjectReader;
pub(super) use references::MovedReferences;
pub(super) use write::{CopyOutcome, CopyWriter, copies_status, patch_status_and_managers};

/// The state of the source, compared with its last discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SourceState {
    AsDiscovered,
    Changed,
}

impl<'a> PhasedMove<'a, Paused> {
    /// Copies every moving object whose present version was not copied yet. If objects appear, disappear or get other
    /// owners meanwhile, discovers the source again.
    pub(super) async fn create(mut self) -> Result<PhasedMove<'a, Created>, MoveError> {
        let Self { work, existing, .. } = &mut self;
        let (objects, namespaces) = (work.plan.selection.moving().count(), work.plan.new_namespaces.clone());
        let note = |journal: &mut MoveJournal| {
            journal.objects = objects;
            journal.existed = existing.existed.iter().cloned().collect();
            journal.made_namespaces = namespaces;
        };
        work.enter_phase(MovePhase::Creating, note).await?;
        for _ in 0..MAX_DISCOVERIES {
            let Self { work, existing, .. } = &mut self;
            existing.load(work).await?;
            existing.check_new_objects(work).await?;
            work.create_namespaces().await?;
            if self.create_groups().await? == SourceState::AsDiscovered {
                return Ok(self.into_phase());
            }
            self.work.rediscover().await?;
            self.work.wait_for_pause().await?;
        }
        Err(self.work.keeps_changing_error())
    }

    async fn create_groups(&mut self) -> Result<SourceState, MoveError> {
        let Self { work, existing, copies, .. } = self;
        let writer = CopyWriter::new(work, existing).await.map_err(api_error(MoveSide::Target))?;
        let mut progress = CreateProgress { work, done: 0, of: work.plan.selection.moving().count() };
        let mut source = SourceState::AsDiscovered;
        for group in &work.plan.groups {
            let remaining: Vec<NodeId> =
                group.iter().copied().filter(|node| !is_copied(work, *node, copies)).collect();
            progress.add(group.len() - remaining.len());
            if copy_group(&writer, &remaining, copies, &mut progress).await? == SourceState::Changed {
                source = SourceState::Changed;
            }
        }
        Ok(source)
    }
}

/// True if this run copied the present version of an object.
fn is_copied(work: &MoveContext<'_>, node: NodeId, copies: &KnownCopies) -> bool {
    let facts = work.plan.facts(node);
    copies.get(&facts.uid).is_some_and(|copied| copied.source_version == facts.resource_version)
}

async fn copy_group(
    writer: &CopyWriter<'_>,
    nodes: &[NodeId],
    copies: &mut KnownCopies,
    progress: &mut CreateProgress<'_>,
) -> Result<SourceState, MoveError> {
    let work = progress.work;
    let mut source = SourceState::AsDiscovered;
    let mut reading = ObjectReader::new(&work.source, &work.plan.discovered.graph, nodes);
    let mut batch = reading.next().await?;
    while let Some(objects) = batch {
        let at_most = work.target.server.max_in_flight();
        let known = &*copies;
        let writing = run_concurrently(at_most, objects, |(node, object)| async move {
            let object = match object {
                Some(object) => Some(object),
                None => writer.read(node).await?,
            };
            match object {
                Some(object) => writer.write(node, &object, known).await,
                None => Ok(CopyOutcome::SourceChanged),
            }
        });
        // The next page is read while this one is written.
        let ((done, failures), next) = futures::join!(writing, reading.next());
        check_failures("create", failures)?;
        progress.add(done.len());
        for written in done {
            match written {
                CopyOutcome::SourceChanged => source = SourceState::Changed,
                CopyOutcome::Copy { source_uid, copied, difference } => {
                    copies.insert(source_uid, copied);
                    copies.differences.extend(difference);
                }
            }
        }
        batch = next?;
    }
    Ok(if reading.has_missing() { SourceState::Changed } else { source })
}

struct CreateProgress<'w> {
    work: &'w MoveContext<'w>,
    done: usize,
    of: usize,
}

impl CreateProgress<'_> {
    fn add(&mut self, done: usize) {
        if done > 0 {
            self.done += done;
            self.work.report_progress(MovePhase::Creating, self.done, self.of);
        }
    }
}

/// Builds the conflict error for an object that an action must not touch.
pub(super) fn conflict_error(action: &str, key: &ObjectKey, message: &str) -> apply::ApiError {
    apply::ApiError::Status {
        action: format!("{action} {key}"),
        code: 409,
        reason: "Conflict".to_owned(),
        message: message.to_owned(),
        causes: Vec::new(),
        retry_after: None,
    }
}
