//! The grammar of the flags that set values: `a.b[0]=text`.

use std::mem;

use serde::Deserialize as _;

use super::assignment::{Assignment, AssignmentError, Content, Parsed, Step};
use crate::value_tree::ValueTree;

/// The deepest nesting of names.
const MAX_NESTING: usize = 30;
/// The most names and indexes of a path.
const MAX_STEPS: usize = 100;

/// The meaning of the texts after `=`.
pub(super) enum Syntax<'f> {
    Typed,
    Text,
    Json,
    File(&'f mut dyn FnMut(&str) -> Result<Vec<u8>, String>),
    /// Everything after the first `=` is one text, and nothing is escaped.
    Literal,
}

/// The assignments of a text, separated by commas.
pub(super) struct Assignments<'t, 'f> {
    rest: &'t str,
    syntax: Syntax<'f>,
}

impl Iterator for Assignments<'_, '_> {
    type Item = Assignment;

    fn next(&mut self) -> Option<Assignment> {
        let mut path = Vec::new();
        let content = (!self.rest.is_empty()).then(|| self.path_and_content(&mut path))?;
        Some(Assignment { path, content })
    }
}

impl<'t, 'f> Assignments<'t, 'f> {
    pub(super) fn new(text: &'t str, syntax: Syntax<'f>) -> Self {
        Self { rest: text, syntax }
    }

    /// Parses the path before `=` and the content after it. The steps before a problem are in the path.
    fn path_and_content(&mut self, path: &mut Vec<Step>) -> Parsed<Content> {
        let name_ends = if matches!(self.syntax, Syntax::Literal) { "=.[" } else { "=.[," };
        let mut nesting = 0;
        loop {
            let (name, mut end) = self.until(name_ends);
            path.push(Step::Name(name.clone()));
            match end {
                None if !name.is_empty() => return Err(AssignmentError::NoValue(name)),
                Some(',') => return Err(AssignmentError::EndsWithComma(name)),
                Some('.') if nesting == MAX_NESTING => {
                    return Err(AssignmentError::TooDeep { limit: MAX_NESTING });
                }
                Some('.') => nesting += 1,
                _ => {}
            }
            while end == Some('[') {
                if path.len() >= MAX_STEPS {
                    return Err(AssignmentError::TooDeep { limit: MAX_STEPS });
                }
                path.push(Step::Index(self.index()?));
                let (extra, next) = self.until("=.[");
                if !extra.is_empty() {
                    return Err(AssignmentError::AfterIndex(extra));
                }
                end = next;
            }
            match end {
                Some('=') => return self.content(),
                Some(_) => {}
                None => return Ok(Content::Missing),
            }
        }
    }

    /// Reads to one of some characters. Returns the text, and the character unless the input ended.
    fn until(&mut self, ends: &str) -> (String, Option<char>) {
        let escapes = !matches!(self.syntax, Syntax::Literal);
        let mut text = String::new();
        let mut characters = self.rest.chars();
        let end = loop {
            match characters.next() {
                Some('\\') if escapes => text.extend(characters.next()),
                Some(character) if !ends.contains(character) => text.push(character),
                end => break end,
            }
        };
        self.rest = characters.as_str();
        (text, end)
    }

    fn index(&mut self) -> Parsed<i64> {
        let (text, end) = self.until("]");
        let reason = match text.parse() {
            _ if end.is_none() => "EOF".to_owned(),
            Ok(index) => return Ok(index),
            Err(_) => format!("strconv.Atoi: parsing {text:?}: invalid syntax"),
        };
        Err(AssignmentError::BadIndex(reason))
    }

    fn content(&mut self) -> Parsed<Content> {
        let value = match self.syntax {
            Syntax::Literal => Ok(ValueTree::text(mem::take(&mut self.rest))),
            Syntax::Json => self.json(),
            _ if self.rest.is_empty() => return Ok(Content::Empty),
            _ if self.rest.starts_with('{') => self.list(),
            _ => {
                let (text, _) = self.until(",");
                self.scalar(text)
            }
        };
        value.map(Content::Value)
    }

    fn list(&mut self) -> Parsed<ValueTree> {
        let mut items = Vec::new();
        self.skip('{');
        loop {
            let (text, end) = self.until(",}");
            let end = end.ok_or(AssignmentError::OpenList)?;
            items.push(self.scalar(text)?);
            if end == '}' {
                self.skip(',');
                return Ok(ValueTree::List(items));
            }
        }
    }

    fn scalar(&mut self, text: String) -> Parsed<ValueTree> {
        match &mut self.syntax {
            Syntax::Typed => Ok(typed(text)),
            Syntax::File(read) => read(&text).map(ValueTree::text).map_err(AssignmentError::File),
            Syntax::Text | Syntax::Json | Syntax::Literal => Ok(ValueTree::text(text)),
        }
    }

    /// Parses a JSON value; nothing is null. The next assignment may follow without a comma.
    fn json(&mut self) -> Parsed<ValueTree> {
        self.rest = self.rest.trim_start();
        let mut value = ValueTree::Null;
        if !self.rest.is_empty() && !self.rest.starts_with(',') {
            let mut reader = serde_json::Deserializer::from_str(self.rest);
            let json = serde_json::Value::deserialize(&mut reader);
            value = ValueTree::from_json(&json.map_err(|error| AssignmentError::Json(error.to_string()))?);
            let length = reader.into_iter::<serde_json::Value>().byte_offset();
            self.rest = self.rest[length..].trim_start();
        }
        self.skip(',');
        Ok(value)
    }

    fn skip(&mut self, character: char) {
        self.rest = self.rest.strip_prefix(character).unwrap_or(self.rest);
    }
}

/// Returns a text as boolean, null or whole number, if it is one.
fn typed(text: String) -> ValueTree {
    match text.to_ascii_lowercase().as_str() {
        "true" => ValueTree::Bool(true),
        "false" => ValueTree::Bool(false),
        "null" => ValueTree::Null,
        "0" => ValueTree::Int(0),
        // Texts such as `007` stay as they are.
        number if number.starts_with('0') => ValueTree::text(text),
        number => number.parse().map_or_else(|_| ValueTree::text(text), ValueTree::Int),
    }
}
