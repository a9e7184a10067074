//! Expands `$(NAME)` in texts.

use std::collections::BTreeMap;

use manifest::{Value, type_name};

/// The values of variables, each with its number of uses.
#[derive(Debug, Default)]
pub(super) struct VariableValues(BTreeMap<String, VariableValue>);

#[derive(Debug)]
struct VariableValue {
    value: Value,
    uses: usize,
}

/// A part of a text.
enum Piece<'t> {
    Text(&'t str),
    Variable(&'t str),
}

/// True if expansion may change a text, which includes `$$`.
pub(super) fn may_change(text: &str) -> bool {
    text.contains("$(") || text.contains("$$")
}

/// Returns the names of the variables in a text.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).into_iter().filter_map(|piece| match piece {
        Piece::Variable(name) => Some(name),
        Piece::Text(_) => None,
    })
}

impl VariableValues {
    pub(super) fn add(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), VariableValue { value, uses: 0 });
    }

    /// Returns the type of a value that cannot stand in a text; `None` for a valid value.
    pub(super) fn refused(&self, name: &str) -> Option<&'static str> {
        invalid_value_type(&self.0.get(name)?.value)
    }

    /// True if a variable has a value but no use.
    pub(super) fn is_unused(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|entry| entry.uses == 0)
    }

    /// Expands the variables in a value that is a text. A text with a single variable only takes the type of its value.
    pub(super) fn expand(&mut self, value: &mut Value) {
        let Some(text) = value.as_str().filter(|text| may_change(text)) else { return };
        let pieces = pieces(text);
        if let [Piece::Variable(name)] = pieces.as_slice()
            && let Some(whole) = self.take(name)
        {
            *value = whole.clone();
            return;
        }
        let mut expanded = String::with_capacity(text.len());
        for piece in pieces {
            match piece {
                Piece::Text(text) => expanded.push_str(text),
                Piece::Variable(name) => match self.take(name) {
                    Some(Value::String(text)) => expanded.push_str(text),
                    Some(other) => expanded.push_str(&other.to_string()),
                    None => expanded.extend(["$(", name, ")"]),
                },
            }
        }
        *value = expanded.into();
    }

    fn take(&mut self, name: &str) -> Option<&Value> {
        let entry = self.0.get_mut(name).filter(|entry| invalid_value_type(&entry.value).is_none())?;
        entry.uses += 1;
        Some(&entry.value)
    }
}

/// Returns the type of a value that cannot stand in a text, with its article.
fn invalid_value_type(value: &Value) -> Option<&'static str> {
    let is_single = value.is_string() || value.is_number() || value.is_boolean();
    (!is_single).then(|| type_name(value))
}

/// Splits a text: `$$` means `$`, `$(NAME)` is a variable, any other `$` stays.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        let (before, after) = (&rest[..dollar], &rest[dollar + 1..]);
        let (piece, left) = if let Some(left) = after.strip_prefix('$') {
            (Piece::Text("$"), left)
        } else if let Some((name, left)) = after.strip_prefix('(').and_then(|open| open.split_once(')')) {
            (Piece::Variable(name), left)
        } else {
            (Piece::Text("$"), after)
        };
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        pieces.push(piece);
        rest = left;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn variables_are_replaced_and_other_text_stays() {
        let mut values = VariableValues::default();
        for (name, value) in
            [("A", json!("a")), ("E", json!("")), ("N", json!(8)), ("R", json!("$(A)")), ("M", json!({}))]
        {
            values.add(name, value);
        }
        let cases = [
            ("$(A)", json!("a")),
            ("x$(A)y$(A)", json!("xaya")),
            ("$(N)", json!(8)),
            ("n=$(N)", json!("n=8")),
            ("-$(E)-", json!("--")),
            ("$$(A)$(A)", json!("$(A)a")),
            ("$$$(A)", json!("$a")),
            ("$(R)", json!("$(A)")),
            ("$(M)", json!("$(M)")),
            ("$(NO) $$", json!("$(NO) $")),
            ("$(A$(A))", json!("$(A$(A))")),
            ("$(A", json!("$(A")),
            ("${A} $A $é $", json!("${A} $A $é $")),
            ("$()", json!("$()")),
        ];
        for (text, expected) in cases {
            let mut value = json!(text);
            values.expand(&mut value);
            assert_eq!(value, expected, "{text}");
        }
        assert_eq!((values.is_unused("A"), values.refused("M")), (false, Some("a mapping")));
    }
}
