//! Parses pipelines, commands and operands.

use super::action::offset32;
use super::lex::{Kind, Token};
use super::tree::{Command, Expr, ExprKind, Pipe, Variable};
use super::{DEPTH, Parsed, Parser, number, unquote};
use crate::value::Str;

impl Parser<'_> {
    /// Parses a pipeline up to the token `end`.
    pub(super) fn pipeline(&mut self, context: &str, end: Kind) -> Parsed<Pipe> {
        let offset = offset32(self.tokens.peek_non_space().offset);
        let mut pipe = Pipe { offset, declared: Vec::new(), is_assignment: false, commands: Vec::new() };
        self.declarations(&mut pipe, context)?;
        loop {
            let token = self.tokens.next_non_space();
            if token.kind == end {
                self.check(&pipe, context)?;
                return Ok(pipe);
            }
            if !starts_operand(token.kind) {
                return self.unexpected(&token, context);
            }
            self.tokens.back_up(token);
            pipe.commands.push(self.command()?);
        }
    }

    /// Parses `$x :=`, `$x =` and, for `range`, `$x, $y :=` at the start of a pipeline.
    fn declarations(&mut self, pipe: &mut Pipe, context: &str) -> Parsed<()> {
        while self.tokens.peek_non_space().kind == Kind::Variable {
            let variable = self.tokens.next();
            let after = self.tokens.peek().clone();
            let next = self.tokens.peek_non_space();
            let is_comma = next.kind == Kind::Char && next.text == ",";
            match next.kind {
                Kind::Assign | Kind::Declare => {
                    pipe.is_assignment = next.kind == Kind::Assign;
                    self.tokens.next_non_space();
                    self.declare(pipe, &variable);
                    return Ok(());
                }
                _ if is_comma => {
                    self.tokens.next_non_space();
                    self.declare(pipe, &variable);
                    if context != "range" || pipe.declared.len() >= 2 {
                        return self.error(format!("too many declarations in {context}"));
                    }
                    let next = self.tokens.peek_non_space().kind;
                    if !matches!(next, Kind::Variable | Kind::RightDelim | Kind::RightParen) {
                        return self.error("range can only initialize variables");
                    }
                }
                _ => {
                    if after.kind == Kind::Space {
                        self.tokens.back_up(after);
                    }
                    self.tokens.back_up(variable);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn declare(&mut self, pipe: &mut Pipe, variable: &Token<'_>) {
        let number = self.names.number(&variable.text);
        self.names.visible.push(number);
        pipe.declared.push(Variable { number, name: variable.text.as_ref().into() });
    }

    fn check(&self, pipe: &Pipe, context: &str) -> Parsed<()> {
        if pipe.commands.is_empty() {
            return self.error(format!("missing value for {context}"));
        }
        for (index, command) in pipe.commands.iter().enumerate().skip(1) {
            let is_literal = matches!(
                command.args[0].kind,
                ExprKind::Bool(_)
                    | ExprKind::Dot
                    | ExprKind::Nil
                    | ExprKind::Number(_)
                    | ExprKind::String { .. }
            );
            if is_literal {
                return self.error(format!("non executable command in pipeline stage {}", index + 1));
            }
        }
        Ok(())
    }

    fn command(&mut self) -> Parsed<Command> {
        let offset = offset32(self.tokens.peek_non_space().offset);
        let mut args = Vec::new();
        loop {
            self.tokens.peek_non_space();
            args.extend(self.operand()?);
            let token = self.tokens.next();
            match token.kind {
                Kind::Space => continue,
                Kind::RightDelim | Kind::RightParen => self.tokens.back_up(token),
                Kind::Pipe => {}
                _ => return self.unexpected(&token, "operand"),
            }
            break;
        }
        if args.is_empty() {
            return self.error("empty command");
        }
        Ok(Command { offset, args })
    }

    /// Parses a term with the fields behind it. `None` if no term follows.
    fn operand(&mut self) -> Parsed<Option<Expr>> {
        let Some(term) = self.term()? else { return Ok(None) };
        if self.tokens.peek().kind != Kind::Field {
            return Ok(Some(term));
        }
        let offset = offset32(self.tokens.peek().offset);
        let mut more = Vec::new();
        while self.tokens.peek().kind == Kind::Field {
            more.push(Str::from(&self.tokens.next().text[1..]));
        }
        let kind = match term.kind {
            ExprKind::Field(mut fields) => {
                fields.append(&mut more);
                ExprKind::Field(fields)
            }
            ExprKind::Variable(variable, mut fields) => {
                fields.append(&mut more);
                ExprKind::Variable(variable, fields)
            }
            ExprKind::Bool(_)
            | ExprKind::String { .. }
            | ExprKind::Number(_)
            | ExprKind::Nil
            | ExprKind::Dot => {
                let shown = crate::format::quoted(term.to_string().as_bytes());
                return self.error(format!("unexpected . after term {shown}"));
            }
            _ => ExprKind::Chain(Box::new(term), more),
        };
        Ok(Some(Expr { offset, kind }))
    }

    fn term(&mut self) -> Parsed<Option<Expr>> {
        let token = self.tokens.next_non_space();
        let offset = offset32(token.offset);
        let kind = match token.kind {
            Kind::Identifier => self.function(&token.text)?,
            Kind::Dot => ExprKind::Dot,
            Kind::Nil => ExprKind::Nil,
            Kind::Variable => self.variable(&token.text)?,
            Kind::Field => ExprKind::Field(vec![Str::from(&token.text[1..])]),
            Kind::Bool => ExprKind::Bool(token.text == "true"),
            Kind::CharConstant | Kind::Complex | Kind::Number => {
                match number::number(&token.text, token.kind) {
                    Ok(number) => ExprKind::Number(Box::new(number)),
                    Err(message) => return self.error(message),
                }
            }
            Kind::LeftParen => self.parenthesized()?,
            Kind::String | Kind::RawString => match unquote::unquote(&token.text) {
                Some(text) => ExprKind::String { quoted: token.text.as_ref().into(), text: Str::from(text) },
                None => return self.error("invalid syntax"),
            },
            _ => {
                self.tokens.back_up(token);
                return Ok(None);
            }
        };
        Ok(Some(Expr { offset, kind }))
    }

    fn parenthesized(&mut self) -> Parsed<ExprKind> {
        if self.paren_depth >= DEPTH {
            return self.error("max expression depth exceeded");
        }
        self.paren_depth += 1;
        let pipe = crate::stack::grow(|| self.pipeline("parenthesized pipeline", Kind::RightParen))?;
        self.paren_depth -= 1;
        Ok(ExprKind::Pipe(Box::new(pipe)))
    }

    fn function(&self, name: &str) -> Parsed<ExprKind> {
        if let Some(function) = self.functions.get(name) {
            return Ok(ExprKind::Function(function.clone()));
        }
        let quoted = crate::format::quoted(name.as_bytes());
        let near = crate::error::near_names(name, self.functions.names());
        self.error_near(format!("function {quoted} not defined"), near)
    }

    fn variable(&mut self, name: &str) -> Parsed<ExprKind> {
        let number = self.names.number(name);
        if self.names.visible.contains(&number) {
            return Ok(ExprKind::Variable(Variable { number, name: name.into() }, Vec::new()));
        }
        let visible = self.names.visible.iter().map(|number| &*self.names.all[*number as usize]);
        let near = crate::error::near_names(name, visible);
        let quoted = crate::format::quoted(name.as_bytes());
        self.error_near(format!("undefined variable {quoted}"), near)
    }
}

fn starts_operand(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Bool
            | Kind::CharConstant
            | Kind::Complex
            | Kind::Dot
            | Kind::Field
            | Kind::Identifier
            | Kind::Number
            | Kind::Nil
            | Kind::RawString
            | Kind::String
            | Kind::Variable
            | Kind::LeftParen
    )
}
