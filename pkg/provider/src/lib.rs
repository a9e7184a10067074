//! Providers: the location of their releases, the content of their files, and the objects rendered from these files.
//!
//! ```text
//! ConfigFile + Environment ─► Config ─► ProviderConfig ─► ProviderReleases ─► Release
//!                               │                                               │ text
//!                               └─► Variables, ImageOverrides ─► build_components, render_cluster_template ─► objects
//! ```
//!
//! ```
//! use provider::{
//!     TemplateText,
//!     config::{Config, ConfigFile, ConfigFormat, Environment, Variables},
//! };
//!
//! let file = ConfigFile {
//!     origin: "clusterctl.yaml".to_owned(),
//!     folder: None,
//!     format: ConfigFormat::Yaml,
//!     text: "REGION: eu-west-1\nSIZE: small\n".to_owned(),
//! };
//! let config = Config::new(Some(file), Environment::new([("SIZE", "large")]))?;
//! let template = TemplateText::new("cluster-template.yaml", b"region: ${REGION}, size: ${SIZE}")?;
//! let text = template.substitute(&Variables::new(&config))?;
//! assert_eq!(text, "region: eu-west-1, size: large");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! Files come from `repository`, objects from `manifest`. A management cluster is queried through the trait
//! [`ManagementCluster`]. Out of scope: HTTP, Kubernetes clients, reading the environment, printing.

mod cluster_class;
mod cluster_request;
mod cluster_template;
mod components;
mod customise;
mod explain;
mod hints;
mod images;
mod management_cluster;
mod metadata;
mod overlay;
mod provenance;
mod release;
mod template_source;
mod template_text;
#[cfg(test)]
mod testing;

pub mod config;
pub mod convert;
pub mod release_contents;

pub use cluster_class::{ClusterClassName, used_cluster_classes};
pub use cluster_request::{ClusterRequest, InvalidClusterRequest};
pub use cluster_template::{
    ClusterTemplate, ClusterTemplateError, ClusterTemplateInput, render_cluster_template,
};
pub use components::{ComponentsError, ComponentsInput, ProviderComponents, Substitution, build_components};
pub use customise::{
    ControllerSettings, Customisation, CustomisationChange, CustomisationError, CustomisationTarget,
    InvalidTarget, apply_customisations,
};
pub use explain::{explain_file, explain_variable};
pub use images::override_images;
pub use management_cluster::{InstalledProvider, ManagementCluster, ManagementClusterError};
pub use metadata::{MetadataError, UnusableVersion, find_contract, read_metadata};
pub use overlay::{LazyOverlay, Overlay, OverlayError, OverlayResult, Overlays};
pub use provenance::{CONFIGURATION, record_provenance};
pub use release::{
    ProviderReleases, Release, ReleaseError, cluster_class_of_file, cluster_template_file, flavor_of_file,
};
pub use template_source::{ConfigMapSource, DefaultReleaseError, default_infrastructure, installed_version};
pub use template_text::{MissingValue, MissingValues, RenderTextError, TemplateText};
