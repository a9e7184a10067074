use std::path::PathBuf;

use crate::Digest;

/// What a registry keeps is not what it should be, or not what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OciError {
    /// Content is longer or shorter than its manifest says.
    #[error("`{address}` is {}{actual_bytes} bytes, where its manifest says {expected_bytes}", at_least(*expected_bytes, *actual_bytes))]
    Size {
        /// What was asked for.
        address: String,
        /// What the manifest says.
        expected_bytes: u64,
        /// What came until it was clear.
        actual_bytes: u64,
    },
    /// A manifest of a kind this program does not know, or of another than its index says.
    #[error("`{address}` is of the media type `{media_type}`, which is not that of a manifest or index here")]
    MediaType {
        /// What was asked for.
        address: String,
        /// Its media type; empty when it has none.
        media_type: String,
    },
    /// An index in an index.
    #[error("`{address}` is an index inside another index")]
    NestedIndex {
        /// The inner one.
        address: String,
    },
    /// An index has no artifact, or several, for a provider.
    #[error("the index `{address}` has {found} artifacts for `{label}`, not one")]
    NotInIndex {
        /// The index.
        address: String,
        /// The provider label.
        label: String,
        /// How many there are.
        found: usize,
        /// What its artifacts are called.
        titles: Vec<String>,
    },
    /// A package without files.
    #[error("there are no files to pack")]
    NothingToPack,
    /// An artifact whose layers are no files.
    #[error("`{address}` holds no files; is it a container image?")]
    NoFiles {
        /// The artifact.
        address: String,
    },
    /// Two layers hold a file of the same name.
    #[error("`{address}` holds two files named `{file}`")]
    DuplicateFile {
        /// The artifact.
        address: String,
        /// The name.
        file: String,
    },
    /// An artifact that says it is another provider's.
    #[error("`{address}` is the artifact of the {found}, not of `{label}`")]
    OtherProvider {
        /// The artifact.
        address: String,
        /// The provider label that was wanted.
        label: String,
        /// Type and name the artifact gives itself.
        found: String,
    },
    /// A version was asked for where the url pins another one by its digest.
    #[error("`{asked}` cannot be had from `{place}`, which pins {pinned} by its digest")]
    Pinned {
        /// The repository.
        place: String,
        /// The version that was asked for.
        asked: String,
        /// The version the digest is of.
        pinned: String,
    },
    /// A layer is no archive this program unpacks.
    #[error("a layer of `{address}` cannot be unpacked: {reason}")]
    Archive {
        /// The artifact.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A tag stands for other content already.
    #[error("`{address}` is already there with the digest {there}; what would be published has {new}")]
    TagTaken {
        /// The tag.
        address: String,
        /// What it stands for.
        there: Digest,
        /// What it would stand for.
        new: Digest,
    },
    /// What was to be published cannot be named so, or there is nothing.
    #[error("cannot publish to `{target}`: {reason}")]
    Target {
        /// The target as it was given.
        target: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A registry took an upload and did not say where it goes.
    #[error("the registry did not tell where to upload `{address}`")]
    UploadAddress {
        /// What was to be uploaded.
        address: String,
    },
    /// A file of a key that is none.
    #[error("`{}` holds no public key that signatures can be checked with: {reason}", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An artifact that nobody signed.
    #[error("`{address}` ({digest}) has no signature")]
    Unsigned {
        /// The artifact.
        address: String,
        /// Its digest.
        digest: Digest,
    },
    /// Signatures that are there, of which none counts.
    #[error("none of the {found} signatures of `{address}` ({digest}) is by the key `{}`", key.display())]
    SignedByOthers {
        /// The artifact.
        address: String,
        /// Its digest.
        digest: Digest,
        /// How many signatures there are.
        found: usize,
        /// The key that was wanted.
        key: PathBuf,
    },
    /// The key has signed something else, which was put beside this artifact.
    #[error("a signature beside `{address}` is by the right key, and of {signed}, not of {digest}")]
    SignatureOfOther {
        /// The artifact.
        address: String,
        /// Its digest.
        digest: Digest,
        /// The digest that was signed.
        signed: String,
    },
    /// A key is set for a provider whose releases are in no registry.
    #[error("a signature of `{label}` is asked for, and only artifacts in a registry have one")]
    VerifyNeedsRegistry {
        /// The provider label.
        label: String,
    },
}

/// Content that is too long was not read to its end.
fn at_least(expected: u64, actual: u64) -> &'static str {
    if actual > expected { "at least " } else { "" }
}
