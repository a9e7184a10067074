//! The part of the engine that functions use.

use crate::fault::Fault;
use crate::session::Session;
use crate::value::{Str, Value};

/// The running engine, as functions see it.
pub trait Engine {
    /// The session: limits, options, randomness, the value of the host.
    fn session(&mut self) -> &mut Session;

    /// Executes a template and returns its output, as Helm's `include` does.
    ///
    /// # Errors
    /// The error of the template, or a template that does not exist.
    fn include(&mut self, name: &Str, data: &Value) -> Result<Value, Fault>;

    /// Parses and executes a text, as Helm's `tpl` does. Definitions in the text are visible to it alone.
    ///
    /// # Errors
    /// The error of the text.
    fn execute_text(&mut self, text: &Str, data: &Value) -> Result<Value, Fault>;
}
