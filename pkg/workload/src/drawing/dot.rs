use std::fmt::Write as _;

use api::output::{GraphObject, GraphState, GraphTie, OwnerGraph};

use super::{
    frames::{frames, lines},
    title,
};

/// Draws a digraph with a frame for each namespace and each Cluster. Soft owners are dashed.
pub(super) fn draw(graph: &OwnerGraph) -> String {
    let mut dot = format!("digraph owners {{\n  label={};\n", quoted(&title(graph)));
    dot.push_str("  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=10];\n");
    for (number, frame) in frames(graph).iter().enumerate() {
        let _ = writeln!(dot, "  subgraph cluster_{number} {{\n    label={};", quoted(&frame.title));
        for (part, (cluster, objects)) in frame.parts.iter().enumerate() {
            if let Some(cluster) = cluster {
                let _ = writeln!(
                    dot,
                    "    subgraph cluster_{number}_{part} {{\n      label={};",
                    quoted(cluster)
                );
            }
            for at in objects {
                add_node(&mut dot, *at, &graph.objects[*at]);
            }
            if cluster.is_some() {
                dot.push_str("    }\n");
            }
        }
        dot.push_str("  }\n");
    }
    for (at, object) in graph.objects.iter().enumerate() {
        for owner in &object.owners {
            let Some(position) = owner.position else { continue };
            let style = if owner.tie == GraphTie::Soft { " [style=dashed]" } else { "" };
            let _ = writeln!(dot, "  n{position} -> n{at}{style};");
        }
    }
    dot.push_str("}\n");
    dot
}

fn add_node(dot: &mut String, at: usize, object: &GraphObject) {
    let colour = match object.state {
        GraphState::Ready => "#d3f2dc",
        GraphState::NotReady => "#ffd9d6",
        GraphState::Unknown => "#fdecc0",
        GraphState::NoCondition => "#eef0f3",
    };
    let label: Vec<String> = lines(object).iter().map(|line| escaped(line)).collect();
    let _ = writeln!(dot, "      n{at} [label=\"{}\", fillcolor=\"{colour}\"];", label.join("\\n"));
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Escapes a text for double quotes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => escaped.extend(['\\', c]),
            // Graphviz interprets HTML entities in every label.
            '&' => escaped.push_str("&amp;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
