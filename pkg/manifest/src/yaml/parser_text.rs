//! The text as passed to the parser: syntax that libyaml accepts but the parser does not is replaced. Go's reader and
//! those of Python and reclass descend from libyaml.
//!
//! Every replacement keeps the length, so offsets are the same in both texts.
//!
//! | original | replacement | reason |
//! |---|---|---|
//! | U+0085 | CR LF | is a line break in YAML 1.1 |
//! | U+2028, U+2029 | a stand-in and LF | are line breaks that also stay in the text |
//! | tabs at the start of a line, for Go | spaces | are blanks in brackets and quotes; see [`TabCheck`](super::reject::TabCheck) |
//! | a break in quotes, the next line indented too little | a stand-in | text may continue at any column |
//! | `\'` in double quotes | a stand-in | is an escape in YAML 1.1 as read by Go |
//! | a comment right after `"`, `]` or `\|` | blanks | needs no preceding blank |

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{ErrorKind, Event, Marker, Options, Parser, ScalarStyle, ScanError, Span};
use memchr::{memchr, memchr_iter, memchr2, memchr3, memmem, memrchr2};

use super::line_and_column;

const NEXT_LINE: &str = "\u{85}";
const LINE_SEPARATOR: &str = "\u{2028}";
const PARAGRAPH_SEPARATOR: &str = "\u{2029}";
/// Two bytes each, and unused in any script; if a text contains them, its separators are not replaced.
const LINE_STAND_IN: char = '\u{7FB}';
const PARAGRAPH_STAND_IN: char = '\u{7FC}';
/// The stand-in for an escaped single quote.
const QUOTE_STAND_IN: char = '\u{7BF}';

/// The stand-ins for a break between two lines in quotes, and for one and two empty lines. Padding gives them the length
/// of the breaks and blanks that they replace.
const BREAK_STAND_IN: char = '\u{7B2}';
const EMPTY_LINE_STAND_IN: char = '\u{7B3}';
const TWO_EMPTY_LINES_STAND_IN: char = '\u{7B4}';
const PADDING: char = '\u{7B5}';
const BREAK_STAND_INS: [char; 4] = [BREAK_STAND_IN, EMPTY_LINE_STAND_IN, TWO_EMPTY_LINES_STAND_IN, PADDING];

/// The number of repairs for a text of any size. Each repair needs another parse.
const MIN_REPAIRS: usize = 32;
/// The maximum number of bytes that further repairs parse again.
const MAX_REPARSED_BYTES: usize = 2 << 20;
/// The maximum number of bytes between the start of a text in quotes and a line to join.
const MAX_QUOTE_DISTANCE: usize = 4 << 10;

/// Reads a text as libyaml does: calls `handle` with a state, each event, and the line of the event from 1.
///
/// Syntax that libyaml accepts and the parser does not is replaced; then the text is read again, with a new state. In
/// contrast to the parser, a missing value is an empty text, and a block that ends with the text has no line feed of its
/// own.
///
/// # Errors
/// The error of `handle`, or that of `refuse` for syntax that the parser rejects, with its line and column from 1.
pub fn read_events<S: Default, E>(
    text: &str,
    options: &Options,
    handle: impl Fn(&mut S, Event<'_>, usize) -> Result<(), E>,
    refuse: impl FnOnce(&ScanError, usize, usize) -> E,
) -> Result<S, E> {
    let read = ParserText::for_libyaml(text).parse(|view| {
        let mut state = S::default();
        for next in Parser::new_from_str_with_options(&view.text, options.clone()) {
            let (mut event, span) = next.map_err(ParseStop::Parser)?;
            if let Event::Scalar(text, style, ..) = &mut event {
                *text = view.scalar(std::mem::take(text), *style, &span);
            }
            handle(&mut state, event, view.line(&span.start))?;
        }
        Ok(state)
    });
    read.map_err(|stop| match stop {
        ParseStop::Fault(fault) => fault,
        ParseStop::Parser(error) => {
            let offset = error.marker().byte_offset().unwrap_or_default();
            let (line, column) = line_and_column(text.as_bytes(), offset);
            refuse(&error, line, column)
        }
    })
}

/// A text and its form for the parser.
#[derive(Debug)]
pub(super) struct ParserText<'a> {
    pub(super) text: Cow<'a, str>,
    /// True for what only Go's reader accepts.
    is_go: bool,
    has_stand_ins: bool,
    has_quote_stand_ins: bool,
    has_break_stand_ins: bool,
    /// The offsets of the breaks without a line in the form for the parser, sorted.
    hidden_breaks: Vec<usize>,
    repairs: usize,
}

/// The reason to stop parsing a text.
pub(super) enum ParseStop<E> {
    Parser(ScanError),
    Fault(E),
}

impl<E> From<E> for ParseStop<E> {
    fn from(fault: E) -> Self {
        Self::Fault(fault)
    }
}

impl<'a> ParserText<'a> {
    fn for_libyaml(text: &'a str) -> Self {
        let mut view = Self {
            text: Cow::Borrowed(text),
            is_go: false,
            has_stand_ins: false,
            has_quote_stand_ins: false,
            has_break_stand_ins: false,
            hidden_breaks: Vec::new(),
            repairs: 0,
        };
        view.replace(NEXT_LINE, "\r\n");
        if !text.contains([LINE_STAND_IN, PARAGRAPH_STAND_IN]) {
            let line = view.replace(LINE_SEPARATOR, &format!("{LINE_STAND_IN}\n"));
            let paragraph = view.replace(PARAGRAPH_SEPARATOR, &format!("{PARAGRAPH_STAND_IN}\n"));
            view.has_stand_ins = line || paragraph;
        }
        view
    }

    pub(super) fn for_go(text: &'a str) -> Self {
        let mut view = Self { is_go: true, ..Self::for_libyaml(text) };
        view.show_tabs_as_spaces();
        view
    }

    /// Calls a parser, again after each repair of syntax that it rejects.
    ///
    /// # Errors
    /// The last error of the parser, if a repair is not possible.
    pub(super) fn parse<T, E>(
        mut self,
        parser: impl Fn(&Self) -> Result<T, ParseStop<E>>,
    ) -> Result<T, ParseStop<E>> {
        loop {
            match parser(&self) {
                Err(ParseStop::Parser(error)) => {
                    let offset = error.marker().byte_offset().unwrap_or_default();
                    if !self.repair(error.kind(), offset) {
                        return Err(ParseStop::Parser(error));
                    }
                }
                done => return done,
            }
        }
    }

    /// Returns the line of a place in the original text, from 1.
    fn line(&self, place: &Marker) -> usize {
        let offset = place.byte_offset().unwrap_or_default();
        place.line() + self.hidden_breaks.partition_point(|at| *at < offset)
    }

    /// Returns the text of a scalar as libyaml reads it.
    fn scalar<'t>(&self, text: Cow<'t, str>, style: ScalarStyle, span: &Span) -> Cow<'t, str> {
        let range = span.byte_range();
        if style == ScalarStyle::Plain && range.as_ref().is_some_and(Range::is_empty) {
            return Cow::Borrowed("");
        }
        let mut text = self.restore(text, style);
        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let ends_text = range.is_some_and(|range| range.end >= self.text.len());
        if is_block && ends_text && !self.text.ends_with('\n') && text.ends_with('\n') {
            text.to_mut().pop();
        }
        text
    }

    fn replace(&mut self, from: &str, to: &str) -> bool {
        let is_there = memmem::find(self.text.as_bytes(), from.as_bytes()).is_some();
        if is_there {
            self.text = Cow::Owned(self.text.replace(from, to));
        }
        is_there
    }

    fn show_tabs_as_spaces(&mut self) {
        if memmem::find(self.text.as_bytes(), b"\n\t").is_none() {
            return;
        }
        let mut shown = String::with_capacity(self.text.len());
        for line in self.text.split_inclusive('\n') {
            let blanks = line.len() - line.trim_start_matches(['\t', ' ']).len();
            let starts_with_tab = line.starts_with('\t');
            shown.extend(line[..blanks].chars().map(|blank| if starts_with_tab { ' ' } else { blank }));
            shown.push_str(&line[blanks..]);
        }
        self.text = Cow::Owned(shown);
    }

    /// Replaces the syntax that the parser rejected at an offset. Returns false if that is not possible.
    fn repair(&mut self, refused: &ErrorKind, at: usize) -> bool {
        let reparsed = self.repairs.saturating_mul(self.text.len());
        if self.repairs >= MIN_REPAIRS && reparsed > MAX_REPARSED_BYTES {
            return false;
        }
        self.repairs += 1;
        match refused {
            ErrorKind::CommentNotSeparated => self.hide_comment(at),
            ErrorKind::InvalidQuotedScalarIndent => self.join_lines(at),
            ErrorKind::UnknownQuotedScalarEscape if self.is_go => self.hide_escaped_quotes(at),
            _ => false,
        }
    }

    fn hide_comment(&mut self, start: usize) -> bool {
        let rest = &self.text.as_bytes()[start..];
        let length = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        self.text.to_mut().replace_range(start..start + length, &" ".repeat(length));
        length > 0
    }

    /// Replaces the escaped single quotes of a double-quoted text; `start` is the opening quote.
    fn hide_escaped_quotes(&mut self, start: usize) -> bool {
        if !self.has_quote_stand_ins && self.text.contains(QUOTE_STAND_IN) {
            return false;
        }
        let mut at = start + 1;
        let mut is_hidden = false;
        while let Some(length) = self.text.as_bytes().get(at..).and_then(|rest| memchr2(b'\\', b'"', rest)) {
            at += length;
            if self.text.as_bytes()[at] == b'"' {
                break;
            }
            if self.text.as_bytes().get(at + 1) == Some(&b'\'') {
                self.text.to_mut().replace_range(at..at + 2, QUOTE_STAND_IN.encode_utf8(&mut [0; 2]));
                is_hidden = true;
            }
            at += 2;
        }
        self.has_quote_stand_ins |= is_hidden;
        is_hidden
    }

    /// Joins the lines of a text in quotes. `start` is the first character of one of its lines that is not blank.
    ///
    /// If the start of the text is known, the lines of following texts are joined too: the same mistake mostly occurs
    /// again. If not, lines are joined up to the next quote.
    fn join_lines(&mut self, start: usize) -> bool {
        if !self.has_break_stand_ins && self.text.contains(BREAK_STAND_INS) {
            return false;
        }
        let text = self.text.as_bytes();
        let is_joined = if let Some(mut end) = closing_quote_around(text, start) {
            let is_joined = self.join_until(start, end);
            while let Some((start, next_end)) = next_quoted_lines(self.text.as_bytes(), end) {
                self.join_until(start, next_end);
                end = next_end;
            }
            is_joined
        } else {
            let length = memchr2(b'"', b'\'', &text[start..]).unwrap_or(text.len() - start);
            self.join_until(start, start + length)
        };
        self.has_break_stand_ins |= is_joined;
        self.hidden_breaks.sort_unstable();
        is_joined
    }

    /// Joins a line with the line before, and with the following lines that start before an offset.
    fn join_until(&mut self, mut start: usize, end: usize) -> bool {
        let mut is_joined = false;
        while let Some((range, breaks)) = breaks_before(self.text.as_bytes(), start) {
            let stand_in = break_stand_in(breaks, range.len());
            let offsets = memchr_iter(b'\n', &self.text.as_bytes()[range.clone()]);
            self.hidden_breaks.extend(offsets.map(|at| range.start + at));
            self.text.to_mut().replace_range(range, &stand_in);
            is_joined = true;
            let rest = &self.text.as_bytes()[start..end];
            let Some(length) = memchr(b'\n', rest) else { break };
            start += length + rest[length..].iter().take_while(|byte| is_space(**byte)).count();
        }
        is_joined
    }

    /// Restores breaks, separators and escaped quotes in the text of a scalar, and removes the breaks made by stand-ins.
    pub(super) fn restore<'t>(&self, text: Cow<'t, str>, style: ScalarStyle) -> Cow<'t, str> {
        let text = match style {
            ScalarStyle::DoubleQuoted | ScalarStyle::SingleQuoted
                if self.has_break_stand_ins && text.contains(BREAK_STAND_INS) =>
            {
                Cow::Owned(restore_breaks(&text))
            }
            _ => text,
        };
        let text = match style {
            ScalarStyle::DoubleQuoted if self.has_quote_stand_ins && text.contains(QUOTE_STAND_IN) => {
                Cow::Owned(text.replace(QUOTE_STAND_IN, "'"))
            }
            _ => text,
        };
        if !self.has_stand_ins || !text.contains([LINE_STAND_IN, PARAGRAPH_STAND_IN]) {
            return text;
        }
        let became = if style == ScalarStyle::Literal { '\n' } else { ' ' };
        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_ref();
        while let Some((at, stand_in)) =
            rest.char_indices().find(|(_, c)| matches!(*c, LINE_STAND_IN | PARAGRAPH_STAND_IN))
        {
            let before = &rest[..at];
            out.push_str(if is_block { before } else { before.trim_end_matches([' ', '\t']) });
            out.push_str(if stand_in == LINE_STAND_IN { LINE_SEPARATOR } else { PARAGRAPH_SEPARATOR });
            rest = &rest[at + stand_in.len_utf8()..];
            rest = rest
                .strip_prefix(became)
                .or_else(|| rest.strip_prefix('\n').filter(|_| is_block))
                .unwrap_or(rest);
        }
        out.push_str(rest);
        // A break behind plain text is not part of the text.
        if style == ScalarStyle::Plain {
            out.truncate(out.trim_end_matches(['\u{2028}', '\u{2029}']).len());
        }
        Cow::Owned(out)
    }
}

/// Returns the end of the text in quotes around an offset, if the text starts behind a key or a dash.
fn closing_quote_around(text: &[u8], at: usize) -> Option<usize> {
    let first = at.saturating_sub(MAX_QUOTE_DISTANCE);
    let mut before = at;
    loop {
        before = first + memrchr2(b'"', b'\'', &text[first..before])?;
        if is_behind_indicator(&text[..before])
            && let Some(end) = closing_quote(text, before).filter(|end| *end > at)
        {
            return Some(end);
        }
    }
}

/// Returns the next text in quotes with several lines: the first character of its second line that is not blank, and its
/// end. The search ends where a block of text, in which quotes have no meaning, may start.
fn next_quoted_lines(text: &[u8], mut from: usize) -> Option<(usize, usize)> {
    loop {
        let start = from + memchr(b'\n', &text[from..])? + 1;
        let line_end = start + memchr(b'\n', &text[start..])?;
        let line = &text[start..line_end];
        if memchr3(b'|', b'>', b'#', line).is_some() {
            return None;
        }
        from = line_end;
        let Some(quote) = memchr2(b'"', b'\'', line).filter(|at| is_behind_indicator(&line[..*at])) else {
            continue;
        };
        let end = closing_quote(text, start + quote)?;
        if end > line_end {
            let blanks = text[line_end..end].iter().take_while(|byte| is_space(**byte)).count();
            return Some((line_end + blanks, end));
        }
    }
}

fn is_behind_indicator(before: &[u8]) -> bool {
    before.ends_with(b": ") || before.ends_with(b"- ")
}

/// Returns the closing quote of a text in quotes.
fn closing_quote(text: &[u8], start: usize) -> Option<usize> {
    let quote = text[start];
    let mut at = start + 1;
    loop {
        at += memchr2(quote, b'\\', &text[at..])?;
        let escape = if quote == b'"' { b'\\' } else { b'\'' };
        match (text[at] == escape, text.get(at + 1)) {
            (true, Some(next)) if quote == b'"' || *next == quote => at += 2,
            _ if text[at] == quote => return Some(at),
            _ => at += 1,
        }
    }
}

/// Returns the breaks and blanks between a line in quotes and the line before, and the number of breaks.
fn breaks_before(text: &[u8], start: usize) -> Option<(Range<usize>, usize)> {
    let (before, line) = text.split_at(start);
    let is_at_margin = before.ends_with(b"\n");
    let is_marker = is_at_margin && (line.starts_with(b"---") || line.starts_with(b"..."));
    let blanks = before.iter().rev().take_while(|byte| is_space(**byte)).count();
    let range = start - blanks..start;
    let breaks = memchr_iter(b'\n', &text[range.clone()]).count();
    // A backslash escapes the break.
    let is_escaped = before[..range.start].ends_with(b"\\");
    (breaks > 0 && !line.is_empty() && !is_marker && !is_escaped).then_some((range, breaks))
}

/// Returns the stand-in for a number of breaks, with the length of the text that it replaces.
fn break_stand_in(breaks: usize, length: usize) -> String {
    if length == 1 {
        return " ".to_owned();
    }
    let mut out = String::with_capacity(length);
    let empty_lines = breaks - 1;
    if empty_lines == 0 {
        out.push(BREAK_STAND_IN);
    }
    out.extend(std::iter::repeat_n(TWO_EMPTY_LINES_STAND_IN, empty_lines / 2));
    out.extend(std::iter::repeat_n(EMPTY_LINE_STAND_IN, empty_lines % 2));
    let padding = length - out.len();
    out.extend(std::iter::repeat_n(PADDING, padding / 2));
    out.extend(std::iter::repeat_n(' ', padding % 2));
    out
}

/// Replaces stand-ins for breaks by the text that they mean. A blank right after one of them is padding.
fn restore_breaks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            BREAK_STAND_IN => out.push(' '),
            EMPTY_LINE_STAND_IN => out.push('\n'),
            TWO_EMPTY_LINES_STAND_IN => out.push_str("\n\n"),
            PADDING => {}
            other => {
                out.push(other);
                continue;
            }
        }
        characters.next_if_eq(&' ');
    }
    out
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
