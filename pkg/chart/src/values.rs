//! The values of a user: files, then `--set-json`, `--set`, `--set-string`, `--set-file` and `--set-literal`.
//!
//! Source: Helm 3.22 pkg/cli/values, pkg/strvals.

mod assignment;
mod parse;

pub use assignment::AssignmentError;

use crate::value_tree::{Table, TableError, ValueTree, read_table};
use parse::{Assignments, Syntax};

/// The values of a user, merged in the order of calls; later ones win.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    pub(crate) table: Table,
    /// The values of each file and flag, in their order, if provenance is recorded.
    pub(crate) sources: Option<Vec<(String, Table)>>,
}

/// Values that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ValuesError {
    /// A file is not a YAML mapping.
    #[error("failed to parse {file}: {error}")]
    File {
        /// The name of the file.
        file: String,
        /// The problem.
        error: TableError,
    },
    /// A flag has a malformed value.
    #[error("failed parsing {flag} data: {error}")]
    Assignment {
        /// The flag.
        flag: &'static str,
        /// The value of the flag.
        text: String,
        /// The problem.
        error: AssignmentError,
    },
}

impl Values {
    /// Creates values that record the file or flag of each value.
    pub fn traced() -> Self {
        Self { sources: Some(Vec::new()), ..Self::default() }
    }

    /// Merges a file over the values: tables are merged, everything else is replaced.
    ///
    /// # Errors
    /// `ValuesError::File` if the text is not a YAML mapping.
    pub fn merge_file(&mut self, file: &str, text: &[u8]) -> Result<(), ValuesError> {
        let text = text.strip_prefix(&[0xEF, 0xBB, 0xBF]).unwrap_or(text);
        let table = read_table(text).map_err(|error| ValuesError::File { file: file.to_owned(), error })?;
        if let Some(sources) = &mut self.sources {
            sources.push((file.to_owned(), table.clone()));
        }
        merge(&mut self.table, table);
        Ok(())
    }

    /// Applies a value of `--set`: `a.b=1,list[0]=x,c={y,z}`.
    ///
    /// # Errors
    /// `ValuesError::Assignment`.
    pub fn set(&mut self, text: &str) -> Result<(), ValuesError> {
        self.assign("--set", text, Syntax::Typed)
    }

    /// Applies a value of `--set-string`: as `--set`, but every value is a string.
    ///
    /// # Errors
    /// `ValuesError::Assignment`.
    pub fn set_string(&mut self, text: &str) -> Result<(), ValuesError> {
        self.assign("--set-string", text, Syntax::Text)
    }

    /// Applies a value of `--set-json`: `a.b={"c": 1}`.
    ///
    /// # Errors
    /// `ValuesError::Assignment`.
    pub fn set_json(&mut self, text: &str) -> Result<(), ValuesError> {
        self.assign("--set-json", text, Syntax::Json)
    }

    /// Applies a value of `--set-file`: `a.b=path`. `read` returns the content of a file, or the reason for a failure.
    ///
    /// # Errors
    /// `ValuesError::Assignment`.
    pub fn set_file(
        &mut self,
        text: &str,
        read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
    ) -> Result<(), ValuesError> {
        self.assign("--set-file", text, Syntax::File(read))
    }

    /// Applies a value of `--set-literal`: `a.b=text`, where commas and backslashes of the text have no special meaning.
    ///
    /// # Errors
    /// `ValuesError::Assignment`.
    pub fn set_literal(&mut self, text: &str) -> Result<(), ValuesError> {
        self.assign("--set-literal", text, Syntax::Literal)
    }

    fn assign(&mut self, flag: &'static str, text: &str, syntax: Syntax<'_>) -> Result<(), ValuesError> {
        let mut source = Table::new();
        for assignment in Assignments::new(text, syntax) {
            if self.sources.is_some() {
                // An error is also one of the values below.
                let _ = assignment.clone().apply(&mut source);
            }
            let result = assignment.apply(&mut self.table);
            result.map_err(|error| ValuesError::Assignment { flag, text: text.to_owned(), error })?;
        }
        if let Some(sources) = &mut self.sources {
            sources.push((flag.to_owned(), source));
        }
        Ok(())
    }
}

/// Merges values over others: tables are merged, everything else is replaced.
pub(crate) fn merge(into: &mut Table, from: Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(ValueTree::Table(into)), ValueTree::Table(from)) => merge(into, from),
            (_, value) => drop(into.insert(key, value)),
        }
    }
}
