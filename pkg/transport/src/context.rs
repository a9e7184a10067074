use std::{
    any::{Any, TypeId},
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use url::Url;

use crate::{Error, Event, NetworkAccess, Settings, Store, cache::Cache, http, tls, tls::TlsIdentity};

/// Shared state of all hosts in one process: settings, HTTP clients (created on demand) and the cache. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    shared: Arc<Shared>,
}

/// The clients by their TLS settings, and by whether they keep the encoding of contents.
type Clients = BTreeMap<(TlsIdentity, bool), Result<reqwest::Client, Error>>;

struct Shared {
    settings: Settings,
    clients: Mutex<Clients>,
    store: Option<Store>,
    store_error_reported: AtomicBool,
    sessions: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Context {
    /// Creates a context without a connection or a client.
    pub fn new(settings: Settings) -> Self {
        Self {
            shared: Arc::new(Shared {
                store: settings.store.clone().map(|store| Store::new(store, settings.events.clone())),
                store_error_reported: AtomicBool::new(false),
                settings,
                clients: Mutex::default(),
                sessions: Mutex::default(),
            }),
        }
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Returns the size limit of a file in bytes.
    pub fn max_file_bytes(&self) -> u64 {
        self.shared.settings.max_file_bytes
    }

    /// True if this context has created an HTTP client.
    pub fn used_network(&self) -> bool {
        !self.clients().is_empty()
    }

    /// Returns the store. None if nothing is stored on this machine.
    pub fn store(&self) -> Option<&Store> {
        self.shared.store.as_ref()
    }

    /// Emits [`Event::StoreUnusable`] on the first call; later calls emit no event.
    pub fn report_store_error(&self, error: &Error) {
        if !self.shared.store_error_reported.swap(true, Ordering::Relaxed) {
            self.emit(&Event::StoreUnusable { reason: api::with_causes(error) });
        }
    }

    /// Sends an event to the event sink, if there is one.
    pub fn emit(&self, event: &Event) {
        if let Some(events) = &self.shared.settings.events {
            events(event);
        }
    }

    /// Checks that connections are allowed.
    /// # Errors
    /// [`Error::Offline`] with the wanted resource if connections are forbidden.
    pub fn check_network(&self, wanted: &str) -> Result<(), Error> {
        match self.shared.settings.network {
            NetworkAccess::Allowed => Ok(()),
            NetworkAccess::Forbidden => Err(Error::Offline { wanted: wanted.to_owned() }),
        }
    }

    /// Checks that the certificates to verify servers can be read. Sends nothing.
    /// # Errors
    /// A file without valid certificates, or a system without root certificates.
    pub fn check_certificates(&self) -> Result<(), Error> {
        tls::client_config(self.settings(), &TlsIdentity::default()).map(drop)
    }

    /// Returns the HTTP client for the host of a URL. Hosts without TLS settings of their own share one client.
    /// # Errors
    /// Fails if a configured certificate or proxy is invalid.
    pub fn client(&self, url: &Url, keeps_encoding: bool) -> Result<reqwest::Client, Error> {
        let settings = &self.shared.settings;
        let key = (TlsIdentity::of(settings.hosts.get(url)), keeps_encoding);
        let mut clients = self.clients();
        let known = clients.get(&key).cloned();
        known.unwrap_or_else(|| {
            let client = http::make_client(settings, &key.0, keeps_encoding);
            clients.insert(key, client.clone());
            client
        })
    }

    fn clients(&self) -> MutexGuard<'_, Clients> {
        self.shared.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the proxy for requests to a URL. None for direct connections.
    pub fn proxy(&self, url: &Url) -> Option<Url> {
        let settings = &self.shared.settings;
        settings.proxy.for_host(url, settings.hosts.get(url).map(|host| &host.proxy))
    }

    /// Returns the state that one kind of host keeps for the lifetime of the process. Clones of the context share one
    /// value of each type.
    pub fn session<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut sessions = self.shared.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let session = sessions.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        Arc::clone(session).downcast().expect("sessions are stored under their own type")
    }

    /// Returns the cache of results of one type in this process.
    pub fn cached_results<V, E>(&self) -> Arc<Cache<V, E>>
    where
        V: Any + Clone + Send + Sync,
        E: Any + Clone + Send + Sync,
    {
        self.session()
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new(Settings::default())
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("settings", &self.shared.settings).finish_non_exhaustive()
    }
}
