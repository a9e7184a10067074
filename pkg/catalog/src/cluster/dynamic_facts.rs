//! Dynamic facts of the command line, for clusters that have not reported theirs.

use manifest::{Map, Value};

use crate::jinja::quoted;

/// Facts, and notices about words that are not used. The notices are those of Commodore.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DynamicFacts {
    /// The nested facts of all usable words.
    pub facts: Map<String, Value>,
    /// The notices, in the order of the words.
    pub notices: Vec<String>,
}

/// Parses words of the form `a.b=value` or `a.b=json:…`. Later words override earlier ones.
pub fn parse_dynamic_facts<'a>(words: impl IntoIterator<Item = &'a str>) -> DynamicFacts {
    let mut parsed = DynamicFacts::default();
    for word in words {
        if let Err(notice) = parsed.add(word) {
            parsed.notices.push(notice);
        }
    }
    parsed
}

impl DynamicFacts {
    fn add(&mut self, word: &str) -> Result<(), String> {
        let Some((key, text)) = word.split_once('=') else {
            return Err(format!("Ignoring dynamic fact {word} which is not in format key=value"));
        };
        if key.is_empty() {
            return Err(format!("Ignoring malformed dynamic fact '{word}' with no key."));
        }
        if text.is_empty() {
            return Err(format!(
                "Ignoring malformed dynamic fact '{word}' with no value. Please specify empty string value as 'json:\"\"'"
            ));
        }
        let value = match text.strip_prefix("json:") {
            Some(json) => serde_json::from_str(json).map_err(|error| {
                format!(
                    "Expected value '{json}' to be parsable JSON, but parsing failed with '{}', skipping",
                    python_error(json, &error)
                )
            })?,
            None => Value::String(text.to_owned()),
        };
        // Commodore cannot tell `null` from an error.
        if value.is_null() { Ok(()) } else { self.set(key, value) }
    }

    fn set(&mut self, key: &str, value: Value) -> Result<(), String> {
        let parts: Vec<&str> = key.split('.').collect();
        if parts.contains(&"") {
            return Err(format!("Malformed nested key '{key}' skipping..."));
        }
        let Some((last, outer)) = parts.split_last() else { return Ok(()) };
        let mut fields = &mut self.facts;
        for (index, part) in outer.iter().enumerate() {
            let entry = fields.entry(*part).or_insert_with(|| Value::Object(Map::new()));
            match entry {
                Value::Object(inner) => fields = inner,
                _ => {
                    return Err(format!(
                        "Trying to insert subkey into non-dictionary dynamic fact '{}', skipping...",
                        parts[..=index].join(".")
                    ));
                }
            }
        }
        let shown = python_text(&value);
        match fields.insert((*last).to_owned(), value) {
            Some(before) => {
                self.notices.push(format!(
                    "Overwriting dynamic fact '{key}={}' with '{shown}'",
                    python_text(&before)
                ));
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// Prints a value as Python does.
fn python_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => python_literal(other),
    }
}

fn python_literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(python_literal).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let fields =
                fields.iter().map(|(key, value)| format!("{}: {}", quoted(key), python_literal(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Describes invalid JSON in the words of Python, if they are known.
fn python_error(text: &str, error: &serde_json::Error) -> String {
    let message = error.to_string();
    let is = |start: &str| message.starts_with(start);
    let at_end = error.is_eof();
    // Python counts from the offending character, serde_json up to it.
    let (line, column) = (error.line().max(1), error.column());
    let line_start: usize = text.split_inclusive('\n').take(line - 1).map(|line| line.chars().count()).sum();
    let column = if at_end { column + 1 } else { column.max(1) };
    let reason = if is("EOF while parsing an object") || is("key must be a string") {
        "Expecting property name enclosed in double quotes"
    } else if is("EOF while parsing a list") || is("expected `,` or `]`") || is("expected `,` or `}`") {
        "Expecting ',' delimiter"
    } else if is("expected `:`") {
        "Expecting ':' delimiter"
    } else if is("trailing characters") {
        "Extra data"
    } else if is("expected value") || is("EOF while parsing a value") || is("expected ident") {
        "Expecting value"
    } else {
        return message;
    };
    format!("{reason}: line {line} column {column} (char {})", line_start + column - 1)
}

#[cfg(test)]
mod tests {
    use snapbox::{IntoData as _, assert_data_eq, str};

    use super::*;

    #[test]
    fn facts_nest_and_unusable_words_are_reported() {
        let parsed = parse_dynamic_facts([
            "a=1",
            "a.b=2",
            "c=json:{",
            ".x=1",
            "a=3",
            "novalue",
            "ok=json:null",
            "e=",
            "=f",
            "d.e.f=json:[1, true]",
            "d.e=json:{\"g\": null}",
            "d.e.h=x=y",
            r#"q=json:{"it's": ["it's", "\"", "'\""]}"#,
            "q=1",
        ]);
        assert_data_eq!(
            parsed.notices.join("\n"),
            str![[r#"
Trying to insert subkey into non-dictionary dynamic fact 'a', skipping...
Expected value '{' to be parsable JSON, but parsing failed with 'Expecting property name enclosed in double quotes: line 1 column 2 (char 1)', skipping
Malformed nested key '.x' skipping...
Overwriting dynamic fact 'a=1' with '3'
Ignoring dynamic fact novalue which is not in format key=value
Ignoring malformed dynamic fact 'e=' with no value. Please specify empty string value as 'json:""'
Ignoring malformed dynamic fact '=f' with no key.
Overwriting dynamic fact 'd.e={'f': [1, True]}' with '{'g': None}'
Overwriting dynamic fact 'q={"it's": ["it's", '"', '\'"']}' with '1'
"#]]
            .raw()
        );
        assert_eq!(
            Value::Object(parsed.facts),
            serde_json::json!({"a": "3", "d": {"e": {"g": null, "h": "x=y"}}, "q": "1"})
        );
    }
}
