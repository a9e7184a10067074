use std::{io, path::PathBuf};

use crate::{Digest, Error};

/// Why a bundle cannot be made, read or loaded.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// A file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A file or folder cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It is no bundle, or one that must not be used.
    #[error("`{}` cannot be used as a bundle", path.display())]
    Flawed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        flaw: BundleFlaw,
    },
    /// A registry or a release is in the way.
    #[error(transparent)]
    Repository(#[from] Error),
    /// It ended while one thing of several was sent; those before it have arrived.
    #[error("cannot send `{address}`")]
    Unsent {
        /// Where it was to be.
        address: String,
        /// What stopped it.
        #[source]
        source: Box<BundleError>,
    },
    /// A folder has other content than the bundle.
    #[error("there is something else in {}", several(paths))]
    Exists {
        /// The folders.
        paths: Vec<PathBuf>,
    },
    /// An image is not at its registry, or not for this platform.
    #[error("there is no image `{reference}`{}", platform.as_ref().map(|it| format!(" for {it}")).unwrap_or_default())]
    NoImage {
        /// As it was asked for.
        reference: String,
        /// The platform, where one was chosen.
        platform: Option<String>,
    },
    /// A text that names no image.
    #[error("`{reference}` does not name an image")]
    ImageName {
        /// The text.
        reference: String,
    },
    /// A text that names no registry.
    #[error("`{target}` names no registry; one is written `oci://HOST[/PREFIX]`")]
    Target {
        /// The text.
        target: String,
    },
}

fn several(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}

/// What is wrong with a file that should be a bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleFlaw {
    /// No tar, or cut off.
    #[error("it is no tar archive, or a damaged one")]
    Tar(#[source] io::Error),
    /// It ends before an entry does.
    #[error("it ends in the middle of `{name}`")]
    Truncated {
        /// The entry.
        name: String,
    },
    /// An entry that has no place in it.
    #[error("its entry `{name}` {reason}")]
    Entry {
        /// The name of the entry, as far as it can be shown.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// More entries than there may be.
    #[error("it has more than {limit} entries")]
    TooMany {
        /// So many may be there.
        limit: usize,
    },
    /// Something that must be there.
    #[error("it has no `{name}`")]
    Missing {
        /// The entry, or what is described by it.
        name: String,
    },
    /// Content of another length than its description says.
    #[error("{digest} has {found_bytes} bytes, and should have {expected_bytes}")]
    Size {
        /// What is described.
        digest: Digest,
        /// By its description.
        expected_bytes: u64,
        /// In the archive.
        found_bytes: u64,
    },
    /// Content that is not what its name says.
    #[error("what should be {expected} is {found}")]
    Digest {
        /// By its name.
        expected: Digest,
        /// By its content.
        found: Digest,
    },
    /// A text in it that is not what it must be.
    #[error("its {what} cannot be read")]
    Text {
        /// Which text.
        what: String,
        /// Why not.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A layout this program does not know.
    #[error("it is a layout of version `{version}`, and this program knows 1.0.0")]
    Layout {
        /// The version it says.
        version: String,
    },
    /// A layout that is no bundle.
    #[error("it holds images or artifacts, but `bundle create` did not make it")]
    NoBundle,
    /// A bundle of a form this program does not know.
    #[error("it has form {form}, and this program knows form 1")]
    Form {
        /// The form it says.
        form: String,
    },
    /// A manifest that is too large, too deep, or of another kind than it must be.
    #[error("its manifest {digest} {reason}")]
    Manifest {
        /// The manifest.
        digest: Digest,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A name in it that leads elsewhere, or is there twice.
    #[error("{what} `{name}` {reason}")]
    Name {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file of a release that is not the one that is locked in it.
    #[error("`{file}` of `{label}` is not the file that its lock names")]
    NotAsLocked {
        /// The provider label.
        label: String,
        /// The file.
        file: String,
    },
}
