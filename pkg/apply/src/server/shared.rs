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

use super::throttle::Throttle;
use crate::{
    ApiError, ConnectError, ConnectionOptions, Event, EventSink, ServedKinds,
    connect::{Fence, OpenConnection},
};

/// The settings of requests to a server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The maximum of concurrent requests.
    pub max_in_flight: usize,
    /// The duration of retries of a request with temporary failures.
    pub retry_for: Duration,
    /// The time limit of one try; writes of large objects get more.
    pub request_timeout: Duration,
    /// The receiver of events.
    pub events: EventSink<Event>,
}

impl Default for ServerOptions {
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
    pub(super) settings: ServerOptions,
    pub(super) address: Arc<str>,
    pub(super) permits: Semaphore,
    pub(super) throttle: Throttle,
    pub(super) requests: AtomicU64,
    /// True if there was any answer.
    pub(super) has_answered: AtomicBool,
    pub(super) kinds: KindCache,
    pub(super) fence: Fence,
    connection_options: ConnectionOptions,
    current: Mutex<NumberedConnection>,
    /// A lock that is held while a new connection is made.
    reconnecting: tokio::sync::Mutex<()>,
    reported_warnings: Mutex<HashSet<String>>,
    /// The header `Date` of the last answer that had one, and the time of its arrival.
    date: Mutex<Option<(HeaderValue, Instant)>>,
}

/// The connection in use.
#[derive(Clone)]
pub(super) struct NumberedConnection {
    pub(super) connection: OpenConnection,
    /// The number of the connection.
    number: u64,
}

/// The kinds of the server after the first discovery.
#[derive(Debug, Default)]
pub(super) struct KindCache {
    state: Mutex<KindCacheState>,
    /// A lock that is held during a discovery.
    discovery: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct KindCacheState {
    kinds: Option<Arc<ServedKinds>>,
    /// The number of times that the kinds were forgotten or changed.
    generation: u64,
    /// True if definitions were written that were not established yet.
    is_incomplete: bool,
}

impl Shared {
    pub(super) async fn connect(
        connection: ConnectionOptions,
        settings: ServerOptions,
    ) -> Result<Self, ConnectError> {
        let fence = Fence::default();
        let connected = connection.connect(&fence).await?;
        Ok(Self {
            address: connected.address.clone(),
            permits: Semaphore::new(settings.max_in_flight.max(1)),
            settings,
            throttle: Throttle::default(),
            requests: AtomicU64::new(0),
            has_answered: AtomicBool::new(false),
            kinds: KindCache::default(),
            fence,
            connection_options: connection,
            current: Mutex::new(NumberedConnection { connection: connected, number: 0 }),
            reconnecting: tokio::sync::Mutex::default(),
            reported_warnings: Mutex::default(),
            date: Mutex::default(),
        })
    }

    pub(super) fn connection_options(&self) -> &ConnectionOptions {
        &self.connection_options
    }

    pub(super) fn record_date(&self, headers: &HeaderMap) {
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

    pub(super) fn current_connection(&self) -> NumberedConnection {
        lock(&self.current).clone()
    }

    /// Returns a connection newer than an unusable one. Only one of several concurrent callers makes the connection.
    pub(super) async fn reconnect(
        &self,
        old: &NumberedConnection,
    ) -> Result<NumberedConnection, ConnectError> {
        let _one_at_a_time = self.reconnecting.lock().await;
        let current = self.current_connection();
        if current.number != old.number {
            return Ok(current);
        }
        let line = NumberedConnection {
            connection: self.connection_options.connect(&self.fence).await?,
            number: current.number + 1,
        };
        lock(&self.current).clone_from(&line);
        Ok(line)
    }

    /// True if no warning had this text before.
    pub(super) fn is_new_warning(&self, text: &str) -> bool {
        let mut warned = lock(&self.reported_warnings);
        !warned.contains(text) && warned.insert(text.to_owned())
    }
}

impl KindCache {
    /// Returns the known kinds if they differ from the old ones, or else requests them.
    pub(super) async fn get<F>(
        &self,
        old: Option<&Arc<ServedKinds>>,
        ask: impl FnOnce() -> F,
    ) -> Result<Arc<ServedKinds>, ApiError>
    where
        F: Future<Output = Result<ServedKinds, ApiError>>,
    {
        let usable = |known: &KindCacheState| {
            known.kinds.clone().filter(|kinds| old.is_none_or(|old| !Arc::ptr_eq(old, kinds)))
        };
        if let Some(kinds) = usable(&lock(&self.state)) {
            return Ok(kinds);
        }
        let _one_at_a_time = self.discovery.lock().await;
        let forgotten = {
            let known = lock(&self.state);
            if let Some(kinds) = usable(&known) {
                return Ok(kinds);
            }
            known.generation
        };
        let kinds = Arc::new(ask().await?);
        let mut known = lock(&self.state);
        // Kinds that were forgotten during the request may be missing from its answer.
        if known.generation == forgotten {
            known.kinds = Some(kinds.clone());
        }
        Ok(kinds)
    }

    /// Adds established definitions to the known kinds, and notes if others are missing. Before the first discovery,
    /// nothing is added.
    pub(super) fn add_established<'o>(&self, definitions: impl Iterator<Item = &'o Object>, are_all: bool) {
        let mut known = lock(&self.state);
        known.is_incomplete |= !are_all;
        // A concurrent answer may lack these definitions.
        known.generation += 1;
        if let Some(kinds) = &mut known.kinds {
            let kinds = Arc::make_mut(kinds);
            definitions.for_each(|definition| kinds.define(definition));
        }
    }

    pub(super) fn may_be_incomplete(&self) -> bool {
        lock(&self.state).is_incomplete
    }

    pub(super) fn clear(&self) {
        let mut known = lock(&self.state);
        known.kinds = None;
        known.is_incomplete = false;
        known.generation += 1;
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
