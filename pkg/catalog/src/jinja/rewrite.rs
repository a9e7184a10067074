//! Changes to the source of a template, for what the engine lacks: assigned lists and mappings that change, and the
//! operator `%` after a text.

use super::{mutable, percent};

/// Calls the function for mutable values where a template assigns a literal, and the filter for `"…" % …`.
pub(super) fn rewrite(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = next_tag(rest) {
        let (before, body) = rest.split_at(at + 2);
        out.push_str(before);
        rest = match before.get(at..) {
            Some("{#") => copy_until("#}", body, &mut out),
            Some("{%") => match Code::read(body, "%}") {
                Some(code) if code.word(0) == Some("raw") => copy_raw(body, &mut out),
                Some(code) => code.write_block(&mut out),
                None => body,
            },
            _ => match Code::read(body, "}}") {
                Some(code) => code.write_all(0, &mut out),
                None => body,
            },
        };
    }
    out.push_str(rest);
    out
}

/// Returns the position of the next comment, block or expression.
fn next_tag(text: &str) -> Option<usize> {
    let is_tag = |(at, _): &(usize, &str)| matches!(text.as_bytes().get(at + 1), Some(b'#' | b'%' | b'{'));
    text.match_indices('{').find(is_tag).map(|(at, _)| at)
}

fn copy_until<'s>(end: &str, body: &'s str, out: &mut String) -> &'s str {
    let length = body.find(end).map_or(body.len(), |at| at + end.len());
    out.push_str(&body[..length]);
    &body[length..]
}

/// Copies a raw text until the block that ends it.
fn copy_raw<'s>(body: &'s str, out: &mut String) -> &'s str {
    let is_end = |(at, _): &(usize, &str)| {
        let block = body[at + 2..].trim_start_matches(['-', '+']).trim_start();
        block.starts_with("endraw")
    };
    let length = body.match_indices("{%").find(is_end).map_or(body.len(), |(at, _)| at);
    out.push_str(&body[..length]);
    &body[length..]
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Text,
    Word,
    Open,
    Close,
    /// One character.
    Sign,
}

struct Token {
    kind: TokenKind,
    start: usize,
    end: usize,
}

/// The tokens of a block or expression.
struct Code<'s> {
    /// The code, and the template after it.
    body: &'s str,
    tokens: Vec<Token>,
    /// The end of the code, before the sign that removes spaces.
    end: usize,
}

impl<'s> Code<'s> {
    /// Reads code until its end, which is not inside of texts and brackets. None if there is no end.
    fn read(body: &'s str, end: &str) -> Option<Self> {
        let (mut tokens, mut depth) = (Vec::new(), 0_usize);
        let mut at = usize::from(body.starts_with(['-', '+']));
        loop {
            let rest = &body[at..];
            let character = rest.chars().next()?;
            if depth == 0 && rest.trim_start_matches(['-', '+']).starts_with(end) {
                return Some(Self { body, tokens, end: at });
            }
            let (kind, length) = match character {
                _ if character.is_whitespace() => {
                    at += character.len_utf8();
                    continue;
                }
                '"' | '\'' => (TokenKind::Text, text_length(rest, character)?),
                '(' | '[' | '{' => (TokenKind::Open, 1),
                ')' | ']' | '}' => (TokenKind::Close, 1),
                _ if is_word(character) => {
                    (TokenKind::Word, rest.find(|next: char| !is_word(next)).unwrap_or(rest.len()))
                }
                _ => (TokenKind::Sign, character.len_utf8()),
            };
            match kind {
                TokenKind::Open => depth += 1,
                TokenKind::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
            tokens.push(Token { kind, start: at, end: at + length });
            at += length;
        }
    }

    fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn text(&self, at: usize) -> &'s str {
        self.tokens.get(at).map_or("", |token| &self.body[token.start..token.end])
    }

    fn word(&self, at: usize) -> Option<&'s str> {
        (self.kind(at) == Some(TokenKind::Word)).then(|| self.text(at))
    }

    /// Writes a block. Returns the template after it.
    fn write_block(&self, out: &mut String) -> &'s str {
        let assigns = self.word(0) == Some("set") && self.word(1).is_some() && self.text(2) == "=";
        if !assigns || !matches!(self.text(3), "[" | "{") {
            return self.write_all(0, out);
        }
        self.write(0, 3, out);
        out.extend([" ", mutable::FUNCTION, "("]);
        let rest = self.write_all(3, out);
        out.push(')');
        rest
    }

    /// Writes all tokens from a position. Returns the template after the code.
    fn write_all(&self, from: usize, out: &mut String) -> &'s str {
        self.write(from, self.tokens.len(), out);
        let written = self.tokens.last().map_or(0, |token| token.end);
        out.push_str(&self.body[written..self.end]);
        &self.body[self.end..]
    }

    /// Writes some tokens with the spaces before them.
    fn write(&self, mut at: usize, to: usize, out: &mut String) {
        while at < to {
            let spaces =
                at.checked_sub(1).and_then(|before| self.tokens.get(before)).map_or(0, |token| token.end);
            out.push_str(&self.body[spaces..self.tokens[at].end]);
            let is_text = self.kind(at) == Some(TokenKind::Text);
            at += 1;
            while is_text && self.text(at) == "%" && at + 1 < to {
                let end = self.operand_end(at + 1).min(to);
                out.extend(["|", percent::FILTER, "("]);
                self.write(at + 1, end, out);
                out.push(')');
                at = end;
            }
        }
    }

    /// Returns the end of an operand: a value with signs, attributes, items, calls and filters.
    fn operand_end(&self, mut at: usize) -> usize {
        while matches!(self.text(at), "-" | "+") {
            at += 1;
        }
        at = self.group_end(at);
        loop {
            at = match self.text(at) {
                "." | "|" => at + 2,
                "(" | "[" => self.group_end(at),
                "*" if self.text(at + 1) == "*" => return self.operand_end(at + 2),
                _ => return at,
            };
        }
    }

    /// Returns the end of a token, or of a bracket with everything in it.
    fn group_end(&self, mut at: usize) -> usize {
        let mut depth = 0_usize;
        loop {
            match self.kind(at) {
                Some(TokenKind::Open) => depth += 1,
                Some(TokenKind::Close) => depth = depth.saturating_sub(1),
                Some(_) => {}
                None => return at,
            }
            at += 1;
            if depth == 0 {
                return at;
            }
        }
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns the length of a text in quotes at the start of a source. None if it has no end.
fn text_length(source: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, character) in source.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_of_literals_and_formats_are_calls() {
        for (source, expected) in [
            ("{% set a = [1] %}", "{% set a = __mutable( [1] )%}"),
            ("{%- set a={'b': 1} -%}", "{%- set a= __mutable({'b': 1} )-%}"),
            (r#"{% set a = ['%}', "\"%}"] %}x"#, r#"{% set a = __mutable( ['%}', "\"%}"] )%}x"#),
            ("{% set a = b %}", "{% set a = b %}"),
            ("{{ '%s' % x }}", "{{ '%s'|__percent( x) }}"),
            ("{{ '%s' % x.y['z']|upper ~ 1 }}", "{{ '%s'|__percent( x.y['z']|upper) ~ 1 }}"),
            ("{{ '%s-%s' % (a, '%d' % -1) }}", "{{ '%s-%s'|__percent( (a, '%d'|__percent( -1))) }}"),
            ("{{ 7 % 3 }}{{ {'a': {'b': 1}} }}", "{{ 7 % 3 }}{{ {'a': {'b': 1}} }}"),
            ("{% if a == '%s' % b %}", "{% if a == '%s'|__percent( b) %}"),
            ("{% set t = '%s' % b %}", "{% set t = '%s'|__percent( b) %}"),
            ("{# {{ '%s' % x }} #}", "{# {{ '%s' % x }} #}"),
            ("{% raw %}{{ '%s' % x }}{%- endraw %}", "{% raw %}{{ '%s' % x }}{%- endraw %}"),
            ("{{ 'open %} {", "{{ 'open %} {"),
            ("{% set a = [1", "{% set a = [1"),
            ("a { b {", "a { b {"),
        ] {
            assert_eq!(rewrite(source), expected, "{source}");
        }
    }
}
