//! An object to create.

use serde_json::{Value, json};

use super::split_namespaced_name;
use crate::kind::Kind;

/// An object to create. Owners are given by name; their uids are resolved on creation.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    pub(crate) kind: Kind,
    /// The object without status.
    pub(crate) value: Value,
    pub(crate) owners: Vec<Owner>,
    /// The status. Null if there is none.
    pub(crate) status: Value,
}

/// An owner in the same namespace, or a cluster-scoped owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) is_controller: bool,
}

/// An empty object at `namespace/name`, or at `name` for cluster-scoped kinds.
pub fn object(kind: Kind, namespaced_name: &str) -> Object {
    let (namespace, name) = split_namespaced_name(namespaced_name);
    assert_eq!(
        kind.namespaced,
        !namespace.is_empty(),
        "`{namespaced_name}` does not fit the scope of {}",
        kind.kind
    );
    let mut value = json!({"apiVersion": kind.api_version(), "kind": kind.kind, "metadata": {"name": name}});
    if kind.namespaced {
        value["metadata"]["namespace"] = json!(namespace);
    }
    Object { kind, value, owners: Vec::new(), status: Value::Null }
}

impl Object {
    /// The kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The location: `namespace/name`, or `name` for cluster-scoped objects.
    pub fn namespaced_name(&self) -> String {
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

    /// Sets a top-level field, such as `spec`, `stringData` or `type`.
    #[must_use]
    pub fn field(mut self, name: &str, value: Value) -> Self {
        self.value[name] = value;
        self
    }

    /// Sets the status, written as a controller would.
    #[must_use]
    pub fn status(mut self, status: Value) -> Self {
        self.status = status;
        self
    }

    /// Adds an owner in the same namespace, or a cluster-scoped owner. The owner must exist first.
    #[must_use]
    pub fn owned_by(self, kind: Kind, name: &str) -> Self {
        self.owned(kind, name, false)
    }

    /// Adds an owner that is also the controller.
    #[must_use]
    pub fn controlled_by(self, kind: Kind, name: &str) -> Self {
        self.owned(kind, name, true)
    }

    pub(super) fn owned(mut self, kind: Kind, name: &str, is_controller: bool) -> Self {
        self.owners.push(Owner { kind, name: name.to_owned(), is_controller });
        self
    }

    /// The object to send, with the uids of its owners in order.
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

/// Appends to a list, and creates the list if it is missing.
fn push(list: &mut Value, item: Value) {
    match list {
        Value::Array(items) => items.push(item),
        _ => *list = json!([item]),
    }
}
