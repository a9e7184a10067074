//! Drawings of the owner graph.
//!
//! ```text
//! Graph ─► owner_graph: objects, states, decisions ─► api::output::OwnerGraph ─► draw: text, DOT, Mermaid; draw_page: HTML
//! ```
//!
//! All drawings and the `json` output contain the same objects and owners. Drawing is pure: the same graph gives the
//! same text. Names are data: they are quoted or escaped in every format.

mod dot;
mod forest;
mod frames;
mod html;
mod mermaid;
mod shown_objects;
mod text;

use api::output::{GraphObject, OwnerGraph};
use serde::Serialize;

pub use shown_objects::{UnknownCluster, owner_graph};

/// The format of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawingFormat {
    /// A tree for terminals: an owned object is indented below its owner.
    Text(MoveAnnotations),
    /// A digraph for Graphviz.
    Dot,
    /// A flowchart for Mermaid.
    Mermaid,
}

/// The option to add move decisions to a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MoveAnnotations {
    /// The tree has no move decisions.
    #[default]
    Hidden,
    /// Each object has its move decision, with the reason.
    Shown,
}

/// The origin of a graph, for an HTML page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PageOrigin {
    /// The address of the server.
    pub server: String,
    /// The context or sandbox that named the server; empty in a pod.
    pub name: String,
    /// The time of the snapshot, in RFC 3339.
    pub time: String,
    /// The program and its version.
    pub program: String,
}

/// Draws a graph as a standalone HTML page, which loads nothing and runs only its own script. Ends in a newline.
pub fn draw_page(graph: &OwnerGraph, origin: &PageOrigin) -> String {
    html::draw(graph, origin)
}

/// Draws a graph. Ends in a newline.
pub fn draw(graph: &OwnerGraph, drawing: DrawingFormat) -> String {
    match drawing {
        DrawingFormat::Text(annotations) => text::draw(graph, annotations),
        DrawingFormat::Dot => dot::draw(graph),
        DrawingFormat::Mermaid => mermaid::draw(graph),
    }
}

/// Returns the title of a drawing.
fn title(graph: &OwnerGraph) -> String {
    let of = match &graph.cluster {
        Some(cluster) => format!("Cluster {cluster}"),
        None => "Cluster API".to_owned(),
    };
    match &*graph.namespaces {
        [] => format!("Owners of {of}"),
        [only] => format!("Owners of {of} in namespace {only}"),
        several => format!("Owners of {of} in namespaces {}", several.join(", ")),
    }
}

/// Describes the state of an object in a few words each: its condition, paused, deleting, missing owners.
fn remarks(object: &GraphObject) -> Vec<String> {
    let condition = object.condition.as_ref().map(|condition| {
        let reported = match &*condition.status {
            "True" => condition.kind.clone(),
            "False" => format!("not {}", condition.kind),
            _ => format!("{} unknown", condition.kind),
        };
        let says_more = condition.status != "True" && !condition.reason.is_empty();
        if says_more { format!("{reported}: {}", condition.reason) } else { reported }
    });
    let missing = object.owners.iter().filter(|owner| owner.position.is_none());
    let flag = |is: bool, word: &str| is.then(|| word.to_owned());
    condition
        .into_iter()
        .chain(flag(object.paused, "paused"))
        .chain(flag(object.deleting, "deleting"))
        .chain(missing.map(|owner| format!("owner {} {} does not exist", owner.kind, owner.name)))
        .collect()
}

#[cfg(test)]
mod tests;
