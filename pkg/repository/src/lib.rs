//! Reads the files of a provider release, wherever they live: local folder, GitHub, GitLab, memory.
//!
//! ```text
//! provider url ─► Location ─► open ─► dyn Repository ─┬─► versions ──┐
//!                               ▲                     └─► read ──────┼─► latest (newest usable release)
//! Settings ─► Context ──────────┘                          ▲         │
//!             client made at the first request,            │         ▼
//!             credentials by host, caches, events    WithOverrides ─► File { bytes, origin }
//! ```
//!
//! - Opening a repository costs nothing: no request, no TLS set-up, no thread. A local file is one `std::fs` read.
//! - A pinned version is read without any call to an API; versions are listed only when somebody asks.
//! - A credential goes to the host it belongs to and is not carried along by a redirect to another one.
//! - Only what can pass is tried again: 429, 5xx, a lost connection. A 401, 403 or 404 is final at once.
//! - Every failure is a value with the facts in fields: address, masked credential, status, remaining quota, proxy.
//!
//! Deliberately absent: what a provider means, YAML (the metadata parser is handed in), the environment
//! (proxies, tokens and `GOPROXY` are handed in), printing (progress is an [`Event`]), and a cache on disk.

mod cache;
mod context;
mod error;
mod event;
mod fetch;
mod github;
mod gitlab;
mod go_proxy;
mod http;
mod latest;
mod local;
mod location;
mod names;
mod overrides;
mod proxy;
mod reader;
mod secret;
#[cfg(test)]
mod testing;

pub mod memory;

pub use context::{Context, RetryPolicy, Settings, Timeouts};
pub use error::{Error, Failure, Quota, RequestError};
pub use event::{Event, EventSink, RetryReason};
pub use fetch::{fetch_template, fetch_url};
pub use http::shown_text;
pub use latest::latest;
pub use local::read_file;
pub use location::{GitHubLocation, GitLabLocation, LocalLocation, Location, LocationError};
pub use overrides::{Overrides, WithOverrides};
pub use proxy::ProxySettings;
pub use reader::{BoxFuture, File, Origin, Repository, open};
pub use secret::Secret;
