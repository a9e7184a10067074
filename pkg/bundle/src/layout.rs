//! File names in a bundle and in a folder with a loaded bundle.

/// The handling of different content at the target of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingContent {
    /// Keep the content and load nothing.
    Refuse,
    /// Replace the content.
    Replace,
}

/// The supported version of the bundle format.
pub(crate) const FORMAT_VERSION: &str = "1";

pub(crate) const LAYOUT_FILE: &str = "oci-layout";
pub(crate) const LAYOUT: &[u8] = br#"{"imageLayoutVersion":"1.0.0"}"#;
pub(crate) const INDEX_FILE: &str = "index.json";
pub(crate) const BLOBS_FOLDER: &str = "blobs/sha256";

/// The folder of images in a folder with a loaded bundle.
pub(crate) const IMAGES_FOLDER: &str = "images";
