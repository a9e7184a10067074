//! Shared test helpers: fake hosts, the binary in an isolated environment, a sandbox with Cluster API objects.
//!
//! ```
//! use support::{cluster_api::{self, cluster}, fixture::Fixture, kind, request_counter::RequestCounter};
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let lab = Fixture::start().await;
//! cluster_api::install(&lab).await;
//! lab.create(cluster("default/a").control_plane(1).machine_deployment("md", 2)).await;
//!
//! let counter = RequestCounter::start(lab.sandbox());
//! assert_eq!(lab.list(kind::MACHINE).await.len(), 3);
//! assert_eq!(counter.all().to_string(), "1 list machines");
//! # });
//! ```

pub mod api_server;
pub mod binary;
#[cfg(target_os = "linux")]
pub mod closed_site;
#[cfg(feature = "sandbox")]
pub mod cluster_api;
#[cfg(feature = "sandbox")]
pub mod fixture;
pub mod folder;
pub mod git;
pub mod host;
#[cfg(feature = "sandbox")]
pub mod kind;
mod listener;
#[cfg(feature = "sandbox")]
pub mod object_snapshot;
pub mod proxy;
pub mod registry;
#[cfg(feature = "sandbox")]
pub mod request_counter;
mod screen;
#[cfg(feature = "sandbox")]
pub mod scripted_connection;
pub mod skip;
#[cfg(feature = "sandbox")]
pub mod small_providers;
pub mod tar;
#[cfg(unix)]
pub mod terminal;
