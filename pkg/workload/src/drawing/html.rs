use api::output::OwnerGraph;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{PageOrigin, forest::forest, title};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
/// The script: layout, view and interaction.
const SCRIPT: [&str; 3] =
    [include_str!("page/layout.js"), include_str!("page/view.js"), include_str!("page/page.js")];

/// The data for the script.
#[derive(Serialize)]
struct PageData<'g> {
    title: &'g str,
    origin: &'g PageOrigin,
    graph: &'g OwnerGraph,
    /// The owner above each object in the drawing, by position.
    parents: &'g [Option<usize>],
}

/// Draws a self-contained page. Its policy lets a browser run only this script and style, by their digests, and load
/// nothing. So an escaping error in a name cannot run code.
pub(super) fn draw(graph: &OwnerGraph, origin: &PageOrigin) -> String {
    let (title, script) = (title(graph), SCRIPT.concat());
    let data = PageData { title: &title, origin, graph, parents: &forest(graph).parents };
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        digest(&script),
        digest(STYLE)
    );
    fill(PAGE, |place| match place {
        "policy" => policy.clone(),
        "title" => escaped(&title),
        "origin" => escaped(&origin_line(origin)),
        "style" => STYLE.to_owned(),
        "script" => script.clone(),
        "data" => script_json(&data),
        other => format!("{{{{{other}}}}}"),
    })
}

/// Returns the origin in one line.
fn origin_line(origin: &PageOrigin) -> String {
    let parts = [&origin.name, &origin.server, &origin.time, &origin.program];
    let parts: Vec<&str> = parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

/// Fills the placeholders `{{name}}` of a page. Inserted texts are not scanned for placeholders.
fn fill(page: &str, text: impl Fn(&str) -> String) -> String {
    let mut filled = String::new();
    let mut pieces = page.split("{{");
    filled.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (place, rest) = piece.split_once("}}").unwrap_or((piece, ""));
        filled.push_str(&text(place));
        filled.push_str(rest);
    }
    filled
}

fn digest(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// Writes JSON for a script element; the text cannot end the element or begin a comment.
fn script_json(data: &PageData<'_>) -> String {
    let text = serde_json::to_string(data).expect("plain texts and numbers can be written");
    text.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}
