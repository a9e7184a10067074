#![expect(missing_docs, reason = "the message of a variant names its fields")]

use std::{io, path::PathBuf};

use api::{ErrorExplanation, Explain};
use repository::{ChartSourceError, Error};
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
    #[error("cannot write `{}`: the path is not a regular file", path.display())]
    NoFile { path: PathBuf },
    #[error("cannot use `{}` as a bundle", path.display())]
    InvalidBundle {
        path: PathBuf,
        #[source]
        problem: BundleFormatError,
    },
    #[error(transparent)]
    Transport(#[from] transport::Error),
    #[error(transparent)]
    Repository(#[from] Error),
    #[error(transparent)]
    Chart(#[from] Box<ChartSourceError>),
    #[error("cannot upload `{address}`")]
    UploadFailed {
        address: String,
        #[source]
        source: Box<BundleError>,
    },
    #[error("cannot create a package: there are no files")]
    NoFiles,
    #[error("cannot create the package: it has two files named `{file}`")]
    DuplicateFile { file: String },
    #[error("cannot add chart `{name}`: the bundle has another entry with this name")]
    DuplicateChart { name: String },
    #[error("cannot publish to `{target}`: {reason}")]
    PackageTarget { target: String, reason: &'static str },
    #[error("cannot publish `{address}`: it exists with digest {existing}; the new digest is {new}")]
    TagTaken { address: String, existing: Digest, new: Digest },
    #[error("cannot write {}: it has other content", format_paths(paths))]
    Exists { paths: Vec<PathBuf> },
    #[error("cannot find image `{reference}`{}", platform.as_ref().map(|it| format!(" for {it}")).unwrap_or_default())]
    NoImage { reference: String, platform: Option<String> },
    #[error("the run was interrupted")]
    Stopped,
    #[error("`{reference}` is not an image reference")]
    ImageName { reference: String },
    #[error("`{target}` is not a registry; write `oci://HOST[/PREFIX]`")]
    Target { target: String },
}

fn format_paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}

/// The problem of an invalid bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleFormatError {
    #[error("it is not a tar archive, or it is damaged")]
    Tar(#[source] io::Error),
    #[error("it is truncated in `{name}`")]
    Truncated { name: String },
    #[error("its entry `{name}` {reason}")]
    Entry { name: String, reason: &'static str },
    #[error("it has more than {limit} entries")]
    TooMany { limit: usize },
    #[error("it has no `{name}`")]
    Missing { name: String },
    #[error("{digest} has {found_bytes} bytes, expected {expected_bytes}")]
    Size { digest: Digest, expected_bytes: u64, found_bytes: u64 },
    #[error("the content of {expected} has digest {found}")]
    Digest { expected: Digest, found: Digest },
    #[error("cannot parse its {what}")]
    Text {
        what: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("it has layout version `{version}`, but only 1.0.0 is supported")]
    Layout { version: String },
    #[error("it contains images or artifacts, but `capstan bundle create` did not create it")]
    NoBundle,
    #[error("it has format {form}, but only format 1 is supported")]
    FormatVersion { form: String },
    #[error("its manifest {digest} {reason}")]
    Manifest { digest: Digest, reason: &'static str },
    #[error("{what} `{name}` {reason}")]
    Name { what: &'static str, name: String, reason: &'static str },
    #[error("`{file}` of `{label}` does not match its lock")]
    LockMismatch { label: String, file: String },
}

impl Explain for BundleError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Transport(inner) => inner.explain(),
            Self::Repository(inner) => inner.explain(),
            Self::Chart(inner) => inner.explain(),
            Self::UploadFailed { source, .. } => {
                ErrorExplanation::hint("re-run the command to resume; uploaded content is not sent again")
                    .because(source)
            }
            Self::NoFile { .. } => {
                ErrorExplanation::hint("use the path of a file, or `--file -` for standard output")
            }
            Self::Exists { .. } => {
                ErrorExplanation::hint("check the existing content; overwrite it with `--force`")
            }
            Self::TagTaken { .. } => {
                ErrorExplanation::hint("publish a new version, or move the tag with `--force`")
            }
            Self::Write { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                ErrorExplanation::hint("free disk space, and re-run the command")
            }
            Self::NoImage { platform: Some(_), .. } => {
                ErrorExplanation::hint("omit `--platform` to copy the images for all their platforms")
            }
            Self::InvalidBundle { problem: flaw, .. } => ErrorExplanation::hint(flaw.hint()),
            Self::Read { .. }
            | Self::Write { .. }
            | Self::Stopped
            | Self::NoFiles
            | Self::DuplicateFile { .. }
            | Self::DuplicateChart { .. }
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
            Self::NoBundle => "use `oras` or `skopeo` to read other layouts",
            Self::FormatVersion { .. } | Self::Layout { .. } => "use the version of capstan that created it",
            _ => "copy it again, or create it again with `capstan bundle create`; nothing was used",
        }
    }
}
