//! The repositories of a cluster: the hierarchy of all clusters and of the tenant, and the catalog.

mod catalog;
mod checkout;
mod diff;
mod message;
mod objects;
mod text_diff;

pub use catalog::{CatalogChanges, CatalogCheckout};
pub(crate) use catalog::{INDENT, author_or_known, check_catalog, copy_manifests, staged_changes};
pub use diff::{DiffPolicy, is_hidden};
pub use message::CompileReport;

pub(crate) use checkout::{ConfigCheckout, check_local_work, check_out_config};
