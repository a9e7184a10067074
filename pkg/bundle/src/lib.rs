//! Artifacts for registries: releases, and bundles with all content for an air-gapped site in one file.
//!
//! ```text
//! releases ─┐                                        ┌─► verify (every digest)
//! settings ─┤                                        │
//! charts ───┼─► BundleWriter ─► lab.tar ─► Bundle ───┼─► load_into_folder   (a local repository)
//! images ───┘   (a spool folder)  (fully checked)    └─► load_into_registry (the same artifacts, by digest)
//! ```
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use bundle::{Bundle, BundleWriter};
//! use bytes::Bytes;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("lab.tar");
//! let writer = BundleWriter::create(&path)?;
//! let files = BTreeMap::from([("metadata.yaml".to_owned(), Bytes::from("kind: Metadata"))]);
//! writer.add_release("infrastructure-aws", "v2.11.1", files)?;
//! writer.add_configuration(BTreeMap::from([("clusterctl.yaml".to_owned(), Bytes::new())]))?;
//! writer.finish()?;
//!
//! let bundle = Bundle::open(&path)?;
//! let release = &bundle.entries()[1]; // after the configuration
//! assert_eq!(release.files[0].name, "metadata.yaml");
//! assert_eq!(bundle.read(&release.files[0].digest)?, "kind: Metadata");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! The file is an uncompressed tar of an OCI image layout, so `oras` and `skopeo` can read it. Each release is the
//! artifact that `publish` creates, each chart that of `helm push`, each image is the original of its registry, and one artifact contains the settings.
//! Equal content creates identical files.
//!
//! A bundle is untrusted input. Only the names of an OCI layout are allowed, sizes and references are checked on
//! opening, and digests on every read. Nothing is written before the whole bundle is verified.
//!
//! Allowed: the files of bundles, registries through `transport`, releases through `repository`. Not allowed: direct
//! HTTP, the environment, the terminal, and knowledge of providers and their configuration.

mod address;
mod atomic_write;
mod digests;
mod error;
mod folder;
mod image;
mod index;
mod layout;
mod package;
mod published_release;
mod reader;
mod registry;
mod scan;
mod spool;
#[cfg(test)]
mod tests;
mod writer;

pub use address::ImageAddress;
pub use digests::{ImageDigestError, image_digests};
pub use error::{BundleError, BundleFormatError};
pub use folder::load_into_folder;
pub use image::Platforms;
pub use index::BundleItem;
pub use layout::ExistingContent;
pub use package::{ExistingTag, Package, PackageContent, PackageFile, PackageTarget, TagState};
pub use published_release::ReleaseArtifact;
pub use reader::{Bundle, BundleEntry, BundledFile};
pub use registry::{RegistryTarget, load_into_registry};
pub use writer::BundleWriter;
