//! Messages for the user.

/// A message of a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The text of the message.
    pub text: String,
    /// True if a filter could not be run.
    pub is_warning: bool,
}

impl Notice {
    pub(super) fn info(text: String) -> Self {
        Self { text, is_warning: false }
    }

    pub(super) fn warning(text: String) -> Self {
        Self { text, is_warning: true }
    }
}
