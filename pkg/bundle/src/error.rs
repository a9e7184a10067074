#![expect(missing_docs, reason = "the message of a variant names its fields")]

use std::{io, path::PathBuf};

use api::{ErrorExplanation, Explain};
use repository::Error;
use transport::Digest;

/// The reason why a bundle cannot be created, read or loaded.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("cannot read `{}`", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write `{}`", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{}` cannot be used as a bundle", path.display())]
    InvalidBundle {
        path: PathBuf,
        #[source]
        problem: BundleFormatError,
    },
    #[error(transparent)]
    Transport(#[from] transport::Error),
    #[error(transparent)]
    Repository(#[from] Error),
    #[error("cannot send `{address}`")]
    UploadFailed {
        address: String,
        #[source]
        source: Box<BundleError>,
    },
    #[error("there are no files to pack")]
    NoFiles,
    #[error("`the package` holds two files named `{file}`")]
    DuplicateFile { file: String },
    #[error("cannot publish to `{target}`: {reason}")]
    PackageTarget { target: String, reason: &'static str },
    #[error("`{address}` is already there with the digest {existing}; what would be published has {new}")]
    TagTaken { address: String, existing: Digest, new: Digest },
    #[error("there is something else in {}", format_paths(paths))]
    Exists { paths: Vec<PathBuf> },
    #[error("there is no image `{reference}`{}", platform.as_ref().map(|it| format!(" for {it}")).unwrap_or_default())]
    NoImage { reference: String, platform: Option<String> },
    #[error("`{reference}` does not name an image")]
    ImageName { reference: String },
    #[error("`{target}` names no registry; one is written `oci://HOST[/PREFIX]`")]
    Target { target: String },
}

fn format_paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}

/// The problem of an invalid bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleFormatError {
    #[error("it is no tar archive, or a damaged one")]
    Tar(#[source] io::Error),
    #[error("it ends in the middle of `{name}`")]
    Truncated { name: String },
    #[error("its entry `{name}` {reason}")]
    Entry { name: String, reason: &'static str },
    #[error("it has more than {limit} entries")]
    TooMany { limit: usize },
    #[error("it has no `{name}`")]
    Missing { name: String },
    #[error("{digest} has {found_bytes} bytes, and should have {expected_bytes}")]
    Size { digest: Digest, expected_bytes: u64, found_bytes: u64 },
    #[error("what should be {expected} is {found}")]
    Digest { expected: Digest, found: Digest },
    #[error("its {what} cannot be read")]
    Text {
        what: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("it is a layout of version `{version}`, and this program knows 1.0.0")]
    Layout { version: String },
    #[error("it holds images or artifacts, but `bundle create` did not make it")]
    NoBundle,
    #[error("it has form {form}, and this program knows form 1")]
    FormatVersion { form: String },
    #[error("its manifest {digest} {reason}")]
    Manifest { digest: Digest, reason: &'static str },
    #[error("{what} `{name}` {reason}")]
    Name { what: &'static str, name: String, reason: &'static str },
    #[error("`{file}` of `{label}` is not the file that its lock names")]
    LockMismatch { label: String, file: String },
}

impl Explain for BundleError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Transport(inner) => inner.explain(),
            Self::Repository(inner) => inner.explain(),
            Self::UploadFailed { source, .. } => ErrorExplanation::hint(
                "what has arrived stays there, and is not sent again when you run it again",
            )
            .because(source),
            Self::Exists { .. } => ErrorExplanation::hint(
                "look at what is there; `--force` puts the content of the bundle in its place",
            ),
            Self::TagTaken { .. } => ErrorExplanation::hint(
                "publish it under a new version, or let the tag stand for it with `--force`",
            ),
            Self::Write { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                ErrorExplanation::hint("make room and run it again")
            }
            Self::NoImage { platform: Some(_), .. } => ErrorExplanation::hint(
                "leave `--platform` out to copy images for all platforms they are made for",
            ),
            Self::InvalidBundle { problem: flaw, .. } => ErrorExplanation::hint(flaw.hint()),
            Self::Read { .. }
            | Self::Write { .. }
            | Self::NoFiles
            | Self::DuplicateFile { .. }
            | Self::PackageTarget { .. }
            | Self::NoImage { platform: None, .. }
            | Self::ImageName { .. }
            | Self::Target { .. } => ErrorExplanation::default(),
        }
    }
}

impl BundleFormatError {
    fn hint(&self) -> &'static str {
        match self {
            Self::NoBundle => "other layouts are read by `oras` and `skopeo`",
            Self::FormatVersion { .. } | Self::Layout { .. } => "use the program that made it",
            _ => "nothing of it was used; carry it over again, or make it again with `capstan bundle create`",
        }
    }
}
