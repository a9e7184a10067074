//! The wire format of protobuf: numbered fields in the four encodings in use, and messages that are one value in JSON.

use std::fmt;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use jiff::Timestamp;
use serde_json::Value;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum DecodeError {
    /// The prefix is missing.
    NoPrefix,
    /// A field is truncated or has an unknown encoding.
    Malformed,
    /// A string is not UTF-8.
    NotText,
    TooDeep,
    /// Embedded JSON is invalid.
    Json(String),
    /// No built-in kind has this name.
    UnknownKind {
        api_version: String,
        kind: String,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPrefix => f.write_str(
                "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
            ),
            Self::Malformed => f.write_str("unexpected EOF"),
            Self::NotText => f.write_str("a string in the body is not UTF-8"),
            Self::TooDeep => f.write_str("the body is nested too deeply"),
            Self::Json(error) => write!(f, "invalid JSON in the body: {error}"),
            Self::UnknownKind { api_version, kind } => {
                write!(f, "no kind \"{kind}\" is registered for version \"{api_version}\"")
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldContent<'a> {
    /// A variable-length integer.
    Varint(u64),
    /// Eight bytes.
    Fixed(u64),
    /// A string, bytes, or a message.
    Bytes(&'a [u8]),
}

impl<'a> FieldContent<'a> {
    pub(super) fn bytes(self) -> Result<&'a [u8], DecodeError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Varint(_) | Self::Fixed(_) => Err(DecodeError::Malformed),
        }
    }

    pub(super) fn text(self) -> Result<String, DecodeError> {
        std::str::from_utf8(self.bytes()?).map(str::to_owned).map_err(|_| DecodeError::NotText)
    }

    pub(super) fn integer(self) -> Result<i64, DecodeError> {
        match self {
            Self::Varint(value) => Ok(value.cast_signed()),
            Self::Fixed(_) | Self::Bytes(_) => Err(DecodeError::Malformed),
        }
    }

    pub(super) fn double(self) -> Result<f64, DecodeError> {
        match self {
            Self::Fixed(bits) => Ok(f64::from_bits(bits)),
            Self::Varint(_) | Self::Bytes(_) => Err(DecodeError::Malformed),
        }
    }
}

/// Reads the fields of a message in their order.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn field(&mut self) -> Option<(u32, FieldContent<'a>)> {
        let tag = self.varint()?;
        let content = match tag & 7 {
            0 => FieldContent::Varint(self.varint()?),
            1 => FieldContent::Fixed(u64::from_le_bytes(self.take(8)?.try_into().ok()?)),
            2 => {
                let length = self.varint()?;
                FieldContent::Bytes(self.take(usize::try_from(length).ok()?)?)
            }
            5 => FieldContent::Fixed(u64::from(u32::from_le_bytes(self.take(4)?.try_into().ok()?))),
            _ => return None,
        };
        Some((u32::try_from(tag >> 3).ok()?, content))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.take(1)?.first()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<(u32, FieldContent<'a>), DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.rest = &[];
        }
        Some(field.ok_or(DecodeError::Malformed))
    }
}

/// Encodes bytes in their JSON form.
pub(super) fn base64(bytes: &[u8]) -> Value {
    BASE64_STANDARD.encode(bytes).into()
}

/// Decodes `Time` and `MicroTime`, `{seconds, nanos}`. `None` if the message is empty. A `Time` has whole seconds.
pub(super) fn time(bytes: &[u8], micro: bool) -> Result<Option<Value>, DecodeError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let (mut seconds, mut nanos) = (0, 0);
    for part in Reader::new(bytes) {
        match part? {
            (1, content) => seconds = content.integer()?,
            (2, content) => nanos = content.integer()?,
            _ => {}
        }
    }
    let nanos = i32::try_from(nanos).map_err(|_| DecodeError::Malformed)?;
    let time = Timestamp::new(seconds, if micro { nanos } else { 0 }).map_err(|_| DecodeError::Malformed)?;
    let text = if micro { format!("{time:.6}") } else { format!("{time:.0}") };
    Ok(Some(text.into()))
}

/// Decodes a `Quantity`, `{string}`.
pub(super) fn quantity(bytes: &[u8]) -> Result<Value, DecodeError> {
    let mut text = String::new();
    for part in Reader::new(bytes) {
        if let (1, content) = part? {
            text = content.text()?;
        }
    }
    Ok(text.into())
}

/// Decodes an `IntOrString`, `{type, intVal, strVal}`; type 1 is the string.
pub(super) fn int_or_string(bytes: &[u8]) -> Result<Value, DecodeError> {
    let (mut is_text, mut number, mut text) = (false, 0, String::new());
    for part in Reader::new(bytes) {
        match part? {
            (1, content) => is_text = content.integer()? == 1,
            (2, content) => number = content.integer()?,
            (3, content) => text = content.text()?,
            _ => {}
        }
    }
    Ok(if is_text { text.into() } else { number.into() })
}
