//! Base64 and booleans as Go reads them, and JSON as Go prints it.

use std::io;

use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Requires padding, and ignores the trailing bits before the padding.
pub(crate) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

/// Parses a boolean. `None` for a text that Go's `strconv.ParseBool` rejects.
pub fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Formats JSON like Go: sorted keys, escaped HTML characters, whole numbers without a fraction.
///
/// Source: Go 1.26 encoding/json (Encoder, with HTML escaping), as apimachinery uses it for unstructured objects.
pub fn go_json(value: &(impl Serialize + ?Sized)) -> String {
    let mut text = Vec::new();
    // Writing a value to a vector never fails.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut text, GoFormatter));
    String::from_utf8(text).unwrap_or_default()
}

struct GoFormatter;

impl Formatter for GoFormatter {
    fn write_string_fragment<W: io::Write + ?Sized>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            let (plain, special) = rest.split_at(at);
            let mut chars = special.chars();
            let special = chars.next().unwrap_or_default();
            write!(writer, "{plain}\\u{:04x}", u32::from(special))?;
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_f64<W: io::Write + ?Sized>(&mut self, writer: &mut W, number: f64) -> io::Result<()> {
        let size = number.abs();
        if size != 0.0 && !(1e-6..1e21).contains(&size) {
            let text = format!("{number:e}");
            let sign = if text.contains("e-") { "" } else { "+" };
            return writer.write_all(text.replace('e', &format!("e{sign}")).as_bytes());
        }
        write!(writer, "{number}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::go_json;

    #[test]
    fn json_equals_that_of_go() {
        let value = json!({
            "z": "a<b>&\"c\"\n\t\u{8}\u{1}é\u{2028}", "a": [1, -2, 1.0, 0.5, 1e21, 1e-7, 12_345_678.25], "m": {}
        });
        assert_eq!(
            go_json(&value),
            r#"{"a":[1,-2,1,0.5,1e+21,1e-7,12345678.25],"m":{},"z":"a\u003cb\u003e\u0026\"c\"\n\t\b\u0001é\u2028"}"#
        );
    }
}
