//! What a substitution makes of a value and its arguments.
//!
//! Values are UTF-8; arguments and results are bytes, because a substring may cut a character.
//!
//! Source: funcs.go and template.go (lookupFunc).

use super::MAX_RESULT_BYTES;
use super::glob::{Pattern, Steps, TooManySteps};

/// What is done with the value of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Value,
    ByteLength,
    LowerFirst,
    Lower,
    UpperFirst,
    Upper,
    Default,
    Substring,
    TrimPrefix { longest: bool },
    TrimSuffix { longest: bool },
    ReplaceFirst,
    ReplaceAll,
    ReplacePrefix,
    ReplaceSuffix,
}

/// Why there is no result.
#[derive(Clone, Copy)]
pub(super) enum Unusable {
    /// A substring was asked for with this length.
    NegativeLength(i64),
    /// The result would be longer than [`MAX_RESULT_BYTES`].
    TooLong,
    /// The patterns of the template take more comparisons than allowed.
    TooManySteps,
}

impl From<TooManySteps> for Unusable {
    fn from(_: TooManySteps) -> Self {
        Self::TooManySteps
    }
}

impl Function {
    /// Appends the result to `out`.
    pub(super) fn apply(
        self,
        value: &str,
        arguments: &[&[u8]],
        steps: &mut Steps,
        out: &mut Vec<u8>,
    ) -> Result<(), Unusable> {
        let first = arguments.first().copied().unwrap_or_default();
        let second = arguments.get(1).copied();
        let bytes = value.as_bytes();
        match self {
            Self::Value => out.extend_from_slice(bytes),
            Self::ByteLength => out.extend_from_slice(value.len().to_string().as_bytes()),
            Self::LowerFirst => map_first(value, lower, out),
            Self::Lower => map_all(value, lower, out),
            Self::UpperFirst => map_first(value, upper, out),
            Self::Upper => map_all(value, upper, out),
            Self::Default => out.extend_from_slice(if value.is_empty() { first } else { bytes }),
            Self::Substring => out.extend_from_slice(substring(bytes, first, second)?),
            Self::TrimPrefix { longest } => {
                out.extend_from_slice(&bytes[Pattern::new(first).prefix(bytes, longest, steps)?..]);
            }
            Self::TrimSuffix { longest } => trim_suffix(bytes, first, longest, steps, out)?,
            Self::ReplaceFirst => replace(value, first, second.unwrap_or_default(), 1, out)?,
            Self::ReplaceAll => replace(value, first, second.unwrap_or_default(), usize::MAX, out)?,
            Self::ReplacePrefix => match second {
                Some(new) if bytes.starts_with(first) => replace(value, first, new, 1, out)?,
                // Without a replacement nothing is deleted here, other than by `/` and `//`.
                _ => out.extend_from_slice(bytes),
            },
            Self::ReplaceSuffix => match (bytes.strip_suffix(first), second) {
                (Some(kept), Some(new)) => {
                    out.extend_from_slice(kept);
                    out.extend_from_slice(new);
                }
                _ => out.extend_from_slice(bytes),
            },
        }
        Ok(())
    }
}

/// Cuts by byte offsets; a negative offset counts from the end. What is no number leaves the value as it is.
fn substring<'v>(value: &'v [u8], offset: &[u8], length: Option<&[u8]>) -> Result<&'v [u8], Unusable> {
    let Some(offset) = number(offset) else { return Ok(value) };
    let size = i64::try_from(value.len()).unwrap_or(i64::MAX);
    let offset = if offset < 0 { size.saturating_add(offset).max(0) } else { offset };
    let length = match length.map(number) {
        Some(None) => return Ok(value),
        Some(Some(length)) => length,
        None => size,
    };
    let from = usize::try_from(offset.min(size)).unwrap_or(value.len());
    // The peer compares the end first, so a negative length that is not used is no fault there either.
    if offset.checked_add(length).is_none_or(|end| end >= size) {
        return Ok(&value[from..]);
    }
    let length = usize::try_from(length).map_err(|_| Unusable::NegativeLength(length))?;
    Ok(&value[from..from + length])
}

fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Removes a suffix by removing a prefix of the reversed value with the reversed pattern.
///
/// Source: funcs.go (trimShortestSuffix, trimLongestSuffix): hence brackets and escapes do not work in these patterns, and
/// a character cut in two becomes U+FFFD when it is turned around again.
fn trim_suffix(
    value: &[u8],
    pattern: &[u8],
    longest: bool,
    steps: &mut Steps,
    out: &mut Vec<u8>,
) -> Result<(), TooManySteps> {
    let (value, pattern) = (reversed(value), reversed(pattern));
    let cut = Pattern::new(&pattern).prefix(&value, longest, steps)?;
    out.extend_from_slice(&reversed(&value[cut..]));
    Ok(())
}

/// Turns the characters around; each byte that belongs to none becomes U+FFFD.
fn reversed(text: &[u8]) -> Vec<u8> {
    let mut out = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    out.chars().rev().collect::<String>().into_bytes()
}

/// Replaces the first `limit` occurrences of `old`; the empty `old` occurs before every character and at the end.
///
/// The replacement may be a result itself, so this is the one function whose results can grow beyond all bounds.
fn replace(value: &str, old: &[u8], new: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), Unusable> {
    let bytes = value.as_bytes();
    let places: Vec<usize> = match std::str::from_utf8(old) {
        Ok(old) => value.match_indices(old).take(limit).map(|(at, _)| at).collect(),
        // A part of a character, cut by a substring inside the argument: found byte by byte.
        Err(_) => memchr::memmem::find_iter(bytes, old).take(limit).collect(),
    };
    if bytes.len().saturating_add(places.len().saturating_mul(new.len())) > MAX_RESULT_BYTES {
        return Err(Unusable::TooLong);
    }
    let mut copied = 0;
    for at in places {
        out.extend_from_slice(&bytes[copied..at]);
        out.extend_from_slice(new);
        copied = at + old.len();
    }
    out.extend_from_slice(&bytes[copied..]);
    Ok(())
}

fn map_first(value: &str, map: fn(char) -> char, out: &mut Vec<u8>) {
    let mut rest = value.chars();
    let first: Option<String> = rest.next().map(|c| map(c).into());
    out.extend_from_slice(first.unwrap_or_default().as_bytes());
    out.extend_from_slice(rest.as_str().as_bytes());
}

fn map_all(value: &str, map: fn(char) -> char, out: &mut Vec<u8>) {
    out.extend_from_slice(value.chars().map(map).collect::<String>().as_bytes());
}

/// Maps one character to one; what has no lower case of one character stays.
///
/// Source: Go's unicode.ToLower.
fn lower(c: char) -> char {
    match c {
        // Its full lower case is two characters, its simple one is this.
        '\u{130}' => 'i',
        _ => single(c, c.to_lowercase()),
    }
}

/// Maps one character to one; what has no upper case of one character stays.
///
/// Source: Go's unicode.ToUpper.
fn upper(c: char) -> char {
    match c {
        // Greek with iota below: the full upper case writes the iota apart, the simple one is the title case letter.
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => shifted(c, 8),
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => shifted(c, 9),
        _ => single(c, c.to_uppercase()),
    }
}

fn single(c: char, mut mapped: impl ExactSizeIterator<Item = char>) -> char {
    if mapped.len() == 1 { mapped.next().unwrap_or(c) } else { c }
}

fn shifted(c: char, by: u32) -> char {
    char::from_u32(u32::from(c) + by).unwrap_or(c)
}
