//! Connections to hosts: HTTP with TLS, proxies, credentials and redirects, the registry protocol, and a cache on disk.
//!
//! ```text
//! Settings ─► Context ─┬─► http::fetch_cached ─► Store (earlier responses, on disk)
//!   clients created at │        └─► http::send ─► host     one credential, one client, one proxy for each host
//!   the first request, └─► registry::Registry ─► http      challenges, tokens, uploads; every digest verified
//!   sessions by type
//! ```
//!
//! ```
//! use transport::{Context, Error, NetworkAccess, Settings, http};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let settings = Settings { network: NetworkAccess::Forbidden, ..Settings::default() };
//! let context = Context::new(settings);
//! let request = http::Request::get(http::parse_address("https://example.com/metadata.yaml").unwrap());
//! let error = http::send(&context, &request).await.unwrap_err();
//! assert!(matches!(error, Error::Offline { .. }));
//! assert!(!context.used_network());
//! # });
//! ```
//!
//! - Creating a context is cheap: no request, no TLS setup, no thread.
//! - A credential, a trusted authority or a client certificate of one host is used only for that host. A redirect to
//!   another host drops them.
//! - Only temporary failures are retried: 429, 5xx, a lost connection. A 401, 403 or 404 is final.
//! - Every failure is a value with its facts in fields: address, masked credential, status, remaining quota, proxy.
//!
//! Allowed: the network, the cache folder and credential files on disk. Not allowed: the environment (the caller passes
//! proxies and tokens), the terminal (progress is an [`Event`]) and knowledge of releases and providers.

pub mod address;
pub mod disk;
pub mod http;
pub mod names;
pub mod registry;
pub mod store;

mod cache;
mod context;
mod credential;
mod digest;
mod error;
mod event;
mod hints;
mod hosts;
mod proxy;
mod secret;
mod settings;
#[cfg(test)]
mod testing;
mod tls;

pub use cache::{Cache, Miss};
pub use context::Context;
pub use credential::{AddressOrigin, Credential, CredentialSources, RequestPurpose};
pub use digest::{Digest, Digester, InvalidDigest};
pub use error::{Error, Quota, RequestAction, RequestError, RequestFailure};
pub use event::{Event, EventSink, RetryReason};
pub use hosts::{
    CaBundle, ClientCertificate, HostKind, HostSettings, Hosts, RegistryScheme, UnknownHostKind,
};
pub use proxy::{HostProxy, ProxyAddress, ProxySettings};
pub use secret::Secret;
pub use settings::{NetworkAccess, Refresh, RetryPolicy, Settings, Timeouts};
pub use store::{Store, StoreSettings};
pub use tls::{CertificateFacts, CertificateProblem, UntrustedCertificate};
