//! Splits the text of a template into tokens, as Go's lexer does.
//!
//! Source: Go 1.26 text/template/parse (lexer): the same tokens, positions and error texts.

use crate::delimiters::Delimiters;

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Error,
    Bool,
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    Eof,
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    String,
    Text,
    Variable,
    Dot,
    Nil,
    Keyword(Keyword),
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

/// One token. `text` is a slice of the template, or the message of an error.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    /// The byte offset in the template.
    pub(super) offset: usize,
    pub(super) text: std::borrow::Cow<'t, str>,
    /// The line of the start of the token, from 1.
    pub(super) line: usize,
}

impl Token<'_> {
    /// Formats the token for an error message.
    pub(super) fn describe(&self) -> String {
        match self.kind {
            Kind::Eof => "EOF".to_owned(),
            Kind::Error => self.text.to_string(),
            Kind::Keyword(_) | Kind::Dot | Kind::Nil => format!("<{}>", self.text),
            _ => {
                let quote = |text: &str| crate::format::quoted(text.as_bytes());
                if self.text.len() > 10 {
                    let start: String = self.text.chars().take(10).collect();
                    format!("{}...", quote(&start))
                } else {
                    quote(&self.text)
                }
            }
        }
    }
}

const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

/// The lexer. After an error every further token is the end of input.
pub(super) struct Lexer<'t> {
    input: &'t str,
    left: &'t str,
    right: &'t str,
    pos: usize,
    start: usize,
    line: usize,
    start_line: usize,
    paren_depth: usize,
    inside_action: bool,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(input: &'t str, delimiters: &'t Delimiters) -> Self {
        let (left, right) = (delimiters.left(), delimiters.right());
        Self {
            input,
            left,
            right,
            pos: 0,
            start: 0,
            line: 1,
            start_line: 1,
            paren_depth: 0,
            inside_action: false,
        }
    }

    /// Returns the next token.
    pub(super) fn next_token(&mut self) -> Token<'t> {
        if self.inside_action { self.action() } else { self.text() }
    }

    fn rest(&self) -> &'t str {
        &self.input[self.pos..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn advance(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.pos += next.len_utf8();
        self.line += usize::from(next == '\n');
        Some(next)
    }

    fn emit(&mut self, kind: Kind) -> Token<'t> {
        let text = self.input[self.start..self.pos].into();
        let token = Token { kind, offset: self.start, text, line: self.start_line };
        self.start = self.pos;
        self.start_line = self.line;
        token
    }

    /// Skips the text since the last token; counts its lines.
    fn ignore(&mut self) {
        self.count_lines();
        self.start = self.pos;
        self.start_line = self.line;
    }

    fn count_lines(&mut self) {
        let skipped = &self.input.as_bytes()[self.start..self.pos];
        self.line += memchr::memchr_iter(b'\n', skipped).count();
    }

    fn fail(&mut self, message: impl Into<String>) -> Token<'t> {
        let text = std::borrow::Cow::Owned(message.into());
        let token = Token { kind: Kind::Error, offset: self.start, text, line: self.start_line };
        (self.input, self.pos, self.start) = ("", 0, 0);
        self.inside_action = false;
        token
    }

    fn text(&mut self) -> Token<'t> {
        loop {
            let Some(length) = self.rest().find(self.left) else {
                self.pos = self.input.len();
                if self.pos == self.start {
                    return self.emit(Kind::Eof);
                }
                self.count_lines();
                return self.emit(Kind::Text);
            };
            if length > 0 {
                self.pos += length;
                let before = &self.input[self.start..self.pos];
                let is_trimmed = has_left_trim_marker(&self.input[self.pos + self.left.len()..]);
                let kept = if is_trimmed { before.trim_end_matches(SPACES).len() } else { before.len() };
                let trimmed = before.len() - kept;
                self.pos -= trimmed;
                self.count_lines();
                let token = self.emit(Kind::Text);
                self.pos += trimmed;
                self.ignore();
                if !token.text.is_empty() {
                    return token;
                }
            }
            if let Some(token) = self.left_delimiter() {
                return token;
            }
        }
    }

    /// Reads the left delimiter with its trim marker. `None` after a comment.
    fn left_delimiter(&mut self) -> Option<Token<'t>> {
        self.pos += self.left.len();
        let after_marker = if has_left_trim_marker(self.rest()) { 2 } else { 0 };
        if self.input[self.pos + after_marker..].starts_with("/*") {
            self.pos += after_marker;
            self.ignore();
            return self.comment();
        }
        let token = self.emit(Kind::LeftDelim);
        self.inside_action = true;
        self.pos += after_marker;
        self.ignore();
        self.paren_depth = 0;
        Some(token)
    }

    fn comment(&mut self) -> Option<Token<'t>> {
        self.pos += 2;
        let Some(length) = self.rest().find("*/") else { return Some(self.fail("unclosed comment")) };
        self.pos += length + 2;
        let (is_end, is_trimmed) = self.at_right_delimiter();
        if !is_end {
            return Some(self.fail("comment ends before closing delimiter"));
        }
        self.pos += self.right.len() + if is_trimmed { 2 } else { 0 };
        if is_trimmed {
            self.skip_spaces();
        }
        self.ignore();
        None
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.pos += rest.len() - rest.trim_start_matches(SPACES).len();
    }

    /// Returns two facts: a right delimiter starts here, and it has a trim marker.
    fn at_right_delimiter(&self) -> (bool, bool) {
        let rest = self.rest();
        if has_right_trim_marker(rest) && rest[2..].starts_with(self.right) {
            return (true, true);
        }
        (rest.starts_with(self.right), false)
    }

    fn right_delimiter(&mut self) -> Token<'t> {
        let (_, is_trimmed) = self.at_right_delimiter();
        if is_trimmed {
            self.pos += 2;
            self.ignore();
        }
        self.pos += self.right.len();
        let token = self.emit(Kind::RightDelim);
        if is_trimmed {
            self.skip_spaces();
            self.ignore();
        }
        self.inside_action = false;
        token
    }

    fn action(&mut self) -> Token<'t> {
        if self.at_right_delimiter().0 {
            if self.paren_depth == 0 {
                return self.right_delimiter();
            }
            return self.fail("unclosed left paren");
        }
        let Some(first) = self.peek() else { return self.fail("unclosed action") };
        if SPACES.contains(&first) {
            return self.space();
        }
        if first.is_ascii_digit() || first == '+' || first == '-' || self.at_decimal_point() {
            return self.number();
        }
        if is_alphanumeric(first) {
            return self.identifier();
        }
        self.advance();
        self.symbol(first)
    }

    /// True before a point that starts a number.
    fn at_decimal_point(&self) -> bool {
        let rest = self.rest().as_bytes();
        rest.first() == Some(&b'.') && rest.get(1).is_none_or(u8::is_ascii_digit)
    }

    fn symbol(&mut self, first: char) -> Token<'t> {
        match first {
            '=' => self.emit(Kind::Assign),
            ':' if self.advance() == Some('=') => self.emit(Kind::Declare),
            ':' => self.fail("expected :="),
            '|' => self.emit(Kind::Pipe),
            '"' => self.quote('"', Kind::String, "unterminated quoted string"),
            '\'' => self.quote('\'', Kind::CharConstant, "unterminated character constant"),
            '`' => self.raw_quote(),
            '$' => self.field_or_variable(Kind::Variable, Kind::Variable),
            '.' => self.field_or_variable(Kind::Field, Kind::Dot),
            '(' => {
                self.paren_depth += 1;
                self.emit(Kind::LeftParen)
            }
            ')' if self.paren_depth == 0 => self.fail("unexpected right paren"),
            ')' => {
                self.paren_depth -= 1;
                self.emit(Kind::RightParen)
            }
            _ if first.is_ascii_graphic() => self.emit(Kind::Char),
            _ => {
                let shown = crate::format::code_point(first);
                self.fail(format!("unrecognized character in action: {shown}"))
            }
        }
    }

    /// Reads a run of spaces, but not the one that belongs to a trim marker.
    fn space(&mut self) -> Token<'t> {
        let mut count = 0;
        while self.peek().is_some_and(|next| SPACES.contains(&next)) {
            self.advance();
            count += 1;
        }
        let last = &self.input[self.pos - 1..];
        if has_right_trim_marker(last) && last[2..].starts_with(self.right) {
            self.pos -= 1;
            self.line -= usize::from(last.starts_with('\n'));
            if count == 1 {
                return self.right_delimiter();
            }
        }
        self.emit(Kind::Space)
    }

    fn skip_alphanumeric(&mut self) {
        while self.peek().is_some_and(is_alphanumeric) {
            self.advance();
        }
    }

    fn identifier(&mut self) -> Token<'t> {
        self.skip_alphanumeric();
        if !self.at_terminator() {
            return self.bad_character();
        }
        let kind = match &self.input[self.start..self.pos] {
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
            "nil" => Kind::Nil,
            "true" | "false" => Kind::Bool,
            _ => Kind::Identifier,
        };
        self.emit(kind)
    }

    /// Reads the rest of a field or variable. `alone` is the kind of the first character without a name.
    fn field_or_variable(&mut self, named: Kind, alone: Kind) -> Token<'t> {
        if self.at_terminator() {
            return self.emit(alone);
        }
        self.skip_alphanumeric();
        if !self.at_terminator() {
            return self.bad_character();
        }
        self.emit(named)
    }

    fn bad_character(&mut self) -> Token<'t> {
        let shown = self.peek().map_or_else(|| "U+FFFFFFFFFFFFFFFF".to_owned(), crate::format::code_point);
        self.fail(format!("bad character {shown}"))
    }

    fn at_terminator(&self) -> bool {
        let Some(next) = self.peek() else { return true };
        SPACES.contains(&next)
            || matches!(next, '.' | ',' | '|' | ':' | ')' | '(')
            || self.rest().starts_with(self.right)
    }

    fn quote(&mut self, end: char, kind: Kind, unterminated: &str) -> Token<'t> {
        loop {
            let next = match self.advance() {
                Some('\\') => self.advance().filter(|escaped| *escaped != '\n').map(|_| '\\'),
                next => next,
            };
            match next {
                None | Some('\n') => return self.fail(unterminated),
                Some(next) if next == end => return self.emit(kind),
                Some(_) => {}
            }
        }
    }

    fn raw_quote(&mut self) -> Token<'t> {
        loop {
            match self.advance() {
                None => return self.fail("unterminated raw quoted string"),
                Some('`') => return self.emit(Kind::RawString),
                Some(_) => {}
            }
        }
    }

    fn number(&mut self) -> Token<'t> {
        if !self.scan_number() {
            return self.bad_number();
        }
        if !matches!(self.peek(), Some('+' | '-')) {
            return self.emit(Kind::Number);
        }
        if !self.scan_number() || !self.input[..self.pos].ends_with('i') {
            return self.bad_number();
        }
        self.emit(Kind::Complex)
    }

    fn bad_number(&mut self) -> Token<'t> {
        let shown = crate::format::quoted(&self.input.as_bytes()[self.start..self.pos]);
        self.fail(format!("bad number syntax: {shown}"))
    }

    fn accept(&mut self, valid: &str) -> bool {
        let is_valid = self.peek().is_some_and(|next| valid.contains(next));
        if is_valid {
            self.advance();
        }
        is_valid
    }

    fn accept_run(&mut self, valid: &str) {
        while self.accept(valid) {}
    }

    fn scan_number(&mut self) -> bool {
        const DECIMAL: &str = "0123456789_";
        const HEXADECIMAL: &str = "0123456789abcdefABCDEF_";
        self.accept("+-");
        let mut digits = DECIMAL;
        if self.accept("0") {
            if self.accept("xX") {
                digits = HEXADECIMAL;
            } else if self.accept("oO") {
                digits = "01234567_";
            } else if self.accept("bB") {
                digits = "01_";
            }
        }
        self.accept_run(digits);
        if self.accept(".") {
            self.accept_run(digits);
        }
        let exponent = if digits == DECIMAL { "eE" } else { "pP" };
        if (digits == DECIMAL || digits == HEXADECIMAL) && self.accept(exponent) {
            self.accept("+-");
            self.accept_run(DECIMAL);
        }
        self.accept("i");
        if self.peek().is_some_and(is_alphanumeric) {
            self.advance();
            return false;
        }
        true
    }
}

/// True for characters of a name.
fn is_alphanumeric(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

fn has_left_trim_marker(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first() == Some(&b'-') && bytes.get(1).is_some_and(|byte| SPACES.contains(&char::from(*byte)))
}

fn has_right_trim_marker(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| SPACES.contains(&char::from(*byte))) && bytes.get(1) == Some(&b'-')
}
