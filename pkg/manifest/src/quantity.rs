//! Quantities with units, such as `500m` or `1Gi`, in the canonical text of Kubernetes.
//!
//! The API server prints canonical quantities, so a file that uses them shows no difference after an apply.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Number;

#[cfg(test)]
mod tests;

/// A text that is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum InvalidQuantity {
    /// The text is empty.
    #[error("the text is empty")]
    Empty,
    /// The number is missing or malformed.
    #[error("the text does not start with a number")]
    Number,
    /// The text behind the number is no unit.
    #[error("unknown unit `{suffix}`")]
    Suffix { suffix: String },
}

/// The notation of a quantity.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Uses `n`, `u`, `m`, `k`, `M`, `G`, `T`, `P`, `E`.
    Decimal,
    /// Uses `e` and an exponent.
    Exponent,
    /// Uses `Ki`, `Mi`, `Gi`, `Ti`, `Pi`, `Ei`.
    Binary,
}

/// The maximum number of digits that always fit a signed integer of 64 bits.
const SAFE_DIGITS: usize = 18;
/// The smallest exponent, 10⁻⁹; further digits round up, so that no quantity becomes zero.
const NANO: i64 = -9;
const DECIMAL_UNITS: [(&str, i64); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY_UNITS: [(&str, u32); 6] =
    [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];

/// Returns the canonical text of a quantity. Many texts are already canonical and are not copied.
///
/// A second call changes nothing. Some texts stay although a shorter one exists (`1.500`, `+1`, `07Gi`), as in
/// Kubernetes.
/// Source: apimachinery v0.36.3 pkg/api/resource/quantity.go; differs: the original prints an amount of 10²¹ or more
/// with a decimal unit without the unit (`1000E` as `1`), and its exponents wrap at 32 bits.
/// # Errors
/// [`InvalidQuantity`] if the text is no quantity.
pub fn canonical(text: &str) -> Result<Cow<'_, str>, InvalidQuantity> {
    let text = text.trim_matches(' ');
    let (scan, format, exponent) = QuantityParts::of(text)?;
    if scan.is_kept_as_written(format, exponent) {
        return Ok(Cow::Borrowed(text));
    }
    let amount = scan.amount(format, exponent)?;
    Ok(Cow::Owned(amount.map_or_else(|| "0".to_owned(), |amount| amount.write(format, scan.negative))))
}

/// Compares the amounts of two quantities.
/// # Errors
/// [`InvalidQuantity`] if a text is no quantity.
pub fn compare(left: &str, right: &str) -> Result<Ordering, InvalidQuantity> {
    let ((left_sign, left), (right_sign, right)) = (signed_amount(left)?, signed_amount(right)?);
    let amounts = if left_sign < 0 { right.cmp(&left) } else { left.cmp(&right) };
    Ok(left_sign.cmp(&right_sign).then(amounts))
}

/// The sign of a quantity, and its amount as the number of whole digits and all digits.
fn signed_amount(text: &str) -> Result<(i8, (i64, Vec<u8>)), InvalidQuantity> {
    let (scan, format, exponent) = QuantityParts::of(text.trim_matches(' '))?;
    Ok(match scan.amount(format, exponent)? {
        None => (0, (0, Vec::new())),
        Some(Amount { digits, exponent }) => {
            (if scan.negative { -1 } else { 1 }, (length(&digits) + exponent, digits))
        }
    })
}

/// Writes a JSON number like Go's encoder; a quantity without quotes is parsed from this text.
pub(crate) fn number_text(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        None => number.to_string(),
        Some(float) if float == 0.0 || (1e-6..1e21).contains(&float.abs()) => float.to_string(),
        Some(float) => {
            let text = format!("{float:e}");
            if float.abs() < 1.0 { text } else { text.replace('e', "e+") }
        }
    }
}

/// The parts of a quantity, without leading zeros.
struct QuantityParts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
    /// True if a digit precedes the unit, even a zero.
    has_digits: bool,
}

impl<'a> QuantityParts<'a> {
    /// Splits a text without blanks around it. The second and third values are the notation and exponent of the unit.
    fn of(text: &'a str) -> Result<(Self, Format, i64), InvalidQuantity> {
        if text.is_empty() {
            return Err(InvalidQuantity::Empty);
        }
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (zeros_and_whole, rest) = split_digits(unsigned);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        let scan = Self {
            negative: text.starts_with('-'),
            whole: zeros_and_whole.trim_start_matches('0'),
            fraction,
            suffix,
            has_digits: !zeros_and_whole.is_empty() || !fraction.is_empty(),
        };
        let letters = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
        let exponent = letters.strip_prefix(['+', '-']).unwrap_or(letters);
        if split_digits(exponent).1.is_empty() {
            let (format, exponent) = scan.unit().ok_or_else(|| scan.suffix_error())?;
            return Ok((scan, format, exponent));
        }
        Err(if scan.has_digits { scan.suffix_error() } else { InvalidQuantity::Number })
    }

    fn suffix_error(&self) -> InvalidQuantity {
        InvalidQuantity::Suffix { suffix: self.suffix.to_owned() }
    }

    fn unit(&self) -> Option<(Format, i64)> {
        if let Some((_, exponent)) = DECIMAL_UNITS.iter().find(|(unit, _)| *unit == self.suffix) {
            return Some((Format::Decimal, *exponent));
        }
        if let Some((_, exponent)) = BINARY_UNITS.iter().find(|(unit, _)| *unit == self.suffix) {
            return Some((Format::Binary, i64::from(*exponent)));
        }
        let exponent = self.suffix.strip_prefix(['e', 'E'])?;
        exponent.parse::<i32>().ok().map(|exponent| (Format::Exponent, i64::from(exponent)))
    }

    /// The number of digits of the whole part, at least one.
    fn whole_length(&self) -> usize {
        self.whole.len().max(1)
    }

    /// True for a small amount without trailing zeros in groups of three; its text stays as written.
    fn is_kept_as_written(&self, format: Format, exponent: i64) -> bool {
        let digits = self.whole_length() + self.fraction.len();
        if format == Format::Binary {
            let room = match exponent {
                10 => 11,
                20 => 8,
                30 => 5,
                40 => 2,
                _ => return false,
            };
            let low_bits = self.whole.parse::<u64>().unwrap_or(0) & 7;
            return self.fraction.is_empty() && self.whole_length() <= room && low_bits != 0;
        }
        let scale = exponent - length(self.fraction);
        let last = self.whole.bytes().chain(self.fraction.bytes()).rev().take(3);
        let needless = last.filter(|digit| *digit == b'0').count() == 3;
        digits <= SAFE_DIGITS && scale >= NANO && scale % 3 == 0 && !self.whole.is_empty() && !needless
    }

    /// The size of the amount; `None` for zero.
    fn amount(&self, format: Format, exponent: i64) -> Result<Option<Amount>, InvalidQuantity> {
        let digits = format!("{}{}", self.whole, self.fraction);
        let digits = digits.trim_start_matches('0');
        let scale = -length(self.fraction);
        if digits.is_empty() {
            // A unit alone is zero, except for the largest and the smallest units.
            let is_number = self.has_digits
                || match format {
                    Format::Decimal => true,
                    Format::Exponent => exponent >= NANO,
                    Format::Binary => exponent < 50,
                };
            return if is_number { Ok(None) } else { Err(InvalidQuantity::Number) };
        }
        let mut amount =
            Amount { digits: digits.bytes().map(|digit| digit - b'0').collect(), exponent: scale };
        if format == Format::Binary {
            amount.shift_left(exponent);
        } else {
            amount.exponent += exponent;
        }
        amount.round_up_to_nano();
        if format == Format::Binary {
            amount.cap();
        }
        amount.strip_zeros();
        Ok(Some(amount))
    }
}

/// A positive amount: its decimal digits, most significant first, times a power of ten.
struct Amount {
    digits: Vec<u8>,
    exponent: i64,
}

impl Amount {
    /// Multiplies by a power of two, at most 2⁶⁰.
    fn shift_left(&mut self, bits: i64) {
        let factor = 1_u128 << bits.clamp(0, 60);
        let mut carry = 0;
        for digit in self.digits.iter_mut().rev() {
            carry += u128::from(*digit) * factor;
            *digit = low_digit(carry);
            carry /= 10;
        }
        let mut front = Vec::new();
        while carry > 0 {
            front.push(low_digit(carry));
            carry /= 10;
        }
        self.digits.splice(..0, front.into_iter().rev());
    }

    fn round_up_to_nano(&mut self) {
        let Some(excess) = usize::try_from(NANO - self.exponent).ok().filter(|excess| *excess > 0) else {
            return;
        };
        let kept = self.digits.len().saturating_sub(excess);
        let lost = self.digits.split_off(kept).iter().any(|digit| *digit != 0);
        self.exponent = NANO;
        if !lost {
            return;
        }
        if let Some(at) = self.digits.iter().rposition(|digit| *digit != 9) {
            self.digits[at] += 1;
            self.digits[at + 1..].fill(0);
        } else {
            self.digits.fill(0);
            self.digits.insert(0, 1);
        }
    }

    /// Caps a binary amount at the largest signed integer of 64 bits.
    fn cap(&mut self) {
        const MOST: [u8; 19] = [9, 2, 2, 3, 3, 7, 2, 0, 3, 6, 8, 5, 4, 7, 7, 5, 8, 0, 7];
        let whole = self.whole_digits();
        let over = whole.len() > MOST.len()
            || whole.len() == MOST.len()
                && (whole > &MOST[..]
                    || whole == &MOST[..] && self.digits[whole.len()..].iter().any(|digit| *digit != 0));
        if over {
            self.digits = MOST.to_vec();
            self.exponent = 0;
        }
    }

    fn whole_digits(&self) -> &[u8] {
        let behind_point = usize::try_from(-self.exponent).unwrap_or(0);
        &self.digits[..self.digits.len().saturating_sub(behind_point)]
    }

    fn strip_zeros(&mut self) {
        let kept = self.digits.iter().rposition(|digit| *digit != 0).map_or(0, |at| at + 1);
        self.exponent += length(&self.digits[kept..]);
        self.digits.truncate(kept);
    }

    fn write(mut self, format: Format, negative: bool) -> String {
        let sign = if negative { "-" } else { "" };
        if format == Format::Binary
            && let Some(whole) = self.whole_number().filter(|whole| *whole >= 1024)
        {
            let (number, unit) = binary_unit(whole);
            return format!("{sign}{number}{unit}");
        }
        while self.exponent.rem_euclid(3) != 0 {
            self.digits.push(0);
            self.exponent -= 1;
        }
        let number: String = self.digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        let unit = DECIMAL_UNITS.iter().find(|(_, exponent)| *exponent == self.exponent);
        match unit {
            Some((unit, _)) if format != Format::Exponent || self.exponent == 0 => {
                format!("{sign}{number}{unit}")
            }
            _ => format!("{sign}{number}e{}", self.exponent),
        }
    }

    /// The amount as an integer, if it fits; a capped binary amount always fits.
    fn whole_number(&self) -> Option<u64> {
        let zeros = u32::try_from(self.exponent).ok()?;
        let digits = self
            .digits
            .iter()
            .try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add((*digit).into()))?;
        digits.checked_mul(10_u64.checked_pow(zeros)?)
    }
}

fn binary_unit(mut number: u64) -> (u64, &'static str) {
    let mut unit = "";
    let mut units = BINARY_UNITS.iter();
    while number >= 1024 && number.is_multiple_of(1024) {
        let Some((next, _)) = units.next() else { break };
        number /= 1024;
        unit = next;
    }
    (number, unit)
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

fn low_digit(number: u128) -> u8 {
    u8::try_from(number % 10).unwrap_or(0)
}

fn length<T: AsRef<[u8]> + ?Sized>(digits: &T) -> i64 {
    i64::try_from(digits.as_ref().len()).unwrap_or(i64::MAX)
}
