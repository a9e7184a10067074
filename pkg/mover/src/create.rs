//! Creates the copies on the target, group by group, owners before their dependents. Content is read kind by kind. One
//! page is read while the page before is written, and is dropped after its own write.

mod compare;
mod copy;
mod existing;
mod namespaces;
mod newcomers;
mod read;
mod references;
mod write;

use api::output::MovePhase;
use apply::ObjectKey;
use workload::NodeId;

use crate::{
    MoveError, MoveJournal, MoveSide,
    error::{at, no_failures},
    request::ROUNDS,
    run::{Copied, Copies, Created, Moving, Rested, Work},
    side_by_side::side_by_side,
};

pub(super) use compare::{difference, essence, without_rest};
pub(super) use copy::{Copying, copy_of, field_managers_of, managers_of, without_delete_for_move};
pub(super) use existing::Existing;
pub(super) use namespaces::namespace;
pub(super) use read::Reading;
pub(super) use references::References;
pub(super) use write::{Writer, Written, complete, takes_status};

/// The state of the source, compared with its last discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    AsDiscovered,
    Changed,
}

impl<'a> Moving<'a, Rested> {
    /// Copies every moving object whose present version was not copied yet. If objects appear, disappear or get other
    /// owners meanwhile, discovers the source again.
    pub(super) async fn create(mut self) -> Result<Moving<'a, Created>, MoveError> {
        let Self { work, existing, .. } = &mut self;
        let (objects, namespaces) = (work.plan.selection.moving().count(), work.plan.new_namespaces.clone());
        let note = |journal: &mut MoveJournal| {
            journal.objects = objects;
            journal.existed = existing.existed.iter().cloned().collect();
            journal.made_namespaces = namespaces;
        };
        work.enter(MovePhase::Creating, note).await?;
        for _ in 0..ROUNDS {
            let Self { work, existing, .. } = &mut self;
            existing.look(work).await?;
            existing.note_newcomers(work).await?;
            work.make_namespaces().await?;
            if self.create_groups().await? == Source::AsDiscovered {
                return Ok(self.on());
            }
            self.work.look_again().await?;
            self.work.come_to_rest().await?;
        }
        Err(self.work.unsettled())
    }

    async fn create_groups(&mut self) -> Result<Source, MoveError> {
        let Self { work, existing, copies, .. } = self;
        let writer = Writer::new(work, existing).await.map_err(at(MoveSide::Target))?;
        let mut progress = Progress { work, done: 0, of: work.plan.selection.moving().count() };
        let mut source = Source::AsDiscovered;
        for group in &work.plan.groups {
            let left: Vec<NodeId> =
                group.iter().copied().filter(|node| !settle(work, existing, *node, copies)).collect();
            progress.add(group.len() - left.len());
            if copy_group(&writer, &left, copies, &mut progress).await? == Source::Changed {
                source = Source::Changed;
            }
        }
        Ok(source)
    }
}

/// True if an object needs no write. Either its version was copied, or a run that has begun to delete verified its
/// copy.
fn settle(work: &Work<'_>, existing: &Existing, node: NodeId, copies: &mut Copies) -> bool {
    let facts = work.plan.facts(node);
    if copies.get(&facts.uid).is_some_and(|copied| copied.version == facts.resource_version) {
        return true;
    }
    let there = existing.get(&work.plan.key_on_target(node, work.request)).filter(|_| work.is_past_return());
    if let Some(there) = there {
        let copied = Copied { uid: there.uid.clone(), version: facts.resource_version.clone() };
        copies.insert(facts.uid.clone(), copied);
    }
    there.is_some()
}

async fn copy_group(
    writer: &Writer<'_>,
    nodes: &[NodeId],
    copies: &mut Copies,
    progress: &mut Progress<'_>,
) -> Result<Source, MoveError> {
    let work = progress.work;
    let mut source = Source::AsDiscovered;
    let mut reading = Reading::new(&work.source, &work.plan.discovered.graph, nodes);
    let mut batch = reading.next().await?;
    while let Some(objects) = batch {
        let at_most = work.target.server.max_in_flight();
        let known = &*copies;
        let writing = side_by_side(at_most, objects, |(node, object)| async move {
            let object = match object {
                Some(object) => Some(object),
                None => writer.read(node).await?,
            };
            match object {
                Some(object) => writer.write(node, &object, known).await,
                None => Ok(Written::Changed),
            }
        });
        // The next page is read while this one is written.
        let ((done, failures), next) = futures::join!(writing, reading.next());
        no_failures("created", failures)?;
        progress.add(done.len());
        for written in done {
            match written {
                Written::Changed => source = Source::Changed,
                Written::Copy { source_uid, copied, difference } => {
                    copies.insert(source_uid, copied);
                    copies.differences.extend(difference);
                }
            }
        }
        batch = next?;
    }
    Ok(if reading.missed() { Source::Changed } else { source })
}

struct Progress<'w> {
    work: &'w Work<'w>,
    done: usize,
    of: usize,
}

impl Progress<'_> {
    fn add(&mut self, done: usize) {
        if done > 0 {
            self.done += done;
            self.work.tell(MovePhase::Creating, self.done, self.of);
        }
    }
}

/// Builds the conflict error for an object that an action must not touch.
pub(super) fn refused(action: &str, key: &ObjectKey, message: &str) -> apply::ApiError {
    apply::ApiError::Status {
        action: format!("{action} {key}"),
        code: 409,
        reason: "Conflict".to_owned(),
        message: message.to_owned(),
        causes: Vec::new(),
        retry_after: None,
    }
}
