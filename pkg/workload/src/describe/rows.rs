//! From the tree to the lines of a table.

mod current;
mod older;
#[cfg(test)]
mod tests;

use jiff::Timestamp;

use super::{
    conditions::ConditionSet,
    shown::{ShownConditions, Which},
    table::{Cell, Span, Tone, TreeTable},
    title::title,
    tree::{ClusterTree, Subject, TreeNode},
};

const BRANCH: &str = "├─";
const LAST_BRANCH: &str = "└─";
const TRUNK: &str = "│ ";
const NO_TRUNK: &str = "  ";
/// Conditions stand so far behind the branches of objects.
const CONDITION_INDENT: &str = "          ";

impl ClusterTree {
    /// The table that clusterctl prints, in the form that belongs to the conditions that were read.
    /// Source: clusterctl v1.14 internal/util/tree/tree.go (PrintObjectTree, PrintObjectTreeV1Beta1).
    pub fn table(&self, shown: &ShownConditions, now: Timestamp) -> TreeTable {
        match self.conditions {
            ConditionSet::V1Beta2 => current::table(&self.root, &Look { shown, now }),
            ConditionSet::V1Beta1 => older::table(&self.root, &Look { shown, now }),
        }
    }
}

/// What rows depend on beside the tree.
#[derive(Clone, Copy, Debug)]
struct Look<'a> {
    shown: &'a ShownConditions,
    now: Timestamp,
}

/// A node and where it stands.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    node: &'a TreeNode,
    /// The branches before it.
    prefix: &'a str,
    /// Whether nothing comes behind it and what is below it.
    ends_tree: bool,
}

impl Place<'_> {
    /// Visits the node, then everything below it.
    fn walk(self, visit: &mut impl FnMut(Place<'_>)) {
        visit(self);
        let count = self.node.children.len();
        for (at, child) in self.node.children.iter().enumerate() {
            let is_last = at + 1 == count;
            let prefix = branch(self.prefix, is_last);
            let place = Place { node: child, prefix: &prefix, ends_tree: self.ends_tree && is_last };
            place.walk(visit);
        }
    }

    fn has_children(self) -> bool {
        !self.node.children.is_empty()
    }

    fn name(self) -> Cell {
        behind(self.prefix, title(self.node))
    }

    /// Branches before the further lines of a message.
    fn further(self) -> Cell {
        if self.ends_tree && !self.has_children() {
            return Cell::default();
        }
        let own = if self.has_children() { TRUNK } else { "" };
        Cell::toned(carried_on(self.prefix) + own, Tone::Faint)
    }

    /// Branches before one of its conditions.
    fn condition_prefix(self, is_last: bool) -> String {
        let own = if self.has_children() { TRUNK } else { NO_TRUNK };
        branch(&format!("{}{own}{CONDITION_INDENT}", self.prefix), is_last)
    }

    /// Which of its conditions are shown for themselves.
    fn shown(self, look: &Look<'_>) -> Option<Which> {
        let key = match &self.node.subject {
            Subject::Object(seen) => &seen.key,
            Subject::Named(key) => key,
            Subject::Unreadable(_) | Subject::Group(_) | Subject::Heading => return None,
        };
        look.shown.of(&key.kind, &key.name)
    }
}

/// Branches of the next level.
fn branch(prefix: &str, is_last: bool) -> String {
    carried_on(prefix) + if is_last { LAST_BRANCH } else { BRANCH }
}

/// Branches of the lines below: those that go on become trunks.
fn carried_on(prefix: &str) -> String {
    prefix.replace(BRANCH, TRUNK).replace(LAST_BRANCH, NO_TRUNK)
}

fn behind(prefix: &str, cell: Cell) -> Cell {
    let Cell(mut spans) = Cell::toned(prefix, Tone::Faint);
    spans.extend(cell.0);
    Cell(spans)
}

/// What a group says in place of a message.
fn members(names: &[String]) -> Cell {
    let text = match names {
        [first, second, _, ..] => format!("See {first}, {second}, ..."),
        names => format!("See {}", names.join(", ")),
    };
    Cell(vec![Span::new(text, Tone::Faint)])
}
