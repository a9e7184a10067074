//! Text with colours, from escape sequences of a terminal.
//! Source: ECMA-48, SGR.

/// A piece of a line in one style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) style: Style,
}

/// The style of a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) is_bold: bool,
    pub(super) is_dim: bool,
    /// The number of the colour, 0 to 15.
    pub(super) colour: Option<u8>,
}

/// Splits a line into pieces. Sequences that do not change the style are removed.
pub(super) fn parse_line(line: &str) -> Vec<Span> {
    let mut spans = vec![Span::default()];
    let mut rest = line;
    while let Some((text, sequence)) = rest.split_once('\u{1b}') {
        push(&mut spans, text);
        let Some(sequence) = sequence.strip_prefix('[') else {
            rest = sequence;
            continue;
        };
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(sequence.len());
        let style = spans.last().map_or_else(Style::default, |span| span.style);
        if sequence[end..].starts_with('m') {
            spans.push(Span { text: String::new(), style: apply(style, &sequence[..end]) });
        }
        rest = sequence.get(end + 1..).unwrap_or_default();
    }
    push(&mut spans, rest);
    spans.retain(|span| !span.text.is_empty());
    spans
}

fn push(spans: &mut [Span], text: &str) {
    if let Some(last) = spans.last_mut() {
        last.text.extend(text.chars().filter(|c| !c.is_control()));
    }
}

fn apply(mut style: Style, parameters: &str) -> Style {
    for parameter in parameters.split(';') {
        style = match parameter.parse::<u8>() {
            Ok(1) => Style { is_bold: true, ..style },
            Ok(2) => Style { is_dim: true, ..style },
            Ok(22) => Style { is_bold: false, is_dim: false, ..style },
            Ok(code @ 30..=37) => Style { colour: Some(code - 30), ..style },
            Ok(code @ 90..=97) => Style { colour: Some(code - 90 + 8), ..style },
            Ok(39) => Style { colour: None, ..style },
            // An empty parameter is 0.
            Ok(0) | Err(_) => Style::default(),
            Ok(_) => style,
        };
    }
    style
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_splits_where_its_style_changes() {
        let spans = parse_line("a\u{1b}[1;32mb\u{1b}[0mc\u{1b}[2Kd\u{1b}]e\u{1b}[");
        let texts: Vec<_> =
            spans.iter().map(|span| (span.text.as_str(), span.style.is_bold, span.style.colour)).collect();
        assert_eq!(texts, [("a", false, None), ("b", true, Some(2)), ("cd]e", false, None)]);
    }
}
