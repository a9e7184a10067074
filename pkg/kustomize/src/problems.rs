//! The errors and warnings of a build, each with the chain of files that led to it.

use std::collections::BTreeSet;
use std::fmt;

use crate::{Request, TreePath};

/// The error of a step. Each step has an error type of its own.
pub type StepError = Box<dyn std::error::Error + Send + Sync>;

/// One error or warning, and its place.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {}", self.message())]
pub struct Problem {
    /// The place of the problem.
    pub place: Place,
    /// The error or warning itself.
    pub error: StepError,
}

/// A place in a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The chain of files, outermost first; the last one has the problem. Never empty.
    pub files: Vec<TreePath>,
    /// The field in that file, such as `resources[2]`; empty for the file as a whole.
    pub field: String,
}

/// The results of a build. After an error, a step continues with everything that still makes sense.
#[derive(Debug, Default)]
pub struct Report {
    /// Errors, in the order of the build.
    pub errors: Vec<Problem>,
    /// Warnings, in the order of the build.
    pub warnings: Vec<Problem>,
    /// Requests without an answer. If there are any, errors may be missing or caused by the missing content.
    pub wanted: BTreeSet<Request>,
}

impl Problem {
    /// Returns the message without the file of the place.
    pub fn message(&self) -> String {
        let text = self.error.to_string();
        let Some(file) = self.place.files.last() else { return text };
        let own = format!("`{file}`");
        match text.strip_prefix(&own) {
            Some(rest) => rest.trim_start().to_owned(),
            None => {
                [" of ", " in "].iter().fold(text, |text, word| text.replace(&format!("{word}{own}"), ""))
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.files.iter().map(TreePath::as_str).collect();
        formatter.write_str(&names.join(" > "))?;
        if self.field.is_empty() { Ok(()) } else { write!(formatter, ": {}", self.field) }
    }
}

/// Writes the requests if there are any, else the errors.
impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.wanted.is_empty() {
            return write!(formatter, "wants {:?}", self.wanted);
        }
        let errors: Vec<String> = self.errors.iter().map(ToString::to_string).collect();
        formatter.write_str(&errors.join("; "))
    }
}

/// Formats suggested names; empty if there are none.
pub(crate) fn meant(near: &[impl AsRef<str>]) -> String {
    let names: Vec<String> = near.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    if names.is_empty() { String::new() } else { format!("; is {} meant?", names.join(" or ")) }
}
