//! A controller that reconciles the Components of one cluster until it is stopped.
//!
//! ```text
//! watch of Components ─► changes ─┐
//! watches of sources, URLs ───────┴─► queue of kube-runtime ─► Reconciler::step ─► status, event, next delay ─► queue
//! ```
//!
//! ```
//! use controller::{Endpoint, Metrics};
//!
//! let metrics = Metrics::default();
//! let answer = Endpoint::Probes.answer("/readyz", &metrics);
//! assert_eq!(answer.status(), 200);
//! assert_eq!(Endpoint::Metrics.answer("/readyz", &metrics).status(), 404);
//! ```
//!
//! All requests go through [`apply::Server`], those of watches as well. Its writes need the lease of the controller.
//!
//! Deliberately absent: files, the environment, signals, printing.

mod changes;
mod event;
mod events;
mod hints;
mod http_endpoint;
mod manifests;
mod metrics;
mod reconciliation;
mod run;
mod sources;
mod watched_component;

pub use event::ControllerEvent;
pub use http_endpoint::{Endpoint, serve};
pub use manifests::{DeploymentSettings, manifests};
pub use metrics::Metrics;
pub use run::{Controller, ControllerError, ControllerOptions, lease_name};
