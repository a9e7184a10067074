//! A controller that reconciles the Components of one cluster until it is stopped.
//!
//! ```text
//! watch of Components ─► changes ─┐
//! watches of sources, URLs ───────┴─► queue of kube-runtime ─► Reconciler::step ─► status, event, next delay ─► queue
//! ```
//!
//! ```
//! use controller::{Endpoint, Metrics, Readiness};
//!
//! let probes = Endpoint::Probes(Readiness::default().into());
//! assert_eq!(probes.answer("/readyz").status(), 200);
//! let metrics = Endpoint::Metrics(Metrics::default().into());
//! assert_eq!(metrics.answer("/readyz").status(), 404);
//! ```
//!
//! All requests go through [`apply::Server`], those of watches as well. Its writes need the lease of the controller.
//!
//! Deliberately absent: files, the environment, signals, printing.

mod changes;
mod chart;
mod event;
mod events;
mod hints;
mod http_endpoint;
mod installation;
mod lock;
mod manifests;
mod metrics;
mod notifications;
mod queue_depth;
mod readiness;
mod reconciliation;
mod run;
mod shard;
mod sources;
mod watch;
mod watched_component;

pub use chart::chart_files;
pub use event::ControllerEvent;
pub use http_endpoint::{Endpoint, serve};
pub use installation::{Installation, InstallationError};
pub use manifests::{DeploymentSettings, manifests};
pub use metrics::Metrics;
pub use notifications::EventsReceiver;
pub use readiness::Readiness;
pub use run::{Controller, ControllerError, ControllerOptions};
pub use shard::{MAX_SHARDS, Shard, ShardError, acquire_shard, working_controller};
