//! Confirmation of a lease before every request that writes.

use std::{sync::Arc, time::Duration};

use manifest::Object;
use tokio::time::{Instant, sleep_until};

use super::{
    FRESH, LeaseName, LeaseRequest,
    object::{Requests, holder, identity_of, renewed},
    proof::{Moment, Proof},
};
use crate::{ApiError, NoAnswer, Revision, Server};

/// The most tries of a renewal while somebody else edits the Lease.
const ATTEMPTS: usize = 4;

/// A lease of this run. The server's handles that write under it share it.
#[derive(Debug)]
pub(crate) struct HeldLease {
    server: Server,
    name: LeaseName,
    identity: String,
    /// The proof, which the fence of connections for writes checks as well.
    pub(crate) proof: Arc<Proof>,
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
        confirmed: Moment,
        not_before: Option<Instant>,
    ) -> Self {
        Self {
            server: server.retrying_for(Duration::ZERO),
            name: request.name.clone(),
            identity: identity_of(&lease).to_owned(),
            proof: Arc::new(Proof::new(request.wall_clock, confirmed)),
            not_before,
            lease: tokio::sync::Mutex::new(lease),
        }
    }

    /// Confirms the lease, unless the last confirmation is recent enough.
    /// # Errors
    /// `LeaseLost` once another run holds the lease; otherwise the failure of the server.
    pub(crate) async fn confirm(&self, within: Duration) -> Result<(), ApiError> {
        if let Some(time) = self.not_before {
            sleep_until(time).await;
        }
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
            if self.is_fresh(FRESH)? {
                return Ok(());
            }
        }
        Err(ApiError::Unreachable {
            action: format!("confirm Lease {}/{}", self.name.namespace, self.name.name),
            server: self.server.address().to_owned(),
            unsent: false,
            source: NoAnswer::TimedOut { after: FRESH },
        })
    }

    fn is_fresh(&self, within: Duration) -> Result<bool, ApiError> {
        self.proof.lost().map_or_else(|| Ok(self.proof.is_within(within)), Err)
    }

    /// Replaces the last written revision. This fails once any other run has held the lease.
    async fn renew(&self, lease: &mut Object) -> Result<(), ApiError> {
        let requests = self.requests();
        for attempt in 1.. {
            let sent = self.proof.now();
            let error = match requests.replace(&renewed(lease, self.server.time())).await {
                Ok(written) => {
                    *lease = written;
                    self.proof.confirm(sent);
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
                other => return Err(self.proof.lose(other.as_ref().map(holder))),
            };
        }
        Ok(())
    }

    fn is_ours(&self, known: &Object, live: &Object) -> bool {
        identity_of(live) == self.identity && Revision::of(live).uid == Revision::of(known).uid
    }

    /// Deletes the Lease if this run still holds it. Later writes under this lease fail.
    pub(super) async fn release(&self) -> Result<(), ApiError> {
        let lease = self.lease.lock().await;
        if self.proof.lost().is_some() {
            return Ok(());
        }
        self.proof.lose(None);
        let requests = self.requests();
        match requests.delete(&Revision::of(&lease)).await {
            // A renewal may have succeeded although its answer was ignored.
            Err(error) if error.is_conflict() => match requests.read().await? {
                Some(live) if self.is_ours(&lease, &live) => requests.delete(&Revision::of(&live)).await,
                _ => Ok(()),
            },
            released => released,
        }
    }

    fn requests(&self) -> Requests<'_> {
        Requests { server: &self.server, name: &self.name }
    }
}
