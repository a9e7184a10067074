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
//! | `\'` in double quotes | a stand-in | is an escape in YAML 1.1 as read by Go |
//! | a comment right after `"`, `]` or `\|` | blanks | needs no preceding blank |

use std::borrow::Cow;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Span};
use memchr::{memchr2, memmem};

use super::line_and_column;

const NEXT_LINE: &str = "\u{85}";
const LINE_SEPARATOR: &str = "\u{2028}";
const PARAGRAPH_SEPARATOR: &str = "\u{2029}";
/// Two bytes each, and unused in any script; if a text contains them, its separators are not replaced.
const LINE_STAND_IN: char = '\u{7FB}';
const PARAGRAPH_STAND_IN: char = '\u{7FC}';
/// The stand-in for an escaped single quote.
const QUOTE_STAND_IN: char = '\u{7BF}';

/// The number of repairs for a text of any size. Each repair needs another parse.
const MIN_REPAIRS: usize = 32;
/// The maximum number of bytes that further repairs parse again.
const MAX_REPARSED_BYTES: usize = 2 << 20;

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
    let mut options = options.clone();
    options.block_scalar_eof_without_line_feed = true;
    let read = ParserText::for_libyaml(text).parse(|view| {
        let mut state = S::default();
        for next in Parser::new_from_str_with_options(&view.text, options.clone()) {
            let (mut event, span) = next.map_err(ParseStop::Parser)?;
            if let Event::Scalar(text, style, ..) = &mut event {
                *text = view.scalar(std::mem::take(text), *style, &span);
            }
            handle(&mut state, event, span.start.line())?;
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
#[derive(Debug, Default)]
pub(super) struct ParserText<'a> {
    pub(super) text: Cow<'a, str>,
    /// True for what only Go's reader accepts.
    is_go: bool,
    has_stand_ins: bool,
    has_quote_stand_ins: bool,
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
        let mut view = Self { text: Cow::Borrowed(text), ..Self::default() };
        view.replace(NEXT_LINE, "\r\n");
        if ![LINE_STAND_IN, PARAGRAPH_STAND_IN].iter().any(|it| view.contains(it.encode_utf8(&mut [0; 2]))) {
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

    /// Returns the text of a scalar as libyaml reads it.
    fn scalar<'t>(&self, text: Cow<'t, str>, style: ScalarStyle, span: &Span) -> Cow<'t, str> {
        if style == ScalarStyle::Plain && span.byte_range().is_some_and(|range| range.is_empty()) {
            return Cow::Borrowed("");
        }
        self.restore(text, style)
    }

    fn replace(&mut self, from: &str, to: &str) -> bool {
        let is_there = self.contains(from);
        if is_there {
            self.text = Cow::Owned(self.text.replace(from, to));
        }
        is_there
    }

    /// True if the text contains another one. Quicker than the search of the standard library.
    fn contains(&self, part: &str) -> bool {
        memmem::find(self.text.as_bytes(), part.as_bytes()).is_some()
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

    /// Restores separators and escaped quotes in the text of a scalar, and removes the breaks made by stand-ins.
    pub(super) fn restore<'t>(&self, text: Cow<'t, str>, style: ScalarStyle) -> Cow<'t, str> {
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
