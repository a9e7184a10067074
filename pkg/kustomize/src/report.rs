//! The errors and warnings of a build, each with the chain of files that led to it.

use std::collections::BTreeSet;
use std::fmt;

use crate::{FetchRequest, TreePath};

/// The error of a step. Each step has an error type of its own.
pub type StepError = Box<dyn std::error::Error + Send + Sync>;

/// One error or warning, and its place.
#[derive(Debug, thiserror::Error)]
#[error("{location}: {}", self.message())]
pub struct BuildProblem {
    /// The place of the problem.
    pub location: BuildLocation,
    /// The error or warning itself.
    pub error: StepError,
}

/// A place in a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildLocation {
    /// The chain of files, outermost first; the last one has the problem. Never empty.
    pub files: Vec<TreePath>,
    /// The field in that file, such as `resources[2]`; empty for the file as a whole.
    pub field: String,
}

/// The results of a build. After an error, a step continues with everything that still makes sense.
#[derive(Debug, Default)]
pub struct BuildReport {
    /// Errors, in the order of the build.
    pub errors: Vec<BuildProblem>,
    /// Warnings, in the order of the build.
    pub warnings: Vec<BuildProblem>,
    /// Requests without an answer. If there are any, errors may be missing or caused by the missing content.
    pub requests: BTreeSet<FetchRequest>,
}

impl BuildProblem {
    /// Returns the message without the file of the place.
    pub fn message(&self) -> String {
        let text = self.error.to_string();
        let Some(file) = self.location.files.last() else { return text };
        let own = format!("`{file}`");
        let unreadable = format!("cannot read {own}: ");
        match text.strip_prefix(&own) {
            Some(rest) => rest.trim_start().to_owned(),
            None if text.starts_with(&unreadable) => text.replacen(&unreadable, "", 1),
            None => {
                [" of ", " in "].iter().fold(text, |text, word| text.replace(&format!("{word}{own}"), ""))
            }
        }
    }
}

impl fmt::Display for BuildLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.files.iter().map(TreePath::as_str).collect();
        formatter.write_str(&names.join(" > "))?;
        if self.field.is_empty() { Ok(()) } else { write!(formatter, ": {}", self.field) }
    }
}

/// Writes the requests if there are any, else the errors.
impl fmt::Display for BuildReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.requests.is_empty() {
            return write!(formatter, "wants {:?}", self.requests);
        }
        let errors: Vec<String> = self.errors.iter().map(ToString::to_string).collect();
        formatter.write_str(&errors.join("; "))
    }
}

/// Formats suggested names; empty if there are none.
pub(crate) fn format_suggestions(near: &[impl AsRef<str>]) -> String {
    let names: Vec<String> = near.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(" or ")) }
}
