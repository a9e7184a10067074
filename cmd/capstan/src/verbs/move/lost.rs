//! Ending a move on one cluster, because the other one no longer exists.

use management::MoveRequest;

use super::{MoveFlags, abort, carry_out, flags::LostCluster, journal_file::keeper};
use crate::{Failure, session::Session, settings::OutputFormat};

/// # Errors
/// As [`management::complete_without_source`] and [`management::abort_without_target`].
pub(super) fn run(
    lost: LostCluster,
    request: &MoveRequest,
    format: OutputFormat,
    flags: &MoveFlags,
    session: &mut Session,
) -> Result<(), Failure> {
    let remaining = flags.remaining(lost, session)?;
    flags.lease.hold("move --lost", &[&remaining], session, |clusters, session| {
        let (keeper, remaining) = (keeper(session.environment()), &clusters[0]);
        let hint = "run the same command again to complete it";
        let progress = flags.server.pace.progress;
        match lost {
            LostCluster::Source => {
                let complete = management::complete_without_source(remaining, request.timeout, &keeper);
                let outcome = session.carry_out(Box::pin(complete), hint)?;
                let result = carry_out::tell(&outcome, &session.cluster_events(progress));
                carry_out::print(Some(&outcome), format, session)?;
                session.done_on_cluster(progress, result);
            }
            LostCluster::Target => {
                let undo = management::abort_without_target(remaining, request.timeout, &keeper);
                let aborted = session.carry_out(Box::pin(undo), hint)?;
                abort::print(&aborted, format, session)?;
                session.done_on_cluster(progress, abort::result(&aborted));
            }
        }
        Ok(())
    })
}
