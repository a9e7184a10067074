//! Hides the values of Secrets, and keeps changes visible.

use data_encoding::BASE64;
use manifest::Value;

/// The paths of hidden values, and their forms.
const HIDDEN: [(&[&str], Form); 3] = [
    (&["data"], Form::Base64),
    (&["stringData"], Form::Text),
    (&["metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"], Form::Text),
];

#[derive(Clone, Copy)]
enum Form {
    Base64,
    Text,
}

/// Replaces values by sizes in both objects if one of them is a Secret. The second object notes a changed value of the
/// same size.
pub(super) fn mask(before: &mut Option<Value>, after: &mut Option<Value>) {
    if !is_secret(before.as_ref()) && !is_secret(after.as_ref()) {
        return;
    }
    for (path, form) in HIDDEN {
        hide(form, at(before.as_mut(), path), at(after.as_mut(), path));
    }
}

fn is_secret(object: Option<&Value>) -> bool {
    object.is_some_and(|object| object["apiVersion"] == "v1" && object["kind"] == "Secret")
}

fn at<'a>(object: Option<&'a mut Value>, path: &[&str]) -> Option<&'a mut Value> {
    path.iter().try_fold(object?, |value, key| value.get_mut(*key))
}

fn hide(form: Form, before: Option<&mut Value>, after: Option<&mut Value>) {
    match (before, after) {
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            for (_, value) in before.iter_mut().filter(|(key, _)| !after.contains_key(*key)) {
                hide(form, Some(value), None);
            }
            for (key, value) in after {
                hide(form, before.get_mut(key), Some(value));
            }
        }
        (Some(before), Some(after)) => {
            let note =
                if before != after && size(form, before) == size(form, after) { ", changed" } else { "" };
            conceal(form, before, "");
            conceal(form, after, note);
        }
        (Some(only), None) | (None, Some(only)) => conceal(form, only, ""),
        (None, None) => {}
    }
}

fn conceal(form: Form, value: &mut Value, note: &str) {
    if let Value::Object(fields) = value {
        fields.values_mut().for_each(|value| conceal(form, value, note));
    } else {
        let bytes = size(form, value);
        let unit = if bytes == 1 { "byte" } else { "bytes" };
        *value = format!("({bytes} {unit}{note})").into();
    }
}

/// Returns the size of a value in bytes. A value that is no string, or no valid Base64, counts as it is written.
fn size(form: Form, value: &Value) -> usize {
    match (value, form) {
        (Value::String(text), Form::Base64) => {
            BASE64.decode(text.as_bytes()).map_or(text.len(), |bytes| bytes.len())
        }
        (Value::String(text), Form::Text) => text.len(),
        (other, _) => other.to_string().len(),
    }
}
