//! The wire format of protobuf: numbered fields in the four encodings in use.

use std::fmt;

/// A decoding error.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DecodeError {
    /// The prefix is missing.
    NoPrefix,
    /// A field is truncated or has an unknown encoding.
    Malformed,
    /// A string is not UTF-8.
    NotText,
    /// The nesting is too deep.
    TooDeep,
    /// Embedded JSON is invalid.
    Json(String),
    /// No built-in kind has this name.
    UnknownKind { api_version: String, kind: String },
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

/// Decodes the numbers of a packed list.
pub(super) fn packed(bytes: &[u8]) -> Result<Vec<i64>, DecodeError> {
    let mut reader = Reader::new(bytes);
    let mut numbers = Vec::new();
    while !reader.rest.is_empty() {
        numbers.push(reader.varint().ok_or(DecodeError::Malformed)?.cast_signed());
    }
    Ok(numbers)
}
