//! Errors of programs.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use api::{ErrorExplanation, Explain};

use super::memory;

/// The maximum number of calls shown.
const MAX_TRACE: usize = 12;

/// A position in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// The path of the file without links, or the name of an embedded library.
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
    /// The next step for the user, if the program did not end.
    pub hint: Option<&'static str>,
}

impl JsonnetError {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), position: None, trace: Box::default(), hint: None }
    }

    pub(super) fn out_of_memory(file: &Path) -> Self {
        let limit = memory::MAX_BYTES >> 30;
        Self {
            hint: Some(
                "look for a value that grows without end; if many large programs run at once, lower `--processes`",
            ),
            ..Self::unfinished(file, format_args!("the process has more than {limit} GiB of memory"))
        }
    }

    pub(super) fn timed_out(file: &Path, timeout: Duration) -> Self {
        Self {
            hint: Some(
                "look for a loop without an end, or allow more time with the variable `CAPSTAN_JSONNET_TIMEOUT=20m`",
            ),
            ..Self::unfinished(file, format_args!("it did not end in {} s", timeout.as_secs_f64()))
        }
    }

    pub(super) fn interrupted(file: &Path) -> Self {
        Self::unfinished(file, format_args!("the run was interrupted"))
    }

    fn unfinished(file: &Path, reason: fmt::Arguments<'_>) -> Self {
        Self::new(format!("cannot evaluate `{}`: {reason}", file.display()))
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
        match self.hint {
            Some(hint) => explanation.with_hint(hint),
            None => explanation,
        }
    }
}
