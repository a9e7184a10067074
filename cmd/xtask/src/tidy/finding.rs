use std::fmt;

/// A result of a rule, with its location.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) path: String,
    pub(super) line: Option<usize>,
    pub(super) text: String,
    /// True if `cargo test` fails for this finding.
    pub(super) is_fault: bool,
}

impl Finding {
    pub(super) fn fault(path: &str, line: impl Into<Option<usize>>, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: line.into(), text: text.into(), is_fault: true }
    }

    pub(super) fn remark(path: &str, line: impl Into<Option<usize>>, text: impl Into<String>) -> Self {
        Self { is_fault: false, ..Self::fault(path, line, text) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_fault { "" } else { "(remark) " };
        match self.line {
            Some(line) => write!(f, "{}:{line}: {mark}{}", self.path, self.text),
            None => write!(f, "{}: {mark}{}", self.path, self.text),
        }
    }
}
