//! Errors with Go's texts, and with their facts as fields.

use std::fmt;

use crate::limits::Limit;

/// A template that cannot be parsed. The text is Go's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("template: {template}:{line}: {message}")]
pub struct ParseError {
    /// The name of the text.
    pub template: String,
    /// The line, from 1.
    pub line: usize,
    /// The problem, in Go's words.
    pub message: String,
    /// Known names that are similar to an unknown function or variable.
    pub near: Vec<String>,
}

/// A template that cannot be executed. The text is Go's, with the text of the cause at its end.
#[derive(Debug)]
pub struct RenderError {
    /// The name of the text that contains the failing action.
    pub file: String,
    /// The name of the executing template.
    pub template: String,
    /// The line in the text, from 1.
    pub line: usize,
    /// The column in bytes, from 0, as Go counts it.
    pub column: usize,
    /// The failing part of the action.
    pub context: String,
    /// The problem in Go's words, without the text of the cause.
    pub message: String,
    /// What the problem is about.
    pub problem: Problem,
    /// The error inside an included template or a nested text.
    pub cause: Option<Box<Error>>,
}

/// The kinds of problems that have facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A field of a value that is nil.
    Nil {
        /// The path that is nil, such as `.Values.image`.
        path: String,
        /// The field that was asked for.
        field: String,
        /// Existing names that are similar to the last name of the path.
        near: Vec<String>,
    },
    /// A map without a key, if missing keys are errors.
    MissingKey {
        /// The path with the key.
        path: String,
        /// Existing keys that are similar.
        near: Vec<String>,
    },
    /// A function failed.
    Function {
        /// The name of the function.
        name: String,
    },
    /// The template called `fail`, or `required` without a value.
    Failed {
        /// The message of the template.
        message: String,
    },
    /// A limit was exceeded.
    Limit(Limit),
    /// A template that does not exist.
    NoTemplate {
        /// The name that was asked for.
        name: String,
        /// Existing names that are similar.
        near: Vec<String>,
    },
    /// Any other problem.
    Other,
}

/// An error of parsing or of rendering.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A text that cannot be parsed.
    #[error(transparent)]
    Parse(Box<ParseError>),
    /// A failing action.
    #[error(transparent)]
    Render(Box<RenderError>),
    /// A template that does not exist.
    #[error("template: no template {} associated with template {}", quoted(name), quoted(set))]
    NoTemplate {
        /// The name that was asked for.
        name: String,
        /// The name of the set of templates.
        set: String,
        /// Existing names that are similar.
        near: Vec<String>,
    },
}

fn quoted(text: &str) -> String {
    crate::format::quoted(text.as_bytes())
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A loop, as templates nest deeply.
        let mut error = self;
        loop {
            let Self { file, template, line, column, context, message, .. } = error;
            let name = quoted(template);
            write!(f, "template: {file}:{line}:{column}: executing {name} at <{context}>: {message}")?;
            match error.cause.as_deref() {
                None => return Ok(()),
                Some(Error::Render(cause)) => {
                    f.write_str(": ")?;
                    error = cause;
                }
                Some(cause) => return write!(f, ": {cause}"),
            }
        }
    }
}

impl std::error::Error for RenderError {}

impl RenderError {
    /// Returns the innermost error of rendering, which has the position of the real problem.
    pub fn innermost(&self) -> &Self {
        let mut error = self;
        while let Some(Error::Render(inner)) = error.cause.as_deref() {
            error = inner;
        }
        error
    }
}

/// Returns up to three known names that are similar to a name, the most similar first.
pub(crate) fn near_names<T: AsRef<str>>(name: &str, known: impl IntoIterator<Item = T>) -> Vec<String> {
    let lower = name.to_lowercase();
    let score = |known: &str| strsim::jaro_winkler(&lower, &known.to_lowercase());
    let mut near: Vec<(f64, String)> = known
        .into_iter()
        .filter(|known| known.as_ref() != name)
        .map(|known| (score(known.as_ref()), known.as_ref().to_owned()))
        .filter(|(score, _)| *score > 0.85)
        .collect();
    near.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
    near.dedup();
    near.into_iter().take(3).map(|(_, known)| known).collect()
}
