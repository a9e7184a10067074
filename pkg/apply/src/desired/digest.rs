//! Digests that show if an object has changed.

use data_encoding::HEXLOWER;
use manifest::{Object, Value};
use sha2::{Digest, Sha256};

use crate::ReconcilePolicy;

/// The digest of objects that are never changed after their creation.
pub(crate) const ONCE_DIGEST: &str = "__once__";

/// Returns the digest of an object under a policy.
/// Source: component-operator-runtime (digest of a dependent object).
pub(super) fn digest_for(object: &Object, policy: ReconcilePolicy, component: Option<&str>) -> String {
    match (policy, component) {
        (ReconcilePolicy::Once, _) => ONCE_DIGEST.to_owned(),
        (ReconcilePolicy::OnObjectOrComponentChange, Some(component)) => {
            format!("{}@{component}", digest(object))
        }
        (ReconcilePolicy::OnObjectOrComponentChange | ReconcilePolicy::OnObjectChange, _) => digest(object),
    }
}

/// Returns the hex SHA-256 of an object's JSON with sorted keys and without spaces. The order of fields in a manifest,
/// or in the JSON library, does not matter. Clusters store digests, so this function must never change.
fn digest(object: &Object) -> String {
    let mut value = Value::Object(object.as_map().clone());
    value.sort_all_objects();
    HEXLOWER.encode(&Sha256::digest(value.to_string()))
}
