//! Values with methods and fields, which the host of a template supplies.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use super::{Kind, Map, Signature, Value};

/// A value of the host: a struct of Go with fields and methods, or a map with methods.
pub trait Object: fmt::Debug {
    /// The name of the Go type.
    fn type_name(&self) -> &'static str;

    /// The kind of the Go type.
    fn kind(&self) -> Kind {
        Kind::Struct
    }

    /// Returns a field of a struct.
    fn field(&self, name: &str) -> Option<Value> {
        let _ = name;
        None
    }

    /// Returns the parameters of a method; `None` if there is no such method.
    fn method(&self, name: &str) -> Option<Signature> {
        let _ = name;
        None
    }

    /// Calls a method with arguments that fit its signature.
    ///
    /// # Errors
    /// The message of the method.
    fn call(&self, name: &str, args: &[Value]) -> Result<Value, String> {
        let _ = args;
        Err(format!("{name} is not a method"))
    }

    /// Returns the entries of a map with methods. `range`, `index` and `len` use them.
    fn entries(&self) -> Option<Map> {
        None
    }

    /// Returns the text of a type with a method `String`.
    fn text(&self) -> Option<String> {
        None
    }

    /// Returns the text that an action prints for a field of a pointer, whose type may have a method `String`.
    fn action_text(&self) -> Option<String> {
        self.text()
    }

    /// Returns the fields of a struct in their order, as `%v` prints them.
    fn members(&self) -> Vec<(&str, Value)> {
        Vec::new()
    }

    /// Returns the value that JSON and YAML print.
    fn plain(&self) -> Value {
        self.entries().map_or(Value::Nil, Value::Map)
    }

    /// Returns the keys and values of a struct that JSON prints, in the order of its fields. YAML sorts them.
    fn json_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        None
    }

    /// Compares with an object of the same type.
    fn equals(&self, other: &dyn Object) -> bool;

    /// The object, for functions that know its Rust type.
    fn as_any(&self) -> &dyn Any;
}

/// A shared object.
#[derive(Clone)]
pub struct Shared(Rc<dyn Object>);

impl Shared {
    /// Shares an object.
    pub fn new(object: impl Object + 'static) -> Self {
        Self(Rc::new(object))
    }
}

impl Deref for Shared {
    type Target = dyn Object;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
