//! The output of a render, and the template positions of its pieces.

use std::ops::Range;
use std::string::FromUtf8Error;

use crate::parse::tree::Tree;
use crate::reads::{Read, ReadRange, Reads};

/// The output of a render.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The text; mostly, but not always, UTF-8.
    pub bytes: Vec<u8>,
    /// The origin of each piece in order, if the session records positions.
    pub spans: Vec<Span>,
}

/// A piece of output and the action or text that wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The bytes of the output.
    pub output: Range<usize>,
    /// The name of the text that contains the action.
    pub file: String,
    /// The name of the template, which differs from the file inside `define`.
    pub template: String,
    /// The line of the action, from 1.
    pub line: usize,
    /// The column of the action in bytes, from 0.
    pub column: usize,
    /// The entries of maps that the action read, also through `with`, `range`, variables and other templates.
    pub reads: Vec<Read>,
}

/// The start of a piece of output, before positions are computed.
#[derive(Clone, Copy)]
pub(super) struct RawSpan<'r> {
    pub(super) start: usize,
    pub(super) tree: &'r Tree,
    pub(super) offset: u32,
    pub(super) reads: ReadRange,
}

const NO_VALUE: &[u8] = b"<no value>";

impl Output {
    pub(super) fn new(
        mut bytes: Vec<u8>,
        mut spans: Vec<RawSpan<'_>>,
        reads: &Reads,
        omit_no_value: bool,
    ) -> Self {
        if omit_no_value {
            remove_no_value(&mut bytes, &mut spans);
        }
        let ends: Vec<usize> = spans.iter().skip(1).map(|span| span.start).chain([bytes.len()]).collect();
        let spans = spans.iter().zip(ends).filter(|(span, end)| span.start < *end).map(|(span, end)| {
            let (line, column) = span.tree.source.position(span.offset as usize);
            Span {
                output: span.start..end,
                file: span.tree.source.name.to_string(),
                template: span.tree.name.to_string(),
                line,
                column,
                reads: reads.of(span.reads).to_vec(),
            }
        });
        Self { spans: spans.collect(), bytes }
    }

    /// Returns the text.
    ///
    /// # Errors
    /// Bytes that are not UTF-8.
    pub fn into_text(self) -> Result<String, FromUtf8Error> {
        String::from_utf8(self.bytes)
    }
}

/// Removes `<no value>` from a text.
pub(crate) fn without_no_value(bytes: &mut Vec<u8>) {
    remove_no_value(bytes, &mut []);
}

fn remove_no_value(bytes: &mut Vec<u8>, spans: &mut [RawSpan<'_>]) {
    let found: Vec<usize> = memchr::memmem::find_iter(bytes, NO_VALUE).collect();
    if found.is_empty() {
        return;
    }
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = 0;
    for start in &found {
        kept.extend_from_slice(&bytes[rest..*start]);
        rest = start + NO_VALUE.len();
    }
    kept.extend_from_slice(&bytes[rest..]);
    for span in spans {
        let before = found.partition_point(|start| *start < span.start);
        let inside =
            before.checked_sub(1).map_or(0, |last| (found[last] + NO_VALUE.len()).saturating_sub(span.start));
        span.start -= before * NO_VALUE.len() - inside;
    }
    *bytes = kept;
}
