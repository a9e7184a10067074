//! Everything a closed site needs, in one file: releases, what configures them, and their images.
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

mod address;
mod error;
mod folder;
mod image;
mod index;
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
pub use error::{BundleError, BundleFlaw};
pub use folder::{LoadedFolder, LoadedState, load_into_folder};
pub use image::Platforms;
pub use index::BundleItem;
pub use published::ReleaseForm;
pub use reader::{Bundle, BundleEntry, BundledFile};
pub use registry::{LoadedArtifact, RegistryTarget, load_into_registry};
pub use writer::BundleWriter;

/// What is done with something else that is where a bundle is loaded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and nothing is loaded.
    Refuse,
    /// It makes room.
    Replace,
}

/// The form of what is written, and the only one that is read.
const FORM: &str = "1";

const LAYOUT_FILE: &str = "oci-layout";
const LAYOUT: &[u8] = br#"{"imageLayoutVersion":"1.0.0"}"#;
const INDEX_FILE: &str = "index.json";
const BLOBS: &str = "blobs/sha256";

/// The folder of images in a folder that a bundle was loaded to.
const IMAGES: &str = "images";
