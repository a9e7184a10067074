use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn quantities_are_printed_like_kubernetes() {
    for (text, expected) in [
        ("0", "0"),
        ("-0", "0"),
        ("0.0Gi", "0"),
        ("1000m", "1"),
        ("100000m", "100"),
        ("1500m", "1500m"),
        ("0.1", "100m"),
        ("0.5", "500m"),
        ("-.5", "-500m"),
        ("1.5", "1500m"),
        ("1024", "1024"),
        ("128974848", "128974848"),
        ("5000", "5k"),
        ("1000k", "1M"),
        ("0.5Gi", "512Mi"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("1.1Ki", "1126400m"),
        ("0.5Ki", "512"),
        ("0.9765625Ki", "1k"),
        ("16Ei", "9223372036854775807"),
        ("-16Ei", "-9223372036854775807"),
        ("1e3", "1e3"),
        ("1E3", "1E3"),
        ("1000e0", "1e3"),
        ("10e-3", "10e-3"),
        ("1e-10", "1e-9"),
        ("0.1n", "1n"),
        ("999999999.9999999999n", "1"),
        ("1234567890123456789012", "1234567890123456789012"),
        (" 1 ", "1"),
    ] {
        assert_eq!(canonical(text).unwrap(), expected, "{text}");
    }
}

#[test]
fn some_quantities_are_not_shortened() {
    for text in ["+1", "007", "07Gi", "1.500", "100000000001m"] {
        assert!(matches!(canonical(text), Ok(Cow::Borrowed(same)) if same == text), "{text}");
    }
}

// Row: D-55
#[test]
fn a_quantity_too_large_for_every_unit_keeps_its_value() {
    assert_eq!(canonical("1000E").unwrap(), "1e21");
    assert_eq!(canonical("1e2000000000").unwrap(), "100e1999999998");
}

#[test]
fn a_unit_without_a_number_is_zero() {
    for text in ["m", "Ki", "E", "e5", ".", "-", "+"] {
        assert_eq!(canonical(text).unwrap(), "0", "{text}");
    }
    for text in ["Pi", "e-20", ".Ei"] {
        assert_eq!(canonical(text), Err(InvalidQuantity::Number), "{text}");
    }
}

// Row: D-87
#[test]
fn invalid_quantities_are_refused_with_a_reason() {
    let suffix = |suffix: &str| Err(InvalidQuantity::Suffix { suffix: suffix.to_owned() });
    assert_eq!(canonical(""), Err(InvalidQuantity::Empty));
    assert_eq!(canonical("  "), Err(InvalidQuantity::Empty));
    assert_eq!(canonical("lots"), Err(InvalidQuantity::Number));
    for (text, unit) in [
        ("1x", "x"),
        ("1ki", "ki"),
        ("1K", "K"),
        ("1e", "e"),
        ("1.2.3", ".3"),
        ("1e99999999999", "e99999999999"),
    ] {
        assert_eq!(canonical(text), suffix(unit), "{text}");
    }
}

#[test]
fn numbers_are_parsed_like_json() {
    for (value, expected) in [
        (json!(1), "1"),
        (json!(0.1), "0.1"),
        (json!(1e17), "100000000000000000"),
        (json!(1e-7), "1e-7"),
        (json!(2e21), "2e+21"),
        (json!(-0.0), "-0"),
    ] {
        assert_eq!(number_text(value.as_number().unwrap()), expected);
    }
}

proptest! {
    #[test]
    fn canonicalization_is_idempotent(
        text in "[+-]?[0-9]{0,24}(\\.[0-9]{0,14})?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,3})?"
    ) {
        if let Ok(once) = canonical(&text) {
            let twice = canonical(&once).map(Cow::into_owned);
            prop_assert_eq!(twice, Ok(once.into_owned()));
        }
    }

    #[test]
    fn any_text_is_a_quantity_or_an_error(text in ".{0,12}") {
        let _either = canonical(&text);
    }
}

#[test]
fn quantities_are_compared_by_amount() {
    use std::cmp::Ordering::{Equal, Greater, Less};
    for (left, right, expected) in [
        ("1", "1000m", Equal),
        ("1Gi", "1G", Greater),
        ("1.5", "15", Less),
        ("-1", "1m", Less),
        ("-2", "-1", Less),
        ("0", "-0", Equal),
        ("0Mi", "1n", Less),
        ("2e3", "2k", Equal),
    ] {
        assert_eq!(compare(left, right), Ok(expected), "{left} {right}");
        assert_eq!(compare(right, left), Ok(expected.reverse()), "{right} {left}");
    }
    assert!(compare("", "1").is_err() && compare("1", "x").is_err());
}
