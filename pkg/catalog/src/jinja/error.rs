//! Errors of templates.

use std::fmt;

use minijinja::ErrorKind;

/// A template that cannot be rendered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TemplateError {
    name: Option<String>,
    line: Option<usize>,
    reason: String,
}

impl TemplateError {
    pub(super) fn new(reason: String) -> Self {
        Self { name: None, line: None, reason }
    }

    /// Converts an error of the engine. `source` returns the text of a template.
    pub(crate) fn of_engine(error: &minijinja::Error, source: impl Fn(&str) -> Option<String>) -> Self {
        // An error inside of an included template has the description of the inner problem as its source.
        let mut innermost = error;
        while let Some(inner) = std::error::Error::source(innermost).and_then(|inner| inner.downcast_ref()) {
            innermost = inner;
        }
        let name = innermost.name().map(str::to_owned);
        let expression = || {
            let text = source(name.as_deref()?)?;
            Some(text.get(innermost.range()?)?.trim().to_owned())
        };
        let reason = match innermost.kind() {
            ErrorKind::UndefinedError => match expression() {
                Some(expression) => format!("`{expression}` is undefined"),
                None => "a value is undefined".to_owned(),
            },
            ErrorKind::OutOfFuel => "the template takes too many steps".to_owned(),
            kind => innermost.detail().map_or_else(|| kind.to_string(), str::to_owned),
        };
        Self { line: innermost.line(), name, reason }
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.reason)?;
        match (&self.name, self.line) {
            (Some(name), Some(line)) => write!(out, ", at {name}:{line}"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for TemplateError {}
