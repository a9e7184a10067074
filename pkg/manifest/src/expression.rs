//! Translates Go regular expressions to the syntax of the `regex` crate, which reads some of them differently.
//!
//! ```text
//! \${NAME}  ─►  \$\{NAME}       a brace that is no counter is a literal
//! \d        ─►  [0-9]           classes and word boundaries are ASCII
//! [a[&&b]   ─►  [a\[\&\&b]      a class holds characters, ranges and named classes, but no operators
//! \Qa.b\E   ─►  a\.b
//! ```
//! Syntax that only the crate accepts (`(?x)`, `a**`) stays valid.
//! Source: the syntax of Go's `regexp`. kustomize v5.8.1 uses it for selectors, image names and paths; SOPS 3.13 uses it
//! for keys and comments.

use std::fmt::Write as _;

use regex::Regex;

/// Compiles a Go regular expression.
/// # Errors
/// The reason why `text` is no regular expression, in one line.
pub fn read(text: &str) -> Result<Regex, String> {
    Regex::new(&translate(text)).map_err(|error| {
        // A parse error has several lines; the last one gives the reason.
        error.to_string().lines().last().unwrap_or_default().to_owned()
    })
}

/// Translates a Go regular expression to the syntax of the `regex` crate. Invalid syntax stays invalid.
#[must_use]
pub fn translate(text: &str) -> String {
    let mut translation = Translation { rest: text, output: String::with_capacity(text.len()) };
    while let Some(next) = translation.take() {
        match next {
            '\\' => drop(translation.escape(ClassContext::Outside)),
            '[' => translation.class(),
            '{' if !is_count(translation.rest) => translation.literal('{'),
            other => translation.output.push(other),
        }
    }
    translation.output
}

/// True if the text behind a brace is a repetition count.
pub fn is_count(rest: &str) -> bool {
    let is_number = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && (text == "0" || !text.starts_with('0'))
    };
    rest.split_once('}').is_some_and(|(inside, _)| match inside.split_once(',') {
        Some((least, most)) => is_number(least) && (most.is_empty() || is_number(most)),
        None => is_number(inside),
    })
}

/// A translation in progress, from left to right.
struct Translation<'t> {
    rest: &'t str,
    output: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ClassContext {
    Outside,
    InClass,
}

/// The extent of one element of a class; only a single character can begin a range.
#[derive(PartialEq, Eq)]
enum Element {
    One,
    Several,
}

impl<'t> Translation<'t> {
    fn take(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn take_prefix(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes a braced argument including its braces, else `count` characters.
    fn take_argument(&mut self, count: usize) -> &'t str {
        let closed = if self.rest.starts_with('{') { self.rest.find('}').map(|at| at + 1) } else { None };
        let end = || self.rest.char_indices().nth(count).map_or(self.rest.len(), |(at, _)| at);
        let (argument, rest) = self.rest.split_at(closed.unwrap_or_else(end));
        self.rest = rest;
        argument
    }

    fn literal(&mut self, character: char) {
        self.output += &regex::escape(character.encode_utf8(&mut [0; 4]));
    }

    /// Translates the escape behind a backslash.
    fn escape(&mut self, place: ClassContext) -> Element {
        let Some(next) = self.take() else {
            self.output.push('\\');
            return Element::One;
        };
        match next {
            'd' => self.output += "[0-9]",
            'D' => self.output += "[^0-9]",
            's' => self.output += r"[\t\n\f\r ]",
            'S' => self.output += r"[^\t\n\f\r ]",
            'w' => self.output += "[0-9A-Za-z_]",
            'W' => self.output += "[^0-9A-Za-z_]",
            'p' | 'P' => self.property(next),
            'x' => return self.hexadecimal(),
            'b' if place == ClassContext::Outside => self.output += r"(?-u:\b)",
            'B' if place == ClassContext::Outside => self.output += r"(?-u:\B)",
            'Q' if place == ClassContext::Outside => self.quoted(),
            '0'..='7' => return self.octal(next),
            '<' | '>' => {
                self.literal(next);
                return Element::One;
            }
            other => {
                self.output.extend(['\\', other]);
                return Element::One;
            }
        }
        Element::Several
    }

    /// Translates `\p{Greek}` or `\pL`; a `^` in the braces negates the class.
    fn property(&mut self, letter: char) {
        let is_turned = self.rest.starts_with("{^");
        let letter = if is_turned == (letter == 'p') { 'P' } else { 'p' };
        self.output.extend(['\\', letter]);
        let name = self.take_argument(1);
        self.output += &name.replacen('^', "", 1);
    }

    /// Translates `\x{61}` or `\x61`.
    fn hexadecimal(&mut self) -> Element {
        let digits = self.take_argument(2);
        self.output += r"\x";
        self.output += digits;
        Element::One
    }

    fn quoted(&mut self) {
        let (quoted, rest) = self.rest.split_once(r"\E").unwrap_or((self.rest, ""));
        self.rest = rest;
        quoted.chars().for_each(|each| self.literal(each));
    }

    /// Translates an octal escape of up to three digits. A single digit other than zero would be a back-reference.
    fn octal(&mut self, first: char) -> Element {
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'7');
        let more = self.rest.bytes().take(2).take_while(is_digit).count();
        let digits = format!("{first}{}", &self.rest[..more]);
        self.rest = &self.rest[more..];
        match u32::from_str_radix(&digits, 8) {
            Ok(code) if more > 0 || first == '0' => {
                // Writing to a String cannot fail.
                let _ = write!(self.output, r"\x{{{code:x}}}");
            }
            _ => self.output.extend(['\\', first]),
        }
        Element::One
    }

    /// Translates a class behind its opening bracket, up to its end.
    fn class(&mut self) {
        self.output.push('[');
        if self.take_prefix("^") {
            self.output.push('^');
        }
        let mut is_first = true;
        while is_first || !self.take_prefix("]") {
            if self.rest.is_empty() {
                return;
            }
            is_first = false;
            let is_range = self.element() == Element::One && self.rest.starts_with('-');
            if is_range && !self.rest.starts_with("-]") && self.take_prefix("-") {
                self.output.push('-');
                self.element();
            }
        }
        self.output.push(']');
    }

    fn element(&mut self) -> Element {
        if let Some((name, rest)) = self.rest.strip_prefix("[:").and_then(|rest| rest.split_once(":]")) {
            self.output.extend(["[:", name, ":]"]);
            self.rest = rest;
            return Element::Several;
        }
        match self.take() {
            Some('\\') => return self.escape(ClassContext::InClass),
            Some(other) => self.literal(other),
            None => {}
        }
        Element::One
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitting<'n>(text: &str, names: &[&'n str]) -> Vec<&'n str> {
        let expression = read(&format!("^(?:{text})$")).unwrap();
        names.iter().copied().filter(|name| expression.is_match(name)).collect()
    }

    #[test]
    fn a_brace_without_a_count_is_literal() {
        let names = ["${A}-x", "a{", "{a}", "a{,2}", "aa", "a{1", "a{02}"];
        for (text, expected) in [
            (r"\${A}-x", &["${A}-x"][..]),
            (r"\$\{A\}.*", &["${A}-x"]),
            ("a{", &["a{"]),
            ("{a}", &["{a}"]),
            ("a{,2}", &["a{,2}"]),
            ("a{1", &["a{1"]),
            ("a{02}", &["a{02}"]),
            ("a{2}", &["aa"]),
            ("a{1,}", &["aa"]),
            ("a{1,2}", &["aa"]),
            (".+{", &["a{"]),
        ] {
            assert_eq!(fitting(text, &names), expected, "{text}");
        }
    }

    #[test]
    fn a_character_class_contains_brackets_and_no_operators() {
        let names = ["a", "b", "[", "]", "&", "~", "-", "5", "٣", "^"];
        for (text, expected) in [
            ("[a[b]", &["a", "b", "["][..]),
            ("[a&&b]", &["a", "b", "&"]),
            ("[a~~b]", &["a", "b", "~"]),
            ("[]a]", &["a", "]"]),
            ("[^]a]", &["b", "[", "&", "~", "-", "5", "٣", "^"]),
            (r"[\d-z]", &["-", "5"]),
            ("[a-b]", &["a", "b"]),
            ("[a-]", &["a", "-"]),
            ("[+--]", &["-"]),
            ("[[:digit:]b]", &["b", "5"]),
            (r"[\[\]]", &["[", "]"]),
            ("[b^]", &["b", "^"]),
            (r"[^\D]", &["5"]),
            (r"[\x{61}-\x62]", &["a", "b"]),
        ] {
            assert_eq!(fitting(text, &names), expected, "{text}");
        }
        for text in ["[a", "[a--b]", r"[a-\d]", "["] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn named_classes_are_ascii_and_escapes_match_kustomize() {
        let names = ["a", "é", "5", "٣", "a.b", "a b", "<a"];
        for (text, expected) in [
            (r"\d", &["5"][..]),
            (r"\w", &["a", "5"]),
            (r"\D", &["a", "é", "٣"]),
            (r"\pL", &["a", "é"]),
            (r"[\p{Latin}\pN]", &["a", "é", "5", "٣"]),
            (r"\p{Lu}|\x61|\x{e9}", &["a", "é"]),
            (r"\p{^L}", &["5", "٣"]),
            (r"\P{^L}", &["a", "é"]),
            (r"\Qa.b\E", &["a.b"]),
            (r"a\sb", &["a b"]),
            (r"a\b.\bb", &["a.b", "a b"]),
            (r"\<a", &["<a"]),
            (r"\141", &["a"]),
        ] {
            assert_eq!(fitting(text, &names), expected, "{text}");
        }
        assert!(read(r"\Qa.b").is_ok_and(|expression| expression.is_match("xa.b")));
        for text in [r"(a)\1", r"\8", r"\", "(", "*"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
