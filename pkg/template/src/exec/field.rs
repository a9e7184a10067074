//! Evaluates fields and methods of values.

use std::borrow::Cow;

use super::call::Callee;
use super::eval::Operands;
use super::methods::with_method;
use super::{At, Dot, Execution, Result};
use crate::error::{Problem, near_names};
use crate::parse::tree::{Expr, ExprKind, Part};
use crate::reads::ReadRange;
use crate::session::MissingKey;
use crate::value::{Elem, Map, Str, Value};

/// The result of following the entries of maps.
struct SimpleFields {
    value: Value,
    is_interface: bool,
    /// The index of the first field that is not an entry of a map.
    next: Option<usize>,
}

impl<'r> Execution<'r> {
    /// Evaluates a chain of fields. The last one receives the arguments if it is a method.
    pub(super) fn fields(
        &mut self,
        dot: Dot<'_>,
        receiver: Dot<'_>,
        expr: &'r Expr,
        path: Part,
        operands: Operands<'r>,
        mut last: Option<Value>,
    ) -> Result<Value> {
        let tree = self.tree;
        let names = || tree.source.names(path);
        if self.session.reads.is_recording() {
            self.record_read(receiver, names());
        }
        let SimpleFields { mut value, mut is_interface, next } = Self::simple_fields(receiver, names());
        let Some(next) = next else {
            if operands.args.is_empty() && last.is_none() {
                return Ok(value);
            }
            // A map has no methods.
            let name = text(names().last().unwrap_or_default());
            return Err(self.failure(format!("{name} is not a method but has arguments")));
        };
        let mut names = names().enumerate().skip(next).peekable();
        while let Some((index, name)) = names.next() {
            let receiver = Dot { value: &value, is_interface, reads: ReadRange::default() };
            let is_last = names.peek().is_none();
            let (operands, last) =
                if is_last { (operands, last.take()) } else { (Operands { args: &[] }, None) };
            let found = self.field(dot, receiver, expr, index, name, operands, last)?;
            is_interface =
                matches!(&value, Value::Map(map) if matches!(map.elem(), Elem::Any | Elem::Values));
            value = found;
        }
        Ok(value)
    }

    /// Records the last entry of a map that a chain of fields reads.
    #[cold]
    fn record_read<'a>(&mut self, receiver: Dot<'_>, path: impl Iterator<Item = &'a [u8]>) {
        let (mut value, mut last) = (receiver.value.clone(), None);
        for name in path {
            let Value::Map(map) = value else { break };
            let Some(found) = map.get(name) else { return };
            value = found;
            last = Some((map, name));
        }
        if let Some((map, name)) = last {
            self.session.reads.record(&map, &name.into());
        }
    }

    /// Follows fields as long as they are entries of maps.
    fn simple_fields<'a>(receiver: Dot<'_>, path: impl Iterator<Item = &'a [u8]>) -> SimpleFields {
        let (mut value, mut is_interface) = (receiver.value.clone(), receiver.is_interface);
        for (index, name) in path.enumerate() {
            let found = match &value {
                Value::Map(map) if map.elem() != Elem::Values || with_method(&value, name).is_none() => {
                    map.get(name).map(|found| (found, matches!(map.elem(), Elem::Any | Elem::Values)))
                }
                _ => None,
            };
            match found {
                Some(found) => (value, is_interface) = found,
                None => return SimpleFields { value, is_interface, next: Some(index) },
            }
        }
        SimpleFields { value, is_interface, next: None }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one field access")]
    fn field(
        &mut self,
        dot: Dot<'_>,
        receiver: Dot<'_>,
        expr: &'r Expr,
        index: usize,
        name: &[u8],
        operands: Operands<'r>,
        last: Option<Value>,
    ) -> Result<Value> {
        let has_arguments = !operands.args.is_empty() || last.is_some();
        if let Some(object) = with_method(receiver.value, name) {
            let callee = Callee::Method(object, text(name).into_owned());
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
                let method = text(name);
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

    fn entry(&self, map: &Map, expr: &Expr, index: usize, name: &[u8], has_arguments: bool) -> Result<Value> {
        let shown = text(name);
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
                    path: self.path_of(expr, index + 1),
                    near: near_names(&shown, map.entries().keys().map(Str::to_str)),
                };
                Err(self.failure_of(message, problem))
            }
        }
    }

    #[cold]
    fn no_field(&self, name: &[u8], receiver: Dot<'_>) -> super::Failure {
        let kind = if receiver.is_interface { "interface {}".into() } else { receiver.value.type_name() };
        self.failure(format!("can't evaluate field {} in type {kind}", text(name)))
    }

    #[cold]
    fn nil_pointer(
        &self,
        expr: &Expr,
        index: usize,
        name: &[u8],
        kind: &str,
        dot: Dot<'_>,
    ) -> super::Failure {
        let field = text(name).into_owned();
        let message = format!("nil pointer evaluating {kind}.{field}");
        let near = self.near_of(expr, index, dot.value);
        self.failure_of(message, Problem::Nil { path: self.path_of(expr, index), field, near })
    }

    /// Returns keys that are similar to the last name of a path that is nil.
    fn near_of(&self, expr: &Expr, index: usize, dot: &Value) -> Vec<String> {
        let (path, mut value) = match &expr.kind {
            ExprKind::Field(path) => (path, dot.clone()),
            ExprKind::Variable(variable, path) => {
                let slots = &self.variables[self.base..];
                let slot = slots.iter().rev().find(|slot| slot.number == variable.number);
                (path, slot.map(|slot| slot.value.clone()).unwrap_or_default())
            }
            _ => return Vec::new(),
        };
        let names: Vec<&[u8]> = self.tree.source.names(*path).take(index).collect();
        let Some((missing, before)) = names.split_last() else { return Vec::new() };
        for name in before {
            let Value::Map(map) = &value else { return Vec::new() };
            let found = map.get(name).unwrap_or_default();
            value = found;
        }
        let Value::Map(map) = &value else { return Vec::new() };
        near_names(&text(missing), map.entries().keys().map(Str::to_str))
    }

    /// Returns the text of the first fields of a chain.
    fn path_of(&self, expr: &Expr, count: usize) -> String {
        let mut shown = self.show(expr).to_string();
        let (ExprKind::Field(path) | ExprKind::Variable(_, path) | ExprKind::Chain(_, path)) = &expr.kind
        else {
            return shown;
        };
        shown.truncate(shown.len() - self.tree.source.part(*path).len());
        for name in self.tree.source.names(*path).take(count) {
            shown.push('.');
            shown += &text(name);
        }
        if shown.is_empty() { ".".to_owned() } else { shown }
    }
}

fn text(name: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(name)
}
