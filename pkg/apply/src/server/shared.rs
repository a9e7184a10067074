//! The shared state of all clones of a server.

use std::{
    collections::HashSet,
    fmt,
    future::Future,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use http::{HeaderMap, HeaderValue, header};
use jiff::Timestamp;
use manifest::Object;
use tokio::{sync::Semaphore, time::Instant};

use super::gate::Gate;
use crate::{
    ApiError, ConnectError, Connection, Event, EventSink, Kinds,
    connect::{Connected, Fence},
};

/// The settings of requests to a server.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// The maximum of concurrent requests.
    pub max_in_flight: usize,
    /// The duration of retries of a request with temporary failures.
    pub retry_for: Duration,
    /// The time limit of one try; writes of large objects get more.
    pub request_timeout: Duration,
    /// The receiver of events.
    pub events: EventSink<Event>,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            max_in_flight: 16,
            retry_for: Duration::from_mins(2),
            request_timeout: Duration::from_secs(30),
            events: EventSink::none(),
        }
    }
}

/// The shared state: one client, one discovery, one bound.
pub(super) struct Shared {
    pub(super) settings: ServerSettings,
    pub(super) address: Arc<str>,
    pub(super) permits: Semaphore,
    pub(super) gate: Gate,
    pub(super) requests: AtomicU64,
    /// True if there was any answer.
    pub(super) answered: AtomicBool,
    pub(super) kinds: KnownKinds,
    pub(super) fence: Fence,
    connection: Connection,
    line: Mutex<Line>,
    /// A lock that is held while a new connection is made.
    reconnecting: tokio::sync::Mutex<()>,
    warned: Mutex<HashSet<String>>,
    /// The header `Date` of the last answer that had one, and the time of its arrival.
    date: Mutex<Option<(HeaderValue, Instant)>>,
}

/// The connection in use.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) connected: Connected,
    /// The number of the connection.
    number: u64,
}

/// The kinds of the server after the first discovery.
#[derive(Debug, Default)]
pub(super) struct KnownKinds {
    known: Mutex<Known>,
    /// A lock that is held during a discovery.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Known {
    kinds: Option<Arc<Kinds>>,
    /// The number of times that the kinds were forgotten or changed.
    forgotten: u64,
    /// True if definitions were written that were not established yet.
    lacks: bool,
}

impl Shared {
    pub(super) async fn connect(
        connection: Connection,
        settings: ServerSettings,
    ) -> Result<Self, ConnectError> {
        let fence = Fence::default();
        let connected = connection.connect(&fence).await?;
        Ok(Self {
            address: connected.address.clone(),
            permits: Semaphore::new(settings.max_in_flight.max(1)),
            settings,
            gate: Gate::default(),
            requests: AtomicU64::new(0),
            answered: AtomicBool::new(false),
            kinds: KnownKinds::default(),
            fence,
            connection,
            line: Mutex::new(Line { connected, number: 0 }),
            reconnecting: tokio::sync::Mutex::default(),
            warned: Mutex::default(),
            date: Mutex::default(),
        })
    }

    pub(super) fn note_date(&self, headers: &HeaderMap) {
        if let Some(date) = headers.get(header::DATE) {
            *lock(&self.date) = Some((date.clone(), Instant::now()));
        }
    }

    /// Returns the time by the clock of the server.
    pub(super) fn time(&self) -> Option<Timestamp> {
        let (date, noted) = lock(&self.date).clone()?;
        let then = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(date.as_bytes()).ok()?;
        then.checked_add(noted.elapsed()).ok()
    }

    pub(super) fn line(&self) -> Line {
        lock(&self.line).clone()
    }

    /// Returns a connection newer than an unusable one. Only one of several concurrent callers makes the connection.
    pub(super) async fn newer_than(&self, old: &Line) -> Result<Line, ConnectError> {
        let _one_at_a_time = self.reconnecting.lock().await;
        let current = self.line();
        if current.number != old.number {
            return Ok(current);
        }
        let line =
            Line { connected: self.connection.connect(&self.fence).await?, number: current.number + 1 };
        lock(&self.line).clone_from(&line);
        Ok(line)
    }

    /// True if no warning had this text before.
    pub(super) fn is_new_warning(&self, text: &str) -> bool {
        let mut warned = lock(&self.warned);
        !warned.contains(text) && warned.insert(text.to_owned())
    }
}

impl KnownKinds {
    /// Returns the known kinds if they differ from the old ones, or else requests them.
    pub(super) async fn get<F>(
        &self,
        old: Option<&Arc<Kinds>>,
        ask: impl FnOnce() -> F,
    ) -> Result<Arc<Kinds>, ApiError>
    where
        F: Future<Output = Result<Kinds, ApiError>>,
    {
        let usable = |known: &Known| {
            known.kinds.clone().filter(|kinds| old.is_none_or(|old| !Arc::ptr_eq(old, kinds)))
        };
        if let Some(kinds) = usable(&lock(&self.known)) {
            return Ok(kinds);
        }
        let _one_at_a_time = self.asking.lock().await;
        let forgotten = {
            let known = lock(&self.known);
            if let Some(kinds) = usable(&known) {
                return Ok(kinds);
            }
            known.forgotten
        };
        let kinds = Arc::new(ask().await?);
        let mut known = lock(&self.known);
        // Kinds that were forgotten during the request may be missing from its answer.
        if known.forgotten == forgotten {
            known.kinds = Some(kinds.clone());
        }
        Ok(kinds)
    }

    /// Adds established definitions to the known kinds, and notes if others are missing. Before the first discovery,
    /// nothing is added.
    pub(super) fn learn<'o>(&self, definitions: impl Iterator<Item = &'o Object>, are_all: bool) {
        let mut known = lock(&self.known);
        known.lacks |= !are_all;
        // A concurrent answer may lack these definitions.
        known.forgotten += 1;
        if let Some(kinds) = &mut known.kinds {
            let kinds = Arc::make_mut(kinds);
            definitions.for_each(|definition| kinds.define(definition));
        }
    }

    pub(super) fn may_lack_some(&self) -> bool {
        lock(&self.known).lacks
    }

    pub(super) fn forget(&self) {
        let mut known = lock(&self.known);
        known.kinds = None;
        known.lacks = false;
        known.forgotten += 1;
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Locks a mutex. A poisoned lock is safe, because no critical section leaves its data incomplete.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
