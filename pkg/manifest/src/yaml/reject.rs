//! Rejects input that the parser accepts but Go's reader does not. The parser follows YAML 1.2, Go's reader follows
//! YAML 1.1.
//!
//! Source: go.yaml.in/yaml/v2 2.4.3 scannerc.go.

use std::ops::Range;

use granit_parser::{ScalarStyle, StructureStyle};
use memchr::{memchr, memchr_iter, memchr2, memmem, memrchr};

use super::YamlErrorKind;
use super::error::Fault;

pub(super) const TAB: &str = "found a tab where only spaces are allowed";

/// Rejects all directives other than `%YAML 1.1` and `%TAG` in the text before a document.
pub(super) fn directives(prologue: &str) -> Result<(), Fault> {
    let mut offset = 0;
    for line in prologue.split_inclusive(['\n', '\r']) {
        let name =
            line.strip_prefix('%').map(|rest| rest.split([' ', '\t', '\n', '\r']).next().unwrap_or(rest));
        if name.is_some_and(|name| !matches!(name, "YAML" | "TAG")) {
            return Err(syntax("found an unknown directive", offset));
        }
        offset += line.len();
    }
    Ok(())
}

/// Rejects anchor names with characters other than ASCII letters, digits, `_` and `-`.
pub(super) fn anchor_name(name: &str, offset: usize) -> Result<(), Fault> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.bytes().all(is_plain) {
        return Ok(());
    }
    Err(syntax("an anchor name must consist of ASCII letters, digits, `_` and `-`", offset))
}

/// Rejects tabs where a key may start: at the start of a line, and after only `-`, `?` and `:`.
///
/// The caller reports the ranges of scalars and of flow collections; this type checks the text between them.
#[derive(Debug)]
pub(super) struct TabCheck<'a> {
    /// `None` if the text has no tab.
    text: Option<&'a [u8]>,
    /// The end of the text already checked.
    checked_end: usize,
    /// The number of open `[` and `{`; inside them, a tab is a valid blank.
    open_flows: usize,
    /// The column of the key of the last scalar, if the scalar is plain. Blank lines with more indent belong to the
    /// scalar.
    plain_column: Option<usize>,
}

impl<'a> TabCheck<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let text = memchr(b'\t', text.as_bytes()).map(|_| text.as_bytes());
        Self { text, checked_end: 0, open_flows: 0, plain_column: None }
    }

    /// Records the range of a scalar.
    pub(super) fn scalar(&mut self, range: &Range<usize>, style: ScalarStyle) -> Result<(), Fault> {
        let Some(text) = self.text else { return Ok(()) };
        let previous_end = self.checked_end;
        self.check_up_to(range.start, range.end)?;
        self.plain_column = None;
        let is_quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
        if is_quoted || self.open_flows > 0 || range.is_empty() {
            return Ok(());
        }
        let line = line_start(text, range.start);
        if style != ScalarStyle::Plain {
            return check_block(text, previous_end, line, range);
        }
        if let Some(at) = memmem::find(&text[range.clone()], b"\n\t") {
            return Err(tab(range.start + at + 1));
        }
        self.plain_column = Some(indicators(&text[line..range.start]));
        Ok(())
    }

    /// Records the start of a list or mapping.
    pub(super) fn open(&mut self, style: StructureStyle, start: usize) -> Result<(), Fault> {
        if self.open_flows > 0 {
            self.open_flows += 1;
        } else if style == StructureStyle::Flow {
            self.check_up_to(start, start)?;
            self.open_flows = 1;
        }
        Ok(())
    }

    /// Records the end of a list or mapping.
    pub(super) fn close(&mut self, end: usize) {
        if self.open_flows > 0 {
            self.open_flows -= 1;
            self.checked_end = self.checked_end.max(end);
            self.plain_column = None;
        }
    }

    /// Checks the text up to `start`, and continues at `end`.
    pub(super) fn check_up_to(&mut self, start: usize, end: usize) -> Result<(), Fault> {
        let Some(text) = self.text else { return Ok(()) };
        if start > self.checked_end && self.open_flows == 0 {
            self.check_range(text, start)?;
        }
        self.checked_end = self.checked_end.max(end);
        Ok(())
    }

    fn check_range(&self, text: &[u8], end: usize) -> Result<(), Fault> {
        let mut in_plain = self.plain_column;
        let mut start = self.checked_end;
        while start < end {
            let line_end = memchr(b'\n', &text[start..end]).map_or(end, |at| start + at + 1);
            let line = &text[start..line_end];
            if !line.trim_ascii().is_empty() {
                in_plain = None;
            }
            let is_whole = start == 0 || text[start - 1] == b'\n';
            let at = indicators(line);
            if is_whole && line.get(at) == Some(&b'\t') && in_plain.is_none_or(|column| at <= column) {
                return Err(tab(start + at));
            }
            start = line_end;
        }
        Ok(())
    }
}

/// Checks the lines of a block scalar. Its header is between `previous_end` and the start of its first line. Only an
/// explicit indent allows a tab as the first character.
fn check_block(text: &[u8], previous_end: usize, line: usize, range: &Range<usize>) -> Result<(), Fault> {
    if text[range.start] == b'\t' {
        let header_end = text[..line].trim_ascii_end().len();
        let header = &text[line_start(text, header_end).max(previous_end)..header_end];
        let indicator = memchr2(b'|', b'>', header).map_or(0, |at| at + 1);
        if !header[indicator..].iter().take(2).any(u8::is_ascii_digit) {
            return Err(tab(range.start));
        }
    }
    let indent = range.start - line;
    for at in memchr_iter(b'\n', &text[range.clone()]).map(|at| range.start + at + 1) {
        let spaces = text[at..].iter().take(indent).take_while(|byte| **byte == b' ').count();
        if spaces < indent && text.get(at + spaces) == Some(&b'\t') {
            return Err(tab(at + spaces));
        }
    }
    Ok(())
}

/// Counts the spaces and grammar indicators at the start of a line.
fn indicators(line: &[u8]) -> usize {
    let is_followed = |at: usize| matches!(line.get(at + 1), Some(b' ' | b'\t'));
    let is_one = |at: usize, byte: u8| byte == b' ' || matches!(byte, b'-' | b'?' | b':') && is_followed(at);
    line.iter().enumerate().take_while(|(at, byte)| is_one(*at, **byte)).count()
}

fn line_start(text: &[u8], offset: usize) -> usize {
    memrchr(b'\n', &text[..offset]).map_or(0, |at| at + 1)
}

fn tab(offset: usize) -> Fault {
    syntax(TAB, offset)
}

/// The offset fits the type: `read_document` limits the text.
fn syntax(problem: &'static str, offset: usize) -> Fault {
    YamlErrorKind::Syntax(problem.into()).at_offset(u32::try_from(offset).unwrap_or(u32::MAX))
}
