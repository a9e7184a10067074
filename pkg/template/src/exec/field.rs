//! Evaluates fields and methods of values.

use super::call::Callee;
use super::eval::Operands;
use super::methods::with_method;
use super::{At, Dot, Execution, Result};
use crate::error::{Problem, near_names};
use crate::parse::tree::{Expr, ExprKind};
use crate::reads::ReadRange;
use crate::session::MissingKey;
use crate::value::{Elem, Map, Str, Value};

impl<'r> Execution<'r> {
    /// Evaluates a chain of fields. The last one receives the arguments if it is a method.
    pub(super) fn fields(
        &mut self,
        dot: Dot<'_>,
        receiver: Dot<'_>,
        expr: &'r Expr,
        names: &'r [Str],
        operands: Operands<'r>,
        mut last: Option<Value>,
    ) -> Result<Value> {
        if self.session.reads.is_recording() {
            self.record_read(receiver, names);
        }
        let (mut value, mut is_interface) = Self::simple_fields(receiver, names);
        let done = value.1;
        if done == names.len() {
            if operands.args.is_empty() && last.is_none() {
                return Ok(value.0);
            }
            // A map has no methods.
            let name = names[done - 1].to_str();
            return Err(self.failure(format!("{name} is not a method but has arguments")));
        }
        for (index, name) in names.iter().enumerate().skip(done) {
            let receiver = Dot { value: &value.0, is_interface, reads: ReadRange::default() };
            let is_last = index + 1 == names.len();
            let (operands, last) =
                if is_last { (operands, last.take()) } else { (Operands { args: &[] }, None) };
            let found = self.field(dot, receiver, expr, index, name, operands, last)?;
            is_interface =
                matches!(&value.0, Value::Map(map) if matches!(map.elem(), Elem::Any | Elem::Values));
            value.0 = found;
        }
        Ok(value.0)
    }

    /// Records the last entry of a map that a chain of fields reads.
    #[cold]
    fn record_read(&mut self, receiver: Dot<'_>, names: &[Str]) {
        let (mut value, mut last) = (receiver.value.clone(), None);
        for name in names {
            let Value::Map(map) = value else { break };
            let Some(found) = map.get(name) else { return };
            value = found;
            last = Some((map, name));
        }
        if let Some((map, name)) = last {
            self.session.reads.record(&map, name);
        }
    }

    /// Follows fields as long as they are entries of maps. Returns the value with the number of fields followed.
    fn simple_fields(receiver: Dot<'_>, names: &[Str]) -> ((Value, usize), bool) {
        let (mut value, mut is_interface) = (receiver.value.clone(), receiver.is_interface);
        for (index, name) in names.iter().enumerate() {
            let Value::Map(map) = &value else { return ((value, index), is_interface) };
            if map.elem() == Elem::Values && with_method(&value, name).is_some() {
                return ((value, index), is_interface);
            }
            let Some(found) = map.get(name) else { return ((value, index), is_interface) };
            is_interface = matches!(map.elem(), Elem::Any | Elem::Values);
            value = found;
        }
        ((value, names.len()), is_interface)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one field access")]
    fn field(
        &mut self,
        dot: Dot<'_>,
        receiver: Dot<'_>,
        expr: &'r Expr,
        index: usize,
        name: &Str,
        operands: Operands<'r>,
        last: Option<Value>,
    ) -> Result<Value> {
        let has_arguments = !operands.args.is_empty() || last.is_some();
        if let Some(object) = with_method(receiver.value, name) {
            let callee = Callee::Method(object, name.to_str().into_owned());
            return self.call(dot, &callee, At::Expr(expr), operands, last);
        }
        match receiver.value {
            Value::Missing if self.session.settings.missing_key == MissingKey::Error => {
                let quoted = crate::format::quoted(name);
                Err(self.failure(format!("nil data; no entry for key {quoted}")))
            }
            Value::Missing => Ok(Value::Missing),
            Value::Nil => Err(self.nil_pointer(expr, index, name, "interface {}", dot)),
            Value::Object(object) => {
                let method = name.to_str();
                if object.method(&method).is_some() {
                    let callee = Callee::Method(object.clone(), method.into_owned());
                    return self.call(dot, &callee, At::Expr(expr), operands, last);
                }
                if let Some(field) = object.field(&method) {
                    if has_arguments {
                        let message = format!("{method} has arguments but cannot be invoked as function");
                        return Err(self.failure(message));
                    }
                    return Ok(field);
                }
                match object.entries() {
                    Some(map) => self.entry(&map, expr, index, name, has_arguments),
                    None => Err(self.no_field(name, receiver)),
                }
            }
            Value::Map(map) => self.entry(map, expr, index, name, has_arguments),
            _ => Err(self.no_field(name, receiver)),
        }
    }

    fn entry(&self, map: &Map, expr: &Expr, index: usize, name: &Str, has_arguments: bool) -> Result<Value> {
        let shown = name.to_str();
        if has_arguments {
            return Err(self.failure(format!("{shown} is not a method but has arguments")));
        }
        if let Some(value) = map.get(name) {
            return Ok(value);
        }
        match self.session.settings.missing_key {
            MissingKey::NoValue => Ok(Value::Missing),
            MissingKey::Zero => Ok(map.elem().zero()),
            MissingKey::Error => {
                let message = format!("map has no entry for key {}", crate::format::quoted(name));
                let problem = Problem::MissingKey {
                    path: path(expr, index + 1),
                    near: near_names(&shown, map.entries().keys().map(Str::to_str)),
                };
                Err(self.failure_of(message, problem))
            }
        }
    }

    #[cold]
    fn no_field(&self, name: &Str, receiver: Dot<'_>) -> super::Failure {
        let kind = if receiver.is_interface { "interface {}".into() } else { receiver.value.type_name() };
        self.failure(format!("can't evaluate field {} in type {kind}", name.to_str()))
    }

    #[cold]
    fn nil_pointer(&self, expr: &Expr, index: usize, name: &Str, kind: &str, dot: Dot<'_>) -> super::Failure {
        let field = name.to_str().into_owned();
        let message = format!("nil pointer evaluating {kind}.{field}");
        let near = self.near_of(expr, index, dot.value);
        self.failure_of(message, Problem::Nil { path: path(expr, index), field, near })
    }

    /// Returns keys that are similar to the last name of a path that is nil.
    fn near_of(&self, expr: &Expr, index: usize, dot: &Value) -> Vec<String> {
        let (names, mut value) = match &expr.kind {
            ExprKind::Field(names) => (names, dot.clone()),
            ExprKind::Variable(variable, names) => {
                let slots = &self.variables[self.base..];
                let slot = slots.iter().rev().find(|slot| slot.number == variable.number);
                (names, slot.map(|slot| slot.value.clone()).unwrap_or_default())
            }
            _ => return Vec::new(),
        };
        let Some((missing, before)) = names[..index].split_last() else { return Vec::new() };
        for name in before {
            let Value::Map(map) = &value else { return Vec::new() };
            let found = map.get(name).unwrap_or_default();
            value = found;
        }
        let Value::Map(map) = &value else { return Vec::new() };
        near_names(&missing.to_str(), map.entries().keys().map(Str::to_str))
    }
}

/// Returns the text of the first fields of a chain.
fn path(expr: &Expr, count: usize) -> String {
    let (mut text, names) = match &expr.kind {
        ExprKind::Field(names) => (String::new(), names),
        ExprKind::Variable(variable, names) => (variable.name.to_string(), names),
        ExprKind::Chain(inner, names) => match &inner.kind {
            ExprKind::Pipe(pipe) => (format!("({pipe})"), names),
            _ => (inner.to_string(), names),
        },
        _ => return expr.to_string(),
    };
    for name in names.iter().take(count) {
        text.push('.');
        text += &name.to_str();
    }
    if text.is_empty() { ".".to_owned() } else { text }
}
