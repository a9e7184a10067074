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

use crate::{Error, Event, Network, Settings, Store, cache::Cache, http, tls::Identity};

/// Everything that the hosts of one process share: settings, lazily made HTTP clients, the cache. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    shared: Arc<Shared>,
}

struct Shared {
    settings: Settings,
    clients: Mutex<BTreeMap<Identity, Result<reqwest::Client, Error>>>,
    store: Option<Store>,
    told_of_store: AtomicBool,
    sessions: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Context {
    /// Takes the settings; makes no connection and no client.
    pub fn new(settings: Settings) -> Self {
        Self {
            shared: Arc::new(Shared {
                store: settings.store.clone().map(|store| Store::new(store, settings.events.clone())),
                told_of_store: AtomicBool::new(false),
                settings,
                clients: Mutex::default(),
                sessions: Mutex::default(),
            }),
        }
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// The largest file that is taken.
    pub fn max_file_bytes(&self) -> u64 {
        self.shared.settings.max_file_bytes
    }

    /// Whether anything was asked of the network yet.
    pub fn used_network(&self) -> bool {
        !self.clients().is_empty()
    }

    /// What is kept on this machine, if anything is.
    pub fn store(&self) -> Option<&Store> {
        self.shared.store.as_ref()
    }

    /// Tells, once, that the store cannot be used as it should; whoever met the failure goes on without.
    pub fn tell_of_store(&self, error: &Error) {
        if !self.shared.told_of_store.swap(true, Ordering::Relaxed) {
            self.emit(&Event::StoreUnusable { why: api::with_causes(error) });
        }
    }

    /// Tells those who listen.
    pub fn emit(&self, event: &Event) {
        if let Some(events) = &self.shared.settings.events {
            events(event);
        }
    }

    /// Lets nothing pass where no connection may be made.
    /// # Errors
    /// [`Error::Offline`], with what was wanted.
    pub fn check_network(&self, wanted: &str) -> Result<(), Error> {
        match self.shared.settings.network {
            Network::Allowed => Ok(()),
            Network::Forbidden => Err(Error::Offline { wanted: wanted.to_owned() }),
        }
    }

    /// The client for the host of a url; hosts that nothing is set for share one.
    /// # Errors
    /// What is wrong with the certificates and proxies that are set.
    pub fn client(&self, url: &Url) -> Result<reqwest::Client, Error> {
        let settings = &self.shared.settings;
        let identity = Identity::of(settings.hosts.get(url));
        let mut clients = self.clients();
        let known = clients.get(&identity).cloned();
        known.unwrap_or_else(|| {
            let client = http::make_client(settings, &identity);
            clients.insert(identity, client.clone());
            client
        })
    }

    fn clients(&self) -> MutexGuard<'_, BTreeMap<Identity, Result<reqwest::Client, Error>>> {
        self.shared.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The proxy a request goes through, if any.
    pub fn proxy(&self, url: &Url) -> Option<Url> {
        let settings = &self.shared.settings;
        settings.proxy.for_host(url, settings.hosts.get(url).map(|host| &host.proxy))
    }

    /// The state that one kind of host keeps for the life of the process: one value of each type, shared by all clones
    /// of this context.
    pub fn session<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut sessions = self.shared.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let session = sessions.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        Arc::clone(session).downcast().expect("sessions are stored under their own type")
    }

    /// The answers of one type that this process has had so far.
    pub fn answers<V, E>(&self) -> Arc<Cache<V, E>>
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
