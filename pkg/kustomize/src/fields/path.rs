//! Field paths: names separated by `/`.

use std::fmt;

use manifest::{Map, Value};

/// The path of a field. A list on the path is entered: the rest of the path applies to each of its elements.
///
/// Grammar: names separated by `/`, `\/` for a slash in a name, `[]` behind the name of a list.
/// Source: kustomize v5.8.1 api/filters/fieldspec and kyaml/utils (PathSplitter).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldPath(Box<[Step]>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    name: Box<str>,
    is_list: bool,
}

impl FieldPath {
    /// Parses a path; every text is valid.
    pub(crate) fn parse(text: &str) -> Self {
        let mut names = vec![String::new()];
        let mut characters = text.trim_matches('/').chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\\' if characters.next_if_eq(&'/').is_some() => last(&mut names).push('/'),
                '/' => names.push(String::new()),
                other => last(&mut names).push(other),
            }
        }
        Self(names.iter().map(|name| Step::parse(name)).collect())
    }

    /// True if the path has no names.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|step| step.name.is_empty())
    }

    /// True if the path consists of exactly these names.
    pub(crate) fn equals(&self, names: &[&str]) -> bool {
        self.0.len() == names.len() && self.ends_in(names)
    }

    /// True if the path ends in these names.
    pub(crate) fn ends_in(&self, names: &[&str]) -> bool {
        let start = self.0.len().checked_sub(names.len());
        start.is_some_and(|start| self.0[start..].iter().zip(names).all(|(step, name)| &*step.name == *name))
    }

    /// The path of the mapping that holds the field.
    pub(crate) fn parent(&self) -> Self {
        Self(self.0[..self.0.len().saturating_sub(1)].into())
    }

    /// True if an object has the field.
    pub(crate) fn exists_in(&self, fields: &Map<String, Value>) -> bool {
        let mut found = false;
        self.visit(fields, &mut |_| found = true);
        found
    }

    /// Calls `see` with each value of the field.
    pub(crate) fn visit(&self, fields: &Map<String, Value>, see: &mut dyn FnMut(&Value)) {
        visit_in(fields, &self.0, see);
    }

    /// Calls `change` with each value of the field. With `create`, creates a missing field as null first.
    pub(crate) fn edit(
        &self,
        fields: &mut Map<String, Value>,
        create: bool,
        change: &mut dyn FnMut(&mut Value),
    ) {
        edit_in(fields, &self.0, create, change);
    }
}

impl Step {
    fn parse(name: &str) -> Self {
        let bare = name.strip_suffix("[]");
        Self { name: bare.unwrap_or(name).into(), is_list: bare.is_some() }
    }
}

fn last(names: &mut Vec<String>) -> &mut String {
    if names.is_empty() {
        names.push(String::new());
    }
    let end = names.len() - 1;
    &mut names[end]
}

fn visit_in(fields: &Map<String, Value>, steps: &[Step], see: &mut dyn FnMut(&Value)) {
    let Some((first, rest)) = steps.split_first() else { return };
    if let Some(value) = fields.get(&*first.name) {
        visit_value(value, rest, see);
    }
}

fn visit_value(value: &Value, steps: &[Step], see: &mut dyn FnMut(&Value)) {
    match value {
        _ if steps.is_empty() => see(value),
        Value::Array(items) => items.iter().for_each(|item| visit_value(item, steps, see)),
        Value::Object(fields) => visit_in(fields, steps, see),
        _ => {}
    }
}

fn edit_in(
    fields: &mut Map<String, Value>,
    steps: &[Step],
    create: bool,
    change: &mut dyn FnMut(&mut Value),
) {
    let Some((first, rest)) = steps.split_first() else { return };
    if create && !first.is_list && !fields.contains_key(&*first.name) {
        fields.insert(first.name.clone().into(), Value::Null);
    }
    if let Some(value) = fields.get_mut(&*first.name) {
        edit_value(value, rest, create, change);
    }
}

fn edit_value(value: &mut Value, steps: &[Step], create: bool, change: &mut dyn FnMut(&mut Value)) {
    if create && !steps.is_empty() && value.is_null() {
        *value = Value::Object(Map::new());
    }
    match value {
        _ if steps.is_empty() => change(value),
        Value::Array(items) => items.iter_mut().for_each(|item| edit_value(item, steps, create, change)),
        Value::Object(fields) => edit_in(fields, steps, create, change),
        _ => {}
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            let separator = if index > 0 { "/" } else { "" };
            let list = if step.is_list { "[]" } else { "" };
            write!(formatter, "{separator}{}{list}", step.name.replace('/', "\\/"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_in_a_name_is_escaped() {
        let path = FieldPath::parse(r"metadata/annotations/example.com\/a/list[]");
        assert_eq!(
            path.0.iter().map(|step| &*step.name).collect::<Vec<_>>(),
            ["metadata", "annotations", "example.com/a", "list"]
        );
        assert_eq!(path.to_string(), r"metadata/annotations/example.com\/a/list[]");
    }
}
