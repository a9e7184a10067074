//! Parses text, actions and their bodies.

use super::lex::{Keyword, Kind, Token};
use super::tree::{Branch, Invocation, Node, Pipe};
use super::{DEPTH, Parser};

/// The result of reading one item of a list.
pub(super) enum Parsed {
    Node(Node),
    End,
    Else,
}

/// The action that ends a list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    End,
    Else,
}

pub(super) fn offset32(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

impl Parser<'_> {
    /// Parses items up to `{{end}}` or `{{else}}`.
    pub(super) fn item_list(&mut self) -> super::Parsed<(Vec<Node>, End)> {
        let mut list = Vec::new();
        while self.tokens.peek_non_space().kind != Kind::Eof {
            match self.text_or_action()? {
                Parsed::Node(node) => list.push(node),
                Parsed::End => return Ok((list, End::End)),
                Parsed::Else => return Ok((list, End::Else)),
            }
        }
        self.error("unexpected EOF")
    }

    pub(super) fn text_or_action(&mut self) -> super::Parsed<Parsed> {
        let token = self.tokens.next_non_space();
        match token.kind {
            Kind::Text => {
                let offset = offset32(token.offset);
                Ok(Parsed::Node(Node::Text { offset, text: token.text.as_ref().into() }))
            }
            Kind::LeftDelim => {
                self.action_line = token.line;
                let parsed = crate::stack::grow(|| self.action());
                self.action_line = 0;
                parsed
            }
            _ => self.unexpected(&token, "input"),
        }
    }

    fn action(&mut self) -> super::Parsed<Parsed> {
        let token = self.tokens.next_non_space();
        let Kind::Keyword(keyword) = token.kind else {
            self.tokens.back_up(token);
            return Ok(Parsed::Node(Node::Action(self.pipeline("command", Kind::RightDelim)?)));
        };
        let node = match keyword {
            Keyword::If => Node::If(self.branch("if")?),
            Keyword::With => Node::With(self.branch("with")?),
            Keyword::Range => Node::Range(self.branch("range")?),
            Keyword::Template => self.template()?,
            Keyword::Block => self.block()?,
            Keyword::Break => self.loop_control("{{break}}", Node::Break)?,
            Keyword::Continue => self.loop_control("{{continue}}", Node::Continue)?,
            Keyword::End => {
                self.expect_right_delimiter("end")?;
                return Ok(Parsed::End);
            }
            Keyword::Else => return self.otherwise().map(|()| Parsed::Else),
            Keyword::Define => {
                self.tokens.back_up(token);
                return Ok(Parsed::Node(Node::Action(self.pipeline("command", Kind::RightDelim)?)));
            }
        };
        Ok(Parsed::Node(node))
    }

    fn loop_control(&mut self, shown: &str, node: Node) -> super::Parsed<Node> {
        self.expect_right_delimiter(shown)?;
        if self.range_depth == 0 {
            return self.error(format!("{shown} outside {{{{range}}}}"));
        }
        Ok(node)
    }

    /// Reads the end of `{{else}}`; the words `if` and `with` stay for the caller.
    fn otherwise(&mut self) -> super::Parsed<()> {
        let next = self.tokens.peek_non_space();
        if matches!(next.kind, Kind::Keyword(Keyword::If | Keyword::With)) {
            return Ok(());
        }
        self.expect_right_delimiter("else")
    }

    /// Parses an action with a body, after its keyword.
    fn branch(&mut self, context: &'static str) -> super::Parsed<Box<Branch>> {
        if self.block_depth >= DEPTH {
            return self.error(format!("actions are nested deeper than the limit of {DEPTH}"));
        }
        self.block_depth += 1;
        let visible = self.names.visible.len();
        let pipe = self.pipeline(context, Kind::RightDelim)?;
        self.range_depth += usize::from(context == "range");
        let (body, end) = self.item_list()?;
        self.range_depth -= usize::from(context == "range");
        let otherwise = if end == End::Else { Some(self.else_body(context)?) } else { None };
        self.names.visible.truncate(visible);
        self.block_depth -= 1;
        Ok(Box::new(Branch { pipe, body, otherwise }))
    }

    /// Parses the body of `{{else}}`. `{{else if}}` is an `if` inside, whose `{{end}}` ends both.
    fn else_body(&mut self, context: &'static str) -> super::Parsed<Vec<Node>> {
        let next = self.tokens.peek().kind;
        if context == "if" && next == Kind::Keyword(Keyword::If) {
            self.tokens.next();
            return crate::stack::grow(|| Ok(vec![Node::If(self.branch("if")?)]));
        }
        if context == "with" && next == Kind::Keyword(Keyword::With) {
            self.tokens.next();
            return crate::stack::grow(|| Ok(vec![Node::With(self.branch("with")?)]));
        }
        let (body, end) = self.item_list()?;
        if end == End::Else {
            return self.error("expected end; found {{else}}");
        }
        Ok(body)
    }

    /// Parses `{{template "name" pipeline}}` after its keyword.
    fn template(&mut self) -> super::Parsed<Node> {
        const CONTEXT: &str = "template clause";
        let token = self.tokens.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let next = self.tokens.next_non_space();
        let pipe = if next.kind == Kind::RightDelim {
            None
        } else {
            self.tokens.back_up(next);
            Some(self.pipeline(CONTEXT, Kind::RightDelim)?)
        };
        Ok(invocation(&token, &name, pipe))
    }

    /// Parses `{{block "name" pipeline}} … {{end}}` after its keyword.
    fn block(&mut self) -> super::Parsed<Node> {
        const CONTEXT: &str = "block clause";
        if self.block_depth >= DEPTH {
            return self.error(format!("actions are nested deeper than the limit of {DEPTH}"));
        }
        self.block_depth += 1;
        let token = self.tokens.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let pipe = self.pipeline(CONTEXT, Kind::RightDelim)?;
        self.body_of(&name, CONTEXT)?;
        self.block_depth -= 1;
        Ok(invocation(&token, &name, Some(pipe)))
    }

    fn template_name(&mut self, token: &Token<'_>, context: &str) -> super::Parsed<String> {
        match token.kind {
            Kind::String | Kind::RawString => self.unquoted_name(&token.text),
            _ => self.unexpected(token, context),
        }
    }
}

fn invocation(token: &Token<'_>, name: &str, pipe: Option<Pipe>) -> Node {
    Node::Template(Box::new(Invocation { offset: offset32(token.offset), name: name.into(), pipe }))
}
