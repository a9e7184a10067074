#![expect(missing_docs, reason = "the message of a variant names its fields")]

use std::path::PathBuf;

use transport::Digest;

/// Registry content that is invalid or differs from the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OciError {
    #[error("`{address}` is an index inside another index")]
    NestedIndex { address: String },
    #[error("the index `{address}` has {found} artifacts for `{label}`, not one")]
    NotInIndex { address: String, label: String, found: usize, titles: Vec<String> },
    #[error("`{address}` holds no files; is it a container image?")]
    NoFiles { address: String },
    #[error("`{address}` holds two files named `{file}`")]
    DuplicateFile { address: String, file: String },
    #[error("`{address}` is the artifact of the {found}, not of `{label}`")]
    WrongProvider { address: String, label: String, found: String },
    #[error("`{asked}` cannot be had from `{place}`, which pins {pinned} by its digest")]
    Pinned { place: String, asked: String, pinned: String },
    #[error("a layer of `{address}` cannot be unpacked: {reason}")]
    Archive { address: String, reason: String },
    #[error("`{}` holds no public key that signatures can be checked with: {reason}", path.display())]
    Key { path: PathBuf, reason: &'static str },
    #[error("`{address}` ({digest}) has no signature")]
    Unsigned { address: String, digest: Digest },
    #[error("none of the {found} signatures of `{address}` ({digest}) is by the key `{}`", key.display())]
    SignedByOthers { address: String, digest: Digest, found: usize, key: PathBuf },
    #[error("a signature beside `{address}` is by the right key, and of {signed}, not of {digest}")]
    SignatureMismatch { address: String, digest: Digest, signed: String },
    #[error("a signature of `{label}` is asked for, and only artifacts in a registry have one")]
    VerifyNeedsRegistry { label: String },
}
