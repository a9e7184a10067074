//! Messages that are a single value in JSON.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use jiff::Timestamp;
use serde_json::Value;

use super::message::{DecodeError, Reader};

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
