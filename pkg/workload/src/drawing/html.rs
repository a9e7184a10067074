use api::output::OwnerGraph;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{PageOrigin, forest::forest, title};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
/// Where boxes go, how they are shown, and what a user does: one script.
const SCRIPT: [&str; 3] =
    [include_str!("page/layout.js"), include_str!("page/view.js"), include_str!("page/page.js")];

/// What the script works on.
#[derive(Serialize)]
struct Data<'g> {
    title: &'g str,
    origin: &'g PageOrigin,
    graph: &'g OwnerGraph,
    /// By position, the owner an object is drawn below.
    parents: &'g [Option<usize>],
}

/// One file with everything in it. Its policy lets a browser run this script and take this style, by their digests, and
/// load nothing: so even a fault in the escaping of a name would run nothing.
pub(super) fn draw(graph: &OwnerGraph, origin: &PageOrigin) -> String {
    let (title, script) = (title(graph), SCRIPT.concat());
    let data = Data { title: &title, origin, graph, parents: &forest(graph).parents };
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        digest(&script),
        digest(STYLE)
    );
    fill(PAGE, |place| match place {
        "policy" => policy.clone(),
        "title" => escaped(&title),
        "origin" => escaped(&said(origin)),
        "style" => STYLE.to_owned(),
        "script" => script.clone(),
        "data" => json(&data),
        other => format!("{{{{{other}}}}}"),
    })
}

/// The origin in a line.
fn said(origin: &PageOrigin) -> String {
    let parts = [&origin.name, &origin.server, &origin.time, &origin.program];
    let parts: Vec<&str> = parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

/// Puts texts into the places of a page, `{{name}}`. What is put in is not looked at again.
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

/// JSON inside a script element: nothing in it can end the element or begin a comment.
fn json(data: &Data<'_>) -> String {
    let text = serde_json::to_string(data).expect("plain texts and numbers can be written");
    text.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}
