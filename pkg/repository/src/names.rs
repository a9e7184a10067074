//! Names that become part of a path or an address must not lead anywhere else.

use crate::Error;

/// Checks that a version is one plain path segment.
pub(crate) fn check_version(version: &str) -> Result<(), Error> {
    if is_plain_segment(version) { Ok(()) } else { Err(Error::UnsafeName { name: version.to_owned() }) }
}

/// Checks that a file name is relative and never climbs: plain segments between slashes.
pub(crate) fn check_file(file: &str) -> Result<(), Error> {
    if file.split('/').all(is_plain_segment) {
        Ok(())
    } else {
        Err(Error::UnsafeName { name: file.to_owned() })
    }
}

fn is_plain_segment(segment: &str) -> bool {
    // A colon would name a drive or an alternate stream on Windows.
    let foreign = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control();
    !segment.is_empty() && segment != "." && segment != ".." && !segment.contains(foreign)
}

/// Turns `%41` into `A`; text that is not valid then (broken escape, no UTF-8) stays as it was.
pub(crate) fn percent_decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escape = (*first == b'%').then(|| tail.get(..2).and_then(hex_byte));
        match escape {
            Some(Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            Some(None) => return text.to_owned(),
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Escapes what may not stand in a path segment of an address; slashes stay.
pub(crate) fn percent_encode_path(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let digit = |value: u8| char::from(b"0123456789ABCDEF"[usize::from(value)]);
            encoded.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    encoded
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let [high, low] = digits else { return None };
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? * 16 + digit(low)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in ["../x", "a/../x", "/etc/passwd", "", "a//b", "./x", "a\\b", "C:x", "a\0", "a/"] {
            assert!(check_file(name).is_err(), "{name:?}");
        }
        for name in ["..", ".", "", "a/b", "v1\\..", "v1\n"] {
            assert!(check_version(name).is_err(), "{name:?}");
        }
        assert!(check_file("templates/cluster-template.yaml").is_ok());
        assert!(check_version("v1.2.3-rc.1+build").is_ok());
    }

    #[test]
    fn percent_escapes_are_read_and_broken_ones_left_alone() {
        assert_eq!(percent_decode("v1%2B2%20x"), "v1+2 x");
        assert_eq!(percent_decode("100%"), "100%");
        assert_eq!(percent_decode("%zz%41"), "%zz%41");
        assert_eq!(percent_decode("%ff"), "%ff");
        assert_eq!(percent_encode_path("a b/ü?#%.yaml"), "a%20b/%C3%BC%3F%23%25.yaml");
    }
}
