//! The list of applications: unique, in order, with negations.

use indexmap::IndexSet;

/// The applications of a target.
#[derive(Debug, Default)]
pub(super) struct Applications {
    items: IndexSet<String>,
    /// Negations without an earlier entry. Each suppresses the next such entry.
    negations: IndexSet<String>,
}

impl Applications {
    /// Creates a list from the entries of one class.
    fn of<'a>(entries: impl IntoIterator<Item = &'a String>) -> Self {
        let mut list = Self::default();
        for entry in entries {
            match entry.strip_prefix('~') {
                Some(negated) => list.negate(negated),
                None => list.add(entry),
            }
        }
        list
    }

    /// Adds the entries of a class. Its negations have precedence over its other entries.
    pub(super) fn merge<'a>(&mut self, entries: impl IntoIterator<Item = &'a String>) {
        let Self { items, negations } = Self::of(entries);
        for negated in &negations {
            self.negate(negated);
        }
        for item in &items {
            self.add(item);
        }
    }

    pub(super) fn into_items(self) -> Vec<String> {
        self.items.into_iter().collect()
    }

    /// Removes an entry, or suppresses the next one.
    fn negate(&mut self, name: &str) {
        if !self.items.shift_remove(name) {
            self.negations.insert(name.to_owned());
        }
    }

    fn add(&mut self, name: &str) {
        if !self.negations.shift_remove(name) {
            self.items.insert(name.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(lists: &[&[&str]]) -> Vec<String> {
        let mut applications = Applications::default();
        for list in lists {
            let entries: Vec<String> = list.iter().map(|entry| (*entry).to_owned()).collect();
            applications.merge(&entries);
        }
        applications.into_items()
    }

    #[test]
    fn a_negation_removes_an_earlier_entry() {
        assert_eq!(merged(&[&["a", "b", "c"], &["~b"]]), ["a", "c"]);
        assert_eq!(merged(&[&["a"], &["~a"], &["a"]]), ["a"]);
        assert_eq!(merged(&[&["a", "~a", "b", "~c", "c", "d", "c"]]), ["b", "d", "c"]);
    }

    #[test]
    fn a_negation_without_entry_suppresses_the_next_one_only() {
        assert_eq!(merged(&[&["~a"], &["a"], &["b"]]), ["b"]);
        assert_eq!(merged(&[&["~a"], &["a"], &["a"]]), ["a"]);
    }

    #[test]
    fn entries_are_unique_and_keep_their_order() {
        assert_eq!(merged(&[&["a", "b"], &["b", "c", "a"]]), ["a", "b", "c"]);
    }
}
