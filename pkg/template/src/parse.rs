//! Parses templates, with Go's positions and error texts.
//!
//! Source: Go 1.26 text/template/parse.

mod action;
mod lex;
pub(crate) mod number;
mod pipeline;
mod tokens;
pub(crate) mod tree;
pub(crate) mod unquote;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::delimiters::Delimiters;
use crate::error::ParseError;
use crate::functions::Functions;
use lex::{Keyword, Kind, Lexer};
use tokens::Tokens;
use tree::{Node, Source, Tree};

/// The maximum nesting of parentheses and of actions with a body.
///
/// Differs: Go allows 10,000 parentheses and any number of actions.
const DEPTH: usize = 1_000;

/// The longest template: offsets are 32 bits.
const LONGEST: usize = 1 << 30;

/// Parses one text. Returns the templates of its definitions, then the template of the text itself.
pub(crate) fn parse(
    name: &str,
    text: &str,
    functions: &Functions,
    delimiters: &Delimiters,
) -> Result<Vec<Tree>, Box<ParseError>> {
    let name: Arc<str> = name.into();
    if text.len() > LONGEST {
        let message = format!("{} bytes of text are over the limit of {LONGEST}", text.len());
        return Err(Box::new(ParseError { template: name.to_string(), line: 1, message, near: Vec::new() }));
    }
    let source = Arc::new(Source { name: name.clone(), text: text.into() });
    let mut parser = Parser {
        tokens: Tokens::new(Lexer::new(text, delimiters)),
        functions,
        source: &source,
        trees: Vec::new(),
        names: Names::default(),
        action_line: 0,
        range_depth: 0,
        paren_depth: 0,
        block_depth: 0,
    };
    let body = parser.top_level()?;
    parser.add(Tree { name, source: source.clone(), body })?;
    Ok(parser.trees)
}

type Parsed<T> = Result<T, Box<ParseError>>;

/// The names of the variables of one template.
#[derive(Default)]
struct Names {
    all: Vec<Box<str>>,
    /// The numbers of the visible variables. The same name may occur several times.
    visible: Vec<u32>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        let index = self.all.iter().position(|known| **known == *name).unwrap_or_else(|| {
            self.all.push(name.into());
            self.all.len() - 1
        });
        u32::try_from(index).unwrap_or(u32::MAX)
    }
}

struct Parser<'t> {
    tokens: Tokens<'t>,
    functions: &'t Functions,
    source: &'t Arc<Source>,
    trees: Vec<Tree>,
    names: Names,
    /// The line of the `{{` of the current action; 0 outside.
    action_line: usize,
    range_depth: usize,
    paren_depth: usize,
    block_depth: usize,
}

impl Parser<'_> {
    fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        self.error_near(message, Vec::new())
    }

    fn error_near<T>(&self, message: impl Into<String>, near: Vec<String>) -> Parsed<T> {
        Err(Box::new(ParseError {
            template: self.source.name.to_string(),
            line: self.tokens.last_line(),
            message: message.into(),
            near,
        }))
    }

    /// Parses the top level, where definitions are allowed.
    fn top_level(&mut self) -> Parsed<Vec<Node>> {
        let mut body = Vec::new();
        self.start_names();
        while self.tokens.peek().kind != Kind::Eof {
            if self.tokens.peek().kind == Kind::LeftDelim {
                let delimiter = self.tokens.next();
                let next = self.tokens.next_non_space();
                if next.kind == Kind::Keyword(Keyword::Define) {
                    self.definition()?;
                    continue;
                }
                self.tokens.back_up(next);
                self.tokens.back_up(delimiter);
            }
            match self.text_or_action()? {
                action::Parsed::Node(node) => body.push(node),
                action::Parsed::End => return self.error("unexpected {{end}}"),
                action::Parsed::Else => return self.error("unexpected {{else}}"),
            }
        }
        Ok(body)
    }

    fn start_names(&mut self) {
        self.names = Names::default();
        let root = self.names.number("$");
        self.names.visible.push(root);
    }

    /// Parses `{{define "name"}} … {{end}}` after its keyword.
    fn definition(&mut self) -> Parsed<()> {
        const CONTEXT: &str = "define clause";
        let token = self.tokens.next_non_space();
        if !matches!(token.kind, Kind::String | Kind::RawString) {
            return self.unexpected(&token, CONTEXT);
        }
        let name = self.unquoted_name(&token.text)?;
        self.expect_right_delimiter(CONTEXT)?;
        self.body_of(&name, CONTEXT)
    }

    /// Parses the body of a definition or block up to its `{{end}}`, and adds it as a template.
    fn body_of(&mut self, name: &str, context: &str) -> Parsed<()> {
        let outer = std::mem::take(&mut self.names);
        let (range_depth, action_line) = (std::mem::take(&mut self.range_depth), self.action_line);
        self.start_names();
        let (body, end) = self.item_list()?;
        if end == action::End::Else {
            return self.error(format!("unexpected {{{{else}}}} in {context}"));
        }
        self.names = outer;
        (self.range_depth, self.action_line) = (range_depth, action_line);
        self.add(Tree { name: name.into(), source: self.source.clone(), body })
    }

    /// Adds a template. Of two templates with the same name one must be empty.
    fn add(&mut self, tree: Tree) -> Parsed<()> {
        let Some(index) = self.trees.iter().position(|known| known.name == tree.name) else {
            self.trees.push(tree);
            return Ok(());
        };
        if self.trees[index].is_empty() {
            self.trees[index] = tree;
        } else if !tree.is_empty() {
            let name = crate::format::quoted(tree.name.as_bytes());
            return self.error(format!("template: multiple definition of template {name}"));
        }
        Ok(())
    }

    fn unquoted_name(&self, quoted: &str) -> Parsed<String> {
        match unquote::unquote(quoted) {
            Some(name) => Ok(String::from_utf8_lossy(&name).into_owned()),
            None => self.error("invalid syntax"),
        }
    }

    fn expect_right_delimiter(&mut self, context: &str) -> Parsed<()> {
        let token = self.tokens.next_non_space();
        if token.kind == Kind::RightDelim { Ok(()) } else { self.unexpected(&token, context) }
    }

    fn unexpected<T>(&self, token: &lex::Token<'_>, context: &str) -> Parsed<T> {
        if token.kind != Kind::Error {
            return self.error(format!("unexpected {} in {context}", token.describe()));
        }
        let mut message = token.describe();
        if self.action_line != 0 && self.action_line != token.line {
            let place = format!("started at {}:{}", self.source.name, self.action_line);
            // The message of an unclosed action ends with the word.
            message += if message.ends_with(" action") { " " } else { " in action " };
            message += &place;
        }
        self.error(message)
    }
}
