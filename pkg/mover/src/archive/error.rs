//! Errors of archives.

use std::io;

use inventory::PreflightProblems;

use super::BackupManifest;

/// An archive that is not a complete and valid backup.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ArchiveError {
    /// The archive cannot be read.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// The archive is truncated.
    #[error("it is truncated")]
    Truncated,
    /// The archive does not have the shape of a backup.
    #[error("{what}")]
    Malformed { what: String },
    /// The archive has the format of another release.
    #[error("it has format {found}; this version supports format {}", BackupManifest::FORMAT)]
    UnsupportedFormat { found: u64 },
    /// The checksum of a file does not match.
    #[error("its file `{file}` was changed: the SHA-256 checksum does not match")]
    ChecksumMismatch { file: String },
    /// The archive is encrypted, and no key of the required type was given.
    #[error("it is encrypted {}", by.in_words())]
    Encrypted { by: RequiredKey },
    /// The archive is encrypted to other recipients.
    #[error("it is encrypted to other recipients; no given identity can decrypt it")]
    NoMatchingIdentity,
    /// The archive is encrypted with another passphrase.
    #[error("it is encrypted with another passphrase")]
    WrongPassphrase,
    /// The passphrase takes more memory than the limit allows.
    #[error("its passphrase requires 2^{required} scrypt rounds; at most 2^{most} are supported")]
    ExcessiveWork {
        /// Base-2 logarithm of the rounds in the header.
        required: u8,
        /// Base-2 logarithm of the maximum number of rounds.
        most: u8,
    },
    /// The encrypted data was changed or truncated.
    #[error("its encrypted data was changed or truncated")]
    CorruptedPayload,
    /// The objects of the archive cannot be read.
    #[error(transparent)]
    InvalidObjects(#[from] PreflightProblems),
}

/// The type of key that opens an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredKey {
    /// No key: the archive is in clear text.
    None,
    /// An identity of one of the recipients. The file does not name the recipients.
    Recipients,
    /// The passphrase of the archive.
    Passphrase,
}

impl RequiredKey {
    fn in_words(self) -> &'static str {
        match self {
            Self::None => "without a key",
            Self::Recipients => "to public keys",
            Self::Passphrase => "with a passphrase",
        }
    }
}

pub(super) fn malformed(what: String) -> ArchiveError {
    ArchiveError::Malformed { what }
}
