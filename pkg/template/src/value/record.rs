//! Structs of Go with a fixed list of fields.

use std::any::Any;

use super::{Kind, Object, Shared, Signature, Str, Value};

/// A struct of Go.
#[derive(Debug, Default)]
pub struct Record {
    /// The name of the Go type; starts with `*` for a pointer.
    pub type_name: &'static str,
    /// The fields in their order.
    pub fields: Vec<(&'static str, Value)>,
    /// The keys and values that JSON and YAML print.
    pub json: Vec<(&'static str, Value)>,
    /// The text that an action prints.
    pub action_text: Option<String>,
    /// Names of methods that return `action_text`.
    pub methods: &'static [&'static str],
    /// True if the fields of the first field are fields of this struct too.
    pub is_embedding: bool,
}

impl Record {
    /// Creates a value for templates.
    pub fn share(self) -> Value {
        Value::Object(Shared::new(self))
    }
}

impl Object for Record {
    fn type_name(&self) -> &'static str {
        self.type_name
    }

    fn kind(&self) -> Kind {
        if self.type_name.starts_with('*') { Kind::Ptr } else { Kind::Struct }
    }

    fn field(&self, name: &str) -> Option<Value> {
        let own = self.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value.clone());
        own.or_else(|| match self.fields.first() {
            Some((_, Value::Object(inner))) if self.is_embedding => inner.field(name),
            _ => None,
        })
    }

    fn method(&self, name: &str) -> Option<Signature> {
        self.methods.contains(&name).then(|| Signature::new(&[]))
    }

    fn call(&self, _: &str, _: &[Value]) -> Result<Value, String> {
        Ok(self.action_text.clone().unwrap_or_default().into())
    }

    fn action_text(&self) -> Option<String> {
        self.action_text.clone()
    }

    fn members(&self) -> Vec<(&str, Value)> {
        self.fields.clone()
    }

    fn plain(&self) -> Value {
        let fields = self.json_fields().unwrap_or_default();
        Value::map(fields.into_iter().map(|(key, value)| (Str::from(key), value)))
    }

    fn json_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        let mut fields = match self.fields.first() {
            Some((_, Value::Object(inner))) if self.is_embedding => inner.json_fields().unwrap_or_default(),
            _ => Vec::new(),
        };
        fields.extend(self.json.iter().cloned());
        Some(fields)
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| {
            let is_equal =
                |((_, left), (_, right)): (&(_, Value), &(_, Value))| left.deep_equal(right) == Ok(true);
            self.fields.iter().zip(&other.fields).all(is_equal)
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
