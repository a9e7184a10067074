//! Sets of fields, as `managedFields` records them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::path_element::PathElement;

/// A set of paths.
///
/// Shape: a tree. The set contains a path if the entry at its end is a member. That implies nothing about the fields
/// above or below it. No entry is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldSet {
    entries: BTreeMap<PathElement, FieldSetEntry>,
}

/// The content of a set at and below one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldSetEntry {
    /// True if the set contains the path to this entry.
    pub(super) is_member: bool,
    pub(super) children: FieldSet,
}

impl FieldSetEntry {
    fn is_empty(&self) -> bool {
        !self.is_member && self.children.is_empty()
    }
}

impl FieldSet {
    /// Creates a set of these field paths.
    pub(super) fn of_fields(paths: &[&[&str]]) -> Self {
        let mut set = Self::default();
        for path in paths {
            let path: Vec<PathElement> = path.iter().map(|name| PathElement::field(name)).collect();
            set.insert(&path);
        }
        set
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the entries of the first level, in order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&PathElement, &FieldSetEntry)> {
        self.entries.iter()
    }

    /// Returns the entry at one step.
    pub(super) fn get(&self, element: &PathElement) -> Option<&FieldSetEntry> {
        self.entries.get(element)
    }

    /// Sets the entry at one step. Ignores an empty entry.
    pub(super) fn set(&mut self, element: PathElement, entry: FieldSetEntry) {
        if !entry.is_empty() {
            self.entries.insert(element, entry);
        }
    }

    /// Adds one path. Ignores the empty path: no manager owns the whole object.
    pub(super) fn insert(&mut self, path: &[PathElement]) {
        let Some((first, rest)) = path.split_first() else { return };
        if !self.entries.contains_key(first) {
            self.entries.insert(first.clone(), FieldSetEntry::default());
        }
        let entry = self.entries.get_mut(first).expect("it was put in above");
        if rest.is_empty() {
            entry.is_member = true;
        } else {
            entry.children.insert(rest);
        }
    }

    pub(super) fn contains(&self, path: &[PathElement]) -> bool {
        let Some((first, rest)) = path.split_first() else { return false };
        self.entries.get(first).is_some_and(|entry| {
            if rest.is_empty() { entry.is_member } else { entry.children.contains(rest) }
        })
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        let mut out = self.clone();
        out.extend(other);
        out
    }

    /// Adds all paths of another set.
    pub(super) fn extend(&mut self, other: &Self) {
        for (element, entry) in &other.entries {
            if let Some(mine) = self.entries.get_mut(element) {
                mine.is_member |= entry.is_member;
                mine.children.extend(&entry.children);
            } else {
                self.entries.insert(element.clone(), entry.clone());
            }
        }
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        let mut out = Self::default();
        for (element, entry) in &self.entries {
            if let Some(theirs) = other.entries.get(element) {
                let both = FieldSetEntry {
                    is_member: entry.is_member && theirs.is_member,
                    children: entry.children.intersection(&theirs.children),
                };
                out.set(element.clone(), both);
            }
        }
        out
    }

    /// Returns the paths of this set that are not in the other set. Descendants of those paths stay.
    pub(super) fn difference(&self, other: &Self) -> Self {
        self.without(other, false)
    }

    /// Returns the paths that are neither in the other set nor below one of its paths.
    pub(super) fn recursive_difference(&self, other: &Self) -> Self {
        self.without(other, true)
    }

    fn without(&self, other: &Self, recursive: bool) -> Self {
        let mut out = Self::default();
        for (element, entry) in &self.entries {
            let rest = match other.entries.get(element) {
                None => entry.clone(),
                Some(theirs) if recursive && theirs.is_member => continue,
                Some(theirs) => FieldSetEntry {
                    is_member: entry.is_member && !theirs.is_member,
                    children: entry.children.without(&theirs.children, recursive),
                },
            };
            out.set(element.clone(), rest);
        }
        out
    }

    /// Returns all paths in the real server's order of conflicts: on each level, first the paths that end there.
    pub(super) fn paths(&self) -> Vec<Vec<PathElement>> {
        let mut out = Vec::new();
        self.collect_paths(&mut Vec::new(), &mut out);
        out
    }

    fn collect_paths(&self, prefix: &mut Vec<PathElement>, out: &mut Vec<Vec<PathElement>>) {
        for (element, entry) in &self.entries {
            if entry.is_member {
                out.push(prefix.iter().chain([element]).cloned().collect());
            }
        }
        for (element, entry) in &self.entries {
            prefix.push(element.clone());
            entry.children.collect_paths(prefix, out);
            prefix.pop();
        }
    }

    /// Returns the set in FieldsV1 syntax.
    pub(super) fn to_json(&self) -> Value {
        self.write(false)
    }

    fn write(&self, include_self: bool) -> Value {
        let mut out = Map::new();
        if include_self && !self.is_empty() {
            out.insert(".".to_owned(), Value::Object(Map::new()));
        }
        for (element, entry) in &self.entries {
            out.insert(element.to_text(), entry.children.write(entry.is_member));
        }
        Value::Object(out)
    }

    /// Parses FieldsV1 syntax.
    pub(super) fn from_json(fields: &Value) -> Result<Self, String> {
        Ok(FieldSetEntry::from_json(fields)?.children)
    }
}

impl FieldSetEntry {
    fn from_json(fields: &Value) -> Result<Self, String> {
        let mut out = Self::default();
        match fields {
            Value::Null => {}
            Value::Object(fields) => {
                for (name, value) in fields {
                    if name == "." {
                        out.is_member = true;
                    } else if let Some(element) = PathElement::parse(name)? {
                        out.children.set(element, Self::from_json(value)?);
                    }
                }
            }
            _ => return Err("expect { or n".to_owned()),
        }
        // A step without known children stands for itself.
        out.is_member |= out.children.is_empty();
        Ok(out)
    }
}
