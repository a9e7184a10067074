//! HTTP: clients created on the first request, redirects by the rules of this crate, and typed failures.

mod cached;
mod classify;
mod receive;
mod redirect;
mod request;
mod send;
mod sink;
mod verify;

use std::sync::Arc;

use reqwest::{Client, Proxy};

pub use cached::{
    CachePolicy, FetchedResponse, RequestSender, fetch_cached, fetch_cached_as, fetch_cached_with,
    remove_cached,
};
pub use request::{Request, RequestBody, ResponseHead, digest_of, parse_address};
pub(crate) use send::wait_for_retry;
pub use send::{receive_into, send};
pub use sink::{BodySink, MemorySink};
pub use verify::fetch_cached_verified;
pub(crate) use verify::{ExpectedContent, VerifyingSink};

use crate::{
    Error, Settings,
    tls::{self, TlsIdentity},
};

/// Creates a client for the hosts with this identity. Reads certificates from disk, so clients are created on the first
/// request.
pub(crate) fn make_client(
    settings: &Settings,
    identity: &TlsIdentity,
    keeps_encoding: bool,
) -> Result<Client, Error> {
    settings.proxy.check().map_err(|variable| Error::Proxy { variable })?;
    let tls = tls::client_config(settings, identity)?;
    let (proxy, hosts) = (settings.proxy.clone(), settings.hosts.clone());
    let mut builder = Client::builder()
        .user_agent(&settings.user_agent)
        .connect_timeout(settings.timeouts.connect)
        .read_timeout(settings.timeouts.idle)
        .referer(false)
        .gzip(!keeps_encoding)
        // Each hop is a separate request with the client and the credential of its host.
        .redirect(reqwest::redirect::Policy::none())
        .tls_backend_preconfigured(tls)
        // The settings contain the proxies of the environment, so reqwest must not read the environment.
        .no_proxy()
        .proxy(Proxy::custom(move |url| proxy.for_host(url, hosts.get(url).map(|host| &host.proxy))));
    for (host, address) in &settings.resolve {
        builder = builder.resolve(host, *address);
    }
    builder.build().map_err(|error| Error::Client(Arc::new(error)))
}
