//! Decrypts files of SOPS with age and PGP keys.
//!
//! ```text
//! bytes ─► format (YAML, JSON, dotenv, INI) ─► tree + metadata
//! keys  ─► data key (age, PGP, Shamir shares) ─► walk: decrypt each value, verify the MAC ─► format of the file name ─► bytes
//! ```
//!
//! ```
//! use sops::DecryptionKeys;
//!
//! let keys = DecryptionKeys::from_files([("team.agekey", b"# no key yet\n")])?;
//! assert!(!sops::is_encrypted(b"kind: Secret\n"));
//! let error = sops::decrypt("secret.yaml", b"kind: Secret\n", &keys).unwrap_err();
//! assert_eq!(error.to_string(), "the file is not encrypted with SOPS");
//! # Ok::<_, sops::SopsError>(())
//! ```
//!
//! | module | content |
//! |---|---|
//! | `file` | encrypted files: recognition, decryption, output |
//! | `format`, `yaml`, `json`, `dotenv`, `ini` | the formats |
//! | `tree` | the content of a file: ordered fields, lists, comments |
//! | `metadata`, `flat`, `rule` | the entry `sops`, and the choice of encrypted values |
//! | `keys`, `data_key`, `shamir` | private keys, and the key of a file |
//! | `walk`, `cipher` | decryption of values, and the MAC |
//!
//! Source: sops v3.13. If sops decrypts a file with the format of its name, this crate gives the same bytes.
//! Differs:
//! - A text that starts with a tab and has several lines is printed in double quotes; sops prints `null`.
//! - A comment behind a list or mapping in brackets is printed above it.
//! - A repeated key is an error in every document of a YAML file; sops checks only the first document.
//!
//! Deliberately absent: encryption, keys of cloud services, passphrases, SSH keys, disk, network, environment. Keys and
//! decrypted values are cleared from memory when they are dropped; errors never contain them.

mod cipher;
mod data_key;
mod dotenv;
mod error;
mod file;
mod flat;
mod format;
mod hints;
mod ini;
mod json;
mod keys;
mod metadata;
mod rule;
mod shamir;
#[cfg(test)]
mod tests;
mod tree;
mod walk;
mod yaml;

pub use error::{KeyFileProblem, SopsError};
pub use file::{decrypt, is_encrypted};
pub use format::Format;
pub use keys::DecryptionKeys;
pub use zeroize::Zeroizing;
