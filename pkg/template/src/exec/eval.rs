//! Evaluates pipelines, commands and operands.

use super::{At, Dot, Execution, Result, Slot};
use crate::parse::tree::{Command, Expr, ExprKind, Number, Pipe, Variable};
use crate::value::{Type, Value};

/// Operands with what a pipeline hands on.
#[derive(Clone, Copy)]
pub(super) struct Operands<'r> {
    /// The arguments without the function or field in front.
    pub(super) args: &'r [Expr],
}

impl<'r> Execution<'r> {
    /// Evaluates a pipeline and sets its variables.
    pub(super) fn pipeline(&mut self, dot: Dot<'_>, pipe: &'r Pipe) -> Result<Value> {
        self.at = At::Pipe(pipe);
        let start = self.session.reads.len();
        let mut value = None;
        for command in &pipe.commands {
            let result = self.command(dot, command, value.take())?;
            // A nil interface has nothing inside.
            value = Some(if matches!(result, Value::Nil) { Value::Missing } else { result });
        }
        let value = value.unwrap_or_default();
        let reads = self.session.reads.since(start);
        for variable in &pipe.declared {
            if pipe.is_assignment {
                self.assign(
                    variable,
                    Slot { number: variable.number, value: value.clone(), is_interface: false, reads },
                )?;
            } else {
                let slot = Slot { number: variable.number, value: value.clone(), is_interface: false, reads };
                self.variables.push(slot);
            }
        }
        Ok(value)
    }

    /// Sets the innermost variable with a name.
    pub(super) fn assign(&mut self, variable: &Variable, value: Slot) -> Result<()> {
        let base = self.base;
        let slot = self.variables[base..].iter_mut().rev().find(|slot| slot.number == variable.number);
        match slot {
            Some(slot) => {
                *slot = value;
                Ok(())
            }
            None => Err(self.failure(format!("undefined variable: {}", self.show(&variable.name)))),
        }
    }

    /// Returns the value of a variable that is used as a whole.
    fn whole_variable(&mut self, variable: &Variable) -> Result<Value> {
        let slot = self.variables[self.base..].iter().rev().find(|slot| slot.number == variable.number);
        if let Some(slot) = slot.filter(|_| self.session.reads.is_recording()) {
            self.session.reads.repeat(slot.reads);
        }
        self.variable(variable).map(|(value, _)| value)
    }

    /// Returns a variable, and the fact that it holds an interface.
    fn variable(&self, variable: &Variable) -> Result<(Value, bool)> {
        let slot = self.variables[self.base..].iter().rev().find(|slot| slot.number == variable.number);
        match slot {
            Some(slot) => Ok((slot.value.clone(), slot.is_interface)),
            None => Err(self.failure(format!("undefined variable: {}", self.show(&variable.name)))),
        }
    }

    fn command(&mut self, dot: Dot<'_>, command: &'r Command, last: Option<Value>) -> Result<Value> {
        let (first, args) = command.args.split_first().expect("a command has an operand");
        let operands = Operands { args };
        match &first.kind {
            ExprKind::Field(_) | ExprKind::Chain(..) => self.path(dot, first, operands, last),
            ExprKind::Variable(_, fields) if !fields.is_empty() => self.path(dot, first, operands, last),
            ExprKind::Variable(variable, _) => {
                self.at = At::Expr(first);
                let value = self.whole_variable(variable)?;
                self.not_a_function(first, operands, last.as_ref())?;
                Ok(value)
            }
            ExprKind::Function(function) => {
                self.at = At::Expr(first);
                self.function(dot, function, At::Command(command), operands, last)
            }
            ExprKind::Pipe(pipe) => {
                self.not_a_function(first, operands, last.as_ref())?;
                crate::stack::grow(|| self.pipeline(dot, pipe))
            }
            _ => {
                self.at = At::Expr(first);
                self.not_a_function(first, operands, last.as_ref())?;
                if matches!(first.kind, ExprKind::Nil) {
                    return Err(self.failure("nil is not a command"));
                }
                if matches!(first.kind, ExprKind::Dot) {
                    self.session.reads.repeat(dot.reads);
                }
                self.literal(dot, first)
            }
        }
    }

    fn not_a_function(&self, first: &Expr, operands: Operands<'_>, last: Option<&Value>) -> Result<()> {
        if operands.args.is_empty() && last.is_none() {
            return Ok(());
        }
        Err(self.failure(format!("can't give argument to non-function {}", self.show(first))))
    }

    /// Evaluates `.a.b`, `$x.a` and `(…).a`, the last field with arguments if it is a method.
    fn path(
        &mut self,
        dot: Dot<'_>,
        expr: &'r Expr,
        operands: Operands<'r>,
        last: Option<Value>,
    ) -> Result<Value> {
        self.at = At::Expr(expr);
        match &expr.kind {
            ExprKind::Field(fields) => self.fields(dot, dot, expr, *fields, operands, last),
            ExprKind::Variable(variable, fields) => {
                let (value, is_interface) = self.variable(variable)?;
                self.fields(dot, Dot { value: &value, is_interface, ..dot }, expr, *fields, operands, last)
            }
            ExprKind::Chain(inner, fields) => {
                let value = match &inner.kind {
                    ExprKind::Function(function) => {
                        self.at = At::Expr(inner);
                        self.function(dot, function, At::Expr(inner), Operands { args: &[] }, None)?
                    }
                    ExprKind::Pipe(pipe) => crate::stack::grow(|| self.pipeline(dot, pipe))?,
                    ExprKind::Nil => {
                        let message = format!("indirection through explicit nil in {}", self.show(expr));
                        return Err(self.failure(message));
                    }
                    _ => crate::stack::grow(|| self.path(dot, inner, Operands { args: &[] }, None))?,
                };
                let receiver = Dot { value: &value, is_interface: false, ..dot };
                self.fields(dot, receiver, expr, *fields, operands, last)
            }
            _ => Ok(Value::Missing),
        }
    }

    /// Evaluates an argument for a parameter.
    pub(super) fn argument(&mut self, dot: Dot<'_>, kind: Type, expr: &'r Expr) -> Result<Value> {
        self.at = At::Expr(expr);
        let none = Operands { args: &[] };
        let value = match &expr.kind {
            ExprKind::Dot => {
                self.session.reads.repeat(dot.reads);
                dot.value.clone()
            }
            ExprKind::Nil if kind.can_be_nil() => return Ok(kind.nil()),
            ExprKind::Nil => return Err(self.failure(format!("cannot assign nil to {}", kind.name()))),
            ExprKind::Variable(variable, fields) if fields.is_empty() => self.whole_variable(variable)?,
            ExprKind::Field(_) | ExprKind::Variable(..) | ExprKind::Chain(..) => {
                self.path(dot, expr, none, None)?
            }
            ExprKind::Pipe(pipe) => crate::stack::grow(|| self.pipeline(dot, pipe))?,
            ExprKind::Function(function) => self.function(dot, function, At::Expr(expr), none, None)?,
            ExprKind::Bool(_) | ExprKind::Number(_) | ExprKind::String { .. } => {
                return self.literal_for(dot, kind, expr);
            }
        };
        self.validate(value, kind)
    }

    /// Converts a literal to the type of a parameter.
    fn literal_for(&mut self, dot: Dot<'_>, kind: Type, expr: &'r Expr) -> Result<Value> {
        let number = if let ExprKind::Number(number) = &expr.kind { Some(&**number) } else { None };
        let (value, wanted) = match kind {
            Type::Any | Type::Reflect => return self.literal(dot, expr),
            Type::Bool => match expr.kind {
                ExprKind::Bool(value) => (Some(Value::Bool(value)), "bool"),
                _ => (None, "bool"),
            },
            Type::String => match &expr.kind {
                ExprKind::String { text, .. } => (Some(Value::String(text.clone())), "string"),
                _ => (None, "string"),
            },
            Type::Int => (number.and_then(|number| number.int).map(Value::Int), "integer"),
            Type::Uint32 => (number.and_then(|number| number.uint).map(Value::Uint64), "unsigned integer"),
            Type::Float64 => (number.and_then(|number| number.float).map(Value::Float), "float"),
            Type::List(_) | Type::Map(_) | Type::Object(_) => {
                let (shown, wanted) = (self.show(expr), kind.name());
                return Err(self.failure(format!("can't handle {shown} for arg of type {wanted}")));
            }
        };
        value.ok_or_else(|| self.failure(format!("expected {wanted}; found {}", self.show(expr))))
    }

    fn literal(&self, dot: Dot<'_>, expr: &'r Expr) -> Result<Value> {
        match &expr.kind {
            ExprKind::Bool(value) => Ok(Value::Bool(*value)),
            ExprKind::String { text, .. } => Ok(Value::String(text.clone())),
            ExprKind::Number(number) => self.number(number),
            _ => Ok(dot.value.clone()),
        }
    }

    /// Returns a number of the type that its spelling suggests.
    fn number(&self, number: &Number) -> Result<Value> {
        let text = &*number.text;
        let is_hexadecimal = (text.starts_with("0x") || text.starts_with("0X"))
            && !text.contains(['p', 'P'])
            && text.len() > 2;
        let is_float = !is_hexadecimal && !text.starts_with('\'') && text.contains(['.', 'e', 'E', 'p', 'P']);
        if number.is_complex {
            return Err(self.failure(format!("complex number {text} is not supported")));
        }
        match (number.float, number.int) {
            (Some(float), _) if is_float => Ok(Value::Float(float)),
            (_, Some(int)) => Ok(Value::Int(int)),
            _ => Err(self.failure(format!("{text} overflows int"))),
        }
    }

    /// Checks that a value can be passed for a parameter.
    pub(super) fn validate(&self, value: Value, kind: Type) -> Result<Value> {
        if kind.accepts(&value) {
            return Ok(if kind == Type::Any { value.or_nil() } else { value });
        }
        match value {
            Value::Missing if kind.can_be_nil() => Ok(kind.nil()),
            Value::Missing => Err(self.failure(format!("invalid value; expected {}", kind.name()))),
            _ => {
                let (wanted, found) = (kind.name(), value.type_name());
                Err(self.failure(format!("wrong type for value; expected {wanted}; got {found}")))
            }
        }
    }
}
