//! Executes templates.
//!
//! ```text
//! run ─► walk (nodes) ─► eval (pipelines, commands, operands) ─► field (.a.b), call (functions, methods)
//! ```

mod call;
mod eval;
mod failure;
mod field;
mod methods;
mod nested;
mod output;
mod walk;

pub use output::{Output, Span};

pub(crate) use output::without_no_value;

use output::RawSpan;

use crate::error::Error;
use crate::parse::tree::{Command, Expr, Invocation, Pipe, Shown, Tree};
use crate::reads::ReadRange;
use crate::session::Session;
use crate::templates::Scope;
use crate::value::Value;
use failure::Failure;

type Result<T> = std::result::Result<T, Failure>;

/// One execution of a template with those that it invokes.
pub(crate) struct Execution<'r> {
    scope: &'r Scope<'r>,
    session: &'r mut Session,
    /// The template that executes.
    tree: &'r Tree,
    /// The node that errors are reported at.
    at: At<'r>,
    variables: Vec<Slot>,
    /// The index of the first variable of the template that executes.
    base: usize,
    out: Vec<u8>,
    spans: Option<Vec<RawSpan<'r>>>,
}

/// A node that an error can be reported at.
#[derive(Clone, Copy)]
enum At<'r> {
    Text(u32),
    Pipe(&'r Pipe),
    Command(&'r Command),
    Expr(&'r Expr),
    Invocation(&'r Invocation),
}

/// A value with the fact that Go holds it in an interface, which error texts show.
#[derive(Clone, Copy)]
struct Dot<'a> {
    value: &'a Value,
    is_interface: bool,
    reads: ReadRange,
}

/// A variable on the stack.
struct Slot {
    number: u32,
    value: Value,
    is_interface: bool,
    reads: ReadRange,
}

impl<'r> Execution<'r> {
    pub(crate) fn new(scope: &'r Scope<'r>, session: &'r mut Session, tree: &'r Tree) -> Self {
        let (variables, out) = (Vec::new(), Vec::new());
        Self { scope, session, tree, at: At::Text(0), variables, base: 0, out, spans: None }
    }

    /// Executes the template and returns its output.
    pub(crate) fn run(mut self, data: &Value, trace: bool) -> std::result::Result<Output, Error> {
        self.spans = trace.then(Vec::new);
        self.start(data, ReadRange::default()).map_err(Error::Render)?;
        let omit = self.session.settings.omit_no_value;
        Ok(Output::new(self.out, self.spans.unwrap_or_default(), &self.session.reads, omit))
    }

    /// Returns a part of the current template as a message shows it.
    fn show<'a, T>(&'a self, part: &'a T) -> Shown<'a, T> {
        self.tree.source.show(part)
    }
}
