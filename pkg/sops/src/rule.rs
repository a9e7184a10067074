//! The choice of encrypted values and comments.

use regex::Regex;

use crate::tree::Secret;

/// The rule by which a file was encrypted. Keys count at every level of a path.
///
/// Source: sops v3.13 sops.go (`shouldBeEncrypted`).
pub(crate) enum EncryptionRule {
    UnencryptedSuffix(String),
    EncryptedSuffix(String),
    UnencryptedRegex(Regex),
    EncryptedRegex(Regex),
    UnencryptedCommentRegex(Regex),
    EncryptedCommentRegex(Regex),
}

/// The comments that apply to a value: for each level, the comments since the last field or element.
pub(crate) type CommentStack = Vec<Vec<Secret>>;

impl EncryptionRule {
    /// True if the value at a path is encrypted.
    pub(crate) fn is_encrypted(&self, path: &[String], comments: &CommentStack, is_comment: bool) -> bool {
        match self {
            Self::UnencryptedSuffix(suffix) => !path.iter().any(|key| key.ends_with(suffix)),
            Self::EncryptedSuffix(suffix) => path.iter().any(|key| key.ends_with(suffix)),
            Self::UnencryptedRegex(regex) => !path.iter().any(|key| regex.is_match(key)),
            Self::EncryptedRegex(regex) => path.iter().any(|key| regex.is_match(key)),
            Self::UnencryptedCommentRegex(regex) => !has_match(regex, comments, false),
            // The comment that starts the encryption is not encrypted itself.
            Self::EncryptedCommentRegex(regex) => has_match(regex, comments, is_comment),
        }
    }

    /// True if the rule depends on comments.
    pub(crate) fn uses_comments(&self) -> bool {
        matches!(self, Self::UnencryptedCommentRegex(_) | Self::EncryptedCommentRegex(_))
    }
}

fn has_match(regex: &Regex, comments: &CommentStack, skips_last: bool) -> bool {
    let count = comments.len();
    comments.iter().enumerate().any(|(level, texts)| {
        let skipped = usize::from(skips_last && level + 1 == count);
        let considered = &texts[..texts.len().saturating_sub(skipped)];
        considered.iter().any(|text| regex.is_match(&String::from_utf8_lossy(text)))
    })
}
