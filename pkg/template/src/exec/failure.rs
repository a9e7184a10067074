//! Errors at the current node.

use super::{At, Execution};
use crate::error::{Problem, RenderError};
use crate::fault::Fault;
use crate::limits::Limit;

/// The error of an execution. Boxed, as results are returned through many levels.
pub(super) type Failure = Box<RenderError>;

impl Execution<'_> {
    /// Creates an error at the current node.
    #[cold]
    pub(super) fn failure(&self, message: impl Into<String>) -> Failure {
        self.failure_of(message, Problem::Other)
    }

    #[cold]
    pub(super) fn failure_of(&self, message: impl Into<String>, problem: Problem) -> Failure {
        let source = &self.tree.source;
        let (offset, context) = match self.at {
            At::Text(offset) => (offset, String::new()),
            At::Pipe(pipe) => (pipe.offset, source.show(pipe).to_string()),
            At::Command(command) => (command.offset, source.show(command).to_string()),
            At::Expr(expr) => (expr.offset, source.show(expr).to_string()),
            At::Invocation(invocation) => (invocation.offset, source.show(invocation).to_string()),
        };
        let (line, column) = source.position(offset as usize);
        Box::new(RenderError {
            file: source.name.to_string(),
            template: self.tree.name.to_string(),
            line,
            column,
            context,
            message: message.into(),
            problem,
            cause: None,
        })
    }

    #[cold]
    pub(super) fn limit(&self, limit: Limit) -> Failure {
        self.failure_of(limit.to_string(), Problem::Limit(limit))
    }

    /// Creates the error of a function or method.
    #[cold]
    pub(super) fn fault(&self, name: &str, fault: Fault) -> Failure {
        let mut message = format!("error calling {name}");
        if !fault.message.is_empty() {
            message = format!("{message}: {}", fault.message);
        }
        let problem = fault.problem.unwrap_or_else(|| Problem::Function { name: name.to_owned() });
        let mut failure = self.failure_of(message, problem);
        failure.cause = fault.cause;
        failure
    }
}
