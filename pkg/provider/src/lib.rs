//! Providers: the location of their releases, the content of their files, and the objects rendered from these files.
//!
//! ```text
//! ConfigFile + Environment ─► Config ─► ProviderConfig ─► ProviderReleases ─► Release
//!                               │                                               │ text
//!                               └─► Variables, ImageOverrides ─► build_components, render_cluster_template ─► objects
//! ```
//!
//! Files come from `repository`, objects from `manifest`. A management cluster is queried through the trait
//! [`ManagementCluster`]. Out of scope: HTTP, Kubernetes clients, reading the environment, printing.

mod account;
mod cluster_class;
mod cluster_request;
mod cluster_template;
mod components;
mod customise;
mod explain;
mod hints;
mod images;
mod layer;
mod management_cluster;
mod metadata;
mod release;
mod template_source;
mod template_text;
#[cfg(test)]
mod testing;

pub mod config;
pub mod convert;
pub mod supply;

pub use account::{CONFIGURATION, account};
pub use cluster_class::{ClusterClassName, cluster_classes_of};
pub use cluster_request::{ClusterRequest, InvalidClusterRequest};
pub use cluster_template::{
    ClusterTemplate, ClusterTemplateError, ClusterTemplateInput, render_cluster_template,
};
pub use components::{ComponentsError, ComponentsInput, ProviderComponents, Substitution, build_components};
pub use customise::{
    Change, ControllerSettings, Customisation, CustomisationError, InvalidTarget, Target, customise,
};
pub use explain::{explain_file, explain_variable};
pub use images::override_images;
pub use layer::{Layer, LayerError, Layered, Layers, LazyLayer};
pub use management_cluster::{InstalledProvider, ManagementCluster, ManagementClusterError};
pub use metadata::{MetadataError, UnusableVersion, contract_of, read_metadata};
pub use release::{
    ProviderReleases, Release, ReleaseError, cluster_class_of_file, cluster_template_file, flavor_of_file,
};
pub use template_source::{ConfigMapSource, NoDefault, default_infrastructure, installed_version};
pub use template_text::{MissingValue, MissingValues, RenderTextError, TemplateText};
