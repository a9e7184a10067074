//! Parses actions, and keeps the blocks that they open, such as the body of `if`, until their `{{end}}`.

use super::token::{Keyword, Kind, Token};
use super::tree::{Branch, Invocation, Node, Pipe};
use super::{DEPTH, Names, Parsed, Parser, offset32};

/// An open block.
pub(super) struct Block {
    form: Form,
    /// The nodes before the block, where its own node will follow.
    before: Vec<Node>,
}

/// The forms of blocks.
enum Form {
    Define {
        name: String,
        outer_names: Names,
    },
    Block {
        invocation: Box<Invocation>,
        outer_names: Names,
        /// The offset of the right delimiter.
        end: usize,
    },
    /// `if`, `with` and `range`.
    Branch {
        keyword: Keyword,
        pipe: Pipe,
        /// The body before `{{else}}`, once that was read.
        body: Option<Vec<Node>>,
        /// True for `{{else if}}` and `{{else with}}`: the `{{end}}` also ends the block around it.
        is_chained: bool,
        /// The number of variables that are visible outside.
        visible: usize,
    },
}

const DEFINE: &str = "define clause";
const BLOCK: &str = "block clause";
const TEMPLATE: &str = "template clause";

impl<'t> Parser<'t> {
    /// Parses the action at an offset.
    pub(super) fn action(&mut self, start: usize, tokens: &[Token<'t>]) -> Parsed<()> {
        let (first, rest) = (tokens[0], &tokens[1..]);
        self.started = Some(start);
        match first.kind {
            Kind::Keyword(keyword @ (Keyword::If | Keyword::Range | Keyword::With)) => {
                return self.branch(keyword, first.offset, rest, false);
            }
            Kind::Keyword(Keyword::Block) => self.block(first.offset, rest)?,
            Kind::Keyword(Keyword::Define) if self.blocks.is_empty() => self.define(rest)?,
            Kind::Keyword(Keyword::Else) => self.otherwise(rest)?,
            Kind::Keyword(Keyword::End) => self.end(rest)?,
            Kind::Keyword(Keyword::Break) => self.loop_control("{{break}}", rest, Node::Break)?,
            Kind::Keyword(Keyword::Continue) => self.loop_control("{{continue}}", rest, Node::Continue)?,
            Kind::Keyword(Keyword::Template) => {
                let invocation = self.invocation(rest, TEMPLATE)?;
                self.nodes.push(Node::Template(invocation));
            }
            _ => {
                let pipe = self.pipeline(&mut &*tokens, "command")?;
                self.nodes.push(Node::Action(pipe));
            }
        }
        self.started = None;
        Ok(())
    }

    fn open(&mut self, form: Form) {
        self.blocks.push(Block { form, before: std::mem::take(&mut self.nodes) });
    }

    /// Checks that a block may be opened here.
    fn check_depth(&self, offset: usize) -> Parsed<()> {
        let definitions =
            usize::from(matches!(self.blocks.first(), Some(Block { form: Form::Define { .. }, .. })));
        if self.blocks.len() - definitions < DEPTH {
            return Ok(());
        }
        self.error(offset, format!("actions are nested deeper than the limit of {DEPTH}"))
    }

    /// Opens an `if`, `with` or `range`.
    fn branch(
        &mut self,
        keyword: Keyword,
        offset: usize,
        mut rest: &[Token<'t>],
        is_chained: bool,
    ) -> Parsed<()> {
        self.check_depth(offset)?;
        let context = match keyword {
            Keyword::If => "if",
            Keyword::With => "with",
            _ => "range",
        };
        let visible = self.names.visible.len();
        let pipe = self.pipeline(&mut rest, context)?;
        self.open(Form::Branch { keyword, pipe, body: None, is_chained, visible });
        Ok(())
    }

    fn block(&mut self, offset: usize, rest: &[Token<'t>]) -> Parsed<()> {
        self.check_depth(offset)?;
        let invocation = self.invocation(rest, BLOCK)?;
        let outer_names = std::mem::replace(&mut self.names, Names::new());
        let end = rest[rest.len() - 1].offset;
        self.open(Form::Block { invocation, outer_names, end });
        Ok(())
    }

    fn define(&mut self, rest: &[Token<'t>]) -> Parsed<()> {
        self.started = None;
        let name = self.quoted_name(&rest[0], DEFINE)?;
        self.expect_end(&rest[1], DEFINE)?;
        let outer_names = std::mem::replace(&mut self.names, Names::new());
        self.open(Form::Define { name, outer_names });
        Ok(())
    }

    /// Parses the name of a template and a pipeline, which only `template` may leave out.
    fn invocation(&mut self, rest: &[Token<'t>], context: &str) -> Parsed<Box<Invocation>> {
        let (quoted, mut rest) = (&rest[0], &rest[1..]);
        let name = self.quoted_name(quoted, context)?.into();
        let pipe = match rest[0].kind {
            Kind::End if context == TEMPLATE => None,
            _ => Some(self.pipeline(&mut rest, context)?),
        };
        Ok(Box::new(Invocation { offset: offset32(quoted.offset), name, pipe }))
    }

    fn loop_control(&mut self, shown: &str, rest: &[Token<'t>], node: Node) -> Parsed<()> {
        self.expect_end(&rest[0], shown)?;
        let around = self.blocks.iter().rev().find_map(|block| match &block.form {
            Form::Branch { keyword: Keyword::Range, body: None, .. } => Some(true),
            Form::Branch { .. } => None,
            Form::Define { .. } | Form::Block { .. } => Some(false),
        });
        if around != Some(true) {
            return self.error(rest[0].offset, format!("{shown} outside {{{{range}}}}"));
        }
        self.nodes.push(node);
        Ok(())
    }

    /// Begins the second body of a block. `{{else if}}` opens a block inside it.
    fn otherwise(&mut self, rest: &[Token<'t>]) -> Parsed<()> {
        let next = &rest[0];
        let chained = match next.kind {
            Kind::Keyword(keyword @ (Keyword::If | Keyword::With)) => Some(keyword),
            _ => self.expect_end(next, "else").map(|()| None)?,
        };
        let around = match self.blocks.last_mut().map(|block| &mut block.form) {
            None => return self.error(next.offset, "unexpected {{else}}"),
            Some(Form::Define { .. }) => {
                return self.error(next.offset, format!("unexpected {{{{else}}}} in {DEFINE}"));
            }
            Some(&mut Form::Block { end, .. }) => {
                return self.error(end, format!("unexpected {{{{else}}}} in {BLOCK}"));
            }
            Some(Form::Branch { body: Some(_), .. }) => {
                return self.error(next.offset, "expected end; found {{else}}");
            }
            Some(Form::Branch { keyword, body, .. }) => {
                *body = Some(std::mem::take(&mut self.nodes));
                *keyword
            }
        };
        self.started = None;
        match chained {
            None => Ok(()),
            Some(keyword) if keyword == around => self.branch(keyword, next.offset, &rest[1..], true),
            Some(_) => self.unexpected(next, "input"),
        }
    }

    /// Closes the innermost block.
    fn end(&mut self, rest: &[Token<'t>]) -> Parsed<()> {
        let end = &rest[0];
        self.expect_end(end, "end")?;
        loop {
            let Some(block) = self.blocks.pop() else { return self.error(end.offset, "unexpected {{end}}") };
            let nodes = std::mem::replace(&mut self.nodes, block.before);
            match block.form {
                Form::Define { name, outer_names } => {
                    self.names = outer_names;
                    return self.add(&name, nodes, end.offset);
                }
                Form::Block { invocation, outer_names, .. } => {
                    self.names = outer_names;
                    self.add(&invocation.name, nodes, end.offset)?;
                    self.nodes.push(Node::Template(invocation));
                    return Ok(());
                }
                Form::Branch { keyword, pipe, body, is_chained, visible } => {
                    self.names.visible.truncate(visible);
                    let nodes = nodes.into_boxed_slice();
                    let (body, otherwise) = match body {
                        Some(body) => (body.into_boxed_slice(), Some(nodes)),
                        None => (nodes, None),
                    };
                    let branch = Box::new(Branch { pipe, body, otherwise });
                    self.nodes.push(match keyword {
                        Keyword::If => Node::If(branch),
                        Keyword::With => Node::With(branch),
                        _ => Node::Range(branch),
                    });
                    if !is_chained {
                        return Ok(());
                    }
                }
            }
        }
    }
}
