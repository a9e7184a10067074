//! `wrap` and `abbrev`, which count bytes.

use super::super::Arguments as _;
use super::super::table::made;
use super::super::table::{Result, Row};
use crate::engine::Engine;
use crate::fault::Fault;
use crate::value::Value;

pub(super) const ROWS: &[Row] = &[
    ("wrap", "is", |run, args| wrapped(run, args.text(1), args.int(0), b"\n", false)),
    ("wrapWith", "iss", |run, args| wrapped(run, args.text(2), args.int(0), args.text(1), true)),
    ("abbrev", "is", |_, args| {
        if args.int(0) < 4 {
            return Ok(args.value(1).clone());
        }
        Ok(Value::string(abbreviated(args.text(1), 0, args.int(0))))
    }),
    ("abbrevboth", "iis", |_, args| {
        let (left, right) = (args.int(0), args.int(1));
        if right < 4 || (left > 0 && right < 7) {
            return Ok(args.value(2).clone());
        }
        Ok(Value::string(abbreviated(args.text(2), left, right)))
    }),
];

/// Breaks a text at spaces into lines of at most `length` bytes; long words are broken if `breaks_words`.
fn wrapped(run: &mut dyn Engine, text: &[u8], length: i64, line: &[u8], breaks_words: bool) -> Result {
    let separator = if line.is_empty() { b"\n" } else { line };
    let length = usize::try_from(length.max(1)).unwrap_or(usize::MAX);
    let limit = run.session().settings().limits.output_bytes;
    let mut out = Vec::with_capacity(text.len());
    let (mut line, mut rest) = next_line(text, length, breaks_words);
    while let Some(behind) = rest {
        out.extend_from_slice(line);
        out.extend_from_slice(separator);
        if out.len() > limit {
            return Err(Fault::from(crate::limits::Limit::Output(limit)));
        }
        (line, rest) = next_line(behind, length, breaks_words);
    }
    out.extend_from_slice(line);
    made(run, out)
}

/// Returns the first line, without spaces before it, and the text behind it. `None` if the line is the last one.
fn next_line(text: &[u8], length: usize, breaks_words: bool) -> (&[u8], Option<&[u8]>) {
    let excess = text.len().saturating_sub(length);
    let spaces = text.iter().take(excess).take_while(|byte| **byte == b' ').count();
    let text = &text[spaces..];
    if spaces == excess {
        return (text, None);
    }
    let space = memchr::memrchr(b' ', &text[..=length]);
    let later_space = || memchr::memchr(b' ', &text[length..]).map(|at| length + at);
    match space.or_else(|| if breaks_words { None } else { later_space() }) {
        Some(space) => (&text[..space], Some(&text[space + 1..])),
        None if breaks_words => (&text[..length], Some(&text[length..])),
        None => (text, None),
    }
}

/// Shortens a text to at most `width` bytes. `...` stands for the bytes before and behind the part that is shown, which
/// contains the offset if possible. A start of up to four bytes is always shown.
fn abbreviated(text: &[u8], offset: i64, width: i64) -> Vec<u8> {
    const MARK: &[u8] = b"...";
    let width = usize::try_from(width).unwrap_or_default();
    let Some(shown) = width.checked_sub(MARK.len()).filter(|_| text.len() > width) else {
        return text.to_vec();
    };
    let last = text.len() - shown;
    let start = usize::try_from(offset).unwrap_or_default().min(last);
    let (has_head_mark, range, has_tail_mark) = match start {
        0..=4 => (false, 0..shown, true),
        _ if start < last => (true, start..start + shown - MARK.len(), true),
        _ => (true, last..text.len(), false),
    };
    let mark = |is_set| if is_set { MARK } else { &[] };
    [mark(has_head_mark), &text[range], mark(has_tail_mark)].concat()
}
