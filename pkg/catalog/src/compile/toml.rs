//! TOML as the library `toml` of Python prints it.

use serde_json::{Map, Value};

use crate::json;
use crate::yaml::number_text;

/// Prints a mapping: its own values first, then a section for each mapping in it.
pub(crate) fn write(fields: &Map<String, Value>) -> String {
    let (mut out, mut sections) = dump(fields, "");
    while !sections.is_empty() {
        let mut nested = Vec::new();
        for (name, fields) in sections {
            let (values, inner) = dump(fields, &format!("{name}."));
            if !values.is_empty() || inner.is_empty() {
                if !out.is_empty() && !out.ends_with("\n\n") {
                    out.push('\n');
                }
                out.extend(["[", &name, "]\n", &values]);
            }
            nested.extend(inner.into_iter().map(|(inner, fields)| (format!("{name}.{inner}"), fields)));
        }
        sections = nested;
    }
    out
}

type Sections<'a> = Vec<(String, &'a Map<String, Value>)>;

/// Prints the values of a mapping. Returns the mappings in it, which become sections.
fn dump<'a>(fields: &'a Map<String, Value>, prefix: &str) -> (String, Sections<'a>) {
    let (mut values, mut tables, mut sections) = (String::new(), String::new(), Vec::new());
    for (key, field) in fields {
        let key = quoted_key(key);
        match field {
            Value::Null => {}
            Value::Object(inner) => sections.push((key, inner)),
            Value::Array(items) if items.iter().any(Value::is_object) => {
                for item in items.iter().filter_map(Value::as_object) {
                    push_table(&mut tables, &format!("{prefix}{key}"), item);
                }
            }
            value => values.extend([&key, " = ", &value_text(value), "\n"]),
        }
    }
    values.push_str(&tables);
    (values, sections)
}

fn push_table(out: &mut String, name: &str, fields: &Map<String, Value>) {
    let (values, mut sections) = dump(fields, &format!("{name}."));
    out.extend(["[[", name, "]]\n", &values]);
    let mut nested = "\n".to_owned();
    while !sections.is_empty() {
        let mut inner_sections = Vec::new();
        for (section, fields) in sections {
            let (values, inner) = dump(fields, &format!("{name}.{section}."));
            if !values.is_empty() {
                nested.extend(["[", name, ".", &section, "]\n", &values]);
            }
            inner_sections
                .extend(inner.into_iter().map(|(key, fields)| (format!("{section}.{key}"), fields)));
        }
        sections = inner_sections;
    }
    out.push_str(&nested);
}

fn quoted_key(key: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    if !key.is_empty() && key.chars().all(plain) { key.to_owned() } else { quoted(key) }
}

/// Returns the text of a value in a list, where mappings are inline.
fn value_text(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number_text(number),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(value_text).collect();
            if items.is_empty() { "[]".to_owned() } else { format!("[ {},]", items.join(", ")) }
        }
        Value::Object(fields) => {
            let fields: Vec<_> = fields
                .iter()
                .map(|(key, field)| format!("{} = {}", quoted_key(key), value_text(field)))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for part in text.split_inclusive(|character: char| character.is_ascii()) {
        let ascii = part.len() - part.trim_end_matches(|character: char| character.is_ascii()).len();
        let (other, ascii) = part.split_at(part.len() - ascii);
        out.push_str(other);
        let mut escaped = String::new();
        json::push_text(&mut escaped, ascii, false);
        out.push_str(&escaped[1..escaped.len() - 1]);
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use snapbox::{IntoData as _, assert_data_eq, str};

    use super::*;

    #[test]
    fn mappings_become_sections_and_lists_of_mappings_tables() {
        let value = json!({
            "a": 1, "n": null, "l": [1, "é\n"], "f": 1.5,
            "s": {"b": "x", "t": {"c": true, "u v": {"d": 1}}, "e": {}},
            "p": [{"x": 1, "y": {"z": 2}}, {"x": 2}],
        });
        assert_data_eq!(
            write(value.as_object().unwrap()),
            str![[r#"
a = 1
f = 1.5
l = [ 1, "é\n",]
[[p]]
x = 1

[p.y]
z = 2
[[p]]
x = 2

[s]
b = "x"

[s.e]

[s.t]
c = true

[s.t."u v"]
d = 1

"#]]
            .raw()
        );
    }
}
