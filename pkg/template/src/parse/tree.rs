//! The parsed template: nodes with their byte offsets, and the text of a node for messages.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::delimiters::Delimiters;
use crate::error::ParseError;
use crate::functions::{Function, Functions};
use crate::value::Str;

/// A template with a name, parsed from a text that may hold several.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) name: Arc<str>,
    /// The name and the text of the file, for positions.
    pub(crate) source: Arc<Source>,
    /// Not set before the first use of a deferred text.
    body: OnceLock<Result<Vec<Node>, Box<ParseError>>>,
}

/// The text that a template comes from.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: Arc<str>,
    pub(crate) text: Str,
}

impl Source {
    /// Returns the text of a part.
    pub(crate) fn part(&self, part: Part) -> &[u8] {
        &self.text[part.start as usize..part.end as usize]
    }

    /// Returns the names in a part such as `.a.b`.
    pub(crate) fn names(&self, part: Part) -> impl Iterator<Item = &[u8]> {
        self.part(part).split(|byte| *byte == b'.').skip(1)
    }

    /// Returns a node or part as a message shows it.
    pub(crate) fn show<'a, T>(&'a self, shown: &'a T) -> Shown<'a, T> {
        Shown { source: self, shown }
    }

    /// Returns the line, from 1, and the column in bytes as Go counts it: from 0.
    pub(crate) fn position(&self, offset: usize) -> (usize, usize) {
        let before = &self.text[..offset.min(self.text.len())];
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        (1 + memchr::memchr_iter(b'\n', before).count(), before.len() - start)
    }
}

/// A node or part with the text that it comes from, to display it.
pub(crate) struct Shown<'a, T> {
    source: &'a Source,
    shown: &'a T,
}

/// A part of the text of a template.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    start: u32,
    end: u32,
}

impl Part {
    pub(crate) fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    pub(crate) fn start(self) -> u32 {
        self.start
    }

    pub(crate) fn extend_to(&mut self, end: u32) {
        self.end = end;
    }

    pub(crate) fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let body = self.body.take();
        // Actions nest, and so do their drops.
        crate::stack::with_room(|| drop(body));
    }
}

impl Tree {
    pub(crate) fn new(name: Arc<str>, source: Arc<Source>, body: Vec<Node>) -> Self {
        Self { name, source, body: OnceLock::from(Ok(body)) }
    }

    /// Creates the template of a text without definitions that is parsed when it is used.
    pub(crate) fn deferred(source: Arc<Source>) -> Self {
        Self { name: source.name.clone(), source, body: OnceLock::new() }
    }

    /// True if the text is not parsed yet.
    pub(crate) fn is_deferred(&self) -> bool {
        self.body.get().is_none()
    }

    /// Returns the nodes. Parses the text if that is not done yet.
    ///
    /// # Errors
    /// Only for a deferred text: Go's text.
    pub(crate) fn body(&self, functions: &Functions) -> Result<&[Node], Box<ParseError>> {
        let body = self.body.get_or_init(|| {
            let trees = super::parse(&self.name, &self.source.text, functions, &Delimiters::default());
            trees?.pop().and_then(|mut tree| tree.body.take()).unwrap_or_else(|| Ok(Vec::new()))
        });
        body.as_deref().map_err(Clone::clone)
    }

    /// True if the template holds nothing but spaces and definitions. A deferred one counts as not empty.
    pub(crate) fn is_empty(&self) -> bool {
        let Some(Ok(body)) = self.body.get() else { return false };
        body.iter().all(|node| match node {
            Node::Text(part) => self
                .source
                .part(*part)
                .iter()
                .all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'\x0B' | b'\x0C')),
            _ => false,
        })
    }
}

/// One piece of a template.
#[derive(Debug)]
pub(crate) enum Node {
    Text(Part),
    Action(Pipe),
    If(Box<Branch>),
    With(Box<Branch>),
    Range(Box<Branch>),
    Template(Box<Invocation>),
    Break,
    Continue,
}

/// An action with a body: `if`, `with` and `range`.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) pipe: Pipe,
    pub(crate) body: Box<[Node]>,
    pub(crate) otherwise: Option<Box<[Node]>>,
}

/// `{{template "name" pipeline}}`.
#[derive(Debug)]
pub(crate) struct Invocation {
    pub(crate) offset: u32,
    pub(crate) name: Box<str>,
    pub(crate) pipe: Option<Pipe>,
}

/// A pipeline.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) offset: u32,
    pub(crate) declared: Box<[Variable]>,
    /// True for `=`, false for `:=`.
    pub(crate) is_assignment: bool,
    pub(crate) commands: Box<[Command]>,
}

/// A variable: the number of its name in the template, and the name with `$`.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) number: u32,
    pub(crate) name: Part,
}

/// One command of a pipeline: an operand, or a function with arguments.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) offset: u32,
    pub(crate) args: Box<[Expr]>,
}

/// An operand.
#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) offset: u32,
    pub(crate) kind: ExprKind,
}

/// The forms of operands.
#[derive(Debug)]
pub(crate) enum ExprKind {
    Dot,
    Nil,
    Bool(bool),
    Number(Box<Number>),
    /// A constant, and the offset behind its quotes.
    String {
        end: u32,
        text: Str,
    },
    /// The fields as written, such as `.a.b`.
    Field(Part),
    /// A variable with the fields behind it.
    Variable(Variable, Part),
    Function(Arc<Function>),
    Chain(Box<Expr>, Part),
    Pipe(Box<Pipe>),
}

/// A number, in each form that it can have.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Number {
    pub(crate) int: Option<i64>,
    pub(crate) uint: Option<u64>,
    pub(crate) float: Option<f64>,
    /// True for a complex number with an imaginary part.
    pub(crate) is_complex: bool,
    pub(crate) text: Box<str>,
}

impl fmt::Display for Shown<'_, Part> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.source.part(*self.shown)))
    }
}

impl fmt::Display for Shown<'_, Expr> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, shown } = *self;
        match &shown.kind {
            ExprKind::Dot => f.write_str("."),
            ExprKind::Nil => f.write_str("nil"),
            ExprKind::Bool(value) => write!(f, "{value}"),
            ExprKind::Number(number) => f.write_str(&number.text),
            ExprKind::String { end, .. } => source.show(&Part::new(shown.offset, *end)).fmt(f),
            ExprKind::Field(part) => source.show(part).fmt(f),
            ExprKind::Variable(variable, fields) => {
                write!(f, "{}{}", source.show(&variable.name), source.show(fields))
            }
            ExprKind::Function(function) => f.write_str(function.name()),
            ExprKind::Chain(inner, fields) => {
                source.show(&**inner).fmt_operand(f)?;
                source.show(fields).fmt(f)
            }
            ExprKind::Pipe(pipe) => crate::stack::grow(|| source.show(&**pipe).fmt(f)),
        }
    }
}

impl Shown<'_, Expr> {
    /// Writes an operand: a pipeline has parentheses.
    fn fmt_operand(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shown.kind {
            ExprKind::Pipe(pipe) => crate::stack::grow(|| write!(f, "({})", self.source.show(&**pipe))),
            _ => fmt::Display::fmt(self, f),
        }
    }
}

impl fmt::Display for Shown<'_, Command> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, arg) in self.shown.args.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            self.source.show(arg).fmt_operand(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Shown<'_, Pipe> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, shown: pipe } = *self;
        for (index, variable) in pipe.declared.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { ", " } else { "" }, source.show(&variable.name))?;
        }
        if !pipe.declared.is_empty() {
            f.write_str(if pipe.is_assignment { " = " } else { " := " })?;
        }
        for (index, command) in pipe.commands.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { " | " } else { "" }, source.show(command))?;
        }
        Ok(())
    }
}

impl fmt::Display for Shown<'_, Invocation> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{{template {}", crate::format::quoted(self.shown.name.as_bytes()))?;
        if let Some(pipe) = &self.shown.pipe {
            write!(f, " {}", self.source.show(pipe))?;
        }
        f.write_str("}}")
    }
}
