//! An API server, and how it is asked.

use std::{
    iter,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use jiff::Timestamp;
use manifest::{Object, Value};

use crate::{
    ApiError, ConnectError, Connection, Event, EventSink, Lease,
    lease::{FRESH, HeldLease},
};

mod answer;
pub(crate) mod call;
mod conceal;
mod discovery;
mod gate;
mod pages;
mod read;
mod send;
mod sent;
mod shared;
mod watch;
mod write;

pub use call::WriteMode;
pub use pages::{Page, Pages};
pub use shared::ServerSettings;
use shared::Shared;

/// An API server: one client, one discovery, bounded parallelism. Cheap to clone.
///
/// Objects travel as JSON trees in the version they are written in, so that nothing of them is lost.
/// Every request is retried by the rules of [`ApiError::can_pass`] until [`ServerSettings::retry_for`] is over; a 401
/// makes one new connection, so that a token that ran out in the middle is taken anew. A server that never answered is
/// not tried again: that is a wrong address more often than a pause.
///
/// A new handle only reads: a request that writes is an error until the handle is given a lease by [`Server::under`].
#[derive(Clone, Debug)]
pub struct Server {
    shared: Arc<Shared>,
    retry_for: Duration,
    /// No request is tried again after this; none for no such time.
    retry_until: Option<Instant>,
    writes: Writes,
}

/// The condition for requests that write.
#[derive(Clone, Debug)]
enum Writes {
    /// There are none.
    Refused,
    /// There is no lease to hold.
    Unguarded,
    /// Each of these leases was confirmed a short time before.
    Under(Vec<Arc<HeldLease>>),
}

/// A version of Kubernetes as the server tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerVersion {
    /// `v1.36.3`.
    pub git_version: String,
}

/// What to list.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// In this namespace; none for all.
    pub namespace: Option<String>,
    /// Label selector; empty for all.
    pub labels: String,
    /// Field selector; empty for all.
    pub fields: String,
    /// Only metadata is wanted: a fraction of the bytes.
    pub metadata_only: bool,
    /// Stop after so many objects; none for all, page by page.
    pub at_most: Option<usize>,
}

/// A change a watch tells.
#[derive(Clone, Debug)]
pub enum WatchEvent {
    /// The object is there, new or changed.
    Is(Object),
    /// It is gone; as it was last.
    Gone(Object),
}

impl Server {
    /// Connects. Nothing is asked of the server yet.
    pub async fn connect(connection: Connection, settings: ServerSettings) -> Result<Self, ConnectError> {
        let retry_for = settings.retry_for;
        let shared = Arc::new(Shared::connect(connection, settings).await?);
        Ok(Self { shared, retry_for, retry_until: None, writes: Writes::Refused })
    }

    /// The same server, for a run that holds a lease: a request that writes is sent only when the lease was confirmed within
    /// [`crate::lease::FRESH`]. Several leases are all confirmed, for a run that writes to several clusters. The connections of
    /// this server carry nothing for handles of other leases any more.
    #[must_use]
    pub fn under(&self, lease: &Lease) -> Self {
        let mut leases = match &self.writes {
            Writes::Under(leases) => leases.clone(),
            Writes::Refused | Writes::Unguarded => Vec::new(),
        };
        leases.push(Arc::clone(&lease.held));
        self.shared.fence.guard(leases.iter().map(|lease| Arc::clone(&lease.proof)));
        Self { writes: Writes::Under(leases), ..self.clone() }
    }

    /// The same server, for one that no other run writes to, such as that of a test.
    #[must_use]
    pub fn unguarded(&self) -> Self {
        self.shared.fence.guard(iter::empty());
        Self { writes: Writes::Unguarded, ..self.clone() }
    }

    /// Confirms every lease this handle writes under, unless that was done within a span of time.
    /// # Errors
    /// `LeaseLost` once another run has one of them; `Unconfirmed` while that is unknown.
    pub async fn confirm_leases(&self, action: &str, within: Duration) -> Result<(), ApiError> {
        let Writes::Under(leases) = &self.writes else { return Ok(()) };
        let confirmed = leases.iter().map(|lease| lease.confirm(within));
        let unconfirmed = |error| match error {
            lost @ ApiError::LeaseLost { .. } => lost,
            error => ApiError::Unconfirmed { action: action.to_owned(), source: Box::new(error) },
        };
        try_join_all(confirmed).await.map(drop).map_err(unconfirmed)
    }

    /// The time by the clock of the server, as its last answer told it.
    pub fn time(&self) -> Option<Timestamp> {
        self.shared.time()
    }

    /// The same server, whose requests are tried again for another time.
    #[must_use]
    pub fn retrying_for(&self, retry_for: Duration) -> Self {
        Self { retry_for, ..self.clone() }
    }

    /// The same server, whose requests are not tried again after some time; what was set before stays.
    #[must_use]
    pub fn retrying_until(&self, until: Option<Instant>) -> Self {
        let earliest = self.retry_until.into_iter().chain(until).min();
        Self { retry_until: earliest, ..self.clone() }
    }

    /// The address, for messages.
    pub fn address(&self) -> &str {
        &self.shared.address
    }

    /// How many requests have gone out, retries included.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// Requests that may be under way at the same time.
    pub fn max_in_flight(&self) -> usize {
        self.shared.settings.max_in_flight
    }

    /// Where events go.
    pub fn events(&self) -> &EventSink<Event> {
        &self.shared.settings.events
    }
}

/// How an object is applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Apply {
    /// The state of the live object that the write requires.
    pub onto: Onto,
    /// Real or dry run.
    pub mode: WriteMode,
}

/// The state of the live object that a write requires. Anything else is a conflict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Onto {
    /// Any, also none.
    #[default]
    Any,
    /// The object does not exist.
    Absent,
    /// The object exists in this revision. An object that is gone is not created again.
    Revision(Revision),
}

/// One revision of one object: a write or deletion that names it fails with a conflict once the object has changed, is
/// gone, or was replaced by another object of the same name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Revision {
    /// `metadata.uid`
    pub uid: String,
    /// `metadata.resourceVersion`
    pub resource_version: String,
}

impl Revision {
    /// The revision of an object as the server returned it.
    pub fn of(object: &Object) -> Self {
        let text = |field| object.get(&["metadata", field]).and_then(Value::as_str).unwrap_or_default();
        Self { uid: text("uid").to_owned(), resource_version: text("resourceVersion").to_owned() }
    }
}

/// What a patch changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchOf {
    /// The object, but for its status where that is a subresource.
    Object,
    /// The status subresource.
    Status,
}

/// What became of an object that was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// It is no longer there.
    Gone,
    /// It was told to go, and something holds it: a finalizer, the content of a Namespace, the end of a Pod.
    Going,
}

#[cfg(test)]
mod tests;
