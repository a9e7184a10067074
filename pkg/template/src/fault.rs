//! The errors that functions return.

use crate::error::{Error, Problem};
use crate::format::FormatError;
use crate::limits::Limit;
use crate::value::TooDeep;

/// The error of a function. The engine adds the position.
#[derive(Debug)]
pub struct Fault {
    pub(crate) message: String,
    pub(crate) problem: Option<Problem>,
    pub(crate) cause: Option<Box<Error>>,
}

impl Fault {
    /// Creates an error with a message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), problem: None, cause: None }
    }

    /// Creates the error of a template that fails on purpose.
    pub fn failed(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { problem: Some(Problem::Failed { message: message.clone() }), message, cause: None }
    }

    /// Puts words in front of an error: `context: error`.
    pub fn wrap(context: &str, error: Error) -> Self {
        Self { message: context.to_owned(), problem: None, cause: Some(Box::new(error)) }
    }
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self { message: String::new(), problem: None, cause: Some(Box::new(error)) }
    }
}

impl From<Limit> for Fault {
    fn from(limit: Limit) -> Self {
        Self { message: limit.to_string(), problem: Some(Problem::Limit(limit)), cause: None }
    }
}

impl From<TooDeep> for Fault {
    fn from(error: TooDeep) -> Self {
        Self::new(error.to_string())
    }
}

impl From<FormatError> for Fault {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::TooLong(limit) => Limit::Output(limit).into(),
            FormatError::TooDeep(error) => error.into(),
        }
    }
}
