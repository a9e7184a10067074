//! Encrypted archives: age files for public keys or for a passphrase.
//!
//! - The crate `age` implements the format. This module adds the key types, the detection of the required key, and an
//!   error for every invalid file.
//! - Encrypted data is read to its end before any content leaves this module, because only the end proves completeness.
//! - Deliberately absent: SSH keys, plugins, and secret keys that are encrypted themselves.
//!
//! Source: C2SP age.md (age-encryption.org/v1).

mod key;
#[cfg(test)]
mod tests;

use std::{
    io::{self, BufRead as _, BufReader, Chain, Cursor, Read, Write},
    iter,
};

use age::{
    DecryptError, Decryptor, Encryptor,
    armor::ArmoredReader,
    scrypt,
    stream::{StreamReader, StreamWriter},
};

use super::{ArchiveError, ArchiveLock, Backup, BackupIndex, error::shape, read_archive, verify_archive};

pub use key::{Identity, KeyError, KeyFileError, Passphrase, Recipient};

/// First bytes of age files, in binary form and in text form.
const BEGINNINGS: [&[u8]; 2] = [b"age-encryption.org/", b"-----BEGIN AGE ENCRYPTED FILE-----"];
/// Maximum header size. A header has 100 bytes per recipient; age itself reads headers of any length.
const LARGEST_HEADER: u64 = 256 << 10;
/// Base-2 logarithm of the scrypt rounds: a second and 256 MiB. By default, the crate measures this machine.
/// Source: age v1.2 (scrypt.go), which writes the same.
const WORK: u8 = 18;
/// Base-2 logarithm of the most rounds for files of other programs: 1 GiB.
const MOST_WORK: u8 = 20;

/// The encryption of an archive.
#[derive(Debug)]
pub enum Seal {
    /// Public keys, at least one. Each matching secret key opens the archive.
    Recipients(Vec<Recipient>),
    /// A passphrase that opens the archive.
    Passphrase(Passphrase),
}

/// The keys that are available to open an archive.
#[derive(Debug)]
pub enum ArchiveKeys {
    /// No key.
    None,
    /// Secret keys, tried one after the other.
    Identities(Vec<Identity>),
    /// A passphrase.
    Passphrase(Passphrase),
}

/// An archive whose header was read.
pub struct ArchiveInput<R: Read>(Input<R>);

enum Input<R: Read> {
    Plain(BufReader<R>),
    Sealed(Box<Decryptor<Binary<R>>>),
}

/// The header that was read, followed by the rest of the file.
type Binary<R> = Chain<Cursor<Vec<u8>>, ArmoredReader<BufReader<BufReader<R>>>>;

/// The output of an archive, in clear text or encrypted.
pub enum ArchiveOutput<W: Write> {
    /// Output in clear text.
    Plain(W),
    /// Encrypted output.
    Sealed(SealedOutput<W>),
}

/// The encrypted output of an archive.
pub struct SealedOutput<W: Write>(StreamWriter<W>);

/// The decrypted payload. Each error of age about the payload becomes [`Broken`].
struct Payload<R>(StreamReader<R>);

/// An encrypted payload that was changed or truncated.
#[derive(Debug, thiserror::Error)]
#[error("it was changed or cut off since it was encrypted")]
pub(super) struct Broken;

impl<W: Write> ArchiveOutput<W> {
    /// Starts an archive. Encrypted archives start with a header.
    /// # Errors
    /// Fails if the header cannot be written.
    pub fn new(out: W, seal: Option<&Seal>) -> io::Result<Self> {
        match seal {
            None => Ok(Self::Plain(out)),
            Some(seal) => Self::sealed(out, seal, WORK),
        }
    }

    fn sealed(out: W, seal: &Seal, work: u8) -> io::Result<Self> {
        let encryptor = match seal {
            Seal::Recipients(recipients) => {
                Encryptor::with_recipients(recipients.iter().map(|one| &one.0 as &dyn age::Recipient))
            }
            Seal::Passphrase(passphrase) => {
                let mut recipient = scrypt::Recipient::new(passphrase.0.clone());
                recipient.set_work_factor(work);
                Encryptor::with_recipients(iter::once(&recipient as &dyn age::Recipient))
            }
        };
        let writer = encryptor.map_err(io::Error::other)?.wrap_output(out)?;
        Ok(Self::Sealed(SealedOutput(writer)))
    }

    /// Writes the end of the archive and returns the underlying output.
    /// # Errors
    /// Fails if the end cannot be written.
    pub fn finish(self) -> io::Result<W> {
        match self {
            Self::Plain(out) => Ok(out),
            Self::Sealed(SealedOutput(payload)) => payload.finish(),
        }
    }
}

impl<W: Write> Write for ArchiveOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Sealed(SealedOutput(payload)) => payload.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Sealed(SealedOutput(payload)) => payload.flush(),
        }
    }
}

impl<R: Read> ArchiveInput<R> {
    /// Reads the header of an encrypted archive, or detects clear text.
    /// # Errors
    /// Fails if the header is invalid or cannot be read.
    pub fn open(input: R) -> Result<Self, ArchiveError> {
        let mut input = BufReader::new(input);
        let beginning = input.fill_buf().map_err(ArchiveError::Read)?;
        if !BEGINNINGS.iter().any(|text| beginning.starts_with(text)) {
            return Ok(Self(Input::Plain(input)));
        }
        let (mut binary, mut header) = (ArmoredReader::new(input), Vec::new());
        (&mut binary).take(LARGEST_HEADER).read_to_end(&mut header).map_err(unreadable)?;
        // A header that exceeds the limit fails here.
        Decryptor::new_buffered(&*header).map_err(refused)?;
        let sealed = Decryptor::new_buffered(Cursor::new(header).chain(binary)).map_err(refused)?;
        Ok(Self(Input::Sealed(Box::new(sealed))))
    }

    /// Returns the type of key that opens the archive.
    pub fn lock(&self) -> ArchiveLock {
        match &self.0 {
            Input::Plain(_) => ArchiveLock::Open,
            Input::Sealed(sealed) if sealed.is_scrypt() => ArchiveLock::Passphrase,
            Input::Sealed(_) => ArchiveLock::Recipients,
        }
    }

    /// Reads and verifies the whole archive.
    /// # Errors
    /// `Locked`, `NoIdentity` or `Passphrase` if the keys do not match. `Sealed` if the archive was changed or
    /// truncated. Otherwise fails like [`read_archive`].
    pub fn read(self, keys: &ArchiveKeys) -> Result<Backup, ArchiveError> {
        self.open_with(keys, |input| read_archive(input))
    }

    /// Reads and verifies the whole archive, without keeping objects in memory.
    /// # Errors
    /// Fails like [`ArchiveInput::read`].
    pub fn verify(self, keys: &ArchiveKeys) -> Result<BackupIndex, ArchiveError> {
        self.open_with(keys, |input| verify_archive(input))
    }

    fn open_with<T>(
        self,
        keys: &ArchiveKeys,
        read: impl FnOnce(&mut dyn Read) -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        let lock = self.lock();
        match self.0 {
            Input::Plain(mut input) => read(&mut input),
            Input::Sealed(sealed) => read(&mut payload(*sealed, lock, keys)?),
        }
    }
}

fn payload<R: Read>(
    sealed: Decryptor<Binary<R>>,
    lock: ArchiveLock,
    keys: &ArchiveKeys,
) -> Result<Payload<Binary<R>>, ArchiveError> {
    let opened = match (lock, keys) {
        (ArchiveLock::Recipients, ArchiveKeys::Identities(identities)) => {
            sealed.decrypt(identities.iter().map(|one| &one.0 as &dyn age::Identity)).map_err(refused)
        }
        (ArchiveLock::Passphrase, ArchiveKeys::Passphrase(passphrase)) => {
            let mut identity = scrypt::Identity::new(passphrase.0.clone());
            identity.set_max_work_factor(MOST_WORK);
            sealed.decrypt(iter::once(&identity as &dyn age::Identity)).map_err(|error| match error {
                DecryptError::DecryptionFailed => ArchiveError::Passphrase,
                error => refused(error),
            })
        }
        _ => Err(ArchiveError::Locked { by: lock }),
    };
    opened.map(Payload)
}

impl<R: Read> Read for Payload<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => io::Error::other(Broken),
            _ => error,
        })
    }
}

fn refused(error: DecryptError) -> ArchiveError {
    match error {
        DecryptError::NoMatchingKeys => ArchiveError::NoIdentity,
        DecryptError::ExcessiveWork { required, .. } => {
            ArchiveError::Work { asked: required, most: MOST_WORK }
        }
        DecryptError::InvalidMac | DecryptError::DecryptionFailed | DecryptError::KeyDecryptionFailed => {
            ArchiveError::Sealed
        }
        // The crate reports a damaged header of version 1 as an unknown version.
        DecryptError::InvalidHeader | DecryptError::UnknownFormat => {
            shape("its header was damaged, or is not of version 1 of the age format".to_owned())
        }
        DecryptError::Io(error) => unreadable(error),
    }
}

fn unreadable(error: io::Error) -> ArchiveError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ArchiveError::Truncated,
        io::ErrorKind::InvalidData => shape("its text form was damaged".to_owned()),
        _ => ArchiveError::Read(error),
    }
}
