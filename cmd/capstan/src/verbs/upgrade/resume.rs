use management::NotReady;

use crate::{
    Failure,
    events::ClusterEvents,
    session::Session,
    settings::{self, ServerFlags},
    verbs::lifecycle::{self, OwnedSources, WaitFlags},
};

/// Go on with an upgrade that was begun
///
/// It ends at the versions it was begun for.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} upgrade resume")]
pub(crate) struct Resume {
    #[command(flatten)]
    wait: WaitFlags,

    #[command(flatten)]
    server: ServerFlags,
}

/// Go back to what was there before the last upgrade
///
/// Works for one that is finished and for one that is not, as long as no object is stored in a version that the older
/// definitions do not have.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} upgrade rollback")]
pub(crate) struct Rollback {
    #[command(flatten)]
    wait: WaitFlags,

    #[command(flatten)]
    server: ServerFlags,
}

/// Forget an upgrade that was begun
///
/// What it did stays as it is; there is no going on and no going back any more.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} upgrade abort")]
pub(crate) struct Abort {
    #[command(flatten)]
    server: ServerFlags,
}

pub(super) fn resume(args: &Resume, session: &mut Session) -> Result<(), Failure> {
    let wait = args.wait.wait_for()?;
    let sources = OwnedSources::of(session)?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    let sources = sources.get();
    let resumed = management::resume_upgrade(&cluster, &sources, wait);
    let not_ready = session.carry_out(resumed, "the same command goes on from there")?;
    let events = session.cluster_events(args.server.pace.progress);
    end(not_ready.as_ref(), "the upgrade is finished", &events);
    Ok(())
}

pub(super) fn rollback(args: &Rollback, session: &mut Session) -> Result<(), Failure> {
    let wait = args.wait.wait_for()?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    let rolled_back = management::rollback_upgrade(&cluster, wait);
    let not_ready = session.carry_out(rolled_back, "the same command goes on from there")?;
    let events = session.cluster_events(args.server.pace.progress);
    end(not_ready.as_ref(), "the providers are what they were before the upgrade", &events);
    Ok(())
}

pub(super) fn abort(args: &Abort, session: &mut Session) -> Result<(), Failure> {
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    session.block_on(management::abort_upgrade(&cluster))?;
    session.messages().status("the upgrade is forgotten; what it did stays");
    Ok(())
}

fn end(not_ready: Option<&NotReady>, done: &str, events: &ClusterEvents) {
    match not_ready {
        Some(not_ready) => lifecycle::warn(not_ready, events),
        None => events.end(done),
    }
}
