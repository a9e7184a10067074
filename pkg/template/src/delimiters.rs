//! The marks around actions.

/// The marks around the actions of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delimiters {
    left: String,
    right: String,
}

impl Delimiters {
    /// Creates delimiters. An empty text stands for `{{` or `}}`.
    pub fn new(left: impl Into<String>, right: impl Into<String>) -> Self {
        Self { left: left.into(), right: right.into() }
    }

    /// The mark before an action.
    pub fn left(&self) -> &str {
        if self.left.is_empty() { "{{" } else { &self.left }
    }

    /// The mark behind an action.
    pub fn right(&self) -> &str {
        if self.right.is_empty() { "}}" } else { &self.right }
    }
}
