//! Regular expressions of schemas, compiled at first use.
//!
//! The real server uses Go's RE2 syntax, which is translated. A pattern that is valid in Go but still unreadable here
//! matches every text.

mod go;

use std::{ops::Range, sync::OnceLock};

use regex::{Regex, RegexBuilder};

/// The memory limit of a compiled pattern, in bytes: patterns come from clients.
const SIZE_LIMIT_BYTES: usize = 4 << 20;

/// A pattern with its source text.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: Box<str>,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Stores the text without compiling the pattern.
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.into(), compiled: OnceLock::new() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// True if some part of the text matches.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| build(&go::translate(&self.text).ok()?).ok());
        compiled.as_ref().is_none_or(|regex| regex.is_match(text))
    }

    /// Returns Go's error for an invalid pattern. `None` if the pattern is valid or no reliable message is known.
    /// Source: Go `regexp/syntax`.
    pub(crate) fn syntax_error(text: &str) -> Option<String> {
        if text.is_empty() {
            return None;
        }
        let report = match go::translate(text).map(|ours| build(&ours)) {
            Ok(Err(regex::Error::Syntax(report))) => report,
            Ok(_) => return None,
            Err(words) => return Some(format!("error parsing regexp: {words}")),
        };
        if let Some(start) = ["(?=", "(?!", "(?<=", "(?<!"].iter().find(|start| text.contains(**start)) {
            let shown = if start.starts_with("(?<") { "(?<" } else { start };
            return Some(format!("error parsing regexp: invalid or unsupported Perl syntax: `{shown}`"));
        }
        let reason = [
            ("unclosed group", "missing closing )"),
            ("unopened group", "unexpected )"),
            ("unclosed character class", "missing closing ]"),
            ("repetition operator missing expression", "missing argument to repetition operator"),
            ("invalid character class range", "invalid character class range"),
            ("unrecognized escape sequence", "invalid escape sequence"),
        ];
        let (_, words) = reason.iter().find(|(ours, _)| report.contains(ours))?;
        let shown = match (*words, marked_range(&report)) {
            (_, None) | ("missing closing )" | "unexpected )", _) => text,
            ("missing closing ]", Some((marked, rest))) => &report[marked.start..rest],
            // For a counted repetition, the report marks only the brace.
            (_, Some((marked, rest))) if report[marked.clone()] == *"{" => {
                report[marked.start..rest].split_inclusive('}').next().unwrap_or_default()
            }
            (_, Some((marked, _))) => &report[marked],
        };
        Some(format!("error parsing regexp: {words}: `{shown}`"))
    }
}

/// Returns the part of a one-line pattern that a report marks with `^`, and the end of that line.
fn marked_range(report: &str) -> Option<(Range<usize>, usize)> {
    let mut start = 0;
    let mut lines = report.split('\n').map(|line| {
        let begin = start;
        start += line.len() + 1;
        (begin, line)
    });
    let (begin, line) = lines.nth(1)?;
    let (_, marks) = lines.next()?;
    let at = |column: usize| line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let (first, last) = (marks.find('^')?, marks.rfind('^')?);
    Some((begin + at(first)..begin + at(last + 1), begin + line.len()))
}

fn build(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).size_limit(SIZE_LIMIT_BYTES).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expectations come from Go 1.26.
    #[test]
    fn a_pattern_matches_like_go() {
        for (pattern, text, expected) in [
            (r"^[^[]$", "[", false),
            (r"^[^[]$", "a", true),
            (r"^[[a]$", "[", true),
            (r"^{[a-z]}$", "{b}", true),
            (r"^{{.*}}$", "{{x}}", true),
            (r"^a{,5}$", "a{,5}", true),
            (r"^a{02}$", "a{02}", true),
            (r"^a{2}$", "aa", true),
            (r"^\d$", "٣", false),
            (r"^\d$", "3", true),
            (r"^\D$", "٣", true),
            (r"^\w+$", "ä", false),
            (r"^[\w-]+$", "a-b_1", true),
            (r"^[^\d]$", "٣", true),
            (r"^\s$", "\u{a0}", false),
            (r"^\s$", "\u{b}", false),
            (r"^(?i)[\W]$", "k", false),
            (r"^[a&&b]+$", "&a", true),
            (r"^[a~~b]+$", "~", true),
            (r"^[+--]$", ",", true),
            (r"^\Qa.b\E$", "a.b", true),
            (r"^\Qa.b\E$", "axb", false),
            (r"^\Q[a", "[a", true),
            (r"^\<a\>$", "<a>", true),
            (r"^\_$", "_", true),
            (r"^\p{Greek}$", "α", true),
            (r"^\pL$", "b", true),
            (r"^\x{41}$", "A", true),
            (r"^[\x{41}-C]$", "B", true),
            (r"^a\b", "aä", true),
            (r"^[]a]+$", "]a", true),
            (r"^[^]a]$", "b", true),
            (r"^[[:alpha:]]$", "b", true),
            (r"^[[:alpha:]]$", ":", false),
        ] {
            assert_eq!(Pattern::syntax_error(pattern), None, "{pattern}");
            assert_eq!(Pattern::new(pattern).is_match(text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn patterns_invalid_in_go_are_refused() {
        for (pattern, fault) in [
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("a{2,99999999999}", "invalid repeat count: `{2,99999999999}`"),
            ("(a", "missing closing ): `(a`"),
            ("a)", "unexpected ): `a)`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("x[a", "missing closing ]: `[a`"),
            ("x*a**", "invalid nested repetition operator: `**`"),
            ("a{2}?+b", "invalid nested repetition operator: `{2}?+`"),
            ("*a", "missing argument to repetition operator: `*`"),
            ("ä|{2}", "missing argument to repetition operator: `{2}`"),
            ("x[z-a]", "invalid character class range: `z-a`"),
            ("ä\\y", "invalid escape sequence: `\\y`"),
        ] {
            assert_eq!(Pattern::syntax_error(pattern), Some(format!("error parsing regexp: {fault}")));
        }
    }
}
