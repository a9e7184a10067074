//! Tokens of actions.

use super::offset32;
use super::tree::Part;
use crate::format::{code_point, quoted};

/// The spaces that separate tokens and that trim markers remove.
pub(super) const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Keyword(Keyword),
    /// The name of a function.
    Name,
    /// `.name`
    Field,
    /// `$name` or `$`
    Variable,
    Dot,
    Nil,
    Bool,
    /// A number or a character constant.
    Number,
    /// A string in double or back quotes.
    Quoted,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `|`
    Bar,
    /// `=`
    Assign,
    /// `:=`
    Declare,
    Comma,
    /// Another ASCII character.
    Symbol,
    /// The right delimiter.
    End,
    Broken(Defect),
}

impl Kind {
    /// True for the tokens that operands start with.
    pub(super) fn starts_operand(self) -> bool {
        use Kind::{Bool, Dot, Field, Name, Nil, Number, Open, Quoted, Variable};
        matches!(self, Bool | Dot | Field | Name | Nil | Number | Open | Quoted | Variable)
    }
}

/// Words that start or structure an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    Block,
    Break,
    Continue,
    Define,
    Else,
    End,
    If,
    Range,
    Template,
    With,
}

/// The reasons why a token or comment cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Defect {
    UnclosedAction,
    UnclosedComment,
    TextAfterComment,
    UnclosedParenthesis,
    ExtraParenthesis,
    UnclosedString,
    UnclosedRawString,
    UnclosedCharacter,
    LoneColon,
    Number,
    /// A character that starts no token.
    Start(char),
    /// A character directly behind a name.
    AfterName(char),
}

/// A token with its byte offset in the template.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) offset: usize,
    pub(super) text: &'t str,
    pub(super) spaces_before: bool,
}

impl Token<'_> {
    /// Creates a token without text.
    pub(super) fn broken(defect: Defect, offset: usize) -> Self {
        Self { kind: Kind::Broken(defect), offset, text: "", spaces_before: false }
    }

    /// The offset behind the token.
    pub(super) fn end(&self) -> usize {
        self.offset + self.text.len()
    }

    /// The part of the template that this token and the later one span.
    pub(super) fn part_to(&self, last: &Self) -> Part {
        Part::new(offset32(self.offset), offset32(last.end()))
    }

    /// Formats the token for an error message. A defect is a message of its own.
    pub(super) fn describe(&self) -> String {
        const LONGEST: usize = 10;
        let fixed = match self.kind {
            Kind::Keyword(_) | Kind::Dot | Kind::Nil => return format!("<{}>", self.text),
            Kind::Broken(Defect::Number) => {
                return format!("bad number syntax: {}", quoted(self.text.as_bytes()));
            }
            Kind::Broken(Defect::Start(character)) => {
                return format!("unrecognized character in action: {}", code_point(character));
            }
            Kind::Broken(Defect::AfterName(character)) => {
                return format!("bad character {}", code_point(character));
            }
            Kind::Broken(Defect::UnclosedAction) => "unclosed action",
            Kind::Broken(Defect::UnclosedComment) => "unclosed comment",
            Kind::Broken(Defect::TextAfterComment) => "comment ends before closing delimiter",
            Kind::Broken(Defect::UnclosedParenthesis) => "unclosed left paren",
            Kind::Broken(Defect::ExtraParenthesis) => "unexpected right paren",
            Kind::Broken(Defect::UnclosedString) => "unterminated quoted string",
            Kind::Broken(Defect::UnclosedRawString) => "unterminated raw quoted string",
            Kind::Broken(Defect::UnclosedCharacter) => "unterminated character constant",
            Kind::Broken(Defect::LoneColon) => "expected :=",
            _ if self.text.len() > LONGEST => {
                let start: String = self.text.chars().take(LONGEST).collect();
                return format!("{}...", quoted(start.as_bytes()));
            }
            _ => return quoted(self.text.as_bytes()),
        };
        fixed.to_owned()
    }
}

/// Reads the token at the start of a text, which is neither a space nor the right delimiter.
pub(super) fn read<'t>(text: &'t str, right: &str) -> Token<'t> {
    let bytes = text.as_bytes();
    let (kind, length) = match text.chars().next() {
        None => (Kind::Broken(Defect::UnclosedAction), 0),
        Some('0'..='9' | '+' | '-') => number(text),
        Some('.') if bytes.get(1).is_none_or(u8::is_ascii_digit) => number(text),
        Some('.' | '$') => name(text, 1, right),
        Some('"') => enclosed(text, Kind::Quoted, Defect::UnclosedString),
        Some('\'') => enclosed(text, Kind::Number, Defect::UnclosedCharacter),
        Some('`') => match text[1..].find('`') {
            Some(length) => (Kind::Quoted, length + 2),
            None => (Kind::Broken(Defect::UnclosedRawString), 0),
        },
        Some('(') => (Kind::Open, 1),
        Some(')') => (Kind::Close, 1),
        Some('|') => (Kind::Bar, 1),
        Some('=') => (Kind::Assign, 1),
        Some(',') => (Kind::Comma, 1),
        Some(':') if bytes.get(1) == Some(&b'=') => (Kind::Declare, 2),
        Some(':') => (Kind::Broken(Defect::LoneColon), 0),
        Some(first) if is_name_character(first) => name(text, 0, right),
        Some(first) if first.is_ascii_graphic() => (Kind::Symbol, 1),
        Some(first) => (Kind::Broken(Defect::Start(first)), 0),
    };
    Token { kind, offset: 0, text: &text[..length], spaces_before: false }
}

fn is_name_character(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// Reads a name behind its `.` or `$`, if `sigil` is 1.
fn name(text: &str, sigil: usize, right: &str) -> (Kind, usize) {
    let ends_here = |rest: &str| match rest.bytes().next() {
        None | Some(b'.' | b',' | b'|' | b':' | b'(' | b')') => true,
        Some(next) => is_space(next) || rest.starts_with(right),
    };
    let mut rest = &text[sigil..];
    if sigil == 0 || !ends_here(rest) {
        let ascii = rest.bytes().take_while(|byte| *byte == b'_' || byte.is_ascii_alphanumeric()).count();
        rest = rest[ascii..].trim_start_matches(is_name_character);
    }
    if let Some(next) = rest.chars().next().filter(|_| !ends_here(rest)) {
        return (Kind::Broken(Defect::AfterName(next)), 0);
    }
    let length = text.len() - rest.len();
    let kind = match &text[..length] {
        "block" => Kind::Keyword(Keyword::Block),
        "break" => Kind::Keyword(Keyword::Break),
        "continue" => Kind::Keyword(Keyword::Continue),
        "define" => Kind::Keyword(Keyword::Define),
        "else" => Kind::Keyword(Keyword::Else),
        "end" => Kind::Keyword(Keyword::End),
        "if" => Kind::Keyword(Keyword::If),
        "range" => Kind::Keyword(Keyword::Range),
        "template" => Kind::Keyword(Keyword::Template),
        "with" => Kind::Keyword(Keyword::With),
        "true" | "false" => Kind::Bool,
        "nil" => Kind::Nil,
        "." => Kind::Dot,
        name if name.starts_with('.') => Kind::Field,
        name if name.starts_with('$') => Kind::Variable,
        _ => Kind::Name,
    };
    (kind, length)
}

/// Reads a token up to its quote, which is its first character, on one line. A backslash escapes the next character.
fn enclosed(text: &str, kind: Kind, defect: Defect) -> (Kind, usize) {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'\n' => break,
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            _ if byte == text.as_bytes()[0] => return (kind, at + 1),
            _ => {}
        }
    }
    (Kind::Broken(defect), 0)
}

/// Reads a number: real, imaginary as in `2i`, or complex as in `1+2i`. Of a bad number, the text ends with the first
/// character that does not fit.
fn number(text: &str) -> (Kind, usize) {
    let (mut length, mut is_valid) = real(text);
    if is_valid && text[length..].starts_with(['+', '-']) {
        let (more, is_real) = real(&text[length..]);
        length += more;
        is_valid = is_real && text[..length].ends_with('i');
    }
    (if is_valid { Kind::Number } else { Kind::Broken(Defect::Number) }, length)
}

/// Returns the length of a number, and true if no name follows directly.
fn real(text: &str) -> (usize, bool) {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (prefix, radix, exponents): (_, _, &[char]) = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => (2, 16, &['p', 'P']),
        [b'0', b'o' | b'O', ..] => (2, 8, &[]),
        [b'0', b'b' | b'B', ..] => (2, 2, &[]),
        _ => (0, 10, &['e', 'E']),
    };
    let mut rest = behind_digits(&unsigned[prefix..], radix);
    rest = rest.strip_prefix('.').map_or(rest, |fraction| behind_digits(fraction, radix));
    if let Some(power) = rest.strip_prefix(exponents) {
        rest = behind_digits(power.strip_prefix(['+', '-']).unwrap_or(power), 10);
    }
    rest = rest.strip_prefix('i').unwrap_or(rest);
    let length = text.len() - rest.len();
    match rest.chars().next().filter(|next| is_name_character(*next)) {
        Some(next) => (length + next.len_utf8(), false),
        None => (length, true),
    }
}

fn behind_digits(text: &str, radix: u32) -> &str {
    text.trim_start_matches(|digit: char| digit == '_' || digit.is_digit(radix))
}
