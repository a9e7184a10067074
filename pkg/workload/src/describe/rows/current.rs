//! The table for conditions of contract v1beta2.

use api::output::PartRole;

use super::{LAST_BRANCH, Look, Place, behind, members};
use crate::describe::{
    age::age,
    conditions::Condition,
    paragraph::paragraph,
    rows::BRANCH,
    shown::Which,
    table::{Cell, Tone, TreeTable},
    tree::{MachineCounts, SeenObject, Subject, TreeNode, Unreadable},
};

const COLUMNS: [&str; 9] =
    ["NAME", "REPLICAS", "AVAILABLE", "READY", "UP TO DATE", "STATUS", "REASON", "SINCE", "MESSAGE"];
/// Conditions that are false in a healthy cluster.
const NEGATIVE: [&str; 7] =
    ["Paused", "Deleting", "RollingOut", "ScalingUp", "ScalingDown", "Updating", "Remediating"];

pub(super) fn table(root: &TreeNode, look: &Look<'_>) -> TreeTable {
    let mut lines = Vec::new();
    Place { node: root, prefix: "", ends_tree: true }.walk(&mut |place| add(place, look, &mut lines));
    TreeTable { columns: &COLUMNS, gap: 2, lines }
}

fn add(place: Place<'_>, look: &Look<'_>, lines: &mut Vec<Vec<Cell>>) {
    let shown = place.shown(look);
    let [replicas, available, ready, up_to_date] = counts(place.node).map(Cell::plain);
    let verdict = if shown.is_some() { Verdict::default() } else { verdict(place.node, look) };
    let counts = [place.name(), replicas, available, ready, up_to_date];
    verdict.add(counts, &place.further(), lines);
    if let (Some(which), Subject::Object(seen)) = (shown, &place.node.subject) {
        add_conditions(place, seen, which, look, lines);
    }
}

fn add_conditions(
    place: Place<'_>,
    seen: &SeenObject,
    which: Which,
    look: &Look<'_>,
    lines: &mut Vec<Vec<Cell>>,
) {
    let conditions: Vec<_> =
        seen.conditions.iter().filter(|condition| which == Which::All || is_telling(condition)).collect();
    let count = conditions.len();
    for (at, condition) in conditions.into_iter().enumerate() {
        let prefix = place.condition_prefix(at + 1 == count);
        // The continuation lines under the last condition have no trunk, not even blanks.
        let further = match prefix.strip_suffix(LAST_BRANCH) {
            Some(rest) => rest.to_owned(),
            None => prefix.replace(BRANCH, "│ "),
        };
        let name = behind(&prefix, Cell::toned(&*condition.condition_type, Tone::Topic));
        let counts = [name, Cell::default(), Cell::default(), Cell::default(), Cell::default()];
        let is_negative = NEGATIVE.contains(&&*condition.condition_type);
        let verdict = Verdict::of(condition, is_negative, look);
        verdict.add(counts, &Cell::toned(further, Tone::Faint), lines);
    }
}

/// True for `Available` and `Ready`, and for a condition with a message or in an unhealthy state.
fn is_telling(condition: &Condition) -> bool {
    let well = if NEGATIVE.contains(&&*condition.condition_type) { "False" } else { "True" };
    matches!(&*condition.condition_type, "Available" | "Ready")
        || !condition.message.is_empty()
        || (*condition.status != *well && matches!(&*condition.status, "True" | "False" | "Unknown"))
}

/// The columns after the counts.
#[derive(Debug, Default)]
struct Verdict {
    status: Cell,
    reason: Cell,
    since: Cell,
    message: Vec<Cell>,
}

impl Verdict {
    fn of(condition: &Condition, is_negative: bool, look: &Look<'_>) -> Self {
        let tone = match (&*condition.status, is_negative) {
            ("True", false) | ("False", true) => Tone::Good,
            ("True", true) | ("False", false) => Tone::Bad,
            ("Unknown", _) => Tone::Doubtful,
            _ => Tone::Faint,
        };
        Self {
            status: Cell::toned(&*condition.status, tone),
            reason: Cell::plain(&*condition.reason),
            since: Cell::plain(age(condition.since, look.now)),
            message: paragraph(&condition.message).into_iter().map(Cell::plain).collect(),
        }
    }

    /// Returns the columns of an unreadable object.
    fn of_unreadable(unreadable: &Unreadable) -> Self {
        Self {
            status: Cell::toned("Unknown", Tone::Doubtful),
            reason: Cell::plain(&*unreadable.reason),
            since: Cell::default(),
            message: paragraph(&unreadable.message).into_iter().map(Cell::plain).collect(),
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

fn verdict(node: &TreeNode, look: &Look<'_>) -> Verdict {
    let of = |condition: Option<&Condition>| {
        condition.map_or_else(Verdict::default, |condition| Verdict::of(condition, false, look))
    };
    match &node.subject {
        Subject::Group(group) => Verdict { message: vec![members(&group.names)], ..of(group.ready.as_ref()) },
        Subject::Unreadable(unreadable) => Verdict::of_unreadable(unreadable),
        Subject::Object(seen) => of(deciding(node.role, seen)),
        Subject::Named(_) | Subject::Heading => Verdict::default(),
    }
}

/// Returns the condition in the row of an object.
/// Source: clusterctl v1.14 internal/util/tree/tree.go (newRowDescriptor); differs: in clusterctl, a MachinePool has
/// none.
fn deciding(role: PartRole, seen: &SeenObject) -> Option<&Condition> {
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
fn counts(node: &TreeNode) -> [String; 4] {
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
    let MachineCounts { desired, current, available, ready, up_to_date } = seen.replicas;
    let has_both = match node.role {
        PartRole::Cluster | PartRole::MachineHealthCheck => desired.or(current).is_some(),
        PartRole::ControlPlane => desired.is_some() && current.is_some(),
        _ => desired.is_some(),
    };
    let replicas = format!("{}/{}", current.unwrap_or(0), desired.unwrap_or(0));
    let text = |count: Option<i64>| count.map(|count| count.to_string()).unwrap_or_default();
    [if has_both { replicas } else { String::new() }, text(available), text(ready), text(up_to_date)]
}
