//! Errors of programs.

use std::fmt;
use std::path::Path;

use api::{ErrorExplanation, Explain};

use super::memory;

/// The maximum number of calls shown.
const MAX_TRACE: usize = 12;

/// A position in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// The path of the file, or the name of an embedded library.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A call, a field or an import that was evaluated when an error occurred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracePoint {
    /// The description, such as ``field `a` ``.
    pub what: String,
    /// The position in its source.
    pub position: Option<SourcePosition>,
}

/// A program that cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonnetError {
    /// The reason of the failure.
    pub reason: String,
    /// The position of the reason.
    pub position: Option<SourcePosition>,
    /// The open calls, innermost first.
    pub trace: Box<[TracePoint]>,
    /// True if the program did not end, because the memory is full.
    pub is_out_of_memory: bool,
}

impl JsonnetError {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), position: None, trace: Box::default(), is_out_of_memory: false }
    }

    pub(super) fn out_of_memory(file: &Path) -> Self {
        let limit = memory::MAX_BYTES >> 30;
        let reason =
            format!("cannot evaluate `{}`: the process has more than {limit} GiB of memory", file.display());
        Self { is_out_of_memory: true, ..Self::new(reason) }
    }
}

impl fmt::Display for JsonnetError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = &self.position {
            write!(out, "{position}: ")?;
        }
        out.write_str(&self.reason)
    }
}

impl std::error::Error for JsonnetError {}

impl Explain for JsonnetError {
    fn explain(&self) -> ErrorExplanation<'_> {
        let shown = self.trace.iter().filter(|point| point.position.is_some()).take(MAX_TRACE);
        let explanation = ErrorExplanation::texts(shown.map(|point| match &point.position {
            Some(position) => format!("{position}: in {}", point.what),
            None => point.what.clone(),
        }));
        if self.is_out_of_memory {
            return explanation.with_hint(
                "look for a value that grows without end; if many large programs run at once, lower `--processes`",
            );
        }
        explanation
    }
}
