//! The table for conditions of contract v1beta2.

use api::output::{PartRole, ReplicaCounts};

use super::{LAST_BRANCH, NodePosition, TableOptions, group_message, with_prefix};
use crate::describe::{
    age::format_age,
    conditions::Condition,
    rows::BRANCH,
    shown_conditions::ConditionFilter,
    table::{Cell, Tone, TreeTable},
    tree::{ObjectSummary, Subject, TreeNode, UnreadableObject},
    wrap::wrap_message,
};

const COLUMNS: [&str; 9] =
    ["NAME", "REPLICAS", "AVAILABLE", "READY", "UP TO DATE", "STATUS", "REASON", "SINCE", "MESSAGE"];
/// Conditions that are false in a healthy cluster.
const NEGATIVE: [&str; 7] =
    ["Paused", "Deleting", "RollingOut", "ScalingUp", "ScalingDown", "Updating", "Remediating"];

pub(super) fn table(root: &TreeNode, look: &TableOptions<'_>) -> TreeTable {
    let mut lines = Vec::new();
    NodePosition { node: root, prefix: "", ends_tree: true }
        .walk(&mut |place| add_rows(place, look, &mut lines));
    TreeTable { columns: &COLUMNS, gap: 2, lines }
}

fn add_rows(place: NodePosition<'_>, look: &TableOptions<'_>, lines: &mut Vec<Vec<Cell>>) {
    let shown = place.shown_conditions(look);
    let [replicas, available, ready, up_to_date] = replica_columns(place.node).map(Cell::plain);
    let verdict = if shown.is_some() { StatusCells::default() } else { status_cells(place.node, look) };
    let counts = [place.name(), replicas, available, ready, up_to_date];
    verdict.add(counts, &place.continuation_prefix(), lines);
    if let (Some(which), Subject::Object(seen)) = (shown, &place.node.subject) {
        add_conditions(place, seen, which, look, lines);
    }
}

fn add_conditions(
    place: NodePosition<'_>,
    seen: &ObjectSummary,
    which: ConditionFilter,
    look: &TableOptions<'_>,
    lines: &mut Vec<Vec<Cell>>,
) {
    let conditions: Vec<_> = seen
        .conditions
        .iter()
        .filter(|condition| which == ConditionFilter::All || is_informative(condition))
        .collect();
    let count = conditions.len();
    for (at, condition) in conditions.into_iter().enumerate() {
        let prefix = place.condition_prefix(at + 1 == count);
        // The continuation lines under the last condition have no trunk, not even blanks.
        let further = match prefix.strip_suffix(LAST_BRANCH) {
            Some(rest) => rest.to_owned(),
            None => prefix.replace(BRANCH, "│ "),
        };
        let name = with_prefix(&prefix, Cell::toned(&*condition.condition_type, Tone::Topic));
        let counts = [name, Cell::default(), Cell::default(), Cell::default(), Cell::default()];
        let is_negative = NEGATIVE.contains(&&*condition.condition_type);
        let verdict = StatusCells::of(condition, is_negative, look);
        verdict.add(counts, &Cell::toned(further, Tone::Faint), lines);
    }
}

/// True for `Available` and `Ready`, and for a condition with a message or in an unhealthy state.
fn is_informative(condition: &Condition) -> bool {
    let healthy = if NEGATIVE.contains(&&*condition.condition_type) { "False" } else { "True" };
    matches!(&*condition.condition_type, "Available" | "Ready")
        || !condition.message.is_empty()
        || (*condition.status != *healthy && matches!(&*condition.status, "True" | "False" | "Unknown"))
}

/// The columns after the counts.
#[derive(Debug, Default)]
struct StatusCells {
    status: Cell,
    reason: Cell,
    since: Cell,
    message: Vec<Cell>,
}

impl StatusCells {
    fn of(condition: &Condition, is_negative: bool, look: &TableOptions<'_>) -> Self {
        let tone = match (&*condition.status, is_negative) {
            ("True", false) | ("False", true) => Tone::Good,
            ("True", true) | ("False", false) => Tone::Bad,
            ("Unknown", _) => Tone::Doubtful,
            _ => Tone::Faint,
        };
        Self {
            status: Cell::toned(&*condition.status, tone),
            reason: Cell::plain(&*condition.reason),
            since: Cell::plain(format_age(condition.since, look.now)),
            message: wrap_message(&condition.message).into_iter().map(Cell::plain).collect(),
        }
    }

    /// Returns the columns of an unreadable object.
    fn of_unreadable(unreadable: &UnreadableObject) -> Self {
        Self {
            status: Cell::toned("Unknown", Tone::Doubtful),
            reason: Cell::plain(&*unreadable.reason),
            since: Cell::default(),
            message: wrap_message(&unreadable.message).into_iter().map(Cell::plain).collect(),
        }
    }

    /// Adds a line, and one more for each continuation line of the message.
    fn add(self, counts: [Cell; 5], further: &Cell, lines: &mut Vec<Vec<Cell>>) {
        let mut message = self.message.into_iter();
        let first = [self.status, self.reason, self.since, message.next().unwrap_or_default()];
        lines.push(counts.into_iter().chain(first).collect());
        lines.extend(message.map(|text| {
            let mut line = vec![Cell::default(); COLUMNS.len()];
            line[0] = further.clone();
            line[COLUMNS.len() - 1] = text;
            line
        }));
    }
}

fn status_cells(node: &TreeNode, look: &TableOptions<'_>) -> StatusCells {
    let of = |condition: Option<&Condition>| {
        condition.map_or_else(StatusCells::default, |condition| StatusCells::of(condition, false, look))
    };
    match &node.subject {
        Subject::Group(group) => {
            StatusCells { message: vec![group_message(&group.names)], ..of(group.ready.as_ref()) }
        }
        Subject::Unreadable(unreadable) => StatusCells::of_unreadable(unreadable),
        Subject::Object(seen) => of(row_condition(node.role, seen)),
        Subject::Named(_) | Subject::Heading => StatusCells::default(),
    }
}

/// Returns the condition in the row of an object.
/// Source: clusterctl v1.14 internal/util/tree/tree.go (newRowDescriptor); differs: in clusterctl, a MachinePool has
/// none.
fn row_condition(role: PartRole, seen: &ObjectSummary) -> Option<&Condition> {
    match role {
        PartRole::Cluster | PartRole::MachineDeployment => seen.condition("Available"),
        PartRole::MachineSet => None,
        PartRole::ControlPlane | PartRole::MachinePool => {
            seen.condition("Available").or_else(|| seen.condition("Ready"))
        }
        PartRole::MachineHealthCheck => seen.condition("RemediationAllowed"),
        _ => seen.condition("Ready"),
    }
}

/// Returns the columns REPLICAS, AVAILABLE, READY and UP TO DATE.
fn replica_columns(node: &TreeNode) -> [String; 4] {
    let seen = match &node.subject {
        Subject::Object(seen) => seen,
        Subject::Group(group) => {
            let ready = group.ready.as_ref().is_some_and(Condition::is_true);
            let count = |holds: bool| if holds { group.names.len() } else { 0 }.to_string();
            return [String::new(), count(group.are_available), count(ready), count(group.are_up_to_date)];
        }
        Subject::Named(_) | Subject::Unreadable(_) | Subject::Heading => return Default::default(),
    };
    if node.role == PartRole::Machine {
        let holds = |kind: &str| u8::from(seen.condition(kind).is_some_and(Condition::is_true)).to_string();
        return ["1".to_owned(), holds("Available"), holds("Ready"), holds("UpToDate")];
    }
    let ReplicaCounts { desired, current, available, ready, up_to_date } = seen.replicas;
    let has_both = match node.role {
        PartRole::Cluster | PartRole::MachineHealthCheck => desired.or(current).is_some(),
        PartRole::ControlPlane => desired.is_some() && current.is_some(),
        _ => desired.is_some(),
    };
    let replicas = format!("{}/{}", current.unwrap_or(0), desired.unwrap_or(0));
    let text = |count: Option<i64>| count.map(|count| count.to_string()).unwrap_or_default();
    [if has_both { replicas } else { String::new() }, text(available), text(ready), text(up_to_date)]
}
