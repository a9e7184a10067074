//! Manifests without the order of their objects and without their format.

use manifest::value_text;

use crate::yaml::{YamlStyle, read_documents, write_documents};

/// Prints the objects of a file sorted by kind, namespace and name. A text that is no YAML stays as it is.
pub(super) fn sorted(text: &str) -> String {
    let Ok(mut objects) = read_documents(text) else { return text.to_owned() };
    objects.sort_by_cached_key(|object| {
        let metadata =
            |field: &str| object.get("metadata").and_then(|metadata| metadata.get(field)).map(value_text);
        let kind = object.get("kind").map(value_text).unwrap_or_default();
        (kind, metadata("namespace").unwrap_or_default(), metadata("name").unwrap_or_default())
    });
    write_documents(&objects, YamlStyle::CATALOG)
}

#[cfg(test)]
mod tests {
    use super::sorted;

    #[test]
    fn order_and_format_of_objects_do_not_matter() {
        let one = "kind: B\nmetadata: {name: x}\n---\nkind: A\nmetadata:\n  name: y\n";
        let other = "{kind: A, metadata: {name: 'y'}}\n---\nmetadata:\n    name: \"x\"\nkind: B\n";
        assert_eq!(sorted(one), sorted(other));
        assert_ne!(sorted(one), sorted("kind: A\n"));
    }
}
