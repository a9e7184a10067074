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
        if left < 0 && i64::try_from(args.text(2).len()).is_ok_and(|length| length > right) {
            return Ok(Value::string(abbreviated(args.text(2), 0, right)));
        }
        Ok(Value::string(abbreviated(args.text(2), left, right)))
    }),
];

/// Breaks a text at spaces into lines of at most `length` bytes; long words are broken if `breaks_words`.
fn wrapped(run: &mut dyn Engine, text: &[u8], length: i64, line: &[u8], breaks_words: bool) -> Result {
    let line = if line.is_empty() { b"\n" } else { line };
    let length = usize::try_from(length.max(1)).unwrap_or(usize::MAX);
    let limit = run.session().settings().limits.output_bytes;
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while rest.len() > length {
        if rest[0] == b' ' {
            rest = &rest[1..];
            continue;
        }
        let (piece, skipped) = if let Some(space) = memchr::memrchr(b' ', &rest[..=length]) {
            (space, 1)
        } else if breaks_words {
            (length, 0)
        } else if let Some(space) = memchr::memchr(b' ', &rest[length..]) {
            (length + space, 1)
        } else {
            break;
        };
        out.extend_from_slice(&rest[..piece]);
        out.extend_from_slice(line);
        rest = &rest[piece + skipped..];
        if out.len() > limit {
            return Err(Fault::from(crate::limits::Limit::Output(limit)));
        }
    }
    out.extend_from_slice(rest);
    made(run, out)
}

/// Shortens a text to at most `width` bytes with `...`, from an offset on.
fn abbreviated(text: &[u8], offset: i64, width: i64) -> Vec<u8> {
    let width = usize::try_from(width).unwrap_or_default();
    if text.len() <= width {
        return text.to_vec();
    }
    let mut offset = usize::try_from(offset).unwrap_or_default().min(text.len());
    if text.len() - offset < width - 3 {
        offset = text.len() - (width - 3);
    }
    let (mark, kept) = (b"...", width - 3);
    if offset <= 4 {
        return [&text[..kept], mark].concat();
    }
    if width < 7 {
        return Vec::new();
    }
    if offset + kept < text.len() {
        return [&mark[..], &abbreviated(&text[offset..], 0, i64::try_from(kept).unwrap_or_default())]
            .concat();
    }
    [mark, &text[text.len() - kept..]].concat()
}
