//! Regular expressions of schemas, compiled at first use. A pattern that is valid in Go but unreadable here matches every
//! text.
//!
//! Source: Go 1.26 `regexp/syntax`.

use std::{
    ops::Range,
    sync::{LazyLock, OnceLock},
};

use manifest::expression::translate;
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
        let compiled = self.compiled.get_or_init(|| build(&translate(&self.text)).ok());
        compiled.as_ref().is_none_or(|regex| regex.is_match(text))
    }

    /// Returns Go's error for an invalid pattern. `None` if the pattern is valid or no reliable message is known.
    /// Source: Go `regexp/syntax`.
    pub(crate) fn syntax_error(text: &str) -> Option<String> {
        if text.is_empty() {
            return None;
        }
        if let Some(words) = repetition_error(text) {
            return Some(format!("error parsing regexp: {words}"));
        }
        let Err(regex::Error::Syntax(report)) = build(&translate(text)) else { return None };
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

/// The maximum count of a counted repetition.
const MAX_REPEATS: u32 = 1000;

/// Quoted text, escapes and classes, which contain no repetitions, and repetitions with their counts. A leading zero and a
/// missing first number make a brace literal.
static TOKENS: LazyLock<Regex> = LazyLock::new(|| {
    let token = r"(?sx)
        \\Q .*? (?: \\E | \z ) | \\[pPx]\{[^}]*\} | \\. | \[ \^? \]? (?: \[:\w+:\] | \\. | [^\]\\] )* \] | \(\?
        | ( \{ (?: 0 | [1-9][0-9]* ) (?: , (?: 0 | [1-9][0-9]* )? )? \} | [*+?] ) \?? | .";
    Regex::new(token).expect("a constant expression")
});

/// Returns the error for a repetition that only the `regex` crate accepts.
fn repetition_error(text: &str) -> Option<String> {
    let mut last = 0..0;
    for token in TOKENS.captures_iter(text) {
        let (Some(whole), Some(operator)) = (token.get(0), token.get(1)) else { continue };
        let is_count = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit());
        let mut counts = operator.as_str().split(['{', ',', '}']).filter(is_count);
        if counts.any(|count| count.parse().unwrap_or(u32::MAX) > MAX_REPEATS) {
            return Some(format!("invalid repeat count: `{}`", operator.as_str()));
        }
        if whole.start() > 0 && last.end == whole.start() {
            let both = &text[last.start..whole.end()];
            return Some(format!("invalid nested repetition operator: `{both}`"));
        }
        last = whole.range();
    }
    None
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
