use std::fmt;

use manifest::{Map, Value};

/// The path of a field, in the elements of `metadata.managedFields`. `f:NAME` is a field, `k:{…}` a list item with
/// these keys, `v:VALUE` a list item with this value, and `i:N` a list item at this index. `.` is the parent itself.
/// itself.
/// Source: Kubernetes FieldsV1 (structured-merge-diff v6, serialisation of path elements).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FieldPath(Vec<String>);

const SELF_KEY: &str = ".";

impl FieldPath {
    pub(super) fn join(&self, element: &str) -> Self {
        Self(self.0.iter().map(String::as_str).chain([element]).map(str::to_owned).collect())
    }

    /// Joins the elements for digests.
    pub(super) fn joined(&self) -> String {
        self.0.iter().flat_map(|element| ["/", element]).collect()
    }

    /// Returns the field or list item itself, if the path ends with `.`.
    pub(super) fn container(&self) -> Option<Self> {
        let (last, rest) = self.0.split_last()?;
        (last == SELF_KEY).then(|| Self(rest.to_vec()))
    }

    /// True if this path is inside the other path.
    pub(super) fn is_below(&self, other: &Self) -> bool {
        self.0.len() > other.0.len() && self.0.starts_with(&other.0)
    }

    /// Returns the value of the field in an object.
    pub(super) fn value<'v>(&self, object: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(object, |value, element| step(value, element))
    }
}

fn step<'v>(value: &'v Value, element: &str) -> Option<&'v Value> {
    let Some((kind, text)) = element.split_once(':') else { return (element == SELF_KEY).then_some(value) };
    match kind {
        "f" => value.get(text),
        "k" => {
            let keys: Map<String, Value> = serde_json::from_str(text).ok()?;
            let has_keys = |item: &&Value| keys.iter().all(|(key, value)| item.get(key) == Some(value));
            value.as_array()?.iter().find(has_keys)
        }
        "v" => {
            let wanted: Value = serde_json::from_str(text).ok()?;
            value.as_array()?.iter().find(|item| **item == wanted)
        }
        "i" => value.get(text.parse::<usize>().ok()?),
        _ => None,
    }
}

/// Writes the path in the syntax of jq where possible: `.spec.containers[name="manager"].args`,
/// `.metadata.labels["a.b/c"]`.
impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for element in &self.0 {
            match element.split_once(':') {
                Some(("f", name)) if is_plain(name) => write!(f, ".{name}")?,
                Some(("f", name)) => write!(f, "[{}]", Value::from(name))?,
                Some(("k", keys)) => match serde_json::from_str::<Map<String, Value>>(keys) {
                    Ok(keys) => {
                        let keys: Vec<String> =
                            keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
                        write!(f, "[{}]", keys.join(","))?;
                    }
                    Err(_) => write!(f, "[{keys}]")?,
                },
                Some((_, text)) => write!(f, "[{text}]")?,
                None => {}
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(elements: &[&str]) -> FieldPath {
        FieldPath(elements.iter().map(|element| (*element).to_owned()).collect())
    }

    #[test]
    fn a_path_finds_its_value_and_is_written_like_jq() {
        let object = json!({"spec": {
            "ports": [{"port": 1, "protocol": "TCP"}, {"port": 1, "protocol": "UDP", "name": "dns"}],
            "finalizers": ["a", "b"],
            "a.b/c": [7],
        }});
        for (elements, text, value) in [
            (
                &["f:spec", "f:ports", r#"k:{"port":1,"protocol":"UDP"}"#, "f:name"][..],
                r#".spec.ports[port=1,protocol="UDP"].name"#,
                Some(json!("dns")),
            ),
            (&["f:spec", "f:ports", r#"k:{"port":2}"#, "."], ".spec.ports[port=2]", None),
            (&["f:spec", "f:finalizers", r#"v:"b""#], r#".spec.finalizers["b"]"#, Some(json!("b"))),
            (&["f:spec", "f:finalizers", r#"v:"c""#], r#".spec.finalizers["c"]"#, None),
            (&["f:spec", "f:a.b/c", "i:0"], r#".spec["a.b/c"][0]"#, Some(json!(7))),
            (&["f:spec", "f:ports", "k:nonsense"], ".spec.ports[nonsense]", None),
            (&["f:none"], ".none", None),
        ] {
            let path = path(elements);
            assert_eq!((path.to_string(), path.value(&object).cloned()), (text.to_owned(), value));
        }
    }
}
