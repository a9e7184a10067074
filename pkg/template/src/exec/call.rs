//! Calls functions and methods with checked arguments.

use std::sync::Arc;

use smallvec::SmallVec;

use super::eval::Operands;
use super::{At, Dot, Execution, Result};
use crate::fault::Fault;
use crate::functions::{Function, Special};
use crate::value::{Shared, Signature, Type, Value};

/// A function, or a method of an object.
pub(super) enum Callee<'f> {
    Function(&'f Function),
    Method(Shared, String),
}

impl Callee<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Function(function) => function.name(),
            Self::Method(_, name) => name,
        }
    }
}

impl<'r> Execution<'r> {
    pub(super) fn function(
        &mut self,
        dot: Dot<'_>,
        function: &'r Arc<Function>,
        at: At<'r>,
        operands: Operands<'r>,
        last: Option<Value>,
    ) -> Result<Value> {
        match function.special {
            Special::None => self.call(dot, &Callee::Function(function), at, operands, last),
            Special::And => self.logic(dot, false, "and", operands, last),
            Special::Or => self.logic(dot, true, "or", operands, last),
        }
    }

    /// Evaluates `and` and `or`, which stop at the first argument that decides.
    fn logic(
        &mut self,
        dot: Dot<'_>,
        decides: bool,
        name: &str,
        operands: Operands<'r>,
        last: Option<Value>,
    ) -> Result<Value> {
        if operands.args.is_empty() && last.is_none() {
            return Err(self.failure(format!("wrong number of args for {name}: want at least 1 got 0")));
        }
        let mut value = Value::Missing;
        for arg in operands.args {
            value = self.argument(dot, Type::Reflect, arg)?;
            if value.is_true() == decides {
                return Ok(value);
            }
        }
        Ok(last.unwrap_or(value))
    }

    /// Evaluates the arguments and calls.
    pub(super) fn call(
        &mut self,
        dot: Dot<'_>,
        callee: &Callee<'_>,
        at: At<'r>,
        operands: Operands<'r>,
        last: Option<Value>,
    ) -> Result<Value> {
        let method;
        let signature = match callee {
            Callee::Function(function) => function.signature(),
            Callee::Method(object, name) => {
                method = object.method(name);
                match &method {
                    Some(signature) => signature,
                    None => return Ok(Value::Missing),
                }
            }
        };
        self.session.step().map_err(|limit| self.limit(limit))?;
        self.check_count(callee.name(), signature, operands, last.is_some())?;
        let mut args: SmallVec<[Value; 4]> = SmallVec::new();
        for (index, arg) in operands.args.iter().enumerate() {
            let kind = signature.parameter(index).unwrap_or(Type::Any);
            args.push(self.argument(dot, kind, arg)?);
        }
        if let Some(last) = last {
            let kind = signature.parameter(args.len()).unwrap_or(Type::Any);
            args.push(self.validate(last, kind)?);
        }
        let result = match callee {
            Callee::Function(function) => function.call(self, &args),
            Callee::Method(object, name) => object.call(name, &args).map_err(Fault::new),
        };
        result.or_else(|fault| {
            self.at = at;
            let failure = self.fault(callee.name(), fault);
            if self.session.settings.collects_required && callee.name() == "required" {
                self.session.required.push(*failure);
                return Ok("".into());
            }
            Err(failure)
        })
    }

    fn check_count(
        &self,
        name: &str,
        signature: &Signature,
        operands: Operands<'_>,
        has_last: bool,
    ) -> Result<()> {
        let (given, fixed) = (operands.args.len(), signature.fixed.len());
        let count = given + usize::from(has_last);
        if signature.variadic.is_some() {
            if count < fixed {
                let message = format!("wrong number of args for {name}: want at least {fixed} got {given}");
                return Err(self.failure(message));
            }
        } else if count != fixed {
            return Err(self.failure(format!("wrong number of args for {name}: want {fixed} got {count}")));
        }
        Ok(())
    }
}
