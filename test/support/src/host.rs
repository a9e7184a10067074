//! A scripted host on loopback that responds like GitHub, a Go module proxy or GitLab.
//!
//! One port serves TLS, plain HTTP and `CONNECT` as a proxy. A client can reach the host under real host names in two
//! ways:
//! - with custom name resolution, or
//! - with `HTTPS_PROXY` set to [`FakeHost::proxy_url`] and `SSL_CERT_FILE` to a file with [`FakeHost::ca_pem`].
//!
//! The host returns 404 for unscripted addresses.

mod github;
mod reply;
pub(crate) mod serve;
pub(crate) mod tls;

use std::{
    collections::{HashMap, VecDeque},
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub use github::{GitHubRelease, github_releases_page};
pub use reply::Reply;
use tls::HostCertificate;
pub use tls::Identity;

use crate::listener::Listener;

/// A received request.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// The method: `GET`, or `CONNECT` if the host served as a proxy, with an empty target.
    pub method: String,
    /// The requested host name without port. For plain requests to the port itself, its address.
    pub host: String,
    /// The path and query.
    pub target: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// True if the request used TLS.
    pub tls: bool,
}

impl ReceivedRequest {
    /// The value of a header, by lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Host and target, in the form used for scripting.
    pub fn address(&self) -> String {
        format!("{}{}", self.host, self.target)
    }
}

/// The scripted replies and the received requests.
#[derive(Debug, Default)]
struct Script {
    replies: HashMap<String, VecDeque<Reply>>,
    received: Vec<ReceivedRequest>,
    connections: usize,
}

/// A scripted host. Dropping the value stops the host.
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

    /// Starts a host with a certificate that is valid for these names.
    ///
    /// # Panics
    /// Panics if listening on loopback fails.
    pub fn start(names: &[&str]) -> Self {
        Self::with_certificate(names, HostCertificate::Valid)
    }

    /// Starts a host with a certificate that expired on the last day of 2020.
    ///
    /// # Panics
    /// Panics if listening on loopback fails.
    pub fn expired(names: &[&str]) -> Self {
        Self::with_certificate(names, HostCertificate::Expired)
    }

    /// Starts a host with a self-signed certificate.
    ///
    /// # Panics
    /// Panics if listening on loopback fails.
    pub fn self_signed(names: &[&str]) -> Self {
        Self::with_certificate(names, HostCertificate::SelfSigned)
    }

    /// Starts a host that accepts only clients with [`FakeHost::client_identity`].
    ///
    /// # Panics
    /// Panics if listening on loopback fails.
    pub fn requiring_client_certificate(names: &[&str]) -> Self {
        Self::with_certificate(names, HostCertificate::ClientCertificateRequired)
    }

    fn with_certificate(names: &[&str], manner: HostCertificate) -> Self {
        let tls::Tls { acceptor, ca_pem, client, .. } = tls::create(names, manner);
        let script = Arc::new(Mutex::new(Script::default()));
        let for_all = Arc::clone(&script);
        let listener = Listener::start(move |socket| {
            lock(&for_all).connections += 1;
            serve::connection(socket, acceptor.clone(), Arc::clone(&for_all))
        });
        Self { ca_pem, client, script, listener }
    }

    /// Starts a host that acts as `github.com`, its API and storage, the public Go module proxy, and a GitLab.
    pub fn internet() -> Self {
        Self::start(&Self::INTERNET)
    }

    /// The address of the host.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// The certificate of the authority that issued the host's certificate.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// A client certificate issued by the same authority.
    pub fn client_identity(&self) -> &Identity {
        &self.client
    }

    /// The url of the host as a plain HTTP server or as a proxy.
    pub fn proxy_url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Sets the reply for `host/path?query`.
    pub fn on(&self, address: impl Into<String>, reply: Reply) -> &Self {
        self.on_sequence(address, [reply])
    }

    /// Sets a sequence of replies for `host/path?query`. The last reply repeats.
    pub fn on_sequence(&self, address: impl Into<String>, replies: impl IntoIterator<Item = Reply>) -> &Self {
        self.script().replies.insert(address.into(), replies.into_iter().collect());
        self
    }

    /// The body of the next reply to `host/path?query`. Empty for unscripted addresses.
    pub fn body(&self, address: &str) -> Vec<u8> {
        let script = self.script();
        let reply = script.replies.get(address).and_then(VecDeque::front);
        reply.map(|reply| reply.body.clone()).unwrap_or_default()
    }

    /// All requests so far.
    pub fn received(&self) -> Vec<ReceivedRequest> {
        self.script().received.clone()
    }

    /// The number of connections so far, including connections without requests.
    pub fn connections(&self) -> usize {
        self.script().connections
    }

    /// Host and target of all requests so far, except `CONNECT` requests.
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
