//! Numbers as Python prints them.

use serde_json::Number;

/// Returns the text of a number in YAML.
///
/// With `whole_as_integer`, a float without fraction is printed like an integer, as numbers of Jsonnet are.
pub(super) fn yaml_text(number: &Number, whole_as_integer: bool) -> String {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else { return number.to_string() };
    if whole_as_integer && float.fract() == 0.0 {
        return whole_text(float);
    }
    let text = float_text(float);
    if text.contains('.') { text } else { text.replacen('e', ".0e", 1) }
}

/// Returns the text of a number of Jsonnet in JSON.
pub(crate) fn json_text(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) if float.fract() == 0.0 => whole_text(float),
        Some(float) => float_text(float),
        None => number.to_string(),
    }
}

/// Returns all digits of a float without fraction.
pub(super) fn whole_text(float: f64) -> String {
    if float == 0.0 { "0".to_owned() } else { format!("{float:.0}") }
}

/// Returns the shortest digits that identify a float, with an exponent if it is below -4 or above 15.
pub(crate) fn float_text(float: f64) -> String {
    let scientific = format!("{float:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..16).contains(&exponent) {
        let text = format!("{float}");
        return if text.contains('.') { text } else { format!("{text}.0") };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn floats_have_the_digits_of_python() {
        let print = |value: serde_json::Value| yaml_text(value.as_number().unwrap(), false);
        assert_eq!(print(json!(1.0)), "1.0");
        assert_eq!(print(json!(0.1)), "0.1");
        assert_eq!(print(json!(1e-5)), "1.0e-05");
        assert_eq!(print(json!(1.5e-7)), "1.5e-07");
        assert_eq!(print(json!(1e15)), "1000000000000000.0");
        assert_eq!(print(json!(1e16)), "1.0e+16");
        assert_eq!(print(json!(1e300)), "1.0e+300");
        assert_eq!(print(json!(u64::MAX)), "18446744073709551615");
    }

    #[test]
    fn whole_numbers_of_jsonnet_have_no_fraction() {
        let print = |value: serde_json::Value| yaml_text(value.as_number().unwrap(), true);
        assert_eq!(print(json!(1e20)), "100000000000000000000");
        assert_eq!(print(json!(-0.0)), "0");
        assert_eq!(print(json!(1e-5)), "1.0e-05");
    }
}
