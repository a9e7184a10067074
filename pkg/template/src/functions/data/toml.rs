//! TOML, as BurntSushi/toml 1.6 writes it.

use super::super::Arguments as _;
use super::super::table::made;
use super::super::table::{Result, Row};
use super::error_value;
use crate::engine::Engine;
use crate::format::{Float, push_float};
use crate::value::{Map, NESTING, TEXT_BYTES, TooDeep, Value};

pub(super) const ROWS: &[Row] = &[("toToml", "a", to_toml), ("fromToml", "s", from_toml)];

/// A value that TOML cannot hold, or that is nested too deeply.
enum Unwritable {
    TooDeep(TooDeep),
    Message(String),
}

fn to_toml(run: &mut dyn Engine, args: &[Value]) -> Result {
    let mut writer = Writer { out: String::new() };
    let written = match args.value(0) {
        Value::Missing | Value::Nil => {
            return Err("reflect: call of reflect.Value.Type on zero Value".into());
        }
        Value::Map(map) => writer.table(&mut Vec::new(), map),
        value => match is_table(value) {
            Ok(true) => {
                Err(Unwritable::Message("toml: top-level values must be Go maps or structs".to_owned()))
            }
            Ok(false) => writer.element(value, 0),
            Err(error) => Err(error),
        },
    };
    match written {
        Ok(()) => made(run, writer.out),
        Err(Unwritable::TooDeep(error)) => Err(error.into()),
        Err(Unwritable::Message(message)) => Ok(message.into()),
    }
}

struct Writer {
    out: String,
}

/// True for what gets a header of its own: maps, and lists of maps.
fn is_table(value: &Value) -> std::result::Result<bool, Unwritable> {
    match value {
        Value::Map(map) => Ok(!map.is_nil()),
        Value::List(list) => {
            if list.iter().any(Value::is_nil) {
                return Err(Unwritable::Message("toml: cannot encode array with nil element".to_owned()));
            }
            Ok(!list.is_empty() && list.iter().all(|item| matches!(item, Value::Map(_))))
        }
        _ => Ok(false),
    }
}

fn is_bare(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

impl Writer {
    fn new_line(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    fn indent(&mut self, keys: usize) {
        self.out.extend(std::iter::repeat_n("  ", keys.saturating_sub(1)));
    }

    fn key(&mut self, key: &str) {
        if is_bare(key) { self.out.push_str(key) } else { self.string(key) }
    }

    fn path(&mut self, keys: &[String]) {
        for (index, key) in keys.iter().enumerate() {
            if index > 0 {
                self.out.push('.');
            }
            self.key(key);
        }
    }

    /// Writes the entries of a table: plain ones first, then tables.
    fn table(&mut self, keys: &mut Vec<String>, map: &Map) -> std::result::Result<(), Unwritable> {
        if keys.len() > NESTING || self.out.len() > TEXT_BYTES {
            return Err(Unwritable::TooDeep(TooDeep));
        }
        let entries = map.to_vec();
        for with_header in [false, true] {
            for (key, value) in &entries {
                if value.is_nil() || is_table(value)? != with_header {
                    continue;
                }
                keys.push(key.to_str().into_owned());
                if with_header {
                    crate::stack::grow(|| self.with_header(keys, value))?;
                } else {
                    self.indent(keys.len());
                    self.key(&key.to_str());
                    self.out.push_str(" = ");
                    self.element(value, 0)?;
                    self.new_line();
                }
                keys.pop();
            }
        }
        Ok(())
    }

    fn with_header(&mut self, keys: &mut Vec<String>, value: &Value) -> std::result::Result<(), Unwritable> {
        match value {
            Value::Map(map) => {
                if keys.len() == 1 {
                    self.new_line();
                }
                self.indent(keys.len());
                self.out.push('[');
                self.path(keys);
                self.out.push_str("]\n");
                self.table(keys, map)
            }
            Value::List(list) => {
                for item in list.iter() {
                    let Value::Map(map) = item else { continue };
                    self.new_line();
                    self.indent(keys.len());
                    self.out.push_str("[[");
                    self.path(keys);
                    self.out.push_str("]]\n");
                    self.table(keys, map)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn element(&mut self, value: &Value, depth: usize) -> std::result::Result<(), Unwritable> {
        if depth > NESTING || self.out.len() > TEXT_BYTES {
            return Err(Unwritable::TooDeep(TooDeep));
        }
        match value {
            Value::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Value::Int(number) | Value::Int64(number) => self.out.push_str(&number.to_string()),
            Value::Uint8(number) => self.out.push_str(&number.to_string()),
            Value::Uint64(number) => self.out.push_str(&number.to_string()),
            Value::Float(number) => self.float(*number),
            Value::String(text) => self.string(&text.to_str()),
            Value::List(list) => {
                self.out.push('[');
                for (index, item) in list.iter().enumerate() {
                    if index > 0 {
                        self.out.push_str(", ");
                    }
                    crate::stack::grow(|| self.element(item, depth + 1))?;
                }
                self.out.push(']');
            }
            Value::Map(map) => crate::stack::grow(|| self.inline(map, depth))?,
            Value::Object(object) if object.type_name() == "time.Time" => {
                if let Value::String(text) = object.plain() {
                    self.out.push_str(&text.to_str());
                }
            }
            Value::Object(object) => crate::stack::grow(|| self.element(&object.plain(), depth + 1))?,
            Value::Missing | Value::Nil => {}
        }
        Ok(())
    }

    fn inline(&mut self, map: &Map, depth: usize) -> std::result::Result<(), Unwritable> {
        self.out.push('{');
        let entries = map.to_vec();
        let mut sorted = Vec::with_capacity(entries.len());
        for with_header in [false, true] {
            for (key, value) in &entries {
                let kind = if value.is_nil() { false } else { is_table(value)? };
                if kind == with_header {
                    sorted.push((key, value));
                }
            }
        }
        let last = sorted.len().saturating_sub(1);
        for (index, (key, value)) in sorted.into_iter().enumerate() {
            if value.is_nil() {
                continue;
            }
            self.key(&key.to_str());
            self.out.push_str(" = ");
            self.element(value, depth + 1)?;
            if index != last {
                self.out.push_str(", ");
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn float(&mut self, number: f64) {
        if number.is_nan() {
            return self.out.push_str("nan");
        }
        if number.is_infinite() {
            return self.out.push_str(if number < 0.0 { "-inf" } else { "inf" });
        }
        let start = self.out.len();
        push_float(&mut self.out, number, Float::General, None);
        if !self.out[start..].contains(['.', 'e']) {
            self.out.push_str(".0");
        }
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for character in text.chars() {
            match character {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\x08' => self.out.push_str("\\b"),
                '\t' => self.out.push_str("\\t"),
                '\n' => self.out.push_str("\\n"),
                '\x0C' => self.out.push_str("\\f"),
                '\r' => self.out.push_str("\\r"),
                '\0'..='\x1F' | '\x7F' => self.out.push_str(&format!("\\u{:04x}", u32::from(character))),
                _ => self.out.push(character),
            }
        }
        self.out.push('"');
    }
}

fn from_toml(run: &mut dyn Engine, args: &[Value]) -> Result {
    let text = args.utf8(0);
    run.session().create(text.len())?;
    match text.parse::<toml::Table>() {
        Ok(table) => Ok(Value::map(table.iter().map(|(key, value)| (key.as_str(), value_of(value))))),
        Err(error) => {
            let before =
                error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count());
            Ok(error_value(format!("toml: line {}: {}", before + 1, error.message()), false))
        }
    }
}

fn value_of(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Integer(number) => Value::Int64(*number),
        toml::Value::Float(number) => Value::Float(*number),
        toml::Value::Boolean(flag) => Value::Bool(*flag),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(items) => Value::list(items.iter().map(value_of).collect()),
        toml::Value::Table(table) => {
            Value::map(table.iter().map(|(key, value)| (key.as_str(), value_of(value))))
        }
    }
}
