//! The parsed template: nodes with their byte offsets, and the text of a node for messages.

use std::fmt;
use std::sync::Arc;

use crate::functions::Function;
use crate::value::Str;

/// A template with a name, parsed from a text that may hold several.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) name: Arc<str>,
    /// The name and the text of the file, for positions.
    pub(crate) source: Arc<Source>,
    pub(crate) body: Vec<Node>,
}

/// The text that a template comes from.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: Arc<str>,
    pub(crate) text: Str,
}

impl Source {
    /// Returns the part of the text with a length that starts at an offset.
    pub(crate) fn part(&self, offset: u32, length: u32) -> &[u8] {
        &self.text[offset as usize..][..length as usize]
    }

    /// Returns the line, from 1, and the column in bytes as Go counts it: from 0.
    pub(crate) fn position(&self, offset: usize) -> (usize, usize) {
        let before = &self.text[..offset.min(self.text.len())];
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        (1 + memchr::memchr_iter(b'\n', before).count(), before.len() - start)
    }
}

/// A part of the text of a template.
#[derive(Clone)]
pub(crate) struct Part {
    source: Arc<Source>,
    start: u32,
    end: u32,
}

impl Part {
    pub(crate) fn new(source: &Arc<Source>, start: u32, end: u32) -> Self {
        Self { source: source.clone(), start, end }
    }

    pub(crate) fn extend_to(&mut self, end: u32) {
        self.end = end;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    fn bytes(&self) -> &[u8] {
        &self.source.text[self.start as usize..self.end as usize]
    }

    /// Returns the names in a part such as `.a.b`.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes().split(|byte| *byte == b'.').skip(1)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.bytes()))
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let body = std::mem::take(&mut self.body);
        // Actions nest, and so do their drops.
        crate::stack::with_room(|| drop(body));
    }
}

impl Tree {
    /// True if the template holds nothing but spaces and definitions.
    pub(crate) fn is_empty(&self) -> bool {
        self.body.iter().all(|node| match node {
            Node::Text { offset, length } => self
                .source
                .part(*offset, *length)
                .iter()
                .all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'\x0B' | b'\x0C')),
            _ => false,
        })
    }
}

/// One piece of a template.
#[derive(Debug)]
pub(crate) enum Node {
    /// A part of the text that the template comes from.
    Text {
        offset: u32,
        length: u32,
    },
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
    pub(crate) body: Vec<Node>,
    pub(crate) otherwise: Option<Vec<Node>>,
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
    pub(crate) declared: Vec<Variable>,
    /// True for `=`, false for `:=`.
    pub(crate) is_assignment: bool,
    pub(crate) commands: Vec<Command>,
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
    pub(crate) args: Vec<Expr>,
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
    String {
        quoted: Part,
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

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Dot => f.write_str("."),
            ExprKind::Nil => f.write_str("nil"),
            ExprKind::Bool(value) => write!(f, "{value}"),
            ExprKind::Number(number) => f.write_str(&number.text),
            ExprKind::String { quoted: part, .. } | ExprKind::Field(part) => part.fmt(f),
            ExprKind::Variable(variable, fields) => write!(f, "{}{fields}", variable.name),
            ExprKind::Function(function) => f.write_str(function.name()),
            ExprKind::Chain(inner, fields) => {
                match &inner.kind {
                    ExprKind::Pipe(pipe) => crate::stack::grow(|| write!(f, "({pipe})"))?,
                    _ => inner.fmt(f)?,
                }
                fields.fmt(f)
            }
            ExprKind::Pipe(pipe) => crate::stack::grow(|| pipe.fmt(f)),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, arg) in self.args.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            match &arg.kind {
                ExprKind::Pipe(pipe) => crate::stack::grow(|| write!(f, "({pipe})"))?,
                _ => arg.fmt(f)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, variable) in self.declared.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { ", " } else { "" }, variable.name)?;
        }
        if !self.declared.is_empty() {
            f.write_str(if self.is_assignment { " = " } else { " := " })?;
        }
        for (index, command) in self.commands.iter().enumerate() {
            write!(f, "{}{command}", if index > 0 { " | " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{{template {}", crate::format::quoted(self.name.as_bytes()))?;
        if let Some(pipe) = &self.pipe {
            write!(f, " {pipe}")?;
        }
        f.write_str("}}")
    }
}
