//! Keys as people hold them.

use std::{fmt, str::FromStr};

use age::{
    secrecy::{ExposeSecret as _, SecretString},
    x25519,
};
use data_encoding::Specification;
use ring::{agreement, rand::SystemRandom};

/// The digits of a key; after `age1` come 52 of them, and 6 that check them.
const DIGITS: &str = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const POINT: std::ops::Range<usize> = 4..56;

/// Who may read an archive: `age1…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient(pub(super) x25519::Recipient);

/// The secret half of a recipient: `AGE-SECRET-KEY-1…`. It cannot be printed, and is wiped when it is dropped.
pub struct Identity(pub(super) x25519::Identity);

/// A passphrase. It cannot be printed, and is wiped when it is dropped.
#[derive(Debug)]
pub struct Passphrase(pub(super) SecretString);

/// A text that is not the key it is to be; it is not shown, as it may be secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// A recipient is wanted.
    #[error("it is a secret key, and the public one is wanted")]
    Secret,
    /// An identity is wanted.
    #[error("it is a public key, and the secret one is wanted")]
    Public,
    /// Of SSH.
    #[error("it is a key of SSH, and only keys of age are read")]
    Ssh,
    /// Of a plugin, or of a later release.
    #[error("it is a key of a plugin, or of another kind than X25519")]
    Kind,
    /// Everybody knows what is encrypted to it.
    #[error("it is a key that hides nothing")]
    Weak,
    /// Anything else.
    #[error("it is no key of age, or was mistyped")]
    Other,
}

/// A file of keys with a line that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFileError {
    /// Which line.
    #[error("line {line} is not what it is to be")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// Why.
        #[source]
        source: KeyError,
    },
    /// Comments alone.
    #[error("it holds no key")]
    Empty,
}

impl Recipient {
    /// Those of a file, one a line, with blank lines and comments after `#`.
    /// # Errors
    /// The first line that is none, and a file without any.
    pub fn read_all(text: &str) -> Result<Vec<Self>, KeyFileError> {
        lines(text)
    }
}

impl Identity {
    /// Those of a file, one a line, with blank lines and comments after `#`.
    /// # Errors
    /// The first line that is none, and a file without any.
    pub fn read_all(text: &str) -> Result<Vec<Self>, KeyFileError> {
        lines(text)
    }
}

impl Passphrase {
    /// Takes what was typed.
    pub fn new(text: String) -> Self {
        Self(SecretString::from(text))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.expose_secret()
    }

    /// Whether nothing was typed.
    pub fn is_empty(&self) -> bool {
        self.as_str().is_empty()
    }

    /// Whether the same was typed twice.
    pub fn is_same(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl FromStr for Recipient {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        match text.parse::<x25519::Recipient>() {
            Ok(recipient) if hides(&recipient) => Ok(Self(recipient)),
            Ok(_) => Err(KeyError::Weak),
            Err(_) if text.parse::<x25519::Identity>().is_ok() => Err(KeyError::Secret),
            Err(_) => Err(no_key(text)),
        }
    }
}

impl FromStr for Identity {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        match text.parse() {
            Ok(identity) => Ok(Self(identity)),
            Err(_) if text.parse::<x25519::Recipient>().is_ok() => Err(KeyError::Public),
            Err(_) => Err(no_key(text)),
        }
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity(…)")
    }
}

/// Whether the secret shared with a key is one: with a few points it is always zero. `age` ends the process over them.
fn hides(recipient: &x25519::Recipient) -> bool {
    let mut digits = Specification::new();
    digits.symbols.push_str(DIGITS);
    let digits = digits.encoding().expect("there are 32 digits, each once");
    let text = recipient.to_string();
    let point = text.get(POINT).and_then(|point| digits.decode(point.as_bytes()).ok());
    let once = agreement::EphemeralPrivateKey::generate(&agreement::X25519, &SystemRandom::new());
    let (Some(point), Ok(once)) = (point, once) else { return false };
    let point = agreement::UnparsedPublicKey::new(&agreement::X25519, point);
    agreement::agree_ephemeral(once, &point, |_| ()).is_ok()
}

fn lines<K: FromStr<Err = KeyError>>(text: &str) -> Result<Vec<K>, KeyFileError> {
    let mut keys = Vec::new();
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        if !line.is_empty() && !line.starts_with('#') {
            keys.push(line.parse().map_err(|source| KeyFileError::Line { line: number, source })?);
        }
    }
    if keys.is_empty() { Err(KeyFileError::Empty) } else { Ok(keys) }
}

/// What a text is that is no key we read.
fn no_key(text: &str) -> KeyError {
    let lower = Passphrase::new(text.to_lowercase());
    let lower = lower.as_str();
    if lower.starts_with("ssh-") || lower.contains("openssh") {
        KeyError::Ssh
    } else if lower.starts_with("age-plugin-") || is_of_plugin(lower) {
        KeyError::Kind
    } else {
        KeyError::Other
    }
}

/// `age1NAME1…`: the name of a key may have letters that its data has not.
fn is_of_plugin(lower: &str) -> bool {
    lower.strip_prefix("age1").is_some_and(|rest| rest.contains('1'))
        || lower.starts_with("age-secret-key-pq-")
}
