//! Drawings of small graphs, and properties of all drawings.

mod broken;
mod formats;
mod layout;
mod random;
mod server;
mod untrusted_names;

use api::output::OwnerGraph;

use super::{DrawingFormat, MoveAnnotations, PageOrigin, draw, draw_page, owner_graph};
use crate::{ConditionFacts, Graph, ObjectFacts, Scope, graph::tests::builder};

/// Makes a graph of objects given one per line, in the notation of the graph tests.
fn graph(lines: &str) -> OwnerGraph {
    of(builder::facts(lines))
}

fn of(facts: Vec<ObjectFacts>) -> OwnerGraph {
    owner_graph(&Graph::new(facts), &Scope::default(), None).unwrap()
}

fn only(lines: &str, cluster: &str) -> OwnerGraph {
    owner_graph(&Graph::new(builder::facts(lines)), &Scope::default(), Some(cluster)).unwrap()
}

fn text(graph: &OwnerGraph) -> String {
    draw(graph, DrawingFormat::Text(MoveAnnotations::Hidden))
}

fn page(graph: &OwnerGraph) -> String {
    let [server, name, time, program] = ["server-1", "context <a>", "2026-01-02T03:04:05Z", "capstan v1"];
    draw_page(
        graph,
        &PageOrigin {
            server: server.to_owned(),
            name: name.to_owned(),
            time: time.to_owned(),
            program: program.to_owned(),
        },
    )
}

/// Returns the data for the script of a page.
fn page_data(page: &str) -> &str {
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    data.split_once("</script>").unwrap().0
}

fn ready(status: &str, reason: &str) -> ConditionFacts {
    ConditionFacts { kind: "Ready".to_owned(), status: status.to_owned(), reason: reason.to_owned() }
}
