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
    #[error("`{address}` contains no files; is it a container image?")]
    NoFiles { address: String },
    #[error("`{address}` has two files named `{file}`")]
    DuplicateFile { address: String, file: String },
    #[error("`{address}` is the artifact of the {found}, not of `{label}`")]
    WrongProvider { address: String, label: String, found: String },
    #[error("cannot use `{requested}` from `{place}`: the URL pins {pinned} by its digest")]
    Pinned { place: String, requested: String, pinned: String },
    #[error("cannot unpack a layer of `{address}`: {reason}")]
    Archive { address: String, reason: String },
    #[error("cannot use `{}` as a public key: {reason}", path.display())]
    Key { path: PathBuf, reason: &'static str },
    #[error("`{address}` ({digest}) has no signature")]
    Unsigned { address: String, digest: Digest },
    #[error("none of the {found} signatures of `{address}` ({digest}) matches the key `{}`", key.display())]
    SignedByOthers { address: String, digest: Digest, found: usize, key: PathBuf },
    #[error("a signature of `{address}` matches the key, but signs {signed}, not {digest}")]
    SignatureMismatch { address: String, digest: Digest, signed: String },
    #[error("cannot verify a signature of `{label}`: only artifacts in a registry have signatures")]
    VerifyNeedsRegistry { label: String },
}
