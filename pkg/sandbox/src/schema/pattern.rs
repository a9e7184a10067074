//! Regular expressions of schemas, compiled at first use.
//!
//! The real server uses Go's RE2 syntax, which is translated to that of the `regex` crate. Both come from RE2. They differ
//! in unmatched brackets and braces and in text between `\Q` and `\E`. Go's classes (`\d`, `\w`, `\s`, `\b`) are ASCII
//! only. A pattern that is valid in Go but still unreadable here matches every text.
//!
//! Source: Go 1.26 `regexp/syntax`.

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
        let compiled = self.compiled.get_or_init(|| build(&translate(&self.text).ok()?).ok());
        compiled.as_ref().is_none_or(|regex| regex.is_match(text))
    }

    /// Returns Go's error for an invalid pattern. `None` if the pattern is valid or no reliable message is known.
    /// Source: Go `regexp/syntax`.
    pub(crate) fn syntax_error(text: &str) -> Option<String> {
        if text.is_empty() {
            return None;
        }
        let report = match translate(text).map(|ours| build(&ours)) {
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

/// The maximum count of a counted repetition.
const MAX_REPEATS: u32 = 1000;

/// Translates a Go expression to the same meaning in the `regex` crate. Expressions that neither can read stay
/// unchanged.
fn translate(text: &str) -> Result<String, String> {
    let mut writer = Writer { text, rest: text, out: String::with_capacity(text.len()), repetition: 0..0 };
    while let Some(c) = writer.rest.chars().next() {
        match c {
            '\\' => writer.escape(false),
            '[' => writer.class(),
            '{' => writer.brace()?,
            '*' | '+' | '?' => writer.repeat(1)?,
            '(' if writer.rest.starts_with("(?") => writer.copy(2),
            c => writer.copy(c.len_utf8()),
        }
    }
    Ok(writer.out)
}

struct Writer<'a> {
    text: &'a str,
    rest: &'a str,
    out: String,
    /// The range of the last repetition in the text.
    repetition: Range<usize>,
}

impl Writer<'_> {
    fn copy(&mut self, length: usize) {
        let (copied, rest) = self.rest.split_at(length);
        self.out.push_str(copied);
        self.rest = rest;
    }

    /// Writes replacement text for the next `length` bytes.
    fn put(&mut self, text: &str, length: usize) {
        self.out.push_str(text);
        self.rest = &self.rest[length..];
    }

    fn escape(&mut self, in_class: bool) {
        let next = self.rest[1..].chars().next();
        match next {
            Some('Q') if !in_class => self.quoted(),
            Some('d') => self.put("[0-9]", 2),
            Some('D') => self.put("[^0-9]", 2),
            Some('w') => self.put("[0-9A-Za-z_]", 2),
            Some('W') => self.put("[^0-9A-Za-z_]", 2),
            Some('s') => self.put("[\\t\\n\\f\\r ]", 2),
            Some('S') => self.put("[^\\t\\n\\f\\r ]", 2),
            Some('b') if !in_class => self.put("(?-u:\\b)", 2),
            Some(c @ ('<' | '>')) => self.put(c.encode_utf8(&mut [0; 4]), 2),
            Some('p' | 'P' | 'x') if self.rest[2..].starts_with('{') => {
                self.copy(self.rest.find('}').map_or(2, |end| end + 1));
            }
            next => self.copy(1 + next.map_or(0, char::len_utf8)),
        }
    }

    /// Translates `\Q…\E`: literal text, up to the end of the pattern without `\E`.
    fn quoted(&mut self) {
        let content = &self.rest[2..];
        let (literal, rest) = content.split_once("\\E").unwrap_or((content, ""));
        self.out.push_str(&regex::escape(literal));
        self.rest = rest;
    }

    /// Translates a counted repetition or a literal brace.
    fn brace(&mut self) -> Result<(), String> {
        let repetition = self.rest.split_inclusive('}').next().unwrap_or_default();
        let Some(counts) = counts(repetition) else {
            self.put("\\{", 1);
            return Ok(());
        };
        if counts.into_iter().any(|count| count > MAX_REPEATS) {
            return Err(format!("invalid repeat count: `{repetition}`"));
        }
        self.repeat(repetition.len())
    }

    /// Copies a repetition of this length, with the `?` of a lazy repetition.
    fn repeat(&mut self, length: usize) -> Result<(), String> {
        let length = length + usize::from(self.rest[length..].starts_with('?'));
        let start = self.text.len() - self.rest.len();
        if start > 0 && self.repetition.end == start {
            let both = &self.text[self.repetition.start..start + length];
            return Err(format!("invalid nested repetition operator: `{both}`"));
        }
        self.repetition = start..start + length;
        self.copy(length);
        Ok(())
    }

    /// Translates `[…]`. Inner brackets are literal unless they name a class (`[:alpha:]`). Go has no intersections or
    /// differences.
    fn class(&mut self) {
        self.copy(if self.rest.starts_with("[^") { 2 } else { 1 });
        let mut is_first = true;
        while let Some(c) = self.rest.chars().next() {
            match c {
                ']' if !is_first => return self.copy(1),
                ']' => self.put("\\]", 1),
                '\\' => self.escape(true),
                '[' => match self.rest.find(":]").filter(|_| self.rest.starts_with("[:")) {
                    Some(end) => self.copy(end + 2),
                    None => self.put("\\[", 1),
                },
                '&' => self.put("\\&", 1),
                '~' => self.put("\\~", 1),
                '-' if self.out.ends_with('-') => self.put("\\-", 1),
                c => self.copy(c.len_utf8()),
            }
            is_first = false;
        }
    }
}

/// Parses the counts of `{2}`, `{2,}` and `{2,3}`. `None` for other text, such as `{,3}` and `{02}`.
fn counts(text: &str) -> Option<Vec<u32>> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    let count = |digits: &str| {
        let plain =
            digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
        (plain && !digits.is_empty()).then(|| digits.parse().unwrap_or(u32::MAX))
    };
    match inner.split_once(',') {
        None => Some(vec![count(inner)?]),
        Some((least, "")) => Some(vec![count(least)?]),
        Some((least, most)) => Some(vec![count(least)?, count(most)?]),
    }
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
