//! What is told while a server is worked on.

use std::{fmt, sync::Arc, time::Duration};

use crate::{Blocker, LeaseHolder, ObjectKey, Written};

/// What happens while a server is worked on.
#[derive(Clone, Debug)]
pub enum Event {
    /// A request goes out.
    Requested {
        /// `GET /api/v1/namespaces?limit=500`.
        request: String,
        /// Its effect on the cluster.
        effect: Effect,
    },
    /// Another run holds the lease of the cluster; this one waits.
    WaitingForLease {
        /// The other run.
        holder: LeaseHolder,
    },
    /// The lease was taken over from a run that may still work; it has a short time to notice.
    TookOverLease {
        /// The other run.
        holder: LeaseHolder,
    },
    /// A request is tried again.
    Retrying {
        /// What was to be done, such as `apply Deployment ns/name`.
        action: String,
        /// Why it did not work.
        why: String,
        /// Since when it has been tried.
        since: Duration,
        /// When it is tried again.
        after: Duration,
    },
    /// The server says something about a request; each text once.
    Warning {
        /// Its words.
        text: String,
        /// What was to be done, such as `apply Deployment ns/name`.
        action: String,
    },
    /// An object was written.
    Wrote {
        /// Which one.
        object: ObjectKey,
        /// How.
        how: Written,
    },
    /// An object was told to go.
    Deleted {
        /// Which one.
        object: ObjectKey,
    },
    /// Something is waited for; told when it changes.
    Waiting {
        /// What is not ready.
        blockers: Vec<Blocker>,
    },
    /// Objects of a kind are brought to its storage version.
    Migrating {
        /// The definition's name.
        definition: String,
        /// How many are done.
        done: usize,
        /// How many there are, as far as is known.
        of: Option<usize>,
    },
}

/// The effect of a request on the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// None: a read, a dry run, a review of permissions.
    None,
    /// It acquires, renews or releases the lease of the cluster.
    Lease,
    /// It writes.
    Write,
}

/// Where events of one sort go. Cheap to clone.
pub struct EventSink<E>(Arc<dyn Fn(&E) + Send + Sync>);

impl<E> EventSink<E> {
    /// Sends events to a function.
    pub fn new(sink: impl Fn(&E) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }

    /// Sends them nowhere.
    pub fn none() -> Self {
        Self::new(|_| {})
    }

    /// Tells one.
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
