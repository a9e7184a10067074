//! The table for conditions of contract v1beta1.

use super::{NodePosition, TableOptions, group_message, with_prefix};
use crate::describe::{
    age::format_age,
    conditions::Condition,
    table::{Cell, Tone, TreeTable},
    tree::{Subject, TreeNode, UnreadableObject},
};

const COLUMNS: [&str; 6] = ["NAME", "READY", "SEVERITY", "REASON", "SINCE", "MESSAGE"];
/// The maximum length of a message in bytes.
const MESSAGE_BYTES: usize = 100;

pub(super) fn table(root: &TreeNode, look: &TableOptions<'_>) -> TreeTable {
    let mut lines = Vec::new();
    NodePosition { node: root, prefix: "", ends_tree: true }
        .walk(&mut |place| add_rows(place, look, &mut lines));
    TreeTable { columns: &COLUMNS, gap: 1, lines }
}

fn add_rows(place: NodePosition<'_>, look: &TableOptions<'_>, lines: &mut Vec<Vec<Cell>>) {
    let of =
        |ready: Option<&Condition>| ready.map_or_else(Default::default, |ready| condition_cells(ready, look));
    let [status, severity, reason, since, message] = match &place.node.subject {
        Subject::Object(seen) => of(seen.condition("Ready")),
        Subject::Group(group) => {
            let [status, severity, reason, since, _] = of(group.ready.as_ref());
            [status, severity, reason, since, group_message(&group.names)]
        }
        Subject::Unreadable(unreadable) => unreadable_cells(unreadable),
        Subject::Named(_) | Subject::Heading => Default::default(),
    };
    push_row([place.name(), status, severity, reason, since, message], lines);
    if let (Some(_), Subject::Object(seen)) = (place.shown_conditions(look), &place.node.subject) {
        let mut others: Vec<_> =
            seen.conditions.iter().filter(|condition| &*condition.condition_type != "Ready").collect();
        others.sort_by_key(|condition| &condition.condition_type);
        let count = others.len();
        for (at, condition) in others.into_iter().enumerate() {
            let prefix = place.condition_prefix(at + 1 == count);
            let name = with_prefix(&prefix, Cell::toned(&*condition.condition_type, Tone::Topic));
            let [status, severity, reason, since, message] = condition_cells(condition, look);
            push_row([name, status, severity, reason, since, message], lines);
        }
    }
}

fn condition_cells(condition: &Condition, look: &TableOptions<'_>) -> [Cell; 5] {
    let tone = match (&*condition.status, &*condition.severity) {
        ("True", _) => Tone::Good,
        ("False" | "Unknown", "Error") => Tone::Bad,
        ("False" | "Unknown", "Warning") => Tone::Doubtful,
        ("False" | "Unknown", _) => Tone::Plain,
        _ => Tone::Faint,
    };
    [
        Cell::toned(&*condition.status, tone),
        Cell::toned(&*condition.severity, tone),
        Cell::toned(&*condition.reason, tone),
        Cell::plain(format_age(condition.since, look.now)),
        Cell::plain(truncate(&condition.message)),
    ]
}

fn unreadable_cells(unreadable: &UnreadableObject) -> [Cell; 5] {
    let toned = |text: &str| Cell::toned(text, Tone::Doubtful);
    let message = Cell::plain(truncate(&unreadable.message));
    [toned("Unknown"), Cell::default(), toned(&unreadable.reason), Cell::default(), message]
}

/// Truncates a message. Differs from clusterctl if the limit is inside a character.
fn truncate(message: &str) -> String {
    if message.len() <= MESSAGE_BYTES {
        return message.to_owned();
    }
    format!("{} ...", &message[..message.floor_char_boundary(MESSAGE_BYTES)])
}

/// Adds a line, and one more for each continuation line of the message that is not empty. Tabs become four blanks.
/// Source: clusterctl v1.14 through its table writer.
fn push_row(mut cells: [Cell; 6], lines: &mut Vec<Vec<Cell>>) {
    let message = std::mem::take(&mut cells[COLUMNS.len() - 1]);
    let tone = message.0.first().map(|span| span.tone).unwrap_or_default();
    let text = message.text().replace('\t', "    ");
    let mut texts = text.split('\n');
    cells[COLUMNS.len() - 1] = Cell::toned(texts.next().unwrap_or_default(), tone);
    lines.push(cells.into());
    lines.extend(texts.filter(|text| !text.is_empty()).map(|text| {
        let mut line = vec![Cell::default(); COLUMNS.len()];
        line[COLUMNS.len() - 1] = Cell::toned(text, tone);
        line
    }));
}
