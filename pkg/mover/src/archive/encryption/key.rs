//! Keys and passphrases in their text forms.

use std::{fmt, str::FromStr};

use age::{
    secrecy::{ExposeSecret as _, SecretString},
    x25519,
};
use data_encoding::Specification;
use ring::{agreement, rand::SystemRandom};

/// The alphabet of keys. After `age1` come 52 digits of the key and 6 digits of its checksum.
const BECH32_ALPHABET: &str = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const KEY_DIGITS: std::ops::Range<usize> = 4..56;

/// A public key that archives are encrypted to: `age1…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient(pub(super) x25519::Recipient);

/// The secret key of a recipient: `AGE-SECRET-KEY-1…`. An identity is never printed, and is wiped on drop.
pub struct Identity(pub(super) x25519::Identity);

/// A passphrase. It is never printed, and is wiped on drop.
#[derive(Debug)]
pub struct Passphrase(pub(super) SecretString);

/// A text that is not a key of the expected type. Messages never show the text, because keys may be secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// A secret key instead of a public key.
    #[error("it is a secret key; a public key is required")]
    Secret,
    /// A public key instead of a secret key.
    #[error("it is a public key; a secret key is required")]
    Public,
    /// An SSH key.
    #[error("it is an SSH key; only age keys are supported")]
    Ssh,
    /// A key of a plugin or of a later age release.
    #[error("it is a plugin key or has a type other than X25519")]
    UnsupportedKind,
    /// A weak public key: anyone can decrypt data that is encrypted to it.
    #[error("it is a weak key: anyone can decrypt the data")]
    Weak,
    /// Any other text.
    #[error("it is not a valid age key")]
    Other,
}

/// A key file with an invalid line, or without keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum KeyFileError {
    /// A line that is not a valid key.
    #[error("line {line} is not a valid key")]
    Line {
        /// Line number, starting at 1.
        line: usize,
        #[source]
        source: KeyError,
    },
    /// A file with comments only.
    #[error("it contains no key")]
    Empty,
}

impl Recipient {
    /// Reads the recipients of a file, one per line. Skips blank lines and lines that start with `#`.
    /// # Errors
    /// Fails on the first invalid line, and on a file without keys.
    pub fn read_all(text: &str) -> Result<Vec<Self>, KeyFileError> {
        parse_keys(text)
    }
}

impl Identity {
    /// Reads the identities of a file, one per line. Skips blank lines and lines that start with `#`.
    /// # Errors
    /// Fails on the first invalid line, and on a file without keys.
    pub fn read_all(text: &str) -> Result<Vec<Self>, KeyFileError> {
        parse_keys(text)
    }
}

impl Passphrase {
    /// Wraps the text of a passphrase.
    pub fn new(text: String) -> Self {
        Self(SecretString::from(text))
    }

    /// Returns the text of the passphrase.
    pub fn as_str(&self) -> &str {
        self.0.expose_secret()
    }

    /// True if the passphrase is empty.
    pub fn is_empty(&self) -> bool {
        self.as_str().is_empty()
    }

    /// True if both passphrases are equal.
    pub fn is_same(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl FromStr for Recipient {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        match text.parse::<x25519::Recipient>() {
            Ok(recipient) if is_strong(&recipient) => Ok(Self(recipient)),
            Ok(_) => Err(KeyError::Weak),
            Err(_) if text.parse::<x25519::Identity>().is_ok() => Err(KeyError::Secret),
            Err(_) => Err(classify_invalid_key(text)),
        }
    }
}

impl FromStr for Identity {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        match text.parse() {
            Ok(identity) => Ok(Self(identity)),
            Err(_) if text.parse::<x25519::Recipient>().is_ok() => Err(KeyError::Public),
            Err(_) => Err(classify_invalid_key(text)),
        }
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity(…)")
    }
}

/// True if secrets shared with a key are not always zero. A few points always yield zero, and `age` ends the process on
/// them.
fn is_strong(recipient: &x25519::Recipient) -> bool {
    let mut digits = Specification::new();
    digits.symbols.push_str(BECH32_ALPHABET);
    let digits = digits.encoding().expect("there are 32 digits, each once");
    let text = recipient.to_string();
    let point = text.get(KEY_DIGITS).and_then(|point| digits.decode(point.as_bytes()).ok());
    let once = agreement::EphemeralPrivateKey::generate(&agreement::X25519, &SystemRandom::new());
    let (Some(point), Ok(once)) = (point, once) else { return false };
    let point = agreement::UnparsedPublicKey::new(&agreement::X25519, point);
    agreement::agree_ephemeral(once, &point, |_| ()).is_ok()
}

fn parse_keys<K: FromStr<Err = KeyError>>(text: &str) -> Result<Vec<K>, KeyFileError> {
    let mut keys = Vec::new();
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        if !line.is_empty() && !line.starts_with('#') {
            keys.push(line.parse().map_err(|source| KeyFileError::Line { line: number, source })?);
        }
    }
    if keys.is_empty() { Err(KeyFileError::Empty) } else { Ok(keys) }
}

/// Classifies a text that is not a supported key.
fn classify_invalid_key(text: &str) -> KeyError {
    let lower = Passphrase::new(text.to_lowercase());
    let lower = lower.as_str();
    if lower.starts_with("ssh-") || lower.contains("openssh") {
        KeyError::Ssh
    } else if lower.starts_with("age-plugin-") || is_plugin_key(lower) {
        KeyError::UnsupportedKind
    } else {
        KeyError::Other
    }
}

/// True for a key of a plugin, `age1NAME1…`. The plugin name may contain letters that key data cannot.
fn is_plugin_key(lower: &str) -> bool {
    lower.strip_prefix("age1").is_some_and(|rest| rest.contains('1'))
        || lower.starts_with("age-secret-key-pq-")
}
