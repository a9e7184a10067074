//! Parses pipelines, commands and operands.

use smallvec::{Array, SmallVec};

use super::token::{Kind, Token};
use super::tree::{Command, Expr, ExprKind, Part, Pipe, Variable};
use super::{DEPTH, Parsed, Parser, number, offset32};
use crate::value::Str;

/// The tokens behind those that were read. The last token of an action always stays.
type Rest<'a, 't> = &'a [Token<'t>];

impl<'t> Parser<'t> {
    /// Parses a pipeline, up to the end of its action or to its right parenthesis.
    pub(super) fn pipeline(&mut self, rest: &mut Rest<'_, 't>, context: &str) -> Parsed<Pipe> {
        let offset = offset32(rest[0].offset);
        let (declared, is_assignment) = self.declarations(rest, context)?;
        // The token behind a variable decides that it is an operand, so an error names the line of that token.
        if rest[0].kind == Kind::Variable {
            self.variable(rest[0].text, rest[1].offset)?;
        }
        let mut commands: SmallVec<[Command; 1]> = SmallVec::new();
        while !matches!(rest[0].kind, Kind::End | Kind::Close) {
            if !rest[0].kind.starts_operand() {
                return self.unexpected(&rest[0], context);
            }
            commands.push(self.command(rest)?);
        }
        let end = rest[0].offset;
        if commands.is_empty() {
            return self.error(end, format!("missing value for {context}"));
        }
        if let Some(index) = commands.iter().skip(1).position(|command| is_literal(&command.args[0].kind)) {
            return self.error(end, format!("non executable command in pipeline stage {}", index + 2));
        }
        Ok(Pipe { offset, declared, is_assignment, commands: boxed(commands) })
    }

    /// Parses `$x :=` and `$x =` at the start of a pipeline, and for `range` two variables with a comma. Returns the
    /// variables, and true for `=`.
    fn declarations(&mut self, rest: &mut Rest<'_, 't>, context: &str) -> Parsed<(Box<[Variable]>, bool)> {
        use Kind::{Assign, Close, Comma, Declare, End, Variable};
        let kind = |at: usize| rest.get(at).map_or(End, |token| token.kind);
        let too_many = |at: usize| self.error(rest[at].offset, format!("too many declarations in {context}"));
        let length = match [kind(0), kind(1), kind(2), kind(3)] {
            [Variable, Comma, ..] if context != "range" => return too_many(1),
            [Variable, Comma, Variable, Assign | Declare] => 4,
            [Variable, Comma, Variable, Comma] => return too_many(3),
            [Variable, Assign | Declare, ..] | [Variable, Comma, Variable | End | Close, _] => 2,
            [Variable, Comma, ..] => {
                return self.error(rest[2].offset, "range can only initialize variables");
            }
            _ => return Ok((Box::default(), false)),
        };
        let (read, behind) = rest.split_at(length);
        *rest = behind;
        let declared = read.iter().step_by(2).map(|token| self.declared(token)).collect();
        Ok((declared, read[length - 1].kind == Assign))
    }

    /// Parses a command, and the `|` behind it.
    fn command(&mut self, rest: &mut Rest<'_, 't>) -> Parsed<Command> {
        let offset = offset32(rest[0].offset);
        let mut args: SmallVec<[Expr; 4]> = SmallVec::new();
        let mut has_more = true;
        while has_more {
            args.push(self.operand(rest)?);
            has_more = rest[0].spaces_before && rest[0].kind.starts_operand();
        }
        match rest[0].kind {
            Kind::Bar => *rest = &rest[1..],
            Kind::End | Kind::Close => {}
            _ => return self.unexpected(&rest[0], "operand"),
        }
        Ok(Command { offset, args: boxed(args) })
    }

    /// Parses an operand with the fields directly behind it.
    fn operand(&mut self, rest: &mut Rest<'_, 't>) -> Parsed<Expr> {
        let token = rest[0];
        *rest = &rest[1..];
        let mut kind = match token.kind {
            Kind::Open => self.parenthesized(rest, token.offset)?,
            _ => self.simple(token)?,
        };
        let is_field = |token: &&Token<'_>| token.kind == Kind::Field && !token.spaces_before;
        let (fields, behind) = rest.split_at(rest.iter().take_while(is_field).count());
        let Some(first) = fields.first() else { return Ok(Expr { offset: offset32(token.offset), kind }) };
        *rest = behind;
        let last = &fields[fields.len() - 1];
        match &mut kind {
            ExprKind::Field(path) | ExprKind::Variable(_, path) => path.extend_to(offset32(last.end())),
            ExprKind::Function(_) | ExprKind::Pipe(_) => {
                let inner = Box::new(Expr { offset: offset32(token.offset), kind });
                kind = ExprKind::Chain(inner, first.part_to(last));
            }
            _ => {
                let shown = crate::format::quoted(token.text.as_bytes());
                // The error names the line of the token directly behind, which may be another one after a trim marker.
                let offset = if rest[0].spaces_before { first.offset } else { rest[0].offset };
                return self.error(offset, format!("unexpected . after term {shown}"));
            }
        }
        Ok(Expr { offset: offset32(first.offset), kind })
    }

    /// Parses an operand of one token.
    fn simple(&mut self, token: Token<'t>) -> Parsed<ExprKind> {
        let text = token.text;
        Ok(match token.kind {
            Kind::Name => return self.function(text, token.offset),
            Kind::Field => ExprKind::Field(token.part_to(&token)),
            Kind::Variable => {
                let number = self.variable(text, token.offset)?;
                let variable = Variable { number, name: token.part_to(&token) };
                let end = offset32(token.end());
                ExprKind::Variable(variable, Part::new(end, end))
            }
            Kind::Bool => ExprKind::Bool(text == "true"),
            Kind::Nil => ExprKind::Nil,
            Kind::Number => match number::number(text) {
                Ok(number) => ExprKind::Number(Box::new(number)),
                Err(message) => return self.error(token.offset, message),
            },
            Kind::Quoted => {
                let text = Str::from(&*self.unquoted(&token)?);
                ExprKind::String { end: offset32(token.end()), text }
            }
            _ => ExprKind::Dot,
        })
    }

    /// Parses a pipeline in parentheses, behind the left one.
    fn parenthesized(&mut self, rest: &mut Rest<'_, 't>, offset: usize) -> Parsed<ExprKind> {
        if self.parentheses >= DEPTH {
            return self.error(offset, "max expression depth exceeded");
        }
        self.parentheses += 1;
        let pipe = crate::stack::grow(|| self.pipeline(rest, "parenthesized pipeline"))?;
        self.parentheses -= 1;
        *rest = &rest[1..];
        Ok(ExprKind::Pipe(Box::new(pipe)))
    }

    fn function(&self, name: &str, offset: usize) -> Parsed<ExprKind> {
        if let Some(function) = self.functions.get(name) {
            return Ok(ExprKind::Function(function.clone()));
        }
        let quoted = crate::format::quoted(name.as_bytes());
        let near = crate::error::near_names(name, self.functions.names());
        self.error_near(offset, format!("function {quoted} not defined"), near)
    }

    fn declared(&mut self, token: &Token<'_>) -> Variable {
        Variable { number: self.names.declare(token.text), name: token.part_to(token) }
    }

    /// Returns the number of a visible variable. `offset` is the position of the error.
    fn variable(&mut self, name: &str, offset: usize) -> Parsed<u32> {
        let number = self.names.number(name);
        if self.names.visible.contains(&number) {
            return Ok(number);
        }
        let visible = self.names.visible.iter().map(|number| &*self.names.all[*number as usize]);
        let near = crate::error::near_names(name, visible);
        let quoted = crate::format::quoted(name.as_bytes());
        self.error_near(offset, format!("undefined variable {quoted}"), near)
    }
}

/// Moves items to the heap, with one allocation of their exact size. Collecting them would make room for four.
fn boxed<A: Array>(items: SmallVec<A>) -> Box<[A::Item]> {
    let mut list = Vec::with_capacity(items.len());
    list.extend(items);
    list.into_boxed_slice()
}

/// True for operands that are not executable.
fn is_literal(operand: &ExprKind) -> bool {
    use ExprKind::{Bool, Dot, Nil, Number, String};
    matches!(operand, Bool(_) | Dot | Nil | Number(_) | String { .. })
}
