//! Parts that several tests share: providers, sandboxes and management clusters for the binary.

mod catalogs;
mod cluster_pair;
mod lab;
mod management;
pub(crate) mod releases;
mod sandboxes;
mod small_providers;

pub(crate) use catalogs::{git, template_lab, template_lab_without_hook, with_lieutenant};
pub(crate) use cluster_pair::ClusterPair;
#[cfg(unix)]
pub(crate) use lab::Lab;
#[cfg(unix)]
pub(crate) use management::{Management, blueprint_component};
#[cfg(unix)]
pub(crate) use sandboxes::{CONFIG_MAP, CONFIG_MAPS, Sandboxes, send, signal};
pub(crate) use small_providers::with_small_providers;
