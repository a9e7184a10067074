//! One object that is to be created.

use serde_json::{Value, json};

use super::split;
use crate::kind::Kind;

/// An object to create. Its owners are named; they get their uids when it is created.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    pub(crate) kind: Kind,
    /// Without a status.
    pub(crate) value: Value,
    pub(crate) owners: Vec<Owner>,
    /// Null when there is none.
    pub(crate) status: Value,
}

/// An owner in the same namespace, or of the whole cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) is_controller: bool,
}

/// An object at `namespace/name`, or at `name` for those of the whole cluster, with nothing in it.
pub fn object(kind: Kind, place: &str) -> Object {
    let (namespace, name) = split(place);
    assert_eq!(kind.namespaced, !namespace.is_empty(), "`{place}` is no place for a {}", kind.kind);
    let mut value = json!({"apiVersion": kind.api_version(), "kind": kind.kind, "metadata": {"name": name}});
    if kind.namespaced {
        value["metadata"]["namespace"] = json!(namespace);
    }
    Object { kind, value, owners: Vec::new(), status: Value::Null }
}

impl Object {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where it is: `namespace/name`, or `name` for objects of the whole cluster.
    pub fn place(&self) -> String {
        let text = |field: &str| self.value["metadata"][field].as_str().unwrap_or_default();
        if self.kind.namespaced {
            format!("{}/{}", text("namespace"), text("name"))
        } else {
            text("name").to_owned()
        }
    }

    /// Sets a label.
    #[must_use]
    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.value["metadata"]["labels"][key] = json!(value);
        self
    }

    /// Sets an annotation.
    #[must_use]
    pub fn annotation(mut self, key: &str, value: &str) -> Self {
        self.value["metadata"]["annotations"][key] = json!(value);
        self
    }

    /// Adds a finalizer.
    #[must_use]
    pub fn finalizer(mut self, finalizer: &str) -> Self {
        push(&mut self.value["metadata"]["finalizers"], json!(finalizer));
        self
    }

    /// Sets a field at the top: `spec`, `stringData`, `type`.
    #[must_use]
    pub fn field(mut self, name: &str, value: Value) -> Self {
        self.value[name] = value;
        self
    }

    /// Has this status, written as a controller would.
    #[must_use]
    pub fn status(mut self, status: Value) -> Self {
        self.status = status;
        self
    }

    /// Is owned by an object of its namespace or of the whole cluster, which must be there before it.
    #[must_use]
    pub fn owned_by(self, kind: Kind, name: &str) -> Self {
        self.owned(kind, name, false)
    }

    /// Is owned and controlled by it.
    #[must_use]
    pub fn controlled_by(self, kind: Kind, name: &str) -> Self {
        self.owned(kind, name, true)
    }

    pub(super) fn owned(mut self, kind: Kind, name: &str, is_controller: bool) -> Self {
        self.owners.push(Owner { kind, name: name.to_owned(), is_controller });
        self
    }

    /// What to send, with the uids of its owners in their order.
    pub(crate) fn with_owners(mut self, uids: &[Value]) -> Value {
        for (owner, uid) in self.owners.iter().zip(uids) {
            let Owner { kind, name, is_controller } = owner;
            let mut reference =
                json!({"apiVersion": kind.api_version(), "kind": kind.kind, "name": name, "uid": uid});
            if *is_controller {
                reference["controller"] = json!(true);
                reference["blockOwnerDeletion"] = json!(true);
            }
            push(&mut self.value["metadata"]["ownerReferences"], reference);
        }
        self.value
    }
}

/// Adds to a list that may not be there yet.
fn push(list: &mut Value, item: Value) {
    match list {
        Value::Array(items) => items.push(item),
        _ => *list = json!([item]),
    }
}
