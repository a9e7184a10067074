//! Quantities such as `100m`, `1.5Gi` and `2e3`, and their canonical form.
//!
//! Source: apimachinery 1.36 `pkg/api/resource`. Differs: numbers with more than 30 digits count as invalid.

use std::cmp::Ordering;

/// The suffix family of a quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Format {
    /// Powers of 1000: `m`, `k`, `M`.
    #[default]
    Decimal,
    /// Powers of 1024: `Ki`, `Mi`.
    Binary,
    /// Powers of ten: `e3`.
    Exponent,
}

/// A number: `units` times ten to the power of `scale`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quantity {
    units: i128,
    scale: i32,
    format: Format,
}

const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/// The maximum number of digits, more than real quantities need. Calculations that overflow return `None`.
const MAX_DIGITS: usize = 30;

impl Quantity {
    /// Parses a quantity: `None` if the text is invalid or has too many digits.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = [whole, fraction].concat();
        if digits.is_empty() || digits.contains('.') || digits.len() > MAX_DIGITS {
            return None;
        }
        let mut units: i128 = digits.parse().ok()?;
        let mut scale = -i32::try_from(fraction.len()).ok()?;
        if text.starts_with('-') {
            units = -units;
        }
        let format = if let Some(power) = BINARY.iter().skip(1).position(|known| *known == suffix) {
            units = units.checked_mul(1024_i128.checked_pow(u32::try_from(power).ok()? + 1)?)?;
            Format::Binary
        } else if let Some((_, exponent)) = DECIMAL.iter().find(|(known, _)| *known == suffix) {
            scale += exponent;
            Format::Decimal
        } else {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            scale += exponent.parse::<i16>().ok().map(i32::from)?;
            Format::Exponent
        };
        Some(Self { units, scale, format }.trimmed())
    }

    /// True if the quantity is below zero.
    pub(super) fn is_negative(self) -> bool {
        self.units < 0
    }

    /// Compares the numeric values of two quantities.
    pub(super) fn compare(self, other: Self) -> Ordering {
        let low = self.scale.min(other.scale);
        let grown = |quantity: Self| {
            let power = u32::try_from(quantity.scale - low).ok()?;
            quantity.units.checked_mul(10_i128.checked_pow(power)?)
        };
        match (grown(self), grown(other)) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => self.units.signum().cmp(&other.units.signum()).then(self.scale.cmp(&other.scale)),
        }
    }

    /// True for whole numbers.
    pub(super) fn is_whole(self) -> bool {
        self.scale >= 0
    }

    /// Returns the number without trailing zeros, rounded up to nine decimal places.
    fn trimmed(mut self) -> Self {
        while self.scale < -9 {
            let up = i128::from(self.units > 0 && self.units % 10 != 0);
            self.units = self.units / 10 + up;
            self.scale += 1;
        }
        while self.units != 0 && self.units % 10 == 0 {
            self.units /= 10;
            self.scale += 1;
        }
        if self.units == 0 {
            self.scale = 0;
        }
        self
    }

    fn print(self) -> Option<String> {
        if self.format == Format::Binary && self.is_whole() {
            let whole = self.units.checked_mul(10_i128.checked_pow(u32::try_from(self.scale).ok()?)?)?;
            if whole.abs() >= 1024 {
                let mut rest = whole;
                let mut power = 0;
                while rest % 1024 == 0 && power + 1 < BINARY.len() {
                    rest /= 1024;
                    power += 1;
                }
                return Some(format!("{rest}{}", BINARY[power]));
            }
        }
        // Rounds the exponent down to a multiple of three.
        let down = self.scale.rem_euclid(3);
        let (mut units, mut exponent) = (self.units, self.scale - down);
        units = units.checked_mul(10_i128.pow(u32::try_from(down).ok()?))?;
        if self.format == Format::Exponent {
            let suffix = if exponent == 0 { String::new() } else { format!("e{exponent}") };
            return Some(format!("{units}{suffix}"));
        }
        if exponent > 18 {
            units = units.checked_mul(10_i128.checked_pow(u32::try_from(exponent - 18).ok()?)?)?;
            exponent = 18;
        }
        let (suffix, _) = DECIMAL.iter().find(|(_, power)| *power == exponent)?;
        Some(format!("{units}{suffix}"))
    }
}

/// Returns the canonical form of a quantity: `None` if the text is not a quantity.
pub(super) fn canonical(text: &str) -> Option<String> {
    Quantity::parse(text)?.print()
}

#[cfg(test)]
mod tests {
    use super::{Quantity, canonical};

    #[test]
    fn a_quantity_has_one_canonical_form() {
        for (given, written) in [
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1.5Gi", "1536Mi"),
            ("1024Mi", "1Gi"),
            ("512", "512"),
            ("512Ki", "512Ki"),
            ("1e3", "1e3"),
            ("2000k", "2M"),
            ("0", "0"),
            ("0Mi", "0"),
            ("100000", "100k"),
            ("0.1Gi", "107374182400m"),
            ("-1500m", "-1500m"),
            ("+5", "5"),
            (".5", "500m"),
            ("0.0000000001", "1n"),
        ] {
            assert_eq!(canonical(given).as_deref(), Some(written), "{given}");
        }
    }

    #[test]
    fn an_invalid_quantity_is_reported() {
        for text in ["", "abc", "1.2.3", "1x", "--1", "Gi", "1 Gi", "1e", "1Ki3"] {
            assert!(Quantity::parse(text).is_none(), "{text}");
        }
    }
}
