//! Next steps after a file that cannot be decrypted.

use api::{ErrorExplanation, Explain};

use crate::SopsError;

impl Explain for SopsError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::NoMatchingKey { .. } | Self::TooFewGroups { .. } => ErrorExplanation::hint(
                "give the private key of a recipient, in a file named `*.agekey` or `*.asc`",
            ),
            Self::UnsupportedKeys { .. } => {
                ErrorExplanation::hint("add an age or PGP recipient with `sops rotate --add-age RECIPIENT`")
            }
            Self::NoMac | Self::MacMismatch | Self::Value { .. } => ErrorExplanation::hint(
                "restore the file from version control, or edit it with `sops edit` only",
            ),
            _ => ErrorExplanation::default(),
        }
    }
}
