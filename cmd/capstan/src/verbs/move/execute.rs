//! Plans a move, and shows or executes the plan.

use std::sync::{Arc, Mutex, PoisonError};

use api::output::{MovePhase, MoveReport};
use inventory::ManagementCluster;
use mover::{JournalError, JournalStore, MoveError, MoveOutcome, MovePlan, MoveRequest, MoveRoute};

use super::{flags::MoveFlags, journal_file::journal_store, text, undo};
use crate::{
    Failure, events::ClusterEvents, failure::Kind, session::Session, settings::OutputFormat, ui::format_count,
};

pub(super) fn run(flags: &MoveFlags, session: &mut Session) -> Result<(), Failure> {
    let (format, request) = (flags.how.format()?, flags.request(session)?);
    if let Some(cluster) = flags.how.lost {
        return undo::finish_without_lost_cluster(cluster, &request, format, flags, session);
    }
    let ends = flags.connect_clusters(session)?;
    if flags.how.abort {
        let MoveRoute { source, target } = ends.route()?;
        return flags.lease.hold("move --abort", &[source, target], session, |clusters, session| {
            undo::abort(route(clusters), &request, (format, flags.server.pace.progress), session)
        });
    }
    if flags.how.dry_run {
        let plan = plan(&ends.source, ends.target.as_ref(), &request, flags, session)?;
        let address = |cluster: &ManagementCluster| cluster.server().address().to_owned();
        let target = ends.target.as_ref().map(address);
        let report = plan.report(&address(&ends.source), target.as_deref(), &request);
        return session.print(format, &report, text::plan);
    }
    let MoveRoute { source, target } = ends.route()?;
    flags.lease.hold("move", &[source, target], session, |clusters, session| {
        execute(route(clusters), &request, format, flags, session)
    })
}

/// Returns the clusters in the order in which the lease received them.
fn route(clusters: &[ManagementCluster]) -> MoveRoute<'_> {
    MoveRoute { source: &clusters[0], target: &clusters[1] }
}

fn plan(
    source: &ManagementCluster,
    target: Option<&ManagementCluster>,
    request: &MoveRequest,
    flags: &MoveFlags,
    session: &Session,
) -> Result<MovePlan, Failure> {
    session.messages().progress().begin("reading both clusters");
    let plan = session.block_on(Box::pin(mover::plan_move(source, target, request)))?;
    warn(&plan, &session.cluster_events(flags.server.pace.progress));
    if let Some(finished) = &plan.finished {
        session.messages().status(format!(
            "nothing to move: the move started at {} has already moved {}; run `capstan move report` to list them",
            finished.begun,
            format_count(finished.objects, "object"),
        ));
    }
    Ok(plan)
}

fn execute(
    route: MoveRoute<'_>,
    request: &MoveRequest,
    format: OutputFormat,
    flags: &MoveFlags,
    session: &mut Session,
) -> Result<(), Failure> {
    let plan = plan(route.source, Some(route.target), request, flags, session)?;
    let tracker = PhaseTracker::default();
    let store = tracker.track(journal_store(session.environment()));
    let events = session.cluster_events(flags.server.pace.progress);
    let moved = async {
        let outcome = Box::pin(mover::execute_move(route, request, plan, &store)).await;
        outcome.map_err(|error| tracker.explain(error))
    };
    let outcome = session.block_on(moved).map_err(|failure| tracker.explain_interruption(failure))?;
    let result = outcome
        .as_ref()
        .map_or_else(|| "nothing to move".to_owned(), |outcome| result_text(outcome, &events));
    print(outcome.as_ref(), format, session)?;
    session.show_cluster_result(flags.server.pace.progress, result);
    Ok(())
}

/// Prints the result of every object, only in formats for scripts. clusterctl prints nothing.
pub(super) fn print(
    outcome: Option<&MoveOutcome>,
    format: OutputFormat,
    session: &mut Session,
) -> Result<(), Failure> {
    let report = outcome.map_or_else(MoveReport::default, MoveOutcome::report);
    session.print(format, &report, |_, _| String::new())
}

pub(in crate::verbs) fn warn(plan: &MovePlan, events: &ClusterEvents) {
    for warning in &plan.warnings {
        let hint = warning.hint.iter().map(|hint| format!("\n{hint}"));
        events.warning(format!("{}{}", warning.text, hint.collect::<String>()));
    }
}

/// Warns about objects that the target stores differently, and returns the result in words.
pub(super) fn result_text(outcome: &MoveOutcome, events: &ClusterEvents) -> String {
    for (object, what) in &outcome.differences {
        events.warning(format!("the target stores {object} differently: {what}"));
    }
    format!("moved {}", format_count(outcome.journal.objects, "object"))
}

/// The last journalled phase of a move in this run. Clones share their state.
#[derive(Clone, Default)]
struct PhaseTracker(Arc<Mutex<Option<MovePhase>>>);

impl PhaseTracker {
    fn track(&self, journal_store: JournalStore) -> JournalStore {
        let (this, store) = (self.clone(), journal_store.write_journal);
        let store = Arc::new(move |journal: &mover::MoveJournal| {
            *this.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(journal.phase);
            store(journal)
        });
        JournalStore { write_journal: store, ..journal_store }
    }

    /// Adds the hint to resume to an error, unless another run owns the move.
    fn explain(&self, error: MoveError) -> Failure {
        use JournalError::{Conflict, TakenOver};
        let is_theirs = matches!(&error, MoveError::Journal(Conflict { .. } | TakenOver));
        let failure = Failure::from(error);
        if is_theirs { failure } else { self.with_resume_hint(failure) }
    }

    fn explain_interruption(&self, failure: Failure) -> Failure {
        if failure.kind() == Kind::Interrupted { self.with_resume_hint(failure) } else { failure }
    }

    fn with_resume_hint(&self, failure: Failure) -> Failure {
        let phase = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let both = "the Clusters stay paused; run `capstan move status` for the command that resumes the move, and add \
                    `--abort` to undo it instead";
        let on = "the Clusters stay paused; run `capstan move status` for the command that resumes the move, which can \
                  no longer be undone";
        match phase {
            None => failure,
            Some(MovePhase::Pausing) => failure.with_resume_hint("while pausing Clusters", both),
            Some(MovePhase::Creating) => {
                failure.with_resume_hint("while creating objects on the target", both)
            }
            Some(MovePhase::Verifying) => failure.with_resume_hint("while verifying the target", both),
            Some(MovePhase::Deleting) => failure.with_resume_hint("while deleting objects on the source", on),
            Some(_) => failure.with_resume_hint("while resuming Clusters", on),
        }
    }
}
