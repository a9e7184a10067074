//! Keys of objects.

use api::ObjectKey;
use manifest::Object;

/// Returns the key of an object.
pub fn key_of(object: &Object) -> ObjectKey {
    ObjectKey {
        group: object.group().to_owned(),
        kind: object.kind().to_owned(),
        namespace: object.namespace().to_owned(),
        name: object.name().to_owned(),
    }
}
