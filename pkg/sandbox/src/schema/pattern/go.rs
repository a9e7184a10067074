//! Go's regular expressions in the syntax of the `regex` crate. Both come from RE2, but differ in what a bracket or a
//! brace means that opens nothing, in texts between `\Q` and `\E`, and in that Go's classes (`\d`, `\w`, `\s`, `\b`)
//! know ASCII alone.
//!
//! Source: Go 1.26 `regexp/syntax`.

use std::ops::Range;

/// How often something may be repeated by number.
const MOST_REPEATS: u32 = 1000;

/// Writes an expression of Go so that the `regex` crate reads it as Go does. What neither can read stays as it is.
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
    /// Where the last repetition stands in the text.
    repetition: Range<usize>,
}

impl Writer<'_> {
    fn copy(&mut self, length: usize) {
        let (copied, rest) = self.rest.split_at(length);
        self.out.push_str(copied);
        self.rest = rest;
    }

    /// Writes something in the place of what has this length.
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

    /// `\Q…\E`: a text that stands for itself, up to the end when nothing ends it.
    fn quoted(&mut self) {
        let content = &self.rest[2..];
        let (literal, rest) = content.split_once("\\E").unwrap_or((content, ""));
        self.out.push_str(&regex::escape(literal));
        self.rest = rest;
    }

    /// A repetition by number, or a brace that stands for itself.
    fn brace(&mut self) -> Result<(), String> {
        let repetition = self.rest.split_inclusive('}').next().unwrap_or_default();
        let Some(counts) = counts(repetition) else {
            self.put("\\{", 1);
            return Ok(());
        };
        if counts.into_iter().any(|count| count > MOST_REPEATS) {
            return Err(format!("invalid repeat count: `{repetition}`"));
        }
        self.repeat(repetition.len())
    }

    /// A repetition of this length, and the `?` that makes it lazy.
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

    /// `[…]`: other brackets in it stand for themselves, unless they name a class (`[:alpha:]`), and there are no
    /// intersections and differences.
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

/// The numbers of `{2}`, `{2,}` and `{2,3}`; nothing for what is no repetition, such as `{,3}` and `{02}`.
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
