//! Prints floats.

use super::printer::Printer;

/// The layouts of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Float {
    /// `1.5e+06`.
    Exponent,
    /// `1500000`.
    Plain,
    /// The shorter of both.
    General,
}

/// The most decimals of a float that are not zero. `format!` accepts at most 65,535.
const DECIMALS: usize = 1_074;

/// Appends a float. Without a precision the fewest digits are printed that read as the same number.
pub(crate) fn push_float(out: &mut String, value: f64, layout: Float, precision: Option<usize>) {
    if value.is_nan() {
        return out.push_str("NaN");
    }
    if value.is_infinite() {
        return out.push_str(if value < 0.0 { "-Inf" } else { "+Inf" });
    }
    if value.is_sign_negative() {
        out.push('-');
    }
    let value = value.abs();
    match (layout, precision) {
        (Float::Plain, None) => out.push_str(&value.to_string()),
        (Float::Plain, Some(precision)) => {
            let exact = precision.min(DECIMALS);
            out.push_str(&format!("{value:.exact$}"));
            out.extend(std::iter::repeat_n('0', precision - exact));
        }
        (Float::Exponent, None) => push_exponent(out, &format!("{value:e}"), 0),
        (Float::Exponent, Some(precision)) => {
            let exact = precision.min(DECIMALS);
            push_exponent(out, &format!("{value:.exact$e}"), precision - exact);
        }
        (Float::General, _) => push_general(out, value, precision),
    }
}

/// Appends Rust's `1.5e6` as Go's `1.5e+06`, with more zeros behind the digits.
fn push_exponent(out: &mut String, text: &str, zeros: usize) {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    out.push_str(digits);
    out.extend(std::iter::repeat_n('0', zeros));
    out.push('e');
    out.push(sign);
    if exponent.len() < 2 {
        out.push('0');
    }
    out.push_str(exponent);
}

fn push_general(out: &mut String, value: f64, precision: Option<usize>) {
    let text = match precision {
        None => format!("{value:e}"),
        Some(precision) => format!("{value:.*e}", (precision.max(1) - 1).min(DECIMALS)),
    };
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let digits =
        if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    let count = i32::try_from(digits.len() - usize::from(digits.contains('.'))).unwrap_or(i32::MAX);
    let threshold = match precision {
        None => 6,
        Some(precision) => {
            let precision = i32::try_from(precision.max(1)).unwrap_or(i32::MAX);
            // Trailing zeros do not make a number longer than it is.
            if precision > count && count > exponent { count.max(1) } else { precision }
        }
    };
    if exponent < -4 || exponent >= threshold {
        return push_exponent(out, &format!("{digits}e{exponent}"), 0);
    }
    let decimals = usize::try_from((count - 1 - exponent).max(0)).unwrap_or_default();
    match precision {
        None => out.push_str(&value.to_string()),
        Some(_) => out.push_str(&format!("{value:.decimals$}")),
    }
}

impl Printer<'_> {
    /// Prints a float by a verb of floats.
    pub(super) fn float(&mut self, value: f64, verb: char) {
        let (layout, default) = match verb {
            'e' | 'E' => (Float::Exponent, Some(6)),
            'f' | 'F' => (Float::Plain, Some(6)),
            _ => (Float::General, None),
        };
        let precision = self.flags.precision.or(default);
        let mut text = String::from("+");
        if verb == 'b' && value.is_finite() {
            push_binary(&mut text, value);
        } else if matches!(verb, 'x' | 'X') && value.is_finite() {
            push_hexadecimal(&mut text, value, self.flags.precision);
        } else {
            push_float(&mut text, value, layout, precision);
        }
        let mut text = if text[1..].starts_with(['+', '-']) { text.split_off(1) } else { text };
        if verb.is_uppercase() && verb != 'F' {
            text = text.to_uppercase().replace("INF", "Inf").replace("NAN", "NaN");
        }
        if self.flags.space && text.starts_with('+') && !self.flags.plus {
            text.replace_range(..1, " ");
        }
        if !value.is_finite() {
            let shown =
                if value.is_nan() && !self.flags.space && !self.flags.plus { &text[1..] } else { &text };
            return self.pad_with_spaces(shown.as_bytes());
        }
        if self.flags.sharp && verb != 'b' {
            text = with_point(&text, verb, precision);
        }
        self.pad_number(text.as_bytes());
    }
}

/// Adds the point and the zeros that `%#g` and `%#x` keep to a text with a sign.
fn with_point(text: &str, verb: char, precision: Option<usize>) -> String {
    let marks = if matches!(verb, 'x' | 'X') { ['p', 'P'] } else { ['e', 'E'] };
    let (mantissa, tail) = text.split_at(text.find(marks).unwrap_or(text.len()));
    let mut out = mantissa.to_owned();
    if !out.contains('.') {
        out.push('.');
    }
    if matches!(verb, 'g' | 'G' | 'v' | 'x') {
        let wanted = precision.unwrap_or(6);
        // As in Go, the `x` of `0x1.8` counts.
        let digits = mantissa.bytes().skip(1).filter(|byte| *byte != b'.');
        let significant = digits.skip_while(|byte| *byte == b'0').count().max(1);
        out.extend(std::iter::repeat_n('0', wanted.saturating_sub(significant)));
    }
    out + tail
}

/// Appends a float such as `6755399441055744p-52`.
fn push_binary(out: &mut String, value: f64) {
    let bits = value.abs().to_bits();
    let exponent = i64::try_from(bits >> FRACTION).unwrap_or_default();
    let fraction = bits & ((1 << FRACTION) - 1);
    let mantissa = if exponent == 0 { fraction } else { fraction | (1 << FRACTION) };
    let sign = if value.is_sign_negative() { "-" } else { "" };
    out.push_str(&format!("{sign}{mantissa}p{:+}", exponent.max(1) - 1023 - i64::from(FRACTION)));
}

/// The bits of the fraction of a float.
const FRACTION: u32 = 52;

/// Appends a float such as `0x1.8p+01`.
fn push_hexadecimal(out: &mut String, value: f64, precision: Option<usize>) {
    let bits = value.abs().to_bits();
    let (mut exponent, mut mantissa) =
        (i64::try_from(bits >> FRACTION).unwrap_or_default(), bits & ((1 << FRACTION) - 1));
    if exponent == 0 && mantissa > 0 {
        let shift = mantissa.leading_zeros() - (63 - FRACTION);
        mantissa = (mantissa << shift) & ((1 << FRACTION) - 1);
        exponent = 1 - i64::from(shift);
    } else if exponent > 0 {
    } else {
        exponent = 1023;
    }
    let mut lead = u64::from(value != 0.0);
    if let Some(digits) = precision.filter(|digits| *digits < 13) {
        let dropped = u32::try_from(52 - 4 * digits).unwrap_or_default();
        let whole = (lead << FRACTION) | mantissa;
        let (kept, rest) = (whole >> dropped, whole & ((1 << dropped) - 1));
        let half = 1 << (dropped - 1);
        let rounded = kept + u64::from(rest > half || (rest == half && kept & 1 == 1));
        let whole = rounded << dropped;
        (lead, mantissa) = (whole >> FRACTION, whole & ((1 << FRACTION) - 1));
        if lead > 1 {
            (lead, exponent) = (1, exponent + 1);
        }
    }
    let digits = format!("{mantissa:013x}");
    let fraction = match precision {
        None => digits.trim_end_matches('0').to_owned(),
        Some(count) if count <= 13 => digits[..count].to_owned(),
        Some(count) => digits + &"0".repeat(count - 13),
    };
    let point = if fraction.is_empty() { "" } else { "." };
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let exponent = exponent - 1023;
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    out.push_str(&format!("{sign}0x{lead}{point}{fraction}p{exponent_sign}{:02}", exponent.abs()));
}
