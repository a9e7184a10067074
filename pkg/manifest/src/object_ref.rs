use std::fmt;

use crate::Object;

/// The object that an error or a warning refers to.
///
/// Missing parts are empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectRef {
    /// The kind, such as `Deployment`.
    pub kind: String,
    /// The namespace; empty for cluster-scoped objects, and if the installer sets it later.
    pub namespace: String,
    /// The name; empty if the object has none.
    pub name: String,
}

impl ObjectRef {
    /// Returns the kind, namespace and name of an object.
    pub fn of(object: &Object) -> Self {
        Self {
            kind: object.kind().to_owned(),
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
        }
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_unnamed = |text: &str, absent: &'static str| {
            if text.is_empty() { absent.to_owned() } else { text.to_owned() }
        };
        f.write_str(&or_unnamed(&self.kind, "object without kind"))?;
        f.write_str(" ")?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&or_unnamed(&self.name, "without name"))
    }
}
