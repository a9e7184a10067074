//! The function `lookup`, which reads objects of a cluster.

use std::{fmt::Debug, rc::Rc, sync::Arc};

use template::{Arguments as _, Elem, Engine, Fault, Function, Functions, List, Map, Signature, Type, Value};

/// Reads objects of a cluster for templates.
pub trait ObjectLookup: Debug + Send + Sync {
    /// Returns an object. `None` if neither the object nor its kind exists.
    ///
    /// # Errors
    /// The reason, as a fragment.
    fn get(&self, object: &ObjectQuery<'_>) -> Result<Option<serde_json::Value>, String>;

    /// Returns the objects of a kind that match a label selector. An empty namespace stands for all.
    ///
    /// # Errors
    /// The reason, as a fragment.
    fn list(&self, objects: &ObjectQuery<'_>) -> Result<Vec<serde_json::Value>, String>;
}

/// The object that a template asks for, or the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectQuery<'a> {
    /// The API version, such as `apps/v1`.
    pub api_version: &'a str,
    /// The kind, such as `Deployment`.
    pub kind: &'a str,
    /// The namespace; empty for objects without one.
    pub namespace: &'a str,
    /// The name; the label selector in a list.
    pub selector: &'a str,
}

/// Returns an object of a cluster as templates see it: whole numbers are `int64`.
pub fn object_value(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int64(number),
            None => Value::from_json(json),
        },
        Json::Array(items) => Value::list(items.iter().map(object_value).collect()),
        Json::Object(fields) => {
            Value::map(fields.iter().map(|(key, value)| (key.as_str(), object_value(value))))
        }
        other => Value::from_json(other),
    }
}

/// Adds `lookup`. It finds nothing in a session whose host is no [`ObjectLookup`].
pub(crate) fn add(functions: &mut Functions) {
    functions.insert(Function::new("lookup", Signature::new(&[Type::String; 4]), lookup));
}

/// Source: Helm 3.22 pkg/engine (lookup): without a name, a list; a missing object is an empty map.
fn lookup(run: &mut dyn Engine, args: &[Value]) -> Result<Value, Fault> {
    let host: Option<Rc<Arc<dyn ObjectLookup>>> = run.session().host();
    let Some(cluster) = host else { return Ok(Value::Map(Map::default())) };
    let [api_version, kind, namespace, selector] = [0, 1, 2, 3].map(|index| args.utf8(index));
    let query =
        ObjectQuery { api_version: &api_version, kind: &kind, namespace: &namespace, selector: &selector };
    if !selector.is_empty() {
        let found = cluster.get(&query)?;
        return Ok(found.as_ref().map_or_else(|| Value::Map(Map::default()), object_value));
    }
    let items = cluster.list(&query)?.iter().map(object_value).collect();
    let entries = [
        ("apiVersion", Value::from(&*api_version)),
        ("kind", format!("{kind}List").as_str().into()),
        ("metadata", Value::Map(Map::default())),
        ("items", Value::List(List::new(Elem::Any, items))),
    ];
    Ok(Value::map(entries))
}
