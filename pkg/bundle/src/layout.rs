//! The names in a bundle, and in a folder that one was loaded to.

/// What is done with something else that is where a bundle is loaded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and nothing is loaded.
    Refuse,
    /// It makes room.
    Replace,
}

/// The form of what is written, and the only one that is read.
pub(crate) const FORM: &str = "1";

pub(crate) const LAYOUT_FILE: &str = "oci-layout";
pub(crate) const LAYOUT: &[u8] = br#"{"imageLayoutVersion":"1.0.0"}"#;
pub(crate) const INDEX_FILE: &str = "index.json";
pub(crate) const BLOBS: &str = "blobs/sha256";

/// The folder of images in a folder that a bundle was loaded to.
pub(crate) const IMAGES: &str = "images";
