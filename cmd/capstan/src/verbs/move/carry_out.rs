//! Planning a move, and showing the plan or carrying it out.

use std::sync::{Arc, Mutex, PoisonError};

use api::output::MoveReport;
use management::{
    JournalError, JournalKeeper, ManagementCluster, MoveError, MoveOutcome, MovePhase, MovePlan,
};

use super::{MoveFlags, abort, keeper::keeper, text};
use crate::{Failure, events::ClusterEvents, failure::Kind, session::Session};

pub(super) fn run(flags: &MoveFlags, session: &mut Session) -> Result<(), Failure> {
    let (format, request) = (flags.how.format()?, flags.request(session)?);
    let ends = flags.ends(session)?;
    if flags.how.abort {
        return abort::run(ends.route()?, &request, format, session);
    }
    session.messages().progress().begin("looking at both clusters");
    let plan =
        session.block_on(Box::pin(management::plan_move(&ends.source, ends.target.as_ref(), &request)))?;
    let events = session.cluster_events(flags.server.pace.progress);
    warn(&plan, &events);
    if flags.how.dry_run {
        let address = |cluster: &ManagementCluster| cluster.server().address().to_owned();
        let target = ends.target.as_ref().map(address);
        let report = plan.report(&address(&ends.source), target.as_deref(), &request);
        return session.printer().data(format.render(&report, text::plan)?);
    }
    let begun = Begun::default();
    let keeper = begun.watching(keeper(session.environment()));
    let route = ends.route()?;
    let program = session.program().name();
    let moved = async {
        let outcome = Box::pin(management::carry_out_move(route, &request, plan, &keeper)).await;
        outcome.map_err(|error| begun.explain(error, program))
    };
    let outcome = session.block_on(moved).map_err(|failure| begun.interrupted(failure, program))?;
    if let Some(outcome) = &outcome {
        tell(outcome, &events);
    }
    let report = outcome.map_or_else(MoveReport::default, |outcome| outcome.report());
    // The peer prints nothing here.
    session.printer().data(format.render(&report, |_| String::new())?)
}

pub(in crate::verbs) fn warn(plan: &MovePlan, events: &ClusterEvents) {
    for warning in &plan.warnings {
        let hint = warning.hint.iter().map(|hint| format!("\n{hint}"));
        events.warning(format!("{}{}", warning.text, hint.collect::<String>()));
    }
}

fn tell(outcome: &MoveOutcome, events: &ClusterEvents) {
    for (object, what) in &outcome.differences {
        events.warning(format!("the target keeps {object} in another way than it was sent: {what}"));
    }
    let moved = match outcome.journal.objects {
        1 => "one object".to_owned(),
        several => format!("{several} objects"),
    };
    events.end(format!("the move is done: {moved}"));
}

/// How far a move has come in this run: what the journal said last. Clones are one.
#[derive(Clone, Default)]
struct Begun(Arc<Mutex<Option<MovePhase>>>);

impl Begun {
    /// The keeper that notes it too.
    fn watching(&self, keeper: JournalKeeper) -> JournalKeeper {
        let (this, store) = (self.clone(), keeper.store);
        let store = Arc::new(move |journal: &management::MoveJournal| {
            *this.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(journal.phase);
            store(journal)
        });
        JournalKeeper { store, ..keeper }
    }

    /// Adds to an error what is left behind. A move that somebody else works on is not ours to go on with.
    fn explain(&self, error: MoveError, program: &str) -> Failure {
        use JournalError::{Another, TakenOver, UnderWay};
        let is_theirs = matches!(&error, MoveError::Journal(Another { .. } | TakenOver | UnderWay { .. }));
        let failure = Failure::from(error);
        if is_theirs { failure } else { self.half_way(failure, program) }
    }

    fn interrupted(&self, failure: Failure, program: &str) -> Failure {
        if failure.kind() == Kind::Interrupted { self.half_way(failure, program) } else { failure }
    }

    fn half_way(&self, failure: Failure, program: &str) -> Failure {
        let phase = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let both = format!(
            "Clusters stay paused until the same command has gone on, or `{program} move --abort` with its flags has undone it"
        );
        let on = "Clusters stay paused until the same command has gone on; there is no way back any more"
            .to_owned();
        match phase {
            None => failure,
            Some(MovePhase::Pausing) => failure.half_way("while it paused Clusters", both),
            Some(MovePhase::Creating) => failure.half_way("while it created objects on the target", both),
            Some(MovePhase::Verifying) => failure.half_way("while it verified the target", both),
            Some(MovePhase::Deleting) => failure.half_way("while it deleted objects on the source", on),
            Some(_) => failure.half_way("while it resumed Clusters", on),
        }
    }
}
