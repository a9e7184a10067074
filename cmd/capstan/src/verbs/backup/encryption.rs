//! Flags for the encryption and decryption of backups.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use mover::{
    ArchiveError, ArchiveInput, ArchiveKeys, Backup, BackupIndex, Encryption, Identity, KeyFileError,
    Passphrase, Recipient, RequiredKey,
};

use crate::{Environment, Failure, failure::Kind, session::Session, ui::ask_secret};

/// The variable with the passphrase, read before any prompt.
const PASSPHRASE: &str = "CAPSTAN_BACKUP_PASSPHRASE";

/// The flags that seal.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Encryption")]
pub(super) struct EncryptionFlags {
    /// Encrypt to this age public key, `age1…`; repeatable
    #[arg(long, value_name = "RECIPIENT")]
    encrypt_to: Vec<String>,

    /// Encrypt to the age public keys in this file, one per line; repeatable
    #[arg(long, value_name = "FILE")]
    encrypt_to_file: Vec<PathBuf>,

    /// Encrypt with a passphrase from CAPSTAN_BACKUP_PASSPHRASE or a prompt
    #[arg(long, conflicts_with_all = ["encrypt_to", "encrypt_to_file"])]
    passphrase: bool,

    /// Encrypt with the passphrase in this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["encrypt_to", "encrypt_to_file", "passphrase"])]
    passphrase_file: Option<PathBuf>,
}

/// The flags that open.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Encryption")]
pub(in crate::verbs) struct DecryptionFlags {
    /// File of age secret keys to decrypt the backup; repeatable
    #[arg(long, value_name = "FILE")]
    identity: Vec<PathBuf>,

    /// File with the passphrase [default: CAPSTAN_BACKUP_PASSPHRASE, else a prompt]
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

impl EncryptionFlags {
    /// Returns the encryption of a backup. `None` for an unencrypted backup.
    pub(super) fn seal(&self, session: &Session) -> Result<Option<Encryption>, Failure> {
        if let Some(file) = &self.passphrase_file {
            return read_passphrase(file).map(Encryption::Passphrase).map(Some);
        }
        if self.passphrase {
            return new_passphrase(session).map(Encryption::Passphrase).map(Some);
        }
        let mut recipients = Vec::new();
        for text in &self.encrypt_to {
            recipients.push(text.parse().map_err(|error: mover::KeyError| {
                Failure::user("invalid value for `--encrypt-to`").because(&error)
            })?);
        }
        for file in &self.encrypt_to_file {
            recipients.extend(read_keys(file, Recipient::read_all)?);
        }
        Ok((!recipients.is_empty()).then_some(Encryption::Recipients(recipients)))
    }
}

impl DecryptionFlags {
    /// Returns the files with keys, each with its flag.
    pub(in crate::verbs) fn files(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        let identities = self.identity.iter().map(|file| ("--identity", file));
        identities.chain(self.passphrase_file.iter().map(|file| ("--passphrase-file", file)))
    }

    /// Reads and verifies a whole backup. `otherwise` is the hint if the file is no backup.
    pub(in crate::verbs) fn read(
        &self,
        file: &Path,
        hint: &str,
        session: &Session,
    ) -> Result<Backup, Failure> {
        self.open(file, hint, session, ArchiveInput::read)
    }

    /// Verifies a whole backup without keeping its objects in memory.
    pub(super) fn verify(
        &self,
        file: &Path,
        session: &Session,
    ) -> Result<(BackupIndex, RequiredKey), Failure> {
        self.open(file, "use another backup", session, |archive, keys| {
            let lock = archive.required_key();
            Ok((archive.verify(keys)?, lock))
        })
    }

    fn open<T>(
        &self,
        file: &Path,
        otherwise: &str,
        session: &Session,
        read: impl FnOnce(ArchiveInput<File>, &ArchiveKeys) -> Result<T, ArchiveError>,
    ) -> Result<T, Failure> {
        let shown = file.display();
        let opened = File::open(file).map_err(|error| Failure::io("read", file, &error))?;
        let of = |error: ArchiveError| match error {
            ArchiveError::Encrypted { .. }
            | ArchiveError::NoMatchingIdentity
            | ArchiveError::WrongPassphrase
            | ArchiveError::UnsupportedFormat { .. }
            | ArchiveError::ExcessiveWork { .. } => {
                Failure::user(format!("cannot open `{shown}`")).because(&error)
            }
            _ => Failure::user(format!("`{shown}` is not a valid backup")).because(&error).hint(otherwise),
        };
        let archive = ArchiveInput::open(opened).map_err(of)?;
        let keys = self.keys(archive.required_key(), session)?;
        read(archive, &keys).map_err(of)
    }

    fn keys(&self, lock: RequiredKey, session: &Session) -> Result<ArchiveKeys, Failure> {
        match lock {
            RequiredKey::Recipients if !self.identity.is_empty() => {
                let mut identities = Vec::new();
                for file in &self.identity {
                    identities.extend(read_keys(file, Identity::read_all)?);
                }
                Ok(ArchiveKeys::Identities(identities))
            }
            RequiredKey::Passphrase => {
                let passphrase =
                    match (&self.passphrase_file, passphrase_from_environment(session.environment())) {
                        (Some(file), _) => read_passphrase(file)?,
                        (None, Some(passphrase)) => passphrase,
                        (None, None) => prompt_passphrase("passphrase of the backup", session)?,
                    };
                Ok(ArchiveKeys::Passphrase(passphrase))
            }
            RequiredKey::None | RequiredKey::Recipients => Ok(ArchiveKeys::None),
        }
    }
}

fn read_keys<K>(file: &Path, read: fn(&str) -> Result<Vec<K>, KeyFileError>) -> Result<Vec<K>, Failure> {
    let text =
        fs::read_to_string(file).map(Passphrase::new).map_err(|error| Failure::io("read", file, &error))?;
    let unusable = |error: KeyFileError| {
        Failure::user(format!("`{}` contains no valid keys", file.display())).because(&error)
    };
    read(text.as_str()).map_err(unusable)
}

fn read_passphrase(file: &Path) -> Result<Passphrase, Failure> {
    let text =
        fs::read_to_string(file).map(Passphrase::new).map_err(|error| Failure::io("read", file, &error))?;
    let passphrase = Passphrase::new(text.as_str().trim_end_matches(['\r', '\n']).to_owned());
    if passphrase.is_empty() {
        return Err(Failure::user(format!("`{}` contains no passphrase", file.display())));
    }
    Ok(passphrase)
}

fn passphrase_from_environment(environment: &Environment) -> Option<Passphrase> {
    environment.text(PASSPHRASE).map(|text| Passphrase::new(text.to_owned()))
}

fn new_passphrase(session: &Session) -> Result<Passphrase, Failure> {
    if let Some(passphrase) = passphrase_from_environment(session.environment()) {
        return Ok(passphrase);
    }
    let first = prompt_passphrase("passphrase for the backup", session)?;
    if first.is_empty() {
        return Err(Failure::user("the passphrase is empty"));
    }
    if !first.is_same(&prompt_passphrase("repeat the passphrase", session)?) {
        return Err(Failure::user("the two passphrases differ")
            .hint("re-run the command and type the same passphrase twice"));
    }
    Ok(first)
}

fn prompt_passphrase(what: &str, session: &Session) -> Result<Passphrase, Failure> {
    let answer = async {
        ask_secret(what).await.map(Passphrase::new).map_err(|error| {
            Failure::new(Kind::Environment, "cannot ask for the passphrase")
                .because(&error)
                .hint(format!("set {PASSPHRASE}, or use `--passphrase-file FILE`"))
        })
    };
    session.block_on(answer)
}
