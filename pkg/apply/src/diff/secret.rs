//! Hides the values of Secrets, and keeps changes visible.

use data_encoding::BASE64;
use manifest::Value;

/// The paths of hidden values, and their forms.
const SECRET_FIELDS: [(&[&str], ValueEncoding); 3] = [
    (&["data"], ValueEncoding::Base64),
    (&["stringData"], ValueEncoding::Text),
    (&["metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"], ValueEncoding::Text),
];

#[derive(Clone, Copy)]
enum ValueEncoding {
    Base64,
    Text,
}

/// Replaces values by sizes in both objects if one of them is a Secret. The second object notes a changed value of the
/// same size.
pub(super) fn mask(before: &mut Option<Value>, after: &mut Option<Value>) {
    if !is_secret(before.as_ref()) && !is_secret(after.as_ref()) {
        return;
    }
    for (path, form) in SECRET_FIELDS {
        mask_values(form, field_mut(before.as_mut(), path), field_mut(after.as_mut(), path));
    }
}

fn is_secret(object: Option<&Value>) -> bool {
    object.is_some_and(|object| object["apiVersion"] == "v1" && object["kind"] == "Secret")
}

fn field_mut<'a>(object: Option<&'a mut Value>, path: &[&str]) -> Option<&'a mut Value> {
    path.iter().try_fold(object?, |value, key| value.get_mut(*key))
}

fn mask_values(form: ValueEncoding, before: Option<&mut Value>, after: Option<&mut Value>) {
    match (before, after) {
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            for (_, value) in before.iter_mut().filter(|(key, _)| !after.contains_key(*key)) {
                mask_values(form, Some(value), None);
            }
            for (key, value) in after {
                mask_values(form, before.get_mut(key), Some(value));
            }
        }
        (Some(before), Some(after)) => {
            let note =
                if before != after && size(form, before) == size(form, after) { ", changed" } else { "" };
            redact(form, before, "");
            redact(form, after, note);
        }
        (Some(only), None) | (None, Some(only)) => redact(form, only, ""),
        (None, None) => {}
    }
}

fn redact(form: ValueEncoding, value: &mut Value, note: &str) {
    if let Value::Object(fields) = value {
        fields.values_mut().for_each(|value| redact(form, value, note));
    } else {
        let bytes = size(form, value);
        let unit = if bytes == 1 { "byte" } else { "bytes" };
        *value = format!("({bytes} {unit}{note})").into();
    }
}

/// Returns the size of a value in bytes. A value that is no string, or no valid Base64, counts as it is written.
fn size(form: ValueEncoding, value: &Value) -> usize {
    match (value, form) {
        (Value::String(text), ValueEncoding::Base64) => {
            BASE64.decode(text.as_bytes()).map_or(text.len(), |bytes| bytes.len())
        }
        (Value::String(text), ValueEncoding::Text) => text.len(),
        (other, _) => other.to_string().len(),
    }
}
