//! The comments of one list or mapping, attached to its elements.

use crate::tree::{Comment, Entry, Value};

/// The elements of a list or mapping with their comments.
pub(super) struct Arranged<'a, T> {
    /// The comments before the first element. They belong to the list or mapping itself.
    pub(super) leading: Vec<&'a Comment>,
    pub(super) elements: Vec<Element<'a, T>>,
    /// The comments behind the last element.
    pub(super) trailing: Vec<&'a Comment>,
}

pub(super) struct Element<'a, T> {
    pub(super) item: T,
    /// The comments above the element, except for the first one.
    pub(super) above: Vec<&'a Comment>,
    /// The comments behind the element on its line.
    pub(super) inline: Vec<&'a Comment>,
}

pub(super) fn arrange_branch(branch: &[Entry]) -> Arranged<'_, (&str, &Value)> {
    arrange(branch.iter().map(|entry| match entry {
        Entry::Comment(comment) => Err(comment),
        Entry::Field { key, value } => Ok((key.as_str(), value)),
    }))
}

pub(super) fn arrange_list(items: &[Value]) -> Arranged<'_, &Value> {
    arrange(items.iter().map(|item| match item {
        Value::Comment(comment) => Err(comment),
        value => Ok(value),
    }))
}

fn arrange<'a, T>(entries: impl Iterator<Item = Result<T, &'a Comment>>) -> Arranged<'a, T> {
    let mut arranged = Arranged { leading: Vec::new(), elements: Vec::new(), trailing: Vec::new() };
    let (mut above, mut inline) = (Vec::new(), Vec::new());
    for entry in entries {
        match entry {
            Err(comment) if comment.is_inline => inline.push(comment),
            Err(comment) => above.push(comment),
            Ok(item) => {
                if arranged.elements.is_empty() {
                    arranged.leading = std::mem::take(&mut above);
                }
                let (above, inline) = (std::mem::take(&mut above), std::mem::take(&mut inline));
                arranged.elements.push(Element { item, above, inline });
            }
        }
    }
    above.append(&mut inline);
    let rest = if arranged.elements.is_empty() { &mut arranged.leading } else { &mut arranged.trailing };
    *rest = above;
    arranged
}
