//! What can be wrong with an archive.

use std::io;

use inventory::Problems;

use super::BackupManifest;

/// An archive that is no backup, or not a whole one.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It cannot be read.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// It ends before its end.
    #[error("it is cut off")]
    Truncated,
    /// It has another shape than a backup.
    #[error("{what}")]
    Shape {
        /// What is wrong, with the entry.
        what: String,
    },
    /// It unpacks to far more than backups do.
    #[error("it unpacks to more than {most} times its size")]
    Bomb {
        /// The most that is read.
        most: u64,
    },
    /// It is of another release.
    #[error("it is of format {found}, and this program reads {}", BackupManifest::FORMAT)]
    Format {
        /// The number in it.
        found: u64,
    },
    /// Something was changed since it was written.
    #[error("`{file}` in it was changed: its SHA-256 is another")]
    Sum {
        /// Which file.
        file: String,
    },
    /// It is encrypted, and what was given is nothing to open it with.
    #[error("it is encrypted {}", by.in_words())]
    Locked {
        /// What it takes.
        by: ArchiveLock,
    },
    /// It is encrypted to others.
    #[error("none of the identities opens it: it is encrypted to others")]
    NoIdentity,
    /// It is encrypted with another passphrase.
    #[error("it is encrypted with another passphrase")]
    Passphrase,
    /// Its passphrase takes more memory than a file may ask for.
    #[error("its passphrase takes 2^{asked} rounds, and 2^{most} is the most")]
    Work {
        /// What it says.
        asked: u8,
        /// The most.
        most: u8,
    },
    /// It is not what was encrypted.
    #[error("it was changed or cut off since it was encrypted")]
    Sealed,
    /// Its objects cannot be read.
    #[error(transparent)]
    Objects(#[from] Problems),
}

/// What an archive has to be opened with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveLock {
    /// Nothing: it is in clear text.
    Open,
    /// An identity of one of its recipients; the file does not say who they are.
    Recipients,
    /// A passphrase.
    Passphrase,
}

impl ArchiveLock {
    fn in_words(self) -> &'static str {
        match self {
            Self::Open => "in no way",
            Self::Recipients => "to public keys",
            Self::Passphrase => "with a passphrase",
        }
    }
}

pub(super) fn shape(what: String) -> ArchiveError {
    ArchiveError::Shape { what }
}
