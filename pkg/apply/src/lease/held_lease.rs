//! Confirmation of a lease before every request that writes.

use std::{sync::Arc, time::Duration};

use manifest::Object;
use tokio::time::{Instant, sleep_until};

use super::{
    LeaseName, LeaseRequest, MAX_CONFIRMATION_AGE,
    confirmation::{ClockReading, LeaseConfirmation},
    object::{LeaseRequests, holder, identity_of, renew},
};
use crate::{ApiError, NetworkError, ObjectRevision, Server};

/// The most tries of a renewal while somebody else edits the Lease.
const ATTEMPTS: usize = 4;

/// A lease of this run. The server's handles that write under it share it.
#[derive(Debug)]
pub(crate) struct HeldLease {
    server: Server,
    name: LeaseName,
    identity: String,
    /// The proof, which the fence of connections for writes checks as well.
    pub(crate) confirmation: Arc<LeaseConfirmation>,
    /// The former holder may write until this time.
    not_before: Option<Instant>,
    /// The last written object. The mutex allows one renewal at a time.
    lease: tokio::sync::Mutex<Object>,
}

impl HeldLease {
    pub(super) fn new(
        server: &Server,
        request: &LeaseRequest,
        lease: Object,
        confirmed: ClockReading,
        not_before: Option<Instant>,
    ) -> Self {
        Self {
            server: server.retrying_for(Duration::ZERO),
            name: request.name.clone(),
            identity: identity_of(&lease).to_owned(),
            confirmation: Arc::new(LeaseConfirmation::new(request.wall_clock, confirmed)),
            not_before,
            lease: tokio::sync::Mutex::new(lease),
        }
    }

    /// Waits until the former holder writes no longer.
    pub(crate) async fn wait_for_former_holder(&self) {
        if let Some(time) = self.not_before {
            sleep_until(time).await;
        }
    }

    /// Confirms the lease, unless the last confirmation is recent enough.
    /// # Errors
    /// `LeaseLost` once another run holds the lease; otherwise the failure of the server.
    pub(crate) async fn confirm(&self, within: Duration) -> Result<(), ApiError> {
        if self.is_fresh(within)? {
            return Ok(());
        }
        let mut lease = self.lease.lock().await;
        if self.is_fresh(within)? {
            return Ok(());
        }
        // A late answer, such as after a pause of this process, proves nothing about the present.
        for _ in 0..ATTEMPTS {
            self.renew(&mut lease).await?;
            if self.is_fresh(MAX_CONFIRMATION_AGE)? {
                return Ok(());
            }
        }
        Err(ApiError::Unreachable {
            action: format!("confirm Lease {}/{}", self.name.namespace, self.name.name),
            server: self.server.address().to_owned(),
            unsent: false,
            source: NetworkError::TimedOut { after: MAX_CONFIRMATION_AGE },
        })
    }

    fn is_fresh(&self, within: Duration) -> Result<bool, ApiError> {
        self.confirmation.loss_error().map_or_else(|| Ok(self.confirmation.is_confirmed_within(within)), Err)
    }

    /// Replaces the last written revision. This fails once any other run has held the lease.
    async fn renew(&self, lease: &mut Object) -> Result<(), ApiError> {
        let requests = self.requests();
        for attempt in 1.. {
            let sent = self.confirmation.now();
            let error = match requests.replace(&renew(lease, self.server.time())).await {
                Ok(written) => {
                    *lease = written;
                    self.confirmation.confirm(sent);
                    return Ok(());
                }
                Err(error) => error,
            };
            let is_gone = error.is_not_found();
            if !(is_gone || error.is_conflict()) || attempt == ATTEMPTS {
                return Err(error);
            }
            // A renewal of this run whose answer was lost leads here as well.
            *lease = match requests.read().await? {
                Some(live) if !is_gone && self.is_ours(lease, &live) => live,
                other => return Err(self.confirmation.mark_lost(other.as_ref().map(holder))),
            };
        }
        Ok(())
    }

    fn is_ours(&self, known: &Object, live: &Object) -> bool {
        identity_of(live) == self.identity && ObjectRevision::of(live).uid == ObjectRevision::of(known).uid
    }

    /// Deletes the Lease if this run still holds it. Later writes under this lease fail.
    pub(super) async fn release(&self) -> Result<(), ApiError> {
        let lease = self.lease.lock().await;
        if self.confirmation.loss_error().is_some() {
            return Ok(());
        }
        self.confirmation.mark_lost(None);
        let requests = self.requests();
        match requests.delete(&ObjectRevision::of(&lease)).await {
            // A renewal may have succeeded although its answer was ignored.
            Err(error) if error.is_conflict() => match requests.read().await? {
                Some(live) if self.is_ours(&lease, &live) => {
                    requests.delete(&ObjectRevision::of(&live)).await
                }
                _ => Ok(()),
            },
            released => released,
        }
    }

    fn requests(&self) -> LeaseRequests<'_> {
        LeaseRequests { server: &self.server, name: &self.name }
    }
}
