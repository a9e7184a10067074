//! Errors of references.

use std::io;
use std::path::PathBuf;

use api::{ErrorExplanation, Explain};

/// A reference that cannot be stored or replaced.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ReferenceError {
    /// Only secrets of Vault are supported.
    #[error("reference `{reference}` has type `{kind}`, which is not supported")]
    UnsupportedType {
        reference: String,
        /// Its type.
        kind: String,
    },
    /// A reference without a type, or without a secret and a key.
    #[error("reference `{reference}` is invalid: {reason}")]
    Invalid { reference: String, reason: &'static str },
    /// The parameters do not tell how to reach Vault.
    #[error("`parameters.kapitan.secrets.vaultkv` is missing in target `{target}`")]
    NoVault {
        /// The target of the cluster.
        target: String,
    },
    /// A target whose parameters are missing.
    #[error("target `{target}` has no parameters `{key}`")]
    NoParameters {
        target: String,
        /// The key of its parameters.
        key: String,
    },
    /// A reference in a compiled file that is not in the parameters.
    #[error("Could not find ref backend for tag: {reference}: cannot read `{}`", path.display())]
    Unknown {
        reference: String,
        /// The file that should describe it.
        path: PathBuf,
        source: io::Error,
    },
    /// A file of references without `data`.
    #[error("`{}` has no text `data`", path.display())]
    NoData { path: PathBuf },
}

impl Explain for ReferenceError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::UnsupportedType { .. } => ErrorExplanation::hint("use `?{vaultkv:path/to/secret/key}`"),
            Self::NoVault { .. } => {
                ErrorExplanation::hint("set `kapitan.secrets.vaultkv` in a class that all clusters include")
            }
            Self::Unknown { .. } => ErrorExplanation::hint(
                "write the reference into the parameters of the component; references in templates are not found",
            ),
            _ => ErrorExplanation::default(),
        }
    }
}
