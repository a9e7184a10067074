use std::fmt::Write as _;

use api::output::{GraphObject, GraphTie, OwnerGraph};

use super::frames::{frames, lines};

/// Draws a flowchart with a frame for each namespace and each Cluster. Soft owners are dotted, as Mermaid has no
/// dashes.
pub(super) fn draw(graph: &OwnerGraph) -> String {
    let mut chart = "flowchart TB\n".to_owned();
    for (number, frame) in frames(graph).iter().enumerate() {
        let _ = writeln!(chart, "  subgraph f{number}[\"{}\"]", escaped(&frame.title));
        for (part, (cluster, objects)) in frame.parts.iter().enumerate() {
            if let Some(cluster) = cluster {
                let _ = writeln!(chart, "    subgraph f{number}p{part}[\"{}\"]", escaped(cluster));
            }
            for at in objects {
                add_node(&mut chart, *at, &graph.objects[*at]);
            }
            if cluster.is_some() {
                chart.push_str("    end\n");
            }
        }
        chart.push_str("  end\n");
    }
    for (at, object) in graph.objects.iter().enumerate() {
        for owner in &object.owners {
            let Some(position) = owner.position else { continue };
            let arrow = if owner.tie == GraphTie::Soft { "-.->" } else { "-->" };
            let _ = writeln!(chart, "  n{position} {arrow} n{at}");
        }
    }
    chart.push_str(
        "  classDef ready fill:#d3f2dc,stroke:#1a7f37,color:#111\n  \
           classDef notReady fill:#ffd9d6,stroke:#c9302c,color:#111\n  \
           classDef unknown fill:#fdecc0,stroke:#9a6700,color:#111\n  \
           classDef noCondition fill:#eef0f3,stroke:#8a929c,color:#111\n",
    );
    chart
}

fn add_node(chart: &mut String, at: usize, object: &GraphObject) {
    let class = object.state.as_str();
    let label: Vec<String> = lines(object).iter().map(|line| escaped(line)).collect();
    let _ = writeln!(chart, "      n{at}[\"{}\"]:::{class}", label.join("<br/>"));
}

/// Escapes a text for double quotes, which may contain HTML and Markdown: every special character becomes its number.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_alphanumeric() || matches!(c, ' ' | '-' | '.' | '/' | ':' | ',') => escaped.push(c),
            c if c.is_control() => escaped.push(' '),
            c => {
                let _ = write!(escaped, "#{};", u32::from(c));
            }
        }
    }
    escaped
}
