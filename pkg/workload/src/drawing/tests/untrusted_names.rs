//! Names that contain the syntax of a format.

use super::{DrawingFormat, OwnerGraph, builder, draw, of, page, page_data};

const NAMES: [&str; 7] = [
    "</script><script>alert(1)</script>",
    "\"];\n  evil -> evil [label=\"",
    "]:::x\nclick n0 \"javascript:alert(1)\"",
    "<!--<script>",
    "a\\",
    "{{script}}",
    "&quot;\u{2028}#quot;`**b**`",
];

fn hostile() -> OwnerGraph {
    let lines: Vec<String> = (0..NAMES.len()).map(|number| format!("Thing a/t{number}")).collect();
    let mut facts = builder::facts(&lines.join("\n"));
    for (facts, name) in facts.iter_mut().zip(NAMES) {
        facts.key.name = name.to_owned();
        facts.uid = name.to_owned();
    }
    of(facts)
}

/// Removes quoted texts from DOT and Mermaid; the rest is the syntax of the drawing.
fn without_quoted(text: &str, escape: Option<char>) -> String {
    let (mut left, mut is_quoted, mut chars) = (String::new(), false, text.chars());
    while let Some(c) = chars.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            c if is_quoted && Some(c) == escape => _ = chars.next(),
            '\n' => {
                assert!(!is_quoted, "a quoted text goes over a line: {left}");
                left.push(c);
            }
            c if !is_quoted => left.push(c),
            _ => {}
        }
    }
    assert!(!is_quoted, "a quoted text does not end");
    left
}

#[test]
fn names_stay_inside_their_quotes_in_digraphs() {
    for (drawing, escape) in [(DrawingFormat::Dot, Some('\\')), (DrawingFormat::Mermaid, None)] {
        let text = without_quoted(&draw(&hostile(), drawing), escape);
        for word in ["evil", "click", "alert", "script", "quot"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
    }
}

#[test]
fn names_are_escaped_in_html() {
    let graph = hostile();
    let page = page(&graph);
    let data = page_data(&page);
    let (_, rest) = page.split_once(data).unwrap();
    assert!(!data.contains(['<', '>', '&']), "{data}");
    assert_eq!(rest.matches("</script>").count(), 2, "the data and the script of the page alone");
    let read: serde_json::Value = serde_json::from_str(data).unwrap();
    let names: Vec<_> = graph.objects.iter().map(|object| object.object.name.as_str()).collect();
    let shown = read["graph"]["objects"].as_array().unwrap();
    let shown: Vec<_> = shown.iter().map(|object| object["object"]["name"].as_str().unwrap()).collect();
    assert_eq!(shown, names);
}

#[test]
fn a_title_is_escaped_in_html() {
    let mut graph = hostile();
    graph.cluster = Some("</title><script>alert(1)</script>".to_owned());
    let page = page(&graph);
    assert!(!page.contains("alert(1)</script>"), "{}", &page[..600]);
}

#[test]
fn the_page_loads_no_resources_and_escapes_texts() {
    let page = page(&hostile());
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    let text = page.replace("http://www.w3.org/2000/svg", "");
    for word in [
        "http:",
        "https:",
        "//cdn",
        " src=",
        "href",
        "@import",
        "url(",
        "fetch(",
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "onclick",
        "style=",
        "import(",
    ] {
        assert!(!text.contains(word), "{word}");
    }
}
