//! `spec.containers.[name=app].env.0.value`: names, elements and indices separated by `.`.

use std::fmt;

use manifest::{Map, Value, expression};
use regex::Regex;

/// An invalid path.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PathParseError {
    #[error("a path must start with a field name")]
    Start,
    #[error("`{text}` is not a valid regular expression: {reason}")]
    Element { text: String, reason: String },
}

/// The path of a value.
///
/// Grammar: names separated by `.`, `\.` for a dot in a name, `[a.b/c]` for a name with dots. `[k=v]` matches elements
/// whose field `k` is `v`, `[=v]` matches single values. A number is an index, `*` matches all elements. In a target,
/// `v` is a regular expression for a part of the value; in a source, `v` is the value.
/// Source: kyaml 0.21 utils (`SmarterPathSplitter`) and yaml (`PathMatcher`, `PathGetter`).
#[derive(Clone, Debug)]
pub(crate) struct ValuePath(Vec<Step>);

/// One step of a path.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Name(String),
    Index(usize),
    Element(Element),
    All,
}

/// Elements of a list, matched by content.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// The name of the field; empty for single values.
    key: String,
    value: String,
    pattern: Regex,
}

impl ValuePath {
    /// Parses a path.
    /// # Errors
    /// The first invalid part of the path.
    pub(crate) fn parse(text: &str) -> Result<Self, PathParseError> {
        let parts = split(text);
        let steps = parts.iter().map(|part| Step::parse(part)).collect::<Result<Vec<_>, _>>()?;
        if !matches!(steps.first(), Some(Step::Name(name)) if !name.is_empty()) {
            return Err(PathParseError::Start);
        }
        Ok(Self(steps))
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.0
    }
}

/// Splits at the dots that are neither escaped nor in brackets.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut in_brackets = false;
    let mut characters = text.strip_prefix('.').unwrap_or(text).chars().peekable();
    while let Some(character) = characters.next() {
        let at_start = parts.last().is_some_and(String::is_empty);
        match character {
            '\\' if characters.peek() == Some(&'.') => {
                characters.next();
                push(&mut parts, '.');
            }
            '.' if !in_brackets => parts.push(String::new()),
            other => {
                in_brackets = (in_brackets || (other == '[' && at_start))
                    && !(other == ']' && matches!(characters.peek(), None | Some('.')));
                push(&mut parts, other);
            }
        }
    }
    parts
}

fn push(parts: &mut [String], character: char) {
    if let Some(last) = parts.last_mut() {
        last.push(character);
    }
}

impl Step {
    fn parse(part: &str) -> Result<Self, PathParseError> {
        if let Some(inner) = part.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return match inner.split_once('=') {
                Some((key, value)) => Element::new(key, value).map(Self::Element),
                None => Ok(Self::Name(inner.to_owned())),
            };
        }
        Ok(match part.parse() {
            Ok(index) => Self::Index(index),
            Err(_) if part == "*" => Self::All,
            Err(_) => Self::Name(part.to_owned()),
        })
    }
}

impl Element {
    fn new(key: &str, value: &str) -> Result<Self, PathParseError> {
        let pattern = expression::read(value)
            .map_err(|reason| PathParseError::Element { text: value.to_owned(), reason })?;
        Ok(Self { key: key.to_owned(), value: value.to_owned(), pattern })
    }

    /// True if the step matches single values.
    pub(super) fn is_single(&self) -> bool {
        self.key.is_empty()
    }

    /// True if a value is literally the given one.
    pub(super) fn equals(&self, item: &Value) -> bool {
        self.text_in(item).is_some_and(|text| text == self.value)
    }

    /// True if a value matches the regular expression.
    pub(super) fn matches(&self, item: &Value) -> bool {
        self.text_in(item).is_some_and(|text| self.pattern.is_match(&text))
    }

    /// Returns a new value that matches the step.
    pub(super) fn new_item(&self) -> Value {
        let value = Value::String(self.value.clone());
        if self.is_single() { value } else { Map::from_iter([(self.key.clone(), value)]).into() }
    }

    fn text_in(&self, item: &Value) -> Option<String> {
        match if self.is_single() { item } else { item.get(&self.key)? } {
            Value::String(text) => Some(text.clone()),
            Value::Object(_) | Value::Array(_) => None,
            other => Some(other.to_string()),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Index(index) => write!(formatter, "{index}"),
            Self::Element(element) => write!(formatter, "[{}={}]", element.key, element.value),
            Self::All => formatter.write_str("*"),
        }
    }
}
