//! Parses templates, with the positions and error texts that Go 1.26 gives.
//!
//! ```text
//! text ─► segments ─► tokens of one action ─► node, or an open block that `{{else}}` and `{{end}}` change
//! ```

mod blocks;
pub(crate) mod number;
mod pipeline;
mod segment;
mod token;
pub(crate) mod tree;
pub(crate) mod unquote;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use crate::delimiters::Delimiters;
use crate::error::ParseError;
use crate::functions::Functions;
use crate::value::Str;
use blocks::Block;
use segment::{Segment, Template};
use token::{Kind, Token};
use tree::{Node, Part, Source, Tree};

/// The maximum nesting of parentheses and of actions with a body.
///
/// Differs: Go allows 10,000 parentheses and any number of actions.
const DEPTH: usize = 1_000;

/// The longest template: offsets are 32 bits.
const LONGEST: usize = 1 << 30;

/// Parses one text. Returns the templates of its definitions, then the template of the text itself.
pub(crate) fn parse(
    name: &str,
    text: &Str,
    functions: &Functions,
    delimiters: &Delimiters,
) -> Result<Vec<Tree>, Box<ParseError>> {
    let name: Arc<str> = name.into();
    if text.len() > LONGEST {
        let message = format!("{} bytes of text are over the limit of {LONGEST}", text.len());
        return Err(Box::new(ParseError { template: name.to_string(), line: 1, message, near: Vec::new() }));
    }
    let readable = text.to_str();
    let text = match &readable {
        Cow::Borrowed(_) => text.clone(),
        Cow::Owned(readable) => Str::from(readable.as_str()),
    };
    let source = Arc::new(Source { name: name.clone(), text });
    let mut parser = Parser {
        functions,
        source: &source,
        trees: Vec::new(),
        names: Names::new(),
        nodes: Vec::new(),
        blocks: Vec::new(),
        started: None,
        parentheses: 0,
    };
    parser.segments(&Template::new(&readable, delimiters))?;
    Ok(parser.trees)
}

type Parsed<T> = Result<T, Box<ParseError>>;

fn offset32(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// The names of the variables of one template.
struct Names {
    all: Vec<Box<str>>,
    /// The numbers of the visible variables. The same name may occur several times.
    visible: Vec<u32>,
}

impl Names {
    /// Creates the names at the start of a template.
    fn new() -> Self {
        Self { all: vec!["$".into()], visible: vec![0] }
    }

    fn number(&mut self, name: &str) -> u32 {
        let index = self.all.iter().position(|known| **known == *name).unwrap_or_else(|| {
            self.all.push(name.into());
            self.all.len() - 1
        });
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    fn declare(&mut self, name: &str) -> u32 {
        let number = self.number(name);
        self.visible.push(number);
        number
    }
}

struct Parser<'t> {
    functions: &'t Functions,
    source: &'t Arc<Source>,
    /// The finished templates.
    trees: Vec<Tree>,
    names: Names,
    /// The nodes of the innermost open block.
    nodes: Vec<Node>,
    blocks: Vec<Block>,
    /// The offset of the action that errors about broken tokens name: the current one, or the `if`, `with` or `range`
    /// whose body starts here.
    started: Option<usize>,
    /// The current nesting of parentheses.
    parentheses: usize,
}

impl<'t> Parser<'t> {
    /// Parses all segments of a text, and adds its own template last.
    fn segments(&mut self, template: &Template<'t>) -> Parsed<()> {
        let (mut start, length) = (0, self.source.text.len());
        let mut tokens = Vec::new();
        while start < length {
            let (segment, mut behind) = template.segment(start);
            match segment {
                Segment::Text("") | Segment::Comment => {}
                Segment::Text(text) => {
                    self.nodes.push(Node::Text(Part::new(offset32(start), offset32(start + text.len()))));
                }
                Segment::Action => {
                    behind = template.tokens(behind, &mut tokens);
                    self.action(start, &tokens)?;
                }
                Segment::BrokenComment(token) => return self.unexpected(&token, "input"),
            }
            start = behind;
        }
        if !self.blocks.is_empty() {
            return self.error(length, "unexpected EOF");
        }
        let nodes = std::mem::take(&mut self.nodes);
        self.add(&self.source.name, nodes, length)
    }

    /// Adds a template. Of two templates with the same name one must be empty. `offset` is the position of the error.
    fn add(&mut self, name: &str, body: Vec<Node>, offset: usize) -> Parsed<()> {
        let tree = Tree::new(name.into(), self.source.clone(), body);
        match self.trees.iter_mut().find(|known| known.name == tree.name) {
            None => self.trees.push(tree),
            Some(known) if known.is_empty() => *known = tree,
            Some(_) if tree.is_empty() => {}
            Some(_) => {
                let name = crate::format::quoted(name.as_bytes());
                return self.error(offset, format!("template: multiple definition of template {name}"));
            }
        }
        Ok(())
    }

    fn unquoted<'a>(&self, token: &Token<'a>) -> Parsed<Cow<'a, [u8]>> {
        unquote::unquote(token.text).map_or_else(|| self.error(token.offset, "invalid syntax"), Ok)
    }

    /// Reads the name of a template.
    fn quoted_name(&self, token: &Token<'_>, context: &str) -> Parsed<String> {
        match token.kind {
            Kind::Quoted => Ok(String::from_utf8_lossy(&self.unquoted(token)?).into_owned()),
            _ => self.unexpected(token, context),
        }
    }

    fn expect_end(&self, token: &Token<'_>, context: &str) -> Parsed<()> {
        if token.kind == Kind::End { Ok(()) } else { self.unexpected(token, context) }
    }

    fn unexpected<T>(&self, token: &Token<'_>, context: &str) -> Parsed<T> {
        let mut message = token.describe();
        let Kind::Broken(_) = token.kind else {
            return self.error(token.offset, format!("unexpected {message} in {context}"));
        };
        let started = self.started.map(|offset| self.source.position(offset).0);
        if let Some(line) = started.filter(|line| *line != self.source.position(token.offset).0) {
            // The message of an unclosed action ends with the word.
            let action = if message.ends_with(" action") { "" } else { " in action" };
            message += &format!("{action} started at {}:{line}", self.source.name);
        }
        self.error(token.offset, message)
    }

    fn error<T>(&self, offset: usize, message: impl Into<String>) -> Parsed<T> {
        self.error_near(offset, message, Vec::new())
    }

    fn error_near<T>(&self, offset: usize, message: impl Into<String>, near: Vec<String>) -> Parsed<T> {
        Err(Box::new(ParseError {
            template: self.source.name.to_string(),
            line: self.source.position(offset).0,
            message: message.into(),
            near,
        }))
    }
}
