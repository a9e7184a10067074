//! Parameters of functions and methods.

use super::types::Type;

/// The parameters of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub(crate) fixed: Box<[Type]>,
    pub(crate) variadic: Option<Type>,
}

impl Signature {
    /// Creates the signature of a function with a fixed number of parameters.
    pub fn new(fixed: &[Type]) -> Self {
        Self { fixed: fixed.into(), variadic: None }
    }

    /// Allows any number of further arguments of one type.
    #[must_use]
    pub fn and_more(mut self, elem: Type) -> Self {
        self.variadic = Some(elem);
        self
    }

    /// Returns the type of an argument.
    pub(crate) fn parameter(&self, index: usize) -> Option<Type> {
        self.fixed.get(index).copied().or(self.variadic)
    }
}
