//! Texts with references: `${a:b}`, `${a:${b}}`, `${a::default}`. A backslash escapes the start and end of a reference.

/// The maximum number of references inside of each other in one text.
const MAX_NESTING: usize = 64;

/// A text with references.
#[derive(Debug)]
pub(super) struct Template {
    /// The text as written.
    pub(super) text: Box<str>,
    pub(super) form: Form,
}

#[derive(Debug)]
pub(super) enum Form {
    /// One reference, which keeps the type of its value.
    Reference(Vec<Part>),
    /// References between other text.
    Text(Vec<Part>),
    /// A text with a reference that does not end, or that is empty.
    Invalid,
}

/// A part of a text.
#[derive(Debug, PartialEq)]
pub(super) enum Part {
    Text(String),
    /// A reference. Its path may contain references.
    Reference(Vec<Part>),
}

/// A text without references, or with.
#[derive(Debug)]
pub(super) enum Parsed {
    Plain(Box<str>),
    Template(Template),
}

/// Parses a text.
pub(super) fn parse(text: &str) -> Parsed {
    if !text.contains("${") && !text.contains("$[") {
        return Parsed::Plain(text.into());
    }
    let mut scanner = Scanner { rest: text };
    let form = match scanner.text() {
        None => Form::Invalid,
        Some(mut parts) => match (parts.len(), parts.pop()) {
            (1, Some(Part::Text(text))) => return Parsed::Plain(text.into()),
            (1, Some(Part::Reference(path))) => Form::Reference(path),
            (_, last) => Form::Text(parts.into_iter().chain(last).collect()),
        },
    };
    Parsed::Template(Template { text: text.into(), form })
}

/// A reference as written, for checks that do not resolve it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The path of the parameter. It ends before the first step that contains another reference.
    pub(crate) path: String,
    /// True if the whole path is known, and there is no default.
    pub(crate) needs_value: bool,
}

/// Returns the references in a text, also those in other references. Empty for an invalid text.
pub(crate) fn references(text: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    match parse(text) {
        Parsed::Plain(_) | Parsed::Template(Template { form: Form::Invalid, .. }) => {}
        Parsed::Template(Template { form: Form::Text(parts), .. }) => add_references(&parts, &mut found),
        Parsed::Template(Template { form: Form::Reference(path), .. }) => add_reference(&path, &mut found),
    }
    found
}

fn add_references(parts: &[Part], found: &mut Vec<Reference>) {
    for part in parts {
        if let Part::Reference(path) = part {
            add_reference(path, found);
        }
    }
}

fn add_reference(parts: &[Part], found: &mut Vec<Reference>) {
    let start = match parts.first() {
        Some(Part::Text(start)) => start.as_str(),
        _ => "",
    };
    let (path, needs_value) = match start.split_once("::") {
        Some((path, _)) => (path, false),
        None if parts.len() == 1 => (start, true),
        None => (start.rsplit_once(':').map_or("", |(path, _)| path), false),
    };
    found.push(Reference { path: path.to_owned(), needs_value });
    add_references(parts, found);
}

struct Scanner<'t> {
    rest: &'t str,
}

impl Scanner<'_> {
    /// Reads the whole text. `None` if a reference is invalid.
    fn text(&mut self) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        // An escaped backslash before `}` is recognised only at the start and after a reference.
        let mut is_start = true;
        while let Some(first) = self.rest.chars().next() {
            if self.take("${") {
                parts.push(Part::Reference(self.reference(1)?));
                is_start = true;
            } else if let Some(escaped) = self.take_escaped(&["\\${", "\\$["]) {
                push_text(&mut parts, escaped);
                is_start = true;
            } else if self.take_backslash(if is_start { &["${", "}"] } else { &["${"] }) {
                push_text(&mut parts, "\\");
                is_start = true;
            } else {
                self.rest = &self.rest[first.len_utf8()..];
                push_text(&mut parts, first.encode_utf8(&mut [0; 4]));
                is_start = false;
            }
        }
        Some(parts)
    }

    /// Reads the path of a reference, and its end. `None` if it is empty or does not end.
    fn reference(&mut self, nesting: usize) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        while let Some(first) = self.rest.chars().next() {
            if self.take("${") {
                if nesting == MAX_NESTING {
                    return None;
                }
                parts.push(Part::Reference(self.reference(nesting + 1)?));
            } else if self.take("}") {
                return (!parts.is_empty()).then_some(parts);
            } else if let Some(escaped) = self.take_escaped(&["\\${", "\\}", "\\$["]) {
                push_text(&mut parts, escaped);
            } else if self.take_backslash(&["${", "}"]) {
                push_text(&mut parts, "\\");
            } else {
                self.rest = &self.rest[first.len_utf8()..];
                push_text(&mut parts, first.encode_utf8(&mut [0; 4]));
            }
        }
        None
    }

    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes one of several escaped texts, and returns it without the backslash.
    fn take_escaped(&mut self, texts: &[&'static str]) -> Option<&'static str> {
        texts.iter().copied().find(|text| self.take(text)).map(|text| &text[1..])
    }

    /// Takes two backslashes before one of several texts.
    fn take_backslash(&mut self, before: &[&str]) -> bool {
        let Some(rest) = self.rest.strip_prefix("\\\\") else { return false };
        let is_escape = before.iter().any(|text| rest.starts_with(text));
        if is_escape {
            self.rest = rest;
        }
        is_escape
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Text(last)) => last.push_str(text),
        _ => parts.push(Part::Text(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints a text with references in angle brackets, `!` for an invalid text.
    fn shown(text: &str) -> String {
        fn parts_shown(parts: &[Part]) -> String {
            let shown = parts.iter().map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::Reference(path) => format!("<{}>", parts_shown(path)),
            });
            shown.collect()
        }
        match parse(text) {
            Parsed::Plain(text) => format!("plain {text}"),
            Parsed::Template(Template { form: Form::Reference(path), .. }) => {
                format!("whole <{}>", parts_shown(&path))
            }
            Parsed::Template(Template { form: Form::Text(parts), .. }) => parts_shown(&parts),
            Parsed::Template(Template { form: Form::Invalid, .. }) => "!".to_owned(),
        }
    }

    #[test]
    fn references_nest_and_are_escaped() {
        for (text, expected) in [
            ("a", "plain a"),
            ("$a {b} \\", "plain $a {b} \\"),
            ("${a:b}", "whole <a:b>"),
            ("x${a}y${b}", "x<a>y<b>"),
            ("${a:${b}}", "whole <a:<b>>"),
            ("${${${n}}}", "whole <<<n>>>"),
            ("${a::${b::c}}", "whole <a::<b::c>>"),
            ("\\${a}", "plain ${a}"),
            ("\\\\${a}", "\\<a>"),
            ("x\\\\}${a}", "x\\\\}<a>"),
            ("${a}\\\\}", "<a>\\}"),
            ("${a\\}b}", "whole <a}b>"),
            ("${a\\\\}", "whole <a\\>"),
            ("${a\\${b}", "whole <a${b>"),
            ("${a{b}", "whole <a{b>"),
            ("${a$b}", "whole <a$b>"),
            ("${x::{a: 1}}", "<x::{a: 1>}"),
            ("\\$[a]", "plain $[a]"),
            ("$[a]", "plain $[a]"),
            ("${}", "!"),
            ("${a", "!"),
            ("x ${a ${b}", "!"),
            ("é${ü}", "é<ü>"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn references_are_listed_with_their_known_steps() {
        for (text, expected) in [
            ("a", ""),
            ("\\${a}", ""),
            ("${a", ""),
            ("${a:b}", "a:b!"),
            ("x${a}y${b:c}", "a! b:c!"),
            ("${a::${b}}", "a b!"),
            ("${a:b:${c}}", "a:b c!"),
            ("${a:b${c}:d}", "a c!"),
            ("${${c}:d}", " c!"),
        ] {
            let shown = references(text)
                .into_iter()
                .map(|Reference { path, needs_value }| path + if needs_value { "!" } else { "" });
            assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{text}");
        }
    }

    #[test]
    fn too_many_nested_references_are_invalid() {
        let nested = |count: usize| format!("{}a{}", "${".repeat(count), "}".repeat(count));
        assert!(shown(&nested(64)).starts_with("whole"));
        assert_eq!(shown(&nested(65)), "!");
        assert_eq!(shown(&nested(100_000)), "!");
    }
}
