//! A scripted host on loopback that answers as GitHub, a Go module proxy or GitLab would.
//!
//! One port serves TLS, plain HTTP and, as a proxy, `CONNECT`: a client reaches it under the real host names either by
//! name resolution handed in, or with `HTTPS_PROXY` set to [`FakeHost::proxy_url`] and `SSL_CERT_FILE` to a file with
//! [`FakeHost::ca_pem`]. What is not scripted is answered with 404.

mod reply;
pub(crate) mod serve;
mod shapes;
pub(crate) mod tls;

use std::{
    collections::{HashMap, VecDeque},
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub use reply::Reply;
pub use shapes::{GitHubRelease, github_releases_page};
pub use tls::Identity;
use tls::Manner;

use crate::listener::Listener;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Received {
    /// `GET`, or `CONNECT` where the host served as a proxy; the target is empty then.
    pub method: String,
    /// Host name the client asked for, without a port; for plain requests to the port itself, its address.
    pub host: String,
    /// Path and query.
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// What was sent along.
    pub body: Vec<u8>,
    /// Whether it came over TLS.
    pub tls: bool,
}

impl Received {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Host and target in one, as they are scripted.
    pub fn address(&self) -> String {
        format!("{}{}", self.host, self.target)
    }
}

/// What the host answers, and what it was asked.
#[derive(Debug, Default)]
struct Script {
    replies: HashMap<String, VecDeque<Reply>>,
    received: Vec<Received>,
    connections: usize,
}

/// The host. It ends with this value.
#[derive(Debug)]
pub struct FakeHost {
    ca_pem: String,
    client: Identity,
    script: Arc<Mutex<Script>>,
    listener: Listener,
}

impl FakeHost {
    /// The names of [`FakeHost::internet`].
    pub const INTERNET: [&str; 8] = [
        "github.com",
        "api.github.com",
        "objects.githubusercontent.com",
        "proxy.golang.org",
        "gitlab.com",
        "gitlab.example.org",
        "ghe.example.org",
        "files.example.org",
    ];

    /// Starts a host whose certificate is good for these names.
    ///
    /// # Panics
    /// When loopback cannot be listened on.
    pub fn start(names: &[&str]) -> Self {
        Self::with_manner(names, Manner::Good)
    }

    /// The same with a certificate that expired on the last day of 2020.
    ///
    /// # Panics
    /// When loopback cannot be listened on.
    pub fn expired(names: &[&str]) -> Self {
        Self::with_manner(names, Manner::Expired)
    }

    /// The same with a certificate that is signed by itself.
    ///
    /// # Panics
    /// When loopback cannot be listened on.
    pub fn own_signed(names: &[&str]) -> Self {
        Self::with_manner(names, Manner::OwnSigned)
    }

    /// The same for clients alone that show [`FakeHost::client_identity`].
    ///
    /// # Panics
    /// When loopback cannot be listened on.
    pub fn for_known_clients(names: &[&str]) -> Self {
        Self::with_manner(names, Manner::ForKnownClients)
    }

    fn with_manner(names: &[&str], manner: Manner) -> Self {
        let tls::Tls { acceptor, ca_pem, client, .. } = tls::make(names, manner);
        let script = Arc::new(Mutex::new(Script::default()));
        let for_all = Arc::clone(&script);
        let listener = Listener::start(move |socket| {
            lock(&for_all).connections += 1;
            serve::connection(socket, acceptor.clone(), Arc::clone(&for_all))
        });
        Self { ca_pem, client, script, listener }
    }

    /// Starts a host that is `github.com`, its API and storage, the public Go module proxy and a GitLab in one.
    pub fn internet() -> Self {
        Self::start(&Self::INTERNET)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// The certificate that its own is signed with.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// A certificate of the same authority for a client.
    pub fn client_identity(&self) -> &Identity {
        &self.client
    }

    /// Its address as a plain HTTP server or as a proxy.
    pub fn proxy_url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Answers `host/path?query` with this from now on.
    pub fn on(&self, address: impl Into<String>, reply: Reply) -> &Self {
        self.on_each(address, [reply])
    }

    /// Answers `host/path?query` with one reply after the other; the last one stays.
    pub fn on_each(&self, address: impl Into<String>, replies: impl IntoIterator<Item = Reply>) -> &Self {
        self.script().replies.insert(address.into(), replies.into_iter().collect());
        self
    }

    /// The body that is answered to `host/path?query` next; empty where nothing is scripted.
    pub fn body(&self, address: &str) -> Vec<u8> {
        let script = self.script();
        let reply = script.replies.get(address).and_then(VecDeque::front);
        reply.map(|reply| reply.body.clone()).unwrap_or_default()
    }

    /// All requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.script().received.clone()
    }

    /// How many connections were opened so far, whatever came over them.
    pub fn connections(&self) -> usize {
        self.script().connections
    }

    /// Host and target of all requests so far, but for those to open a tunnel.
    pub fn addresses(&self) -> Vec<String> {
        let requests = self.received().into_iter().filter(|request| request.method != "CONNECT");
        requests.map(|request| request.address()).collect()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        lock(&self.script)
    }
}

fn lock(script: &Mutex<Script>) -> MutexGuard<'_, Script> {
    script.lock().unwrap_or_else(PoisonError::into_inner)
}
