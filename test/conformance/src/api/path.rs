//! Paths in a JSON value: `status.conditions[type=Ready].status`, `items.metadata.name`, `items.0.metadata.name`.
//!
//! A segment is a field name. On an array, a name applies to each item, and a number selects one item. A suffix
//! `[path=text]` keeps the items of an array that have this text at the path.

use serde_json::{Map, Value};

/// The parts of a body that a page shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodyFilter {
    /// If not empty, show only these paths.
    pub only: Vec<String>,
    /// Hide these paths.
    pub omit: Vec<String>,
    /// True if managed fields are shown. Otherwise they are removed everywhere.
    pub managed: bool,
    /// True if the causes of an error are sorted, because the server returns them in random map order.
    pub unordered: bool,
}

impl BodyFilter {
    /// Removes the parts of a body that the page does not show.
    pub(super) fn apply(&self, value: &mut Value) {
        if !self.managed {
            remove_managed_fields(value);
        }
        if self.unordered {
            sort_causes(value);
        }
        if !self.only.is_empty() {
            let paths: Vec<_> = self.only.iter().map(|path| segments(path)).collect();
            *value = select(value, &paths.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }
        for path in &self.omit {
            remove(value, &segments(path));
        }
    }
}

/// The first value at a path.
pub(super) fn get<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    segments(path).into_iter().try_fold(value, |value, segment| {
        let value = match (value, segment.name.parse::<usize>()) {
            (Value::Array(items), Ok(index)) => items.get(index)?,
            (Value::Array(items), Err(_)) => items.iter().find_map(|item| item.get(segment.name))?,
            _ => value.get(segment.name)?,
        };
        match segment.filter {
            Some((field, text)) => value.as_array()?.iter().find(|item| is_text(get(item, field), text)),
            None => Some(value),
        }
    })
}

#[derive(Clone, Copy)]
struct Segment<'p> {
    name: &'p str,
    filter: Option<(&'p str, &'p str)>,
}

fn segments(path: &str) -> Vec<Segment<'_>> {
    let mut depth = 0_usize;
    let parts = path.split(move |character| {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == '.' && depth == 0
    });
    parts.map(segment).collect()
}

fn segment(part: &str) -> Segment<'_> {
    let filtered = part.strip_suffix(']').and_then(|part| part.split_once('['));
    match filtered.and_then(|(name, filter)| Some((name, filter.split_once('=')?))) {
        Some((name, filter)) => Segment { name, filter: Some(filter) },
        None => Segment { name: part, filter: None },
    }
}

fn is_text(value: Option<&Value>, text: &str) -> bool {
    match value {
        Some(Value::String(found)) => found == text,
        Some(Value::Number(found)) => found.to_string() == text,
        Some(Value::Bool(found)) => (if *found { "true" } else { "false" }) == text,
        _ => false,
    }
}

/// Copies only the values at the paths. An empty path selects the entire value.
fn select(value: &Value, paths: &[&[Segment<'_>]]) -> Value {
    if paths.iter().any(|path| path.is_empty()) {
        return value.clone();
    }
    match value {
        Value::Object(fields) => {
            let mut kept = Map::new();
            for (name, field) in fields {
                let below: Vec<_> = paths.iter().copied().filter(|path| path[0].name == name).collect();
                if !below.is_empty() {
                    kept.insert(name.clone(), select_filtered(field, &below));
                }
            }
            Value::Object(kept)
        }
        Value::Array(items) => items.iter().map(|item| select(item, paths)).collect(),
        other => other.clone(),
    }
}

/// Copies the values of a field. The first segment of each path is the field itself.
fn select_filtered(value: &Value, paths: &[&[Segment<'_>]]) -> Value {
    let plain: Vec<_> = paths.iter().map(|path| &path[1..]).collect();
    let filters: Vec<_> = paths.iter().filter_map(|path| path[0].filter).collect();
    match value {
        Value::Array(items) if !filters.is_empty() => {
            let matches = |item: &&Value| filters.iter().any(|(field, text)| is_text(get(item, field), text));
            items.iter().filter(matches).map(|item| select(item, &plain)).collect()
        }
        other => select(other, &plain),
    }
}

fn remove(value: &mut Value, path: &[Segment<'_>]) {
    let Some((first, rest)) = path.split_first() else { return };
    match value {
        Value::Object(fields) if rest.is_empty() => {
            fields.remove(first.name);
        }
        Value::Object(fields) => {
            if let Some(field) = fields.get_mut(first.name) {
                remove(field, rest);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| remove(item, path)),
        _ => {}
    }
}

/// Sorts the causes of a `Status`, and its message if the message lists the causes.
fn sort_causes(status: &mut Value) {
    let Some(causes) = status.pointer_mut("/details/causes").and_then(Value::as_array_mut) else { return };
    let text = |cause: &Value, key: &str| cause[key].as_str().unwrap_or_default().to_owned();
    let listed = |causes: &[Value]| {
        let causes =
            causes.iter().map(|cause| format!("{}: {}", text(cause, "field"), text(cause, "message")));
        format!("[{}]", causes.collect::<Vec<_>>().join(", "))
    };
    let found = listed(causes);
    causes.sort_by_key(|cause| (text(cause, "field"), text(cause, "message")));
    let sorted = listed(causes);
    if let Some(Value::String(message)) = status.get_mut("message") {
        *message = message.replace(&found, &sorted);
    }
}

fn remove_managed_fields(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("managedFields");
            fields.values_mut().for_each(remove_managed_fields);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_managed_fields),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cut(only: &str, omit: &str) -> BodyFilter {
        let list = |text: &str| text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        BodyFilter { only: list(only), omit: list(omit), managed: false, unordered: false }
    }

    #[test]
    fn a_path_reaches_fields_items_and_filtered_items() {
        let value = json!({"a": {"b": [{"type": "X", "v": 1}, {"type": "Y", "v": 2}]}});
        assert_eq!(get(&value, "a.b[type=Y].v"), Some(&json!(2)));
        assert_eq!(get(&value, "a.b.0.v"), Some(&json!(1)));
        assert_eq!(get(&value, "a.b.v"), Some(&json!(1)));
        assert_eq!(get(&value, "a.c"), None);
    }

    #[test]
    fn causes_are_sorted_with_their_message() {
        let cause = |field: &str| json!({"field": field, "message": "Required value"});
        let mut status = json!({
            "message": "A is invalid: [b: Required value, a: Required value]",
            "details": {"causes": [cause("b"), cause("a")]},
        });
        BodyFilter { unordered: true, ..BodyFilter::default() }.apply(&mut status);
        assert_eq!(status["message"], "A is invalid: [a: Required value, b: Required value]");
        assert_eq!(status["details"]["causes"], json!([cause("a"), cause("b")]));
    }

    #[test]
    fn only_keeps_and_omit_removes() {
        let value =
            json!({"items": [{"metadata": {"name": "a", "managedFields": []}, "x": 1}], "kind": "List"});
        let mut kept = value.clone();
        cut("items.metadata.name", "").apply(&mut kept);
        assert_eq!(kept, json!({"items": [{"metadata": {"name": "a"}}]}));
        let mut left = value;
        cut("", "items.x,kind").apply(&mut left);
        assert_eq!(left, json!({"items": [{"metadata": {"name": "a"}}]}));
    }
}
