//! Errors of decryption. They name files, keys and positions, but no values.

use manifest::yaml::YamlErrorKind;

/// An encrypted file that cannot be decrypted, or a key file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum SopsError {
    /// The file has no encrypted MAC of SOPS.
    #[error("the file is not encrypted with SOPS")]
    NotEncrypted,
    /// The file has encrypted values, but no MAC: it was cut off.
    #[error("the file has encrypted values of SOPS, but no MAC: it was cut off")]
    NoMac,
    /// A file exceeds the size limit.
    #[error("{size_bytes} bytes exceed the limit of {limit_bytes} bytes for a file of SOPS")]
    TooLarge { size_bytes: usize, limit_bytes: usize },
    /// A key file has no usable private key.
    #[error("cannot read the key file `{file}`: {problem}")]
    KeyFile { file: String, problem: KeyFileProblem },
    /// The file is not valid in its format.
    #[error("cannot read the encrypted {format}: {problem}")]
    Syntax { format: &'static str, problem: String },
    /// The entry `sops` is not valid.
    #[error("the metadata of SOPS are not valid: {0}")]
    Metadata(String),
    /// No given key decrypts the data key.
    #[error("cannot get the data key: no given key matches the recipients {}", recipients.join(", "))]
    NoMatchingKey { recipients: Vec<String> },
    /// The file is encrypted only for keys that are not supported.
    #[error("cannot get the data key: the file is encrypted for {}, but only age and PGP keys are supported", kinds.join(", "))]
    UnsupportedKeys { kinds: Vec<&'static str> },
    /// A matching key does not decrypt the data key.
    #[error("cannot get the data key: the entry for {recipient} is damaged")]
    DamagedDataKey { recipient: String },
    /// Too few key groups could be decrypted.
    #[error("cannot get the data key: {found} of {needed} needed key groups have a matching key")]
    TooFewGroups { found: usize, needed: usize },
    /// The parts of the data key do not fit together.
    #[error("cannot get the data key: {0}")]
    Shares(&'static str),
    /// A value cannot be decrypted.
    #[error("cannot decrypt `{path}`: {problem}")]
    Value { path: String, problem: &'static str },
    /// The content was changed after encryption.
    #[error("MAC mismatch: the file was changed after its encryption")]
    MacMismatch,
    /// The decrypted content does not fit the format of the file name.
    #[error("cannot write the decrypted content as {format}: {problem}")]
    Output { format: &'static str, problem: String },
}

/// The reason why a key file cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFileProblem {
    /// The file is not text.
    #[error("it is not text")]
    NotText,
    /// A line is no X25519 identity of age.
    #[error("line {0} is no age identity (`AGE-SECRET-KEY-1…`)")]
    AgeIdentity(usize),
    /// The file has no armored PGP private key.
    #[error("it has no armored PGP private key")]
    NoPgpKey,
    /// An armored PGP private key is damaged.
    #[error("it has a damaged PGP private key")]
    DamagedPgpKey,
    /// A PGP private key is protected by a passphrase.
    #[error("its PGP private key is protected by a passphrase: export the key without one")]
    Passphrase,
    /// There are too many keys.
    #[error("there are more than {0} keys")]
    TooMany(usize),
}

/// Describes an error of a YAML scalar.
pub(crate) fn yaml(line: usize, problem: &YamlErrorKind) -> SopsError {
    SopsError::Syntax { format: "YAML", problem: format!("line {line}: {problem}") }
}
