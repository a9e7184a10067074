//! The way to hosts: HTTP with TLS, proxies, credentials and redirects, the protocol of registries, and a cache on disk.
//!
//! ```text
//! Settings ─► Context ─┬─► http::keep ─► Store (what was fetched before, on disk)
//!   clients made at    │        └─► http::send ─► host     one credential, one client, one proxy for each host
//!   the first request, └─► registry::Registry ─► http      challenges, tokens, uploads; every digest checked
//!   sessions by type
//! ```
//!
//! - Making a context costs nothing: no request, no TLS set-up, no thread.
//! - A credential goes to the host it belongs to and is not carried along by a redirect to another one. So do the
//!   authorities that are trusted for one host, and the certificate it is shown.
//! - Only what can pass is tried again: 429, 5xx, a lost connection. A 401, 403 or 404 is final at once.
//! - Every failure is a value with the facts in fields: address, masked credential, status, remaining quota, proxy.
//!
//! May touch: the network, and the disk where the cache and the files of credentials are. May not touch: the environment
//! (proxies and tokens are handed in), the terminal (progress is an [`Event`]), nor what a release or a provider is.

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
mod hosts;
mod proxy;
mod secret;
mod settings;
#[cfg(test)]
mod tests;
mod tls;

pub use cache::{Cache, Miss};
pub use context::Context;
pub use credential::{Credential, CredentialSources, NamedBy, Purpose};
pub use digest::{Digest, Digester, InvalidDigest};
pub use error::{Error, Failure, Quota, RequestError};
pub use event::{Event, EventSink, RetryReason};
pub use hosts::{
    CaBundle, ClientCertificate, HostKind, HostSettings, Hosts, RegistryScheme, UnknownHostKind,
};
pub use proxy::{HostProxy, ProxyAddress, ProxySettings};
pub use secret::Secret;
pub use settings::{Network, Refresh, RetryPolicy, Settings, Timeouts};
pub use store::{Store, StoreSettings};
pub use tls::{CertificateFacts, CertificateProblem, UntrustedCertificate};
