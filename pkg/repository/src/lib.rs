//! Reads the files of a provider release, wherever they live: local folder, GitHub, GitLab, a web server, registry,
//! Git, memory.
//!
//! ```text
//! provider url ─► Location ─► open ─► dyn Repository ─┬─► versions ──┐
//!                               ▲                     └─► read ──────┼─► latest (newest usable release)
//! Settings ─► Context ──────────┘                          ▲         │
//!             clients made at the first request,            │         ▼
//!             credentials by host, caches, events    WithOverrides ─► File { bytes, origin }
//!                               ▲
//! StoreSettings ─► Store ───────┘  what was fetched before, on disk
//! ```
//!
//! - Opening a repository costs nothing: no request, no TLS set-up, no thread. A local file is one `std::fs` read.
//! - A pinned version is read without any call to an API, and once it is kept without any request; versions are listed
//!   only when somebody asks.
//! - A credential goes to the host it belongs to and is not carried along by a redirect to another one. So do the
//!   authorities that are trusted for one host, and the certificate it is shown.
//! - Only what can pass is tried again: 429, 5xx, a lost connection. A 401, 403 or 404 is final at once.
//! - Every failure is a value with the facts in fields: address, masked credential, status, remaining quota, proxy.
//!
//! Deliberately absent: what a provider means, YAML (the metadata parser is handed in), the environment
//! (proxies, tokens and `GOPROXY` are handed in), and printing (progress is an [`Event`]).

mod bundle;
mod cache;
mod context;
mod credential;
mod digest;
mod durable;
mod error;
mod event;
mod fetch;
mod folder;
mod github;
mod gitlab;
mod go_proxy;
mod hosts;
mod http;
mod image;
mod latest;
mod local;
mod location;
mod lock;
mod names;
mod oci;
mod overrides;
mod proxy;
mod reader;
mod secret;
mod shared_file;
mod store;
#[cfg(test)]
mod testing;
mod tls;

pub mod git;
pub mod memory;

pub use bundle::{
    Bundle, BundleEntry, BundleError, BundleFlaw, BundleItem, BundleWriter, BundledFile, Existing,
    ImageAddress, LoadedArtifact, LoadedFolder, LoadedState, Platforms, RegistryTarget, ReleaseForm,
    load_into_folder, load_into_registry,
};
pub use context::{Context, Network, Refresh, RetryPolicy, Settings, Timeouts};
pub use credential::{Credential, CredentialSources, NamedBy};
pub use digest::{Digest, Digester, InvalidDigest};
pub use error::{Error, Failure, Quota, RequestError};
pub use event::{Event, EventSink, RetryReason};
pub use fetch::{fetch_file, fetch_template, fetch_url};
pub use folder::{FolderIndex, InvalidFolderIndex};
pub use hosts::{CaBundle, ClientCertificate, HostProxy, HostSettings, Hosts, RegistryScheme};
pub use http::shown_text;
pub use image::{ImageError, image_digests};
pub use latest::latest;
pub use local::read_file;
pub use location::{
    FolderLocation, GitHubLocation, GitLabLocation, GitLocation, GitReference, HostKind, LocalLocation,
    Location, LocationError, OciLocation, UnknownHostKind,
};
pub use lock::{
    FileOrigin, Lock, LockError, LockSettings, LockedFile, LockedProvider, NotAsLocked, Unlocked,
};
pub use oci::{ExistingTag, OciError, Package, PackageContent, PackageFile, PackageTarget, TagState};
pub use overrides::{Overrides, WithOverrides};
pub use proxy::{ProxyAddress, ProxySettings};
pub use reader::{BoxFuture, File, Origin, Repository, open};
pub use secret::Secret;
pub use store::{
    BlobWriter, BrokenEntry, HostShare, KeyLock, Prune, Pruned, Store, StoreSettings, StoreSurvey, Verified,
};
pub use tls::{CertificateFacts, CertificateProblem, UntrustedCertificate};
