//! Formats of text.
//!
//! Source: kube-openapi `pkg/validation/strfmt` as of kube-apiserver 1.36. Differs: what an e-mail address or a URI may
//! be is checked by a simpler grammar than that of Go's `net/mail` and `net/url`.

use std::{net::IpAddr, sync::LazyLock};

use jiff::civil::Date;
use regex::Regex;

/// Whether a text is of a format; formats nobody knows are those of every text.
pub(super) fn matches(format: &str, text: &str) -> bool {
    match format.replace('-', "").as_str() {
        "datetime" => is_date_time(text),
        "date" => is_date(text),
        "duration" => is_duration(text),
        "ipv4" => parse_ip(text).is_some() && text.contains('.'),
        "ipv6" => text.parse::<IpAddr>().is_ok() && text.contains(':'),
        "cidr" => is_cidr(text),
        "mac" => is_mac(text),
        "uri" => is_uri(text),
        "email" => is_email(text),
        "hostname" => {
            text.len() <= 255 && HOSTNAME.is_match(text) && text.split('.').all(|label| label.len() <= 63)
        }
        "isbn10" => is_isbn10(text),
        "isbn13" => is_isbn13(text),
        "isbn" => is_isbn10(text) || is_isbn13(text),
        "creditcard" => is_credit_card(text),
        "ssn" => text.len() == 11 && SSN.is_match(text),
        "bsonobjectid" => text.len() == 24 && text.bytes().all(|c| c.is_ascii_hexdigit()),
        "k8sshortname" => text.len() <= 63 && is_name(text),
        "k8slongname" => text.len() <= 253 && text.split('.').all(is_name),
        other => expression(other).is_none_or(|regex| regex.is_match(text)),
    }
}

fn expression(format: &str) -> Option<&'static Regex> {
    Some(match format {
        "uuid" => &UUID,
        "uuid3" => &UUID3,
        "uuid4" => &UUID4,
        "uuid5" => &UUID5,
        "hexcolor" => &HEX_COLOR,
        "rgbcolor" => &RGB_COLOR,
        "byte" => &BASE64,
        _ => return None,
    })
}

macro_rules! expressions {
    ($($name:ident = $text:expr;)*) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($text).expect("a constant expression"));)*
    };
}

expressions! {
    HOSTNAME = r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.))+([a-zA-Z\p{L}]){2,63})$";
    UUID = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
    UUID3 = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
    UUID4 = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
    UUID5 = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
    HEX_COLOR = "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$";
    RGB_COLOR = r"^rgb\(\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\s*,\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\s*,\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\s*\)$";
    BASE64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$";
    SSN = "^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$";
    TIME = "^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$";
    CREDIT_CARD = "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$";
    DURATION = r"^[-+]?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";
    LONG_DURATION = r"([0-9]+)\s*([A-Za-zµ]+)";
    EMAIL = r"^[^\s@<>(),:;\\\x22\[\]]+@[^\s@<>(),:;\\\x22]+$";
    URI = r"^[A-Za-z][A-Za-z0-9+.\-]*:(//(?:[^/?#\s@]*@)?(\[[0-9A-Fa-f:.%]+\]|[^/?#\s\[\]<>\x22:%]*)(:[0-9]*)?([/?#].*)?|[^/].*|/[^/].*|/)$";
}

fn is_name(text: &str) -> bool {
    let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    !text.is_empty() && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_date(text: &str) -> bool {
    let shape = text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(i, c)| if matches!(i, 4 | 7) { c == b'-' } else { c.is_ascii_digit() });
    let part = |range: std::ops::Range<usize>| text[range].parse::<i16>().unwrap_or_default();
    let small = |range| i8::try_from(part(range)).unwrap_or_default();
    shape && Date::new(part(0..4), small(5..7), small(8..10)).is_ok()
}

fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    let Some(found) = TIME.captures(time) else { return false };
    is_date(date) && &found[1] <= "23" && &found[2] <= "59" && &found[3] <= "59"
}

/// A duration of Go (`1h30m`) or, failing that, one in words (`3 days`) somewhere in the text.
fn is_duration(text: &str) -> bool {
    const FULL: [&str; 15] =
        ["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk", "nano", "micro", "milli", "sec"];
    const STARTS: [&str; 8] = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
    if DURATION.is_match(text) {
        return true;
    }
    let mut found = false;
    for part in LONG_DURATION.captures_iter(text) {
        if part[1].parse::<i64>().is_err() {
            return false;
        }
        let unit = part[2].to_lowercase();
        found |= FULL.contains(&unit.as_str()) || STARTS.iter().any(|start| unit.starts_with(start));
    }
    found
}

/// An address whose numbers may have leading zeros, as old versions of Go took them.
fn parse_ip(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse().ok();
    }
    let part = |part: &str| {
        let trimmed = part.trim_start_matches('0');
        if trimmed.is_empty() && !part.is_empty() { "0".to_owned() } else { trimmed.to_owned() }
    };
    text.split('.').map(part).collect::<Vec<_>>().join(".").parse().ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let Some(address) = parse_ip(address) else { return false };
    let digits = !length.is_empty() && length.bytes().all(|c| c.is_ascii_digit());
    digits && length.parse::<u32>().is_ok_and(|length| length <= if address.is_ipv4() { 32 } else { 128 })
}

fn is_mac(text: &str) -> bool {
    let (separator, width) = match text.find([':', '-', '.']) {
        Some(at) if &text[at..=at] == "." => (".", 4),
        Some(at) => (&text[at..=at], 2),
        None => return false,
    };
    let groups: Vec<&str> = text.split(separator).collect();
    let hex = |group: &&str| group.len() == width && group.bytes().all(|c| c.is_ascii_hexdigit());
    groups.iter().all(hex) && [6, 8, 20].contains(&(groups.len() * width / 2))
}

/// An absolute URI or an absolute path.
fn is_uri(text: &str) -> bool {
    if text.chars().any(|c| c.is_ascii_control()) {
        return false;
    }
    let path = text.split('?').next().unwrap_or_default();
    let mut escapes = path.split('%').skip(1);
    let escaped = escapes.all(|rest| rest.len() >= 2 && rest.bytes().take(2).all(|c| c.is_ascii_hexdigit()));
    escaped && (text.starts_with('/') || URI.is_match(text))
}

fn is_email(text: &str) -> bool {
    let text = text.trim();
    let address = match (text.find('<'), text.strip_suffix('>')) {
        (Some(start), Some(inner)) => &inner[start + 1..],
        _ => text,
    };
    EMAIL.is_match(address)
}

fn isbn_digits(text: &str) -> Vec<u32> {
    let kept = text.chars().filter(|c| !c.is_whitespace() && *c != '-');
    kept.map(|c| if c == 'X' { 10 } else { c.to_digit(10).unwrap_or(99) }).collect()
}

fn is_isbn10(text: &str) -> bool {
    let digits = isbn_digits(text);
    let fits = digits.len() == 10 && digits[..9].iter().all(|d| *d < 10) && digits[9] <= 10;
    fits && digits.iter().zip(1..).map(|(digit, weight)| digit * weight).sum::<u32>() % 11 == 0
}

fn is_isbn13(text: &str) -> bool {
    let digits = isbn_digits(text);
    let fits = digits.len() == 13 && digits.iter().all(|d| *d < 10);
    fits && digits.iter().zip([1, 3].into_iter().cycle()).map(|(digit, weight)| digit * weight).sum::<u32>()
        % 10
        == 0
}

/// A number of a known issuer whose check digit is right (Luhn).
fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let sum: u32 = digits
        .bytes()
        .rev()
        .zip([1, 2].into_iter().cycle())
        .map(|(digit, weight)| {
            let value = u32::from(digit - b'0') * weight;
            if value > 9 { value - 9 } else { value }
        })
        .sum();
    CREDIT_CARD.is_match(&digits) && sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn texts_are_told_from_those_of_another_format() {
        for (format, good, bad) in [
            ("date-time", "2026-01-02T03:04:05Z", "2026-01-02"),
            ("date-time", "2026-01-02t03:04:05.123+01:00", "2026-02-30T00:00:00Z"),
            ("date", "2024-02-29", "2023-02-29"),
            ("duration", "1h30m", "abc"),
            ("duration", "3 days", "3 parsecs"),
            ("ipv4", "010.0.0.1", "10.0.0"),
            ("ipv6", "::1", "10.0.0.1"),
            ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
            ("mac", "01:23:45:67:89:ab", "01:23"),
            ("mac", "0123.4567.89ab", "0123:4567:89ab"),
            ("uri", "http://foobar.com/t?x#y", "foobar.com"),
            ("uri", "mailto:someone@example.com", "./rel"),
            ("uri", "/abs/path", "http://a b/"),
            ("email", "a@b.c", "a.b"),
            ("hostname", "a-b.example.com", "a_b"),
            ("uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "1"),
            ("uuid4", "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
            ("isbn10", "0321751043", "0321751044"),
            ("isbn13", "978-0321751041", "978-0321751042"),
            ("creditcard", "4220 8554 2622 2389", "4220855426213389"),
            ("ssn", "123-45-6789", "123456789"),
            ("hexcolor", "#f00", "#ff"),
            ("rgbcolor", "rgb(0,31,255)", "rgb(1,349,275)"),
            ("byte", "aGVsbG8=", "???"),
            ("bsonobjectid", "507f1f77bcf86cd799439011", "507f"),
            ("k8s-short-name", "a-b", "a.b"),
            ("k8s-long-name", "a.b-c", "A"),
        ] {
            assert!(matches(format, good), "{good} is of format {format}");
            assert!(!matches(format, bad), "{bad} is not of format {format}");
        }
    }

    #[test]
    fn a_format_nobody_knows_takes_everything() {
        assert!(matches("zork", "anything"));
    }
}
