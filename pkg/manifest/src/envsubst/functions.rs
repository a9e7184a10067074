//! The functions of substitutions, applied to a value and arguments.
//!
//! Values are UTF-8; arguments and results are bytes, because a substring may split a character.
//!
//! Source: funcs.go and template.go (lookupFunc).

use super::MAX_RESULT_BYTES;
use super::glob::{Pattern, StepBudget, TooManySteps};

/// The function of a substitution.
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

/// The reason for a missing result.
#[derive(Clone, Copy)]
pub(super) enum FunctionError {
    /// The length of the substring is negative.
    NegativeLength(i64),
    /// The result exceeds [`MAX_RESULT_BYTES`].
    TooLong,
    /// The patterns of the template need too many comparisons.
    TooManySteps,
}

impl From<TooManySteps> for FunctionError {
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
        steps: &mut StepBudget,
        out: &mut Vec<u8>,
    ) -> Result<(), FunctionError> {
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
                // Without a replacement, only `/` and `//` delete the match.
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

/// Returns a substring by byte offsets; a negative offset counts from the end. An invalid number leaves the value
/// unchanged.
fn substring<'v>(value: &'v [u8], offset: &[u8], length: Option<&[u8]>) -> Result<&'v [u8], FunctionError> {
    let Some(offset) = number(offset) else { return Ok(value) };
    let size = i64::try_from(value.len()).unwrap_or(i64::MAX);
    let offset = if offset < 0 { size.saturating_add(offset).max(0) } else { offset };
    let length = match length.map(number) {
        Some(None) => return Ok(value),
        Some(Some(length)) => length,
        None => size,
    };
    let from = usize::try_from(offset.min(size)).unwrap_or(value.len());
    // drone/envsubst compares the end first, so an unused negative length is no error there either.
    if offset.checked_add(length).is_none_or(|end| end >= size) {
        return Ok(&value[from..]);
    }
    let length = usize::try_from(length).map_err(|_| FunctionError::NegativeLength(length))?;
    Ok(&value[from..from + length])
}

fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Removes a suffix: removes a prefix of the reversed value with the reversed pattern.
///
/// Source: funcs.go (trimShortestSuffix, trimLongestSuffix). Consequently, brackets and escapes do not work in these
/// patterns, and a split character becomes U+FFFD.
fn trim_suffix(
    value: &[u8],
    pattern: &[u8],
    longest: bool,
    steps: &mut StepBudget,
    out: &mut Vec<u8>,
) -> Result<(), TooManySteps> {
    let (value, pattern) = (reversed(value), reversed(pattern));
    let cut = Pattern::new(&pattern).prefix(&value, longest, steps)?;
    out.extend_from_slice(&reversed(&value[cut..]));
    Ok(())
}

/// Reverses the characters; each byte outside a valid character becomes U+FFFD.
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
/// The replacement may itself be a result, so only this function can exceed every bound.
fn replace(
    value: &str,
    old: &[u8],
    new: &[u8],
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), FunctionError> {
    let bytes = value.as_bytes();
    let places: Vec<usize> = match std::str::from_utf8(old) {
        Ok(old) => value.match_indices(old).take(limit).map(|(at, _)| at).collect(),
        // A part of a character, split by a substring inside the argument: searched by bytes.
        Err(_) => memchr::memmem::find_iter(bytes, old).take(limit).collect(),
    };
    if bytes.len().saturating_add(places.len().saturating_mul(new.len())) > MAX_RESULT_BYTES {
        return Err(FunctionError::TooLong);
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

/// Maps one character to its lower case, if that is a single character.
///
/// Source: Go's unicode.ToLower.
fn lower(c: char) -> char {
    match c {
        // The full lower case has two characters, the simple one is `i`.
        '\u{130}' => 'i',
        _ => single(c, c.to_lowercase()),
    }
}

/// Maps one character to its upper case, if that is a single character.
///
/// Source: Go's unicode.ToUpper.
fn upper(c: char) -> char {
    match c {
        // Greek with iota subscript: the full upper case writes the iota separately, the simple one is the title case
        // letter.
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
