//! The lease of a cluster: one run writes to it at a time.
//!
//! ```text
//! acquire ──► POST Lease ─► held ─────────────────────────────► release: DELETE
//!    │            │ exists         ▲ every 10 s: PUT (uid, resourceVersion)
//!    │            ▼                │ gone, or of another run: lost for good
//!    └──── held by another run: wait, fail, or take over
//!
//! Server::under(lease) ─► every request that writes ─► confirmed within 15 s? ─► send
//! ```
//!
//! - **Holding.** A confirmation is a PUT of the revision that this run wrote last. It proves that no other run has
//!   held the lease since then. A request that writes waits for a confirmation that is at most [`MAX_CONFIRMATION_AGE`] old, by the
//!   monotonic *and* by the wall clock. A suspended machine, a stopped process or a changed clock therefore causes a
//!   new confirmation first.
//! - **Expiry.** Another run takes over [`LEASE_DURATION`] after the last renewal, by the clock in the headers of the server's
//!   answers. It also takes over after it has watched the lease unchanged for that long, or at once if the process is
//!   known to have ended. If the former holder may still work, the new holder waits for [`MAX_CONFIRMATION_AGE`] before its first
//!   write. The clock of the server alone does not prove that it has stopped, because it may jump.
//! - A released lease is deleted, so an idle cluster has no Lease object.

mod confirmation;
mod held_lease;
mod holder;
mod object;

use std::{
    fmt,
    future::pending,
    sync::Arc,
    time::{Duration, SystemTime},
};

use manifest::Object;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

pub use confirmation::ClockReading;
pub(crate) use confirmation::LeaseConfirmation;
pub(crate) use held_lease::HeldLease;
pub use holder::{LEASE_DURATION, LeaseHolder, LeaseName, MAX_CONFIRMATION_AGE};

use crate::{ApiError, Event, ObjectRevision, Server};

/// The pause between renewals.
const RENEW_EVERY: Duration = Duration::from_secs(10);
/// The pause between reads of a lease that another run holds.
const POLL_EVERY: Duration = Duration::from_secs(2);
/// The time limit of a release. After it, the lease expires by itself.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// A request for a lease.
#[derive(Clone)]
pub struct LeaseRequest {
    /// The Lease object.
    pub name: LeaseName,
    /// The holder, which is this run.
    pub holder: LeaseHolder,
    /// True if the process of a holder is known to have ended. False if that is unknown.
    pub has_ended: Arc<dyn Fn(&LeaseHolder) -> bool + Send + Sync>,
    /// The reaction to another holder.
    pub when_held: HeldLeasePolicy,
    /// The wall clock of this machine.
    pub wall_clock: fn() -> SystemTime,
}

impl LeaseRequest {
    /// Returns a request that waits for other holders, and cannot know if their processes have ended.
    pub fn new(name: LeaseName, holder: LeaseHolder) -> Self {
        Self {
            name,
            holder,
            has_ended: Arc::new(|_| false),
            when_held: HeldLeasePolicy::Wait,
            wall_clock: SystemTime::now,
        }
    }
}

/// The reaction to a lease that another run holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeldLeasePolicy {
    /// Wait until the lease is released or expires.
    #[default]
    Wait,
    /// Fail at once.
    Fail,
    /// Take the lease over: the other run stops writing.
    TakeOver,
}

/// An error of the acquisition of a lease.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum LeaseError {
    /// Another run holds the lease, and this run must not wait.
    #[error("another run is writing to this cluster: {holder}")]
    Held { holder: LeaseHolder },
    /// The user lacks a permission for the lease.
    #[error("cannot acquire Lease {}/{} of this cluster", name.namespace, name.name)]
    Forbidden {
        name: LeaseName,
        #[source]
        source: Box<ApiError>,
    },
    /// The failure of the server.
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// A lease that this run holds. It is renewed in the background until it is released or dropped.
#[derive(Debug)]
pub struct Lease {
    pub(crate) held: Arc<HeldLease>,
    renewals: JoinSet<()>,
}

/// The lease of another run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseState {
    /// The run that acquired the lease last.
    pub holder: LeaseHolder,
    /// True if the next run takes over without waiting.
    pub is_expired: bool,
}

impl Lease {
    /// Acquires a lease, with one request if nobody holds it.
    /// # Errors
    /// `Held`, `Forbidden`, or the failure of the server.
    pub async fn acquire(server: &Server, request: &LeaseRequest) -> Result<Self, LeaseError> {
        let identity = object::identity(&request.holder);
        let requests = object::LeaseRequests { server, name: &request.name };
        let forbidden = |error: ApiError| match error.code() {
            Some(403) => LeaseError::Forbidden { name: request.name.clone(), source: Box::new(error) },
            _ => LeaseError::Api(error),
        };
        let mut watched: Option<WatchedLease> = None;
        loop {
            let sent = ClockReading::now(request.wall_clock);
            let new = object::new_lease(&request.name, &request.holder, &identity);
            match requests.create(&new).await {
                Ok(lease) => return Ok(Self::hold(server, request, lease, sent, None)),
                Err(error) if error.is_already_exists() => {}
                Err(error) => return Err(forbidden(error)),
            }
            let Some(found) = requests.read().await.map_err(forbidden)? else { continue };
            let holder = object::holder(&found);
            let is_unchanged =
                |lasting| watched.as_ref().is_some_and(|watched| watched.is_unchanged(&found, lasting));
            let is_ended =
                ["", &*identity].contains(&object::identity_of(&found)) || (request.has_ended)(&holder);
            // The clock of the server may have jumped, so only the time that this run has watched proves anything.
            let has_stopped = is_ended || is_unchanged(MAX_CONFIRMATION_AGE);
            let is_free =
                is_ended || object::is_expired(&found, server.time()) || is_unchanged(LEASE_DURATION);
            if !is_free {
                match request.when_held {
                    HeldLeasePolicy::Fail => return Err(LeaseError::Held { holder }),
                    HeldLeasePolicy::TakeOver => {}
                    HeldLeasePolicy::Wait => {
                        if watched.as_ref().is_none_or(|watched| watched.holder != holder) {
                            server.events().send(&Event::WaitingForLease { holder: holder.clone() });
                        }
                        watched = Some(WatchedLease::of(watched, found, holder));
                        sleep(POLL_EVERY).await;
                        continue;
                    }
                }
            }
            let sent = ClockReading::now(request.wall_clock);
            let next = object::take_over(&found, &request.holder, &identity, server.time());
            match requests.replace(&next).await {
                Ok(lease) => {
                    let not_before = (!has_stopped).then(|| Instant::now() + MAX_CONFIRMATION_AGE);
                    if !has_stopped {
                        server.events().send(&Event::TookOverLease { holder });
                    }
                    return Ok(Self::hold(server, request, lease, sent, not_before));
                }
                Err(error) if error.is_conflict() || error.is_not_found() => {}
                Err(error) => return Err(forbidden(error)),
            }
        }
    }

    fn hold(
        server: &Server,
        request: &LeaseRequest,
        lease: Object,
        confirmed: ClockReading,
        not_before: Option<Instant>,
    ) -> Self {
        let held = Arc::new(HeldLease::new(server, request, lease, confirmed, not_before));
        let mut renewals = JoinSet::new();
        let renewed = Arc::clone(&held);
        renewals.spawn(async move {
            loop {
                sleep(RENEW_EVERY).await;
                // Requests that write report a failure and retry.
                let _ = renewed.confirm(Duration::ZERO).await;
                if renewed.confirmation.loss_error().is_some() {
                    return;
                }
            }
        });
        Self { held, renewals }
    }

    /// Returns the error of every request that writes, once this run has lost the lease.
    pub fn loss_error(&self) -> Option<ApiError> {
        self.held.confirmation.loss_error()
    }

    /// Completes once this run has lost the lease. Returns the error of every request that writes.
    pub async fn lost(&mut self) -> ApiError {
        // Renewals end after the loss.
        while self.renewals.join_next().await.is_some() {}
        match self.loss_error() {
            Some(error) => error,
            None => pending().await,
        }
    }

    /// Releases the lease, so that the next run need not wait. If the server does not answer in a few seconds, the
    /// lease expires by itself.
    pub async fn release(mut self) {
        self.renewals.abort_all();
        // The result does not matter: the next run asks the server.
        let _ = timeout(RELEASE_TIMEOUT, self.held.release()).await;
    }
}

/// Reads the lease of a cluster. None if nobody holds the lease.
/// # Errors
/// The failure of the server.
pub async fn lease_state(server: &Server, name: &LeaseName) -> Result<Option<LeaseState>, ApiError> {
    let found = object::LeaseRequests { server, name }.read().await?;
    Ok(found.map(|found| LeaseState {
        holder: object::holder(&found),
        is_expired: object::is_expired(&found, server.time()),
    }))
}

/// The outcome of [`end_expired_lease`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseEnd {
    /// Nobody holds the lease.
    Free,
    /// The lease had expired and is deleted. Its former holder may write for [`MAX_CONFIRMATION_AGE`].
    Ended(LeaseHolder),
    /// The lease has not expired.
    Held(LeaseHolder),
}

/// Deletes a lease that has expired, so that its former holder cannot renew it.
/// # Errors
/// The failure of the server.
pub async fn end_expired_lease(server: &Server, name: &LeaseName) -> Result<LeaseEnd, ApiError> {
    let requests = object::LeaseRequests { server, name };
    let Some(found) = requests.read().await? else { return Ok(LeaseEnd::Free) };
    let holder = object::holder(&found);
    if !object::is_expired(&found, server.time()) {
        return Ok(LeaseEnd::Held(holder));
    }
    match requests.delete(&ObjectRevision::of(&found)).await {
        // The holder has renewed it meanwhile.
        Err(error) if error.is_conflict() => Ok(LeaseEnd::Held(holder)),
        Err(error) if error.is_not_found() => Ok(LeaseEnd::Free),
        ended => ended.map(|()| LeaseEnd::Ended(holder)),
    }
}

/// A lease of another run, and the time since this run has seen it unchanged.
struct WatchedLease {
    lease: Object,
    holder: LeaseHolder,
    since: Instant,
}

impl WatchedLease {
    fn of(before: Option<Self>, lease: Object, holder: LeaseHolder) -> Self {
        match before {
            Some(before) if before.is_unchanged(&lease, Duration::ZERO) => before,
            _ => Self { lease, holder, since: Instant::now() },
        }
    }

    fn is_unchanged(&self, lease: &Object, lasting: Duration) -> bool {
        self.lease == *lease && self.since.elapsed() >= lasting
    }
}

impl fmt::Debug for LeaseRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaseRequest").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
