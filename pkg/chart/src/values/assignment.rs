//! The grammar of `--set`, `--set-string`, `--set-file` and `--set-json`.

use std::mem;

use template::Str;

use crate::value_tree::{Table, ValueTree};

/// The largest index of a list.
const MAX_INDEX: usize = 65_536;
/// The deepest nesting of names.
pub(super) const MAX_NESTING: usize = 30;

/// A malformed assignment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum AssignmentError {
    #[error("key {0:?} has no value")]
    NoValue(String),
    #[error("key {0:?} has no value (cannot end with ,)")]
    EndsWithComma(String),
    #[error("key map {0:?} has no value")]
    EmptyTable(String),
    #[error("value name nested level is greater than maximum supported nested level of {limit}")]
    TooDeep { limit: usize },
    #[error("unable to parse key: {key:?} is {found}, not {expected}")]
    WrongType { key: String, found: &'static str, expected: &'static str },
    #[error("error parsing index: {0}")]
    BadIndex(String),
    #[error("negative {0} index not allowed")]
    NegativeIndex(i64),
    #[error("index of {index} is greater than maximum supported index of {limit}")]
    IndexTooLarge { index: i64, limit: usize },
    #[error("unexpected data at end of array index: {0:?}")]
    AfterIndex(String),
    #[error("list must terminate with '}}'")]
    OpenList,
    #[error("{0}")]
    Json(String),
    #[error("{0}")]
    File(String),
}

pub(super) type Parsed<T> = Result<T, AssignmentError>;

/// The meaning of the texts behind `=`.
pub(super) enum Form<'f> {
    Typed,
    Text,
    Json,
    File(&'f mut dyn FnMut(&str) -> Result<String, String>),
}

/// The reason why parsing of one key ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Key,
    End,
}

pub(super) struct Parser<'f> {
    characters: Vec<char>,
    at: usize,
    form: Form<'f>,
}

impl<'f> Parser<'f> {
    pub(super) fn new(text: &str, form: Form<'f>) -> Self {
        Self { characters: text.chars().collect(), at: 0, form }
    }

    pub(super) fn run(&mut self, table: &mut Table) -> Parsed<()> {
        while self.key(table, 0)? == Next::Key {}
        Ok(())
    }

    /// Reads to a character of `stops`. Returns the text, and the character unless the input ended.
    fn until(&mut self, stops: &str) -> (String, Option<char>) {
        let mut text = String::new();
        while let Some(character) = self.take() {
            if stops.contains(character) {
                return (text, Some(character));
            }
            if character != '\\' {
                text.push(character);
            } else if let Some(escaped) = self.take() {
                text.push(escaped);
            }
        }
        (text, None)
    }

    fn take(&mut self) -> Option<char> {
        let character = self.characters.get(self.at).copied();
        self.at += usize::from(character.is_some());
        character
    }

    /// Parses one key with its value into a table.
    fn key(&mut self, table: &mut Table, nesting: usize) -> Parsed<Next> {
        let (name, stop) = self.until("=[,.");
        match stop {
            None if name.is_empty() => Ok(Next::End),
            None => Err(AssignmentError::NoValue(name)),
            Some('[') => {
                let index = self.index()?;
                let mut list = existing_list(table, &name)?;
                let next = self.item(&mut list, index, nesting)?;
                insert(table, &name, ValueTree::List(list));
                Ok(next)
            }
            Some('=') => {
                let (value, next) = self.value()?;
                insert(table, &name, value);
                Ok(next)
            }
            Some('.') => {
                if nesting >= MAX_NESTING {
                    return Err(AssignmentError::TooDeep { limit: MAX_NESTING });
                }
                let (mut inner, exists) = existing_table(table, &name)?;
                let next = self.key(&mut inner, nesting + 1)?;
                if inner.is_empty() && next == Next::Key {
                    return Err(AssignmentError::EmptyTable(name));
                }
                if !inner.is_empty() || exists {
                    insert(table, &name, ValueTree::Table(inner));
                }
                Ok(next)
            }
            Some(_) => Err(AssignmentError::EndsWithComma(name)),
        }
    }

    fn index(&mut self) -> Parsed<i64> {
        let (text, stop) = self.until("]");
        if stop.is_none() {
            return Err(AssignmentError::BadIndex("EOF".to_owned()));
        }
        parse_index(&text)
    }

    /// Parses the text after an index.
    fn item(&mut self, list: &mut Vec<ValueTree>, index: i64, nesting: usize) -> Parsed<Next> {
        let at = usize::try_from(index).map_err(|_| AssignmentError::NegativeIndex(index))?;
        let (extra, stop) = self.until("[.=");
        if !extra.is_empty() {
            return Err(AssignmentError::AfterIndex(extra));
        }
        match stop {
            None => Ok(Next::End),
            Some('=') => {
                // After an empty value at the end, parsing goes on and ends there.
                let (value, _) = self.value()?;
                set_index(list, at, value)?;
                Ok(Next::Key)
            }
            Some('[') => {
                let inner_index = self.index()?;
                let mut inner = match list.get_mut(at).map(|item| mem::replace(item, ValueTree::Null)) {
                    None | Some(ValueTree::Null) => Vec::new(),
                    Some(ValueTree::List(inner)) => inner,
                    Some(other) => return Err(wrong_type(&format!("[{at}]"), &other, "a list")),
                };
                let next = self.item(&mut inner, inner_index, nesting)?;
                set_index(list, at, ValueTree::List(inner))?;
                Ok(next)
            }
            Some(_) => {
                let (mut inner, exists) =
                    match list.get_mut(at).map(|item| mem::replace(item, ValueTree::Null)) {
                        None => (Table::new(), false),
                        Some(ValueTree::Table(inner)) => (inner, true),
                        Some(_) => (Table::new(), true),
                    };
                let next = self.key(&mut inner, nesting)?;
                if next == Next::Key || exists {
                    set_index(list, at, ValueTree::Table(inner))?;
                }
                Ok(next)
            }
        }
    }

    /// Parses the text behind `=`.
    fn value(&mut self) -> Parsed<(ValueTree, Next)> {
        if matches!(self.form, Form::Json) {
            return self.json().map(|value| (value, Next::Key));
        }
        match self.characters.get(self.at) {
            None => Ok((ValueTree::text(""), Next::End)),
            Some('{') => {
                self.at += 1;
                self.list().map(|list| (list, Next::Key))
            }
            Some(_) => {
                let (text, _) = self.until(",");
                self.scalar(text).map(|value| (value, Next::Key))
            }
        }
    }

    fn list(&mut self) -> Parsed<ValueTree> {
        let mut items = Vec::new();
        loop {
            let (text, stop) = self.until(",}");
            if stop.is_none() {
                return Err(AssignmentError::OpenList);
            }
            items.push(self.scalar(text)?);
            if stop == Some('}') {
                if self.characters.get(self.at) == Some(&',') {
                    self.at += 1;
                }
                return Ok(ValueTree::List(items));
            }
        }
    }

    fn scalar(&mut self, text: String) -> Parsed<ValueTree> {
        match &mut self.form {
            Form::Text | Form::Json => Ok(ValueTree::text(text)),
            Form::Typed => Ok(typed(text)),
            Form::File(read) => read(&text).map(ValueTree::text).map_err(AssignmentError::File),
        }
    }

    /// Parses a JSON value and the comma behind it; nothing is null.
    fn json(&mut self) -> Parsed<ValueTree> {
        if self.skip_to_value() {
            return Ok(ValueTree::Null);
        }
        let rest: String = self.characters[self.at..].iter().collect();
        let mut stream = serde_json::Deserializer::from_str(&rest).into_iter::<serde_json::Value>();
        let value = match stream.next() {
            Some(Ok(value)) => ValueTree::from_json(&value),
            Some(Err(error)) => return Err(AssignmentError::Json(error.to_string())),
            None => return Err(AssignmentError::Json("EOF".to_owned())),
        };
        self.at += rest[..stream.byte_offset()].chars().count();
        self.skip_to_value();
        Ok(value)
    }

    /// Skips spaces and one comma. True if a comma or the end was met.
    fn skip_to_value(&mut self) -> bool {
        loop {
            match self.take() {
                None | Some(',') => return true,
                Some(character) if character.is_whitespace() => {}
                Some(_) => {
                    self.at -= 1;
                    return false;
                }
            }
        }
    }
}

pub(super) fn parse_index(text: &str) -> Parsed<i64> {
    text.parse::<i64>()
        .map_err(|_| AssignmentError::BadIndex(format!("strconv.Atoi: parsing {text:?}: invalid syntax")))
}

/// Sets an entry; ignores an empty name.
pub(super) fn insert(table: &mut Table, name: &str, value: ValueTree) {
    if !name.is_empty() {
        table.insert(Str::from(name), value);
    }
}

/// Takes the list of an entry.
pub(super) fn existing_list(table: &mut Table, name: &str) -> Parsed<Vec<ValueTree>> {
    match table.remove(name.as_bytes()) {
        None => Ok(Vec::new()),
        Some(ValueTree::List(list)) => Ok(list),
        Some(other) => Err(wrong_type(name, &other, "a list")),
    }
}

/// Takes the table of an entry, with the fact that it exists.
pub(super) fn existing_table(table: &mut Table, name: &str) -> Parsed<(Table, bool)> {
    match table.remove(name.as_bytes()) {
        None => Ok((Table::new(), false)),
        Some(ValueTree::Table(inner)) => Ok((inner, true)),
        Some(other) => Err(wrong_type(name, &other, "a table")),
    }
}

fn wrong_type(key: &str, found: &ValueTree, expected: &'static str) -> AssignmentError {
    AssignmentError::WrongType { key: key.to_owned(), found: found.type_name(), expected }
}

pub(super) fn set_index(list: &mut Vec<ValueTree>, index: usize, value: ValueTree) -> Parsed<()> {
    if index > MAX_INDEX {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        return Err(AssignmentError::IndexTooLarge { index, limit: MAX_INDEX });
    }
    if list.len() <= index {
        list.resize(index + 1, ValueTree::Null);
    }
    list[index] = value;
    Ok(())
}

/// Returns a text as boolean, null or whole number, if it is one.
fn typed(text: String) -> ValueTree {
    if text.eq_ignore_ascii_case("true") {
        ValueTree::Bool(true)
    } else if text.eq_ignore_ascii_case("false") {
        ValueTree::Bool(false)
    } else if text.eq_ignore_ascii_case("null") {
        ValueTree::Null
    } else if text == "0" {
        ValueTree::Int(0)
    } else {
        match text.parse() {
            Ok(number) if !text.starts_with('0') => ValueTree::Int(number),
            _ => ValueTree::text(text),
        }
    }
}
