//! What goes into registries: releases as artifacts, and bundles, which hold everything that a closed site needs in one file.
//!
//! ```text
//! releases ─┐                                        ┌─► verify (every digest)
//! settings ─┼─► BundleWriter ─► lab.tar ─► Bundle ───┼─► load_into_folder   (a local repository)
//! images ───┘   (a spool folder)  (checked whole)    └─► load_into_registry (the same artifacts, by digest)
//! ```
//!
//! The file is an uncompressed tar of an OCI image layout, so `oras` and `skopeo` read it too. Each release is the
//! artifact that `publish` makes of it, each image is what its registry has, and one artifact holds the settings. The
//! same content makes the same file, byte by byte.
//!
//! A file from elsewhere is trusted in nothing: its entries can have no other names than those of a layout, sizes and
//! references are checked when it is opened, digests whenever something is read. Nothing is written before all of it
//! was found whole.
//!
//! May touch: the files of bundles, registries through `transport`, releases through `repository`. May not touch: HTTP of its
//! own, the environment, the terminal, nor what a provider or its configuration means.

mod address;
mod digests;
mod error;
mod folder;
mod image;
mod index;
mod layout;
mod package;
mod published;
mod reader;
mod registry;
mod scan;
mod spool;
#[cfg(test)]
mod tests;
mod whole;
mod writer;

pub use address::ImageAddress;
pub use digests::{ImageError, image_digests};
pub use error::{BundleError, BundleFlaw};
pub use folder::load_into_folder;
pub use image::Platforms;
pub use index::BundleItem;
pub use layout::Existing;
pub use package::{ExistingTag, Package, PackageContent, PackageFile, PackageTarget, TagState};
pub use published::ReleaseForm;
pub use reader::{Bundle, BundleEntry, BundledFile};
pub use registry::{RegistryTarget, load_into_registry};
pub use writer::BundleWriter;
