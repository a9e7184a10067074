//! Converts the tree to the lines of a table.

#[cfg(test)]
mod tests;
mod v1beta1;
mod v1beta2;

use jiff::Timestamp;

use super::{
    conditions::ConditionSet,
    shown_conditions::{ConditionFilter, ShownConditions},
    table::{Cell, Span, Tone, TreeTable},
    title::title,
    tree::{ClusterTree, Subject, TreeNode},
};

const BRANCH: &str = "├─";
const LAST_BRANCH: &str = "└─";
const TRUNK: &str = "│ ";
const NO_TRUNK: &str = "  ";
/// The indent of conditions behind the branches of objects.
const CONDITION_INDENT: &str = "          ";

impl ClusterTree {
    /// Returns the table of clusterctl, in the form for the conditions that were read.
    /// Source: clusterctl v1.14 internal/util/tree/tree.go (PrintObjectTree, PrintObjectTreeV1Beta1).
    pub fn table(&self, shown: &ShownConditions, now: Timestamp) -> TreeTable {
        match self.conditions {
            ConditionSet::V1Beta2 => v1beta2::table(&self.root, &TableOptions { shown, now }),
            ConditionSet::V1Beta1 => v1beta1::table(&self.root, &TableOptions { shown, now }),
        }
    }
}

/// The options of the table.
#[derive(Clone, Copy, Debug)]
struct TableOptions<'a> {
    shown: &'a ShownConditions,
    now: Timestamp,
}

/// A node and its position.
#[derive(Clone, Copy, Debug)]
struct NodePosition<'a> {
    node: &'a TreeNode,
    /// The branches before the node.
    prefix: &'a str,
    /// True if no node follows the descendants of this node.
    ends_tree: bool,
}

impl NodePosition<'_> {
    /// Visits the node and its descendants.
    fn walk(self, visit: &mut impl FnMut(NodePosition<'_>)) {
        visit(self);
        let count = self.node.children.len();
        for (at, child) in self.node.children.iter().enumerate() {
            let is_last = at + 1 == count;
            let prefix = branch(self.prefix, is_last);
            let place = NodePosition { node: child, prefix: &prefix, ends_tree: self.ends_tree && is_last };
            place.walk(visit);
        }
    }

    fn has_children(self) -> bool {
        !self.node.children.is_empty()
    }

    fn name(self) -> Cell {
        with_prefix(self.prefix, title(self.node))
    }

    /// Returns the branches before the continuation lines of a message.
    fn continuation_prefix(self) -> Cell {
        if self.ends_tree && !self.has_children() {
            return Cell::default();
        }
        let own = if self.has_children() { TRUNK } else { "" };
        Cell::toned(continuation(self.prefix) + own, Tone::Faint)
    }

    /// Returns the branches before a condition of the node.
    fn condition_prefix(self, is_last: bool) -> String {
        let own = if self.has_children() { TRUNK } else { NO_TRUNK };
        branch(&format!("{}{own}{CONDITION_INDENT}", self.prefix), is_last)
    }

    /// Returns the conditions to show in lines of their own.
    fn shown_conditions(self, look: &TableOptions<'_>) -> Option<ConditionFilter> {
        let key = match &self.node.subject {
            Subject::Object(seen) => &seen.key,
            Subject::Named(key) => key,
            Subject::Unreadable(_) | Subject::Group(_) | Subject::Heading => return None,
        };
        look.shown.filter_for(&key.kind, &key.name)
    }
}

/// Returns the branches of the next level.
fn branch(prefix: &str, is_last: bool) -> String {
    continuation(prefix) + if is_last { LAST_BRANCH } else { BRANCH }
}

/// Returns the branches of continuation lines: a branch with a successor becomes a trunk.
fn continuation(prefix: &str) -> String {
    prefix.replace(BRANCH, TRUNK).replace(LAST_BRANCH, NO_TRUNK)
}

fn with_prefix(prefix: &str, cell: Cell) -> Cell {
    let Cell(mut spans) = Cell::toned(prefix, Tone::Faint);
    spans.extend(cell.0);
    Cell(spans)
}

/// Returns the message of a group.
fn group_message(names: &[String]) -> Cell {
    let text = match names {
        [first, second, _, ..] => format!("See {first}, {second}, ..."),
        names => format!("See {}", names.join(", ")),
    };
    Cell(vec![Span::new(text, Tone::Faint)])
}
