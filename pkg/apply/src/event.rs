//! Events of the work on a server.

use std::{fmt, sync::Arc, time::Duration};

use crate::{Blocker, LeaseHolder, ObjectKey, Written};

/// An event of the work on a server.
#[derive(Clone, Debug)]
pub enum Event {
    /// A request is sent.
    Requested {
        /// The request, such as `GET /api/v1/namespaces?limit=500`.
        request: String,
        /// The effect on the cluster.
        effect: RequestEffect,
    },
    /// Another run holds the lease of the cluster; this run waits.
    WaitingForLease {
        /// The other run.
        holder: LeaseHolder,
    },
    /// The lease was taken over from a run that may still work. This run waits until the other run must have stopped
    /// writing.
    TookOverLease {
        /// The other run.
        holder: LeaseHolder,
    },
    /// A request is retried.
    Retrying {
        /// The attempted action, such as `apply Deployment ns/name`.
        action: String,
        /// The reason of the failure.
        reason: String,
        /// The time since the first attempt.
        since: Duration,
        /// The pause before the next attempt.
        after: Duration,
    },
    /// The server returned a warning. Each text is reported once.
    Warning {
        /// The text of the warning.
        text: String,
        /// The attempted action, such as `apply Deployment ns/name`.
        action: String,
    },
    /// An object was written.
    Wrote {
        /// The key of the object.
        object: ObjectKey,
        /// The kind of write.
        how: Written,
    },
    /// The deletion of an object was requested.
    Deleted {
        /// The key of the object.
        object: ObjectKey,
    },
    /// The run waits. The event is sent when the blockers change.
    Waiting {
        /// The objects that are not ready.
        blockers: Vec<Blocker>,
    },
    /// Objects of a kind are migrated to its storage version.
    Migrating {
        /// The name of the definition.
        definition: String,
        /// The number of migrated objects.
        done: usize,
        /// The number of all objects, if known.
        total: Option<usize>,
    },
}

/// The effect of a request on the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestEffect {
    /// No effect: a read, a dry run, a review of permissions.
    None,
    /// The request acquires, renews or releases the lease of the cluster.
    Lease,
    /// The request writes.
    Write,
}

/// A receiver of events of one type. Cheap to clone.
pub struct EventSink<E>(Arc<dyn Fn(&E) + Send + Sync>);

impl<E> EventSink<E> {
    /// Creates a sink that passes events to a function.
    pub fn new(sink: impl Fn(&E) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }

    /// Creates a sink that ignores all events.
    pub fn none() -> Self {
        Self::new(|_| {})
    }

    /// Sends an event.
    pub fn send(&self, event: &E) {
        (self.0)(event);
    }
}

impl<E> Clone for EventSink<E> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<E> fmt::Debug for EventSink<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventSink")
    }
}
