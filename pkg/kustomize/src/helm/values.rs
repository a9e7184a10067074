//! Merges the values of a chart with those of a kustomization.

use manifest::{Map, Value, read_resources, yaml};

use crate::TreePath;

use super::HelmError;

/// The side whose values win.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ValuesMerge {
    /// The kustomization wins.
    #[default]
    Override,
    /// The file wins: the kustomization only adds values.
    Add,
    /// The kustomization wins, and the file is not read.
    Replace,
}

impl ValuesMerge {
    /// Parses `valuesMerge`.
    /// # Errors
    /// `UnknownMerge` for any other name.
    pub(super) fn parse(text: &str) -> Result<Self, HelmError> {
        match text {
            "" | "override" => Ok(Self::Override),
            "merge" => Ok(Self::Add),
            "replace" => Ok(Self::Replace),
            other => Err(HelmError::UnknownMerge(other.to_owned())),
        }
    }
}

/// Merges the values of a file and those of a kustomization into YAML.
/// # Errors
/// `InvalidValues` if the file holds no mapping.
pub(super) fn merge_values(
    merge: ValuesMerge,
    file: &TreePath,
    bytes: &[u8],
    inline: &Map<String, Value>,
) -> Result<String, HelmError> {
    let mut values = inline.clone();
    match merge {
        ValuesMerge::Replace => {}
        ValuesMerge::Override => {
            values = read(file, bytes)?;
            merge_into(&mut values, inline.clone());
        }
        ValuesMerge::Add => merge_into(&mut values, read(file, bytes)?),
    }
    Ok(yaml::write(&Value::Object(values)))
}

fn read(file: &TreePath, bytes: &[u8]) -> Result<Map<String, Value>, HelmError> {
    let no_values = |reason| HelmError::InvalidValues { file: file.clone(), reason };
    let stream = read_resources(bytes).map_err(|error| no_values(error.to_string()))?;
    match stream.objects.into_iter().next().map(manifest::Object::into_value) {
        Some(Value::Object(values)) => Ok(values),
        _ => Ok(Map::new()),
    }
}

/// Merges mappings; null deletes the value, or does nothing if there is none; any other value replaces.
fn merge_into(under: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (_, Value::Null) => drop(under.remove(&key)),
            (Some(Value::Object(below)), Value::Object(above)) => merge_into(below, above),
            (_, Value::Object(above)) => {
                let mut new = Map::new();
                merge_into(&mut new, above);
                under.insert(key, Value::Object(new));
            }
            (_, value) => drop(under.insert(key, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // Row: D-247
    #[test]
    fn values_are_merged_as_asked() {
        let inline =
            json!({"a": {"b": 2, "d": 4}, "list": [9], "gone": null, "new": {"e": null}, "f": {"g": 1}});
        let inline = inline.as_object().unwrap();
        let file = b"a: {b: 1, c: 3}\nf: &one 1\nh: *one\nlist: [1, 2]\ngone: x\n";
        let cases = [
            (ValuesMerge::Override, "a:\n  b: 2\n  c: 3\n  d: 4\nf:\n  g: 1\nh: 1\nlist:\n- 9\nnew: {}\n"),
            (
                ValuesMerge::Add,
                "a:\n  b: 1\n  c: 3\n  d: 4\nf: 1\ngone: x\nh: 1\nlist:\n- 1\n- 2\nnew:\n  e: null\n",
            ),
            (
                ValuesMerge::Replace,
                "a:\n  b: 2\n  d: 4\nf:\n  g: 1\ngone: null\nlist:\n- 9\nnew:\n  e: null\n",
            ),
        ];
        let path = TreePath::new("values.yaml");
        for (merge, expected) in cases {
            assert_eq!(
                merge_values(merge, &path, file, inline).unwrap().trim(),
                expected.trim(),
                "{merge:?}"
            );
        }
        let error = ValuesMerge::parse("both").unwrap_err();
        assert!(matches!(&error, HelmError::UnknownMerge(text) if text == "both"), "{error}");
    }
}
