use api::output::PartRole;
use apply::ObjectKey;

use super::{
    table::{Cell, Span, Tone},
    tree::{Subject, TreeNode},
};

/// Returns the text of the column NAME, without branches.
/// Source: clusterctl v1.14 internal/util/tree/tree.go (getRowName).
pub(super) fn title(node: &TreeNode) -> Cell {
    match &node.subject {
        Subject::Heading => Cell::plain(heading(node.role)),
        Subject::Group(group) => {
            Cell(vec![Span::new(format!("{} Machines...", group.names.len()), Tone::Strong)])
        }
        Subject::Named(key) => Cell(object_spans(key).into()),
        Subject::Unreadable(of) if of.key.name.is_empty() => Cell::plain(format!("{}s", of.key.kind)),
        Subject::Unreadable(of) => Cell(object_spans(&of.key).into()),
        Subject::Object(seen) => {
            let mut spans = Vec::new();
            if seen.is_terminating {
                spans.extend([Span::new("!! DELETED !!", Tone::Bad), Span::new(" ", Tone::Plain)]);
            }
            spans.extend(object_spans(&seen.key));
            spans.extend(seen.version.iter().map(|version| Span::new(format!(", {version}"), Tone::Plain)));
            Cell(spans)
        }
    }
}

fn object_spans(key: &ObjectKey) -> [Span; 2] {
    let name =
        if key.namespace.is_empty() { key.name.clone() } else { format!("{}/{}", key.namespace, key.name) };
    [Span::new(format!("{} ", key.kind), Tone::Plain), Span::new(name, Tone::Strong)]
}

fn heading(role: PartRole) -> &'static str {
    match role {
        PartRole::Templates => "Templates",
        PartRole::ResourceSets => "ClusterResourceSets",
        PartRole::MachineHealthChecks => "MachineHealthChecks",
        PartRole::Other => "Other",
        _ => "Workers",
    }
}
