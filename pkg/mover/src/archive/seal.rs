//! Archives that only some can read: files of age, to its public keys or with a passphrase.
//!
//! - The format is that of the crate `age`. Here is what it takes to use it: which keys there are, what a file has to be opened
//!   with, and an error for everything that can be wrong with it.
//! - What is encrypted is read to its end before anything of it is given out; the end is what shows that it is whole.
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

/// How files of age begin, and how they do as text.
const BEGINNINGS: [&[u8]; 2] = [b"age-encryption.org/", b"-----BEGIN AGE ENCRYPTED FILE-----"];
/// A header has 100 bytes for a recipient; age reads one to its end, however long it is.
const LARGEST_HEADER: u64 = 256 << 10;
/// A passphrase takes 2 to the power of this rounds: a second, and 256 MiB. The crate would measure this machine instead.
/// Source: age v1.2 (scrypt.go), which writes the same.
const WORK: u8 = 18;
/// What is written by others may take 1 GiB.
const MOST_WORK: u8 = 20;

/// How an archive is encrypted.
#[derive(Debug)]
pub enum Seal {
    /// Each of these can read it; at least one.
    Recipients(Vec<Recipient>),
    /// Whoever knows it can.
    Passphrase(Passphrase),
}

/// What is there to open an archive with.
#[derive(Debug)]
pub enum ArchiveKeys {
    /// Nothing.
    None,
    /// Each is tried.
    Identities(Vec<Identity>),
    /// The one.
    Passphrase(Passphrase),
}

/// An archive of which the beginning was looked at.
pub struct ArchiveInput<R: Read>(Input<R>);

enum Input<R: Read> {
    Plain(BufReader<R>),
    Sealed(Box<Decryptor<Binary<R>>>),
}

/// The header, which was read, and what comes after it.
type Binary<R> = Chain<Cursor<Vec<u8>>, ArmoredReader<BufReader<BufReader<R>>>>;

/// Where an archive is written to: as it comes, or sealed.
pub enum ArchiveOutput<W: Write> {
    /// In clear text.
    Plain(W),
    /// Encrypted.
    Sealed(SealedOutput<W>),
}

/// The encrypted one.
pub struct SealedOutput<W: Write>(StreamWriter<W>);

/// What was encrypted; whatever age says against it is [`Broken`].
struct Payload<R>(StreamReader<R>);

/// A payload that is not what was written.
#[derive(Debug, thiserror::Error)]
#[error("it was changed or cut off since it was encrypted")]
pub(super) struct Broken;

impl<W: Write> ArchiveOutput<W> {
    /// Begins; what is sealed begins with a header.
    /// # Errors
    /// When it cannot be written.
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

    /// Ends it, and gives back what it was written to.
    /// # Errors
    /// When it cannot be written.
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
    /// Reads the header, where there is one.
    /// # Errors
    /// When it cannot be read, or is a header no program writes.
    pub fn open(input: R) -> Result<Self, ArchiveError> {
        let mut input = BufReader::new(input);
        let beginning = input.fill_buf().map_err(ArchiveError::Read)?;
        if !BEGINNINGS.iter().any(|text| beginning.starts_with(text)) {
            return Ok(Self(Input::Plain(input)));
        }
        let (mut binary, mut header) = (ArmoredReader::new(input), Vec::new());
        (&mut binary).take(LARGEST_HEADER).read_to_end(&mut header).map_err(unreadable)?;
        // One that does not end within the limit ends here.
        Decryptor::new_buffered(&*header).map_err(refused)?;
        let sealed = Decryptor::new_buffered(Cursor::new(header).chain(binary)).map_err(refused)?;
        Ok(Self(Input::Sealed(Box::new(sealed))))
    }

    /// What it has to be opened with.
    pub fn lock(&self) -> ArchiveLock {
        match &self.0 {
            Input::Plain(_) => ArchiveLock::Open,
            Input::Sealed(sealed) if sealed.is_scrypt() => ArchiveLock::Passphrase,
            Input::Sealed(_) => ArchiveLock::Recipients,
        }
    }

    /// Reads and verifies all of it.
    /// # Errors
    /// `Locked`, `NoIdentity` and `Passphrase` when the keys are others; `Sealed` when it was changed or cut off since;
    /// else as for [`read_archive`].
    pub fn read(self, keys: &ArchiveKeys) -> Result<Backup, ArchiveError> {
        self.open_with(keys, |input| read_archive(input))
    }

    /// Reads and verifies all of it, and holds no object.
    /// # Errors
    /// As for [`ArchiveInput::read`].
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
        // The crate takes a damaged header of version 1 for another version.
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
