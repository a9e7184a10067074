//! Translation of Go's regular expressions to the syntax of the `regex` crate. Both come from RE2. They differ in
//! unmatched brackets and braces and in text between `\Q` and `\E`. Go's classes (`\d`, `\w`, `\s`, `\b`) are ASCII
//! only.
//!
//! Source: Go 1.26 `regexp/syntax`.

use std::ops::Range;

/// The maximum count of a counted repetition.
const MAX_REPEATS: u32 = 1000;

/// Translates a Go expression to the same meaning in the `regex` crate. Expressions that neither can read stay
/// unchanged.
pub(super) fn translate(text: &str) -> Result<String, String> {
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
