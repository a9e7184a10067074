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

use super::{ArchiveError, Backup, BackupIndex, RequiredKey, error::malformed, read_archive, verify_archive};

pub use key::{Identity, KeyError, KeyFileError, Passphrase, Recipient};

/// First bytes of age files, in binary form and in text form.
const AGE_HEADERS: [&[u8]; 2] = [b"age-encryption.org/", b"-----BEGIN AGE ENCRYPTED FILE-----"];
/// Maximum header size. A header has 100 bytes per recipient; age itself reads headers of any length.
const MAX_HEADER_BYTES: u64 = 256 << 10;
/// Base-2 logarithm of the scrypt rounds: a second and 256 MiB. By default, the crate measures this machine.
/// Source: age v1.2 (scrypt.go), which writes the same.
const WORK_FACTOR: u8 = 18;
/// Base-2 logarithm of the most rounds for files of other programs: 1 GiB.
const MAX_WORK_FACTOR: u8 = 20;

/// The encryption of an archive.
#[derive(Debug)]
pub enum Encryption {
    /// Public keys, at least one. Each matching secret key opens the archive.
    Recipients(Vec<Recipient>),
    /// A passphrase that opens the archive.
    Passphrase(Passphrase),
}

/// The keys that are available to open an archive.
#[derive(Debug)]
pub enum ArchiveKeys {
    /// No key is available.
    None,
    /// Secret keys, tried one after the other.
    Identities(Vec<Identity>),
    /// A passphrase from the user.
    Passphrase(Passphrase),
}

/// An archive whose header was read.
pub struct ArchiveInput<R: Read>(InputForm<R>);

enum InputForm<R: Read> {
    Plain(BufReader<R>),
    Encrypted(Box<Decryptor<EncryptedFile<R>>>),
}

/// The header that was read, followed by the rest of the file.
type EncryptedFile<R> = Chain<Cursor<Vec<u8>>, ArmoredReader<BufReader<BufReader<R>>>>;

/// The output of an archive, in clear text or encrypted.
pub enum ArchiveOutput<W: Write> {
    /// Output in clear text.
    Plain(W),
    /// Output that is encrypted with age.
    Encrypted(EncryptedOutput<W>),
}

/// The encrypted output of an archive.
pub struct EncryptedOutput<W: Write>(StreamWriter<W>);

/// The decrypted payload. Each error of age about the payload becomes [`CorruptPayload`].
struct Payload<R>(StreamReader<R>);

/// An encrypted payload that was changed or truncated.
#[derive(Debug, thiserror::Error)]
#[error("its encrypted data was changed or truncated")]
pub(super) struct CorruptPayload;

impl<W: Write> ArchiveOutput<W> {
    /// Starts an archive. Encrypted archives start with a header.
    /// # Errors
    /// Fails if the header cannot be written.
    pub fn new(out: W, encryption: Option<&Encryption>) -> io::Result<Self> {
        match encryption {
            None => Ok(Self::Plain(out)),
            Some(seal) => Self::encrypted(out, seal, WORK_FACTOR),
        }
    }

    fn encrypted(out: W, encryption: &Encryption, work_factor: u8) -> io::Result<Self> {
        let encryptor = match encryption {
            Encryption::Recipients(recipients) => {
                Encryptor::with_recipients(recipients.iter().map(|one| &one.0 as &dyn age::Recipient))
            }
            Encryption::Passphrase(passphrase) => {
                let mut recipient = scrypt::Recipient::new(passphrase.0.clone());
                recipient.set_work_factor(work_factor);
                Encryptor::with_recipients(iter::once(&recipient as &dyn age::Recipient))
            }
        };
        let writer = encryptor.map_err(io::Error::other)?.wrap_output(out)?;
        Ok(Self::Encrypted(EncryptedOutput(writer)))
    }

    /// Writes the end of the archive and returns the underlying output.
    /// # Errors
    /// Fails if the end cannot be written.
    pub fn finish(self) -> io::Result<W> {
        match self {
            Self::Plain(out) => Ok(out),
            Self::Encrypted(EncryptedOutput(payload)) => payload.finish(),
        }
    }
}

impl<W: Write> Write for ArchiveOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Encrypted(EncryptedOutput(payload)) => payload.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Encrypted(EncryptedOutput(payload)) => payload.flush(),
        }
    }
}

impl<R: Read> ArchiveInput<R> {
    /// Reads the header of an encrypted archive, or detects clear text.
    /// # Errors
    /// Fails if the header is invalid or cannot be read.
    pub fn open(input: R) -> Result<Self, ArchiveError> {
        let mut input = BufReader::new(input);
        let first_bytes = input.fill_buf().map_err(ArchiveError::Read)?;
        if !AGE_HEADERS.iter().any(|text| first_bytes.starts_with(text)) {
            return Ok(Self(InputForm::Plain(input)));
        }
        let (mut binary, mut header) = (ArmoredReader::new(input), Vec::new());
        (&mut binary).take(MAX_HEADER_BYTES).read_to_end(&mut header).map_err(input_error)?;
        // A header that exceeds the limit fails here.
        Decryptor::new_buffered(&*header).map_err(decrypt_error)?;
        let sealed = Decryptor::new_buffered(Cursor::new(header).chain(binary)).map_err(decrypt_error)?;
        Ok(Self(InputForm::Encrypted(Box::new(sealed))))
    }

    /// Returns the type of key that opens the archive.
    pub fn required_key(&self) -> RequiredKey {
        match &self.0 {
            InputForm::Plain(_) => RequiredKey::None,
            InputForm::Encrypted(sealed) if sealed.is_scrypt() => RequiredKey::Passphrase,
            InputForm::Encrypted(_) => RequiredKey::Recipients,
        }
    }

    /// Reads and verifies the whole archive.
    /// # Errors
    /// `Encrypted`, `NoMatchingIdentity` or `WrongPassphrase` if the keys do not match. `Sealed` if the archive was changed or
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
        let lock = self.required_key();
        match self.0 {
            InputForm::Plain(mut input) => read(&mut input),
            InputForm::Encrypted(sealed) => read(&mut decrypt(*sealed, lock, keys)?),
        }
    }
}

fn decrypt<R: Read>(
    sealed: Decryptor<EncryptedFile<R>>,
    lock: RequiredKey,
    keys: &ArchiveKeys,
) -> Result<Payload<EncryptedFile<R>>, ArchiveError> {
    let opened = match (lock, keys) {
        (RequiredKey::Recipients, ArchiveKeys::Identities(identities)) => {
            sealed.decrypt(identities.iter().map(|one| &one.0 as &dyn age::Identity)).map_err(decrypt_error)
        }
        (RequiredKey::Passphrase, ArchiveKeys::Passphrase(passphrase)) => {
            let mut identity = scrypt::Identity::new(passphrase.0.clone());
            identity.set_max_work_factor(MAX_WORK_FACTOR);
            sealed.decrypt(iter::once(&identity as &dyn age::Identity)).map_err(|error| match error {
                DecryptError::DecryptionFailed => ArchiveError::WrongPassphrase,
                error => decrypt_error(error),
            })
        }
        _ => Err(ArchiveError::Encrypted { by: lock }),
    };
    opened.map(Payload)
}

impl<R: Read> Read for Payload<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => io::Error::other(CorruptPayload),
            _ => error,
        })
    }
}

fn decrypt_error(error: DecryptError) -> ArchiveError {
    match error {
        DecryptError::NoMatchingKeys => ArchiveError::NoMatchingIdentity,
        DecryptError::ExcessiveWork { required, .. } => {
            ArchiveError::ExcessiveWork { required, most: MAX_WORK_FACTOR }
        }
        DecryptError::InvalidMac | DecryptError::DecryptionFailed | DecryptError::KeyDecryptionFailed => {
            ArchiveError::CorruptedPayload
        }
        // The crate reports a damaged header of version 1 as an unknown version.
        DecryptError::InvalidHeader | DecryptError::UnknownFormat => {
            malformed("its header is damaged or is not in version 1 of the age format".to_owned())
        }
        DecryptError::Io(error) => input_error(error),
    }
}

fn input_error(error: io::Error) -> ArchiveError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ArchiveError::Truncated,
        io::ErrorKind::InvalidData => malformed("its ASCII armor is damaged".to_owned()),
        _ => ArchiveError::Read(error),
    }
}
