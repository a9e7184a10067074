use management::{LifecycleError, NotReady};

use crate::{
    Failure,
    kustomizations::{Around, KustomizationFlags},
    session::Session,
    settings::{self, LeaseFlags, ServerFlags, UnfinishedFlags},
    verbs::lifecycle::{self, OwnedSources, WaitFlags},
};

/// The flags of going on and of going back.
#[derive(clap::Args)]
pub(crate) struct ToTheEnd {
    #[command(flatten)]
    wait: WaitFlags,

    #[command(flatten)]
    server: ServerFlags,

    #[command(flatten)]
    lease: LeaseFlags,

    #[command(flatten)]
    unfinished: UnfinishedFlags,
}

/// The flags of going on.
#[derive(clap::Args)]
pub(crate) struct Resume {
    #[command(flatten)]
    customisation: KustomizationFlags,

    #[command(flatten)]
    to_the_end: ToTheEnd,
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

    #[command(flatten)]
    lease: LeaseFlags,
}

pub(super) fn resume(args: &Resume, session: &mut Session) -> Result<(), Failure> {
    let Resume { customisation, to_the_end: args } = args;
    let wait = args.wait.wait_for()?;
    let sources = OwnedSources::with(customisation, Around::default(), session)?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    args.lease.hold("upgrade resume", &[&cluster], session, |clusters, session| {
        let sources = sources.get();
        let resumed = management::resume_upgrade(&clusters[0], &sources, wait, args.unfinished.reaction());
        args.end(resumed, "the upgrade is finished", session)
    })
}

pub(super) fn rollback(args: &ToTheEnd, session: &mut Session) -> Result<(), Failure> {
    let wait = args.wait.wait_for()?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    args.lease.hold("upgrade rollback", &[&cluster], session, |clusters, session| {
        let rolled_back = management::rollback_upgrade(&clusters[0], wait, args.unfinished.reaction());
        args.end(rolled_back, "the providers are what they were before the upgrade", session)
    })
}

pub(super) fn abort(args: &Abort, session: &mut Session) -> Result<(), Failure> {
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    args.lease.hold("upgrade abort", &[&cluster], session, |clusters, session| {
        session.block_on(management::abort_upgrade(&clusters[0]))
    })?;
    session.messages().status("the upgrade is forgotten; what it did stays");
    Ok(())
}

impl ToTheEnd {
    fn end(
        &self,
        upgrade: impl Future<Output = Result<Option<NotReady>, LifecycleError>>,
        done: &str,
        session: &Session,
    ) -> Result<(), Failure> {
        let not_ready = session.carry_out(upgrade, "the same command goes on from there")?;
        let events = session.cluster_events(self.server.pace.progress);
        match &not_ready {
            Some(not_ready) => lifecycle::warn(not_ready, &events),
            None => events.end(done),
        }
        Ok(())
    }
}
