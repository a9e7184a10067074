//! The grammar of `--set-literal`, where everything behind the first `=` is the text.

use super::assignment::{
    AssignmentError, MAX_NESTING, Next, Parsed, existing_list, existing_table, insert, parse_index, set_index,
};
use crate::value_tree::{Table, ValueTree};

/// Applies an assignment to a table.
pub(super) fn assign(text: &str, table: &mut Table) -> Parsed<()> {
    key(text, table, 0).map(drop)
}

fn until<'t>(text: &'t str, stops: &[char]) -> (&'t str, Option<char>, &'t str) {
    match text.find(stops) {
        Some(at) => (&text[..at], text[at..].chars().next(), &text[at + 1..]),
        None => (text, None, ""),
    }
}

fn key(text: &str, table: &mut Table, nesting: usize) -> Parsed<Next> {
    let (name, stop, rest) = until(text, &['=', '[', '.']);
    match stop {
        None if name.is_empty() => Ok(Next::End),
        None => Err(AssignmentError::NoValue(name.to_owned())),
        Some('=') => {
            insert(table, name, ValueTree::text(rest));
            Ok(Next::Key)
        }
        Some('[') => {
            let (index, rest) = index(rest)?;
            let mut list = existing_list(table, name)?;
            let next = item(rest, &mut list, index, nesting)?;
            insert(table, name, ValueTree::List(list));
            Ok(next)
        }
        Some(_) => {
            if nesting >= MAX_NESTING {
                return Err(AssignmentError::TooDeep { limit: MAX_NESTING });
            }
            let (mut inner, exists) = existing_table(table, name)?;
            let next = key(rest, &mut inner, nesting + 1)?;
            if inner.is_empty() && next == Next::Key {
                return Err(AssignmentError::EmptyTable(name.to_owned()));
            }
            if !inner.is_empty() || exists {
                insert(table, name, ValueTree::Table(inner));
            }
            Ok(next)
        }
    }
}

fn index(text: &str) -> Parsed<(i64, &str)> {
    let (text, stop, rest) = until(text, &[']']);
    if stop.is_none() {
        return Err(AssignmentError::BadIndex("EOF".to_owned()));
    }
    parse_index(text).map(|index| (index, rest))
}

fn item(text: &str, list: &mut Vec<ValueTree>, at: i64, nesting: usize) -> Parsed<Next> {
    let at = usize::try_from(at).map_err(|_| AssignmentError::NegativeIndex(at))?;
    let (extra, stop, rest) = until(text, &['[', '.', '=']);
    if !extra.is_empty() {
        return Err(AssignmentError::AfterIndex(extra.to_owned()));
    }
    let existing = list.get_mut(at).map(|item| std::mem::replace(item, ValueTree::Null));
    match stop {
        None => Ok(Next::End),
        Some('=') => set_index(list, at, ValueTree::text(rest)).map(|()| Next::Key),
        Some('[') => {
            let (inner_at, rest) = index(rest)?;
            let mut inner = if let Some(ValueTree::List(inner)) = existing { inner } else { Vec::new() };
            let next = item(rest, &mut inner, inner_at, nesting)?;
            set_index(list, at, ValueTree::List(inner))?;
            Ok(next)
        }
        Some(_) => {
            let mut inner = if let Some(ValueTree::Table(inner)) = existing { inner } else { Table::new() };
            let next = key(rest, &mut inner, nesting)?;
            set_index(list, at, ValueTree::Table(inner))?;
            Ok(next)
        }
    }
}
