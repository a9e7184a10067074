//! Names surrounded by white space: `${ VAR}`, `${VAR }` and `${ VAR }` mean `${VAR}`.

use std::borrow::Cow;
use std::ops::Range;

/// A text without white space around names, which maps offsets back to the original text.
#[derive(Debug)]
pub(super) struct LegacyNames<'a> {
    text: Cow<'a, str>,
    /// The removals in ascending order; empty if there are none.
    removals: Vec<Removal>,
}

/// The number of bytes removed before an offset of the new text.
#[derive(Debug)]
struct Removal {
    from: usize,
    removed: usize,
}

impl<'a> LegacyNames<'a> {
    /// Removes the white space around plain names between `${` and `}`.
    ///
    /// Source: simple_processor.go (convertLegacyVars) rewrites the whole text before parsing. So an escaped `$${ A }`
    /// becomes `${A}` too, `$` counts as part of a name, and `${ A:=b }` stays.
    pub(super) fn collapse(text: &'a str) -> Self {
        let mut out = String::new();
        let mut removals = Vec::new();
        let (mut copied, mut at) = (0, 0);
        while let Some(dollar) = text[at..].find('$') {
            at += dollar + 1;
            let Some((name, close)) = legacy_name(text, at) else { continue };
            // The brace stays; the white space on both sides of the name is removed.
            out.push_str(&text[copied..=at]);
            removals.push(Removal { from: out.len(), removed: name.start - out.len() });
            out.push_str(&text[name]);
            removals.push(Removal { from: out.len(), removed: close - out.len() });
            (copied, at) = (close, close);
        }
        if removals.is_empty() {
            return Self { text: Cow::Borrowed(text), removals };
        }
        out.push_str(&text[copied..]);
        Self { text: Cow::Owned(out), removals }
    }

    /// Keeps a text as it is.
    pub(super) fn none(text: &'a str) -> Self {
        Self { text: Cow::Borrowed(text), removals: Vec::new() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Maps an offset of this text to the original text.
    pub(super) fn original(&self, offset: usize) -> usize {
        let after = self.removals.partition_point(|removal| removal.from <= offset);
        after.checked_sub(1).map_or(offset, |last| offset + self.removals[last].removed)
    }
}

/// Finds `{ NAME }` with white space at an offset. Returns the range of the name and the offset of the closing brace.
fn legacy_name(text: &str, at: usize) -> Option<(Range<usize>, usize)> {
    let bytes = text.as_bytes();
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    let skip =
        |from: usize, of: fn(u8) -> bool| from + bytes[from..].iter().take_while(|byte| of(**byte)).count();
    let start = skip(at + 1, is_space);
    let end = skip(start, is_name);
    let close = skip(end, is_space);
    let spaced = start > at + 1 || close > end;
    (start < end && spaced && bytes.get(close) == Some(&b'}')).then_some((start..end, close))
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}
