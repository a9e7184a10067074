//! A Kubernetes API server in memory, for tests, for newcomers and for CI.
//!
//! [`Sandbox::start`] starts a server in this process. [`Listener`] serves the sandbox over TLS, and [`ControlService`] adds
//! endpoints for its operator.
//!
//! ```text
//! client ─► Listener ─► Control ─┬► Sandbox ─► server ─► faults, audit ─► request ─► verbs ─► respond
//!  (TLS, token)   (/sandbox/…)   │                                                    │
//! kube::Client ──────────────────┘         admission, crd, builtin, fields, patch ◄───┴───► store ─► data directory
//!  (in process)                                                 controllers ─► client ─► verbs
//! ```
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use sandbox::{Fault, Options, Sandbox};
//! use tower_service::Service as _;
//!
//! let mut sandbox = Sandbox::start(Options::default()).await?;
//! sandbox.faults().add(Fault::parse("503,resource=secrets,times=1")?);
//! let request = http::Request::get("/api/v1/namespaces/default/secrets").body(String::new())?;
//! assert_eq!(sandbox.call(request.clone()).await?.status(), 503);
//! assert_eq!(sandbox.call(request).await?.status(), 200);
//! sandbox.wait_until_idle().await;
//! assert_eq!(sandbox.audit().since(0).len(), 2);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! The server answers like kube-apiserver 1.36, with the same status, reason, message, details, causes and stored
//! objects.
//!
//! Deliberately absent: users and permissions (the token grants everything), running containers, a Pod network,
//! aggregated API servers, conversion webhooks, admission policies and protobuf responses. A data directory is not
//! guaranteed to survive a power failure.

mod admission;
pub mod audit;
mod builtin;
mod cel;
mod client;
mod clock;
mod conditions;
pub mod control;
mod controllers;
mod crd;
mod depth;
mod discovery;
pub mod faults;
mod fields;
mod go;
mod identity;
mod jsonpath;
mod kinds;
mod listener;
mod meta;
mod openapi;
mod options;
mod patch;
mod protobuf;
mod request;
mod respond;
mod schema;
mod selector;
mod server;
mod status;
mod store;
mod table;
mod verbs;

pub use admission::ServiceWebhooks;
pub use clock::Clock;
pub use control::ControlService;
pub use faults::Fault;
pub use identity::{Identity, IdentityError, kubeconfig};
pub use listener::{ListenError, Listener, ListenerService};
pub use options::{ControllerSwitches, Options};
pub use respond::{Body, ConnectionCut};
pub use server::{Sandbox, StartError};
pub use store::{JournalReport, OpenError, TruncatedEnd};
