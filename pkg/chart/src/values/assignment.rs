//! One assignment of a flag, and its effect on values.

use std::mem;

use template::Str;

use crate::value_tree::{Table, ValueTree};

/// The largest index of a list.
const MAX_INDEX: usize = 65_536;

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

/// A value for the end of a path.
#[derive(Clone)]
pub(super) struct Assignment {
    /// At least one name.
    pub(super) path: Vec<Step>,
    pub(super) content: Parsed<Content>,
}

/// A part of a path: the name of an entry of a table, or the index of an item of a list.
#[derive(Clone)]
pub(super) enum Step {
    Name(String),
    Index(i64),
}

/// The text after a path.
#[derive(Clone)]
pub(super) enum Content {
    Value(ValueTree),
    /// The text ends after `=`.
    Empty,
    /// The text ends before `=`.
    Missing,
}

impl Assignment {
    /// Changes values. A wrong type on the path counts before a problem of the content.
    pub(super) fn apply(self, values: &mut Table) -> Parsed<()> {
        let ends_with_index = matches!(self.path.last(), Some(Step::Index(_)));
        let (value, is_complete) = match self.content {
            Ok(Content::Value(value)) => (Ok(Some(value)), true),
            Ok(Content::Empty) => (Ok(Some(ValueTree::text(""))), ends_with_index),
            Ok(Content::Missing) => (Ok(None), false),
            Err(error) => (Err(error), false),
        };
        Change { value, is_complete }.apply_to_entry(values, &self.path)
    }
}

/// The change of the value at the end of a path.
struct Change {
    value: Parsed<Option<ValueTree>>,
    /// False if the text ended before a value. Such a change adds no table and no list to a list.
    is_complete: bool,
}

impl Change {
    /// Changes the entry of a table that a path begins with. Entries without a name are not added.
    fn apply_to_entry(self, table: &mut Table, path: &[Step]) -> Parsed<()> {
        let name = match path {
            [Step::Name(name)] if name.is_empty() => return self.value.map(drop),
            [Step::Name(name), ..] => name.as_str(),
            _ => return Ok(()),
        };
        let old = table.remove(name.as_bytes());
        let is_kept = old.is_some() || !name.is_empty();
        if let Some(new) = self.apply_to_value(old, path)?.filter(|_| is_kept) {
            table.insert(Str::from(name), new);
        }
        Ok(())
    }

    /// Returns the new value behind the first step of a path, if there is one.
    fn apply_to_value(self, old: Option<ValueTree>, path: &[Step]) -> Parsed<Option<ValueTree>> {
        let [step, inner @ ..] = path else { return Ok(old) };
        let (is_new, is_complete) = (old.is_none(), self.is_complete);
        match inner.first() {
            None => Ok(self.value?.or(old)),
            Some(Step::Name(_)) => {
                let mut table = match (old, step) {
                    (Some(ValueTree::Table(table)), _) => table,
                    (Some(other), Step::Name(_)) => return Err(step.wrong_type(&other, "a table")),
                    _ => Table::new(),
                };
                self.apply_to_entry(&mut table, inner)?;
                let is_dropped = match step {
                    Step::Name(name) if table.is_empty() && is_complete => {
                        return Err(AssignmentError::EmptyTable(name.clone()));
                    }
                    Step::Name(_) => table.is_empty(),
                    Step::Index(_) => !is_complete,
                };
                Ok((!is_new || !is_dropped).then_some(ValueTree::Table(table)))
            }
            Some(Step::Index(index)) => {
                let mut list = match (old, step) {
                    (Some(ValueTree::List(list)), _) => list,
                    (None, _) | (Some(ValueTree::Null), Step::Index(_)) => Vec::new(),
                    (Some(other), _) => return Err(step.wrong_type(&other, "a list")),
                };
                let at = usize::try_from(*index).map_err(|_| AssignmentError::NegativeIndex(*index))?;
                let item = list.get_mut(at).map(|item| mem::replace(item, ValueTree::Null));
                if let Some(item) = self.apply_to_value(item, inner)? {
                    if at > MAX_INDEX {
                        return Err(AssignmentError::IndexTooLarge { index: *index, limit: MAX_INDEX });
                    }
                    list.resize(list.len().max(at + 1), ValueTree::Null);
                    list[at] = item;
                }
                let is_dropped = is_new && !is_complete && matches!(step, Step::Index(_));
                Ok((!is_dropped).then_some(ValueTree::List(list)))
            }
        }
    }
}

impl Step {
    fn wrong_type(&self, found: &ValueTree, expected: &'static str) -> AssignmentError {
        let key = match self {
            Self::Name(name) => name.clone(),
            Self::Index(index) => format!("[{index}]"),
        };
        AssignmentError::WrongType { key, found: found.type_name(), expected }
    }
}
