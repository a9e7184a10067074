//! The table of functions.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::engine::Engine;
use crate::fault::Fault;
use crate::value::{Signature, Value};

type Body = Box<dyn Fn(&mut dyn Engine, &[Value]) -> Result<Value, Fault> + Send + Sync>;

/// A function with its name and parameters. The engine checks the arguments before each call.
pub struct Function {
    name: Box<str>,
    signature: Signature,
    pub(crate) special: Special,
    body: Body,
}

/// Functions that the engine itself evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    None,
    And,
    Or,
}

impl Function {
    /// Creates a function.
    pub fn new(
        name: &str,
        signature: Signature,
        body: impl Fn(&mut dyn Engine, &[Value]) -> Result<Value, Fault> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), signature, special: Special::None, body: Box::new(body) }
    }

    /// The name in templates.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Calls the function with arguments that fit its signature.
    pub(crate) fn call(&self, engine: &mut dyn Engine, args: &[Value]) -> Result<Value, Fault> {
        (self.body)(engine, args)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The functions known to a set of templates.
#[derive(Clone, Debug, Default)]
pub struct Functions(HashMap<Box<str>, Arc<Function>>);

impl Functions {
    /// Adds a function, or replaces the one with its name.
    pub fn insert(&mut self, function: Function) {
        self.0.insert(function.name.clone(), Arc::new(function));
    }

    /// Adds a function with a body.
    pub(crate) fn add(
        &mut self,
        name: &str,
        signature: Signature,
        body: impl Fn(&mut dyn Engine, &[Value]) -> Result<Value, Fault> + Send + Sync + 'static,
    ) {
        self.insert(Function::new(name, signature, body));
    }

    /// Adds a function that the engine evaluates.
    pub(super) fn add_special(&mut self, name: &str, signature: Signature, special: Special) {
        let body = |_: &mut dyn Engine, _: &[Value]| Ok(Value::Missing);
        self.insert(Function { special, ..Function::new(name, signature, body) });
    }

    /// Removes a function.
    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Returns a function.
    pub fn get(&self, name: &str) -> Option<&Arc<Function>> {
        self.0.get(name)
    }

    /// The names of all functions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(|name| &**name)
    }
}
