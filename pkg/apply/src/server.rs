//! Requests to an API server.

use std::{
    iter,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use jiff::Timestamp;
use manifest::{Object, Value};

use crate::{
    ApiError, ConnectError, ConnectionOptions, Event, EventSink, Lease,
    lease::{HeldLease, MAX_CONFIRMATION_AGE},
};

pub(crate) mod call;
mod client;
mod discovery;
mod pages;
mod read;
mod redact;
mod response;
mod shared;
mod throttle;
mod watch;
mod write;
mod write_check;

pub use call::WriteMode;
pub use pages::{ObjectPage, ObjectPages};
pub use shared::ServerOptions;
use shared::Shared;

/// An API server: one client, one discovery, bounded parallelism. Cheap to clone.
///
/// Objects travel as JSON trees in the version of their manifest, so that no field is lost.
/// Every request is retried by the rules of [`ApiError::is_temporary`] until [`ServerOptions::retry_for`] is over. A 401
/// causes one new connection, so that an expired token is renewed. Requests to a server that never answered are not
/// retried, because a wrong address is more likely than an outage.
///
/// A new handle only reads: a request that writes is an error until [`Server::with_lease`] adds a lease.
#[derive(Clone, Debug)]
pub struct Server {
    shared: Arc<Shared>,
    retry_for: Duration,
    /// The time after which no request is retried. None for no limit.
    retry_until: Option<Instant>,
    write_guard: WriteGuard,
}

/// The condition for requests that write.
#[derive(Clone, Debug)]
enum WriteGuard {
    /// Writes are refused.
    Refused,
    /// Writes need no lease.
    Unguarded,
    /// Each of these leases must have a recent confirmation.
    Leased(Vec<Arc<HeldLease>>),
}

/// The Kubernetes version of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerVersion {
    /// The version, such as `v1.36.3`.
    pub git_version: String,
}

/// The selection of a list.
#[derive(Clone, Debug, Default)]
pub struct ListQuery {
    /// The namespace. None for all namespaces.
    pub namespace: Option<String>,
    /// A label selector; empty for all objects.
    pub labels: String,
    /// A field selector; empty for all objects.
    pub fields: String,
    /// True to request only metadata, which is much smaller.
    pub metadata_only: bool,
    /// The maximum of objects. None for all, page by page.
    pub limit: Option<usize>,
}

/// A change that a watch reports.
#[derive(Clone, Debug)]
pub enum WatchEvent {
    /// The object is new or changed.
    Updated(Object),
    /// The object no longer exists; its last state.
    Deleted(Object),
}

impl Server {
    /// Connects without a request to the server.
    pub async fn connect(
        connection: ConnectionOptions,
        settings: ServerOptions,
    ) -> Result<Self, ConnectError> {
        let retry_for = settings.retry_for;
        let shared = Arc::new(Shared::connect(connection, settings).await?);
        Ok(Self { shared, retry_for, retry_until: None, write_guard: WriteGuard::Refused })
    }

    /// Connects to another server, or to this server as another user, with the settings of this handle. Requests that
    /// write need the leases of this handle.
    pub async fn connect_like(&self, connection: ConnectionOptions) -> Result<Self, ConnectError> {
        let shared = Arc::new(Shared::connect(connection, self.shared.settings.clone()).await?);
        if let WriteGuard::Leased(leases) = &self.write_guard {
            shared.fence.set_leases(leases.iter().map(|lease| Arc::clone(&lease.confirmation)));
        }
        Ok(Self { shared, ..self.clone() })
    }

    /// The address and the credentials of this server.
    pub fn connection(&self) -> &ConnectionOptions {
        self.shared.connection_options()
    }

    /// Returns a handle for a run that holds a lease. A request that writes is sent only if the lease was confirmed
    /// within [`crate::lease::MAX_CONFIRMATION_AGE`]. For a run that writes to several clusters, all leases are confirmed. The
    /// connections of this server then require only these leases, so handles with other leases must not be used any
    /// more.
    #[must_use]
    pub fn with_lease(&self, lease: &Lease) -> Self {
        let mut leases = match &self.write_guard {
            WriteGuard::Leased(leases) => leases.clone(),
            WriteGuard::Refused | WriteGuard::Unguarded => Vec::new(),
        };
        leases.push(Arc::clone(&lease.held));
        self.shared.fence.set_leases(leases.iter().map(|lease| Arc::clone(&lease.confirmation)));
        Self { write_guard: WriteGuard::Leased(leases), ..self.clone() }
    }

    /// Returns a handle for a server without other writers, such as the server of a test.
    #[must_use]
    pub fn without_lease(&self) -> Self {
        self.shared.fence.set_leases(iter::empty());
        Self { write_guard: WriteGuard::Unguarded, ..self.clone() }
    }

    /// Confirms every lease of this handle. Retries like a request.
    /// # Errors
    /// `LeaseLost` once another run holds one of the leases; `LeaseUnconfirmed` if that is unknown.
    pub async fn confirm_leases(&self, action: &str) -> Result<(), ApiError> {
        let mut tries = self.retry_state();
        loop {
            match self.try_confirm_leases(action, Duration::ZERO).await {
                Ok(()) => return Ok(()),
                Err(error) => self.pause(&mut tries, action, error).await?,
            }
        }
    }

    /// Confirms every lease of this handle, unless the last confirmation is younger than `within`.
    async fn try_confirm_leases(&self, action: &str, within: Duration) -> Result<(), ApiError> {
        let WriteGuard::Leased(leases) = &self.write_guard else { return Ok(()) };
        let confirmed = leases.iter().map(|lease| lease.confirm(within));
        let unconfirmed = |error| match error {
            lost @ ApiError::LeaseLost { .. } => lost,
            error => ApiError::LeaseUnconfirmed { action: action.to_owned(), source: Box::new(error) },
        };
        try_join_all(confirmed).await.map(drop).map_err(unconfirmed)
    }

    /// Returns the time by the clock of the server, from its last answer.
    pub fn time(&self) -> Option<Timestamp> {
        self.shared.time()
    }

    /// Returns a handle that retries requests for another duration.
    #[must_use]
    pub fn retrying_for(&self, retry_for: Duration) -> Self {
        Self { retry_for, ..self.clone() }
    }

    /// Returns a handle that does not retry requests after a deadline. An earlier deadline stays in effect.
    #[must_use]
    pub fn retrying_until(&self, until: Option<Instant>) -> Self {
        let earliest = self.retry_until.into_iter().chain(until).min();
        Self { retry_until: earliest, ..self.clone() }
    }

    /// Returns the address for messages.
    pub fn address(&self) -> &str {
        &self.shared.address
    }

    /// Returns the number of sent requests, including retries.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// Returns the maximum of concurrent requests.
    pub fn max_in_flight(&self) -> usize {
        self.shared.settings.max_in_flight
    }

    /// Returns the receiver of events.
    pub fn events(&self) -> &EventSink<Event> {
        &self.shared.settings.events
    }
}

/// The mode of an apply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApplyRequest {
    /// The state of the live object that the write requires.
    pub precondition: ApplyPrecondition,
    /// Real or dry run.
    pub mode: WriteMode,
}

/// The state of the live object that a write requires. Any other state is a conflict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ApplyPrecondition {
    /// Any state, including no object.
    #[default]
    Any,
    /// The object does not exist.
    Absent,
    /// The object exists in this revision. A missing object is not created again.
    Revision(ObjectRevision),
}

/// One revision of one object. A write or deletion with a revision conflicts if the object was changed, deleted, or
/// replaced by another object of the same name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectRevision {
    /// `metadata.uid`
    pub uid: String,
    /// `metadata.resourceVersion`
    pub resource_version: String,
}

impl ObjectRevision {
    /// Returns the revision of an object that the server returned.
    pub fn of(object: &Object) -> Self {
        let text = |field| object.get(&["metadata", field]).and_then(Value::as_str).unwrap_or_default();
        Self { uid: text("uid").to_owned(), resource_version: text("resourceVersion").to_owned() }
    }
}

/// The target of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchTarget {
    /// The object, except for its status if the status is a subresource.
    Object,
    /// The status subresource.
    Status,
}

/// The result of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletionOutcome {
    /// The object no longer exists.
    Gone,
    /// The deletion was requested, and is delayed by a finalizer, the contents of a Namespace, or the end of a Pod.
    Terminating,
}

#[cfg(test)]
mod tests;
