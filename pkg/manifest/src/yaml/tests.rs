//! Properties of reading and printing.

use proptest::prelude::*;
use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::*;
use crate::{Map, read_stream, write_stream};

fn read(text: &str) -> Value {
    read_value(text, &YamlLimits::default()).unwrap()
}

fn problem(text: &str) -> (YamlErrorKind, usize, usize) {
    let error = read_value(text, &YamlLimits::default()).unwrap_err();
    (error.kind, error.line, error.column)
}

#[test]
fn scalars_are_parsed_like_go() {
    let cases = [
        ("v: yes", Value::Bool(true)),
        ("v: 'yes'", "yes".into()),
        ("v: 0644", 420.into()),
        ("v: 1_000", 1000.into()),
        ("v: 08", 8.into()),
        ("v: .5_0", 0.5.into()),
        ("v: .5_", ".5_".into()),
        ("v: 1e400", "1e400".into()),
        ("v: 12:30", "12:30".into()),
        ("v: 18446744073709551615", u64::MAX.into()),
        ("v: 9007199254740993", 9_007_199_254_740_993_i64.into()),
        ("v: !!float 1", 1.into()),
        ("v: !!str 0644", "0644".into()),
        ("v: -", Value::Null),
    ];
    for (text, expected) in cases {
        let found = read_value(text, &YamlLimits::default()).map(|value| value["v"].clone());
        match expected {
            Value::Null => assert!(found.is_err(), "{text}"),
            expected => assert_eq!(found, Ok(expected), "{text}"),
        }
    }
}

// Row: D-82
#[test]
fn settings_have_their_own_booleans_dates_and_merges() {
    let cases = [
        ("v: yes", Value::from("yes")),
        ("v: N", "N".into()),
        ("v: True", true.into()),
        ("v: 0123", 83.into()),
        ("v: 2020-01-02", "2020-01-02 00:00:00 +0000 UTC".into()),
        ("v: 2020-1-2 3:04:05.50", "2020-01-02 03:04:05.5 +0000 UTC".into()),
        ("v: 2020-01-02T03:04:05-01:30", "2020-01-02 03:04:05 -0130 -0130".into()),
        ("v: '2020-01-02'", "2020-01-02".into()),
        ("v: -.inf", "-Inf".into()),
        ("v: .nan", "NaN".into()),
        ("null: x\non: y\nv: z", "z".into()),
        (
            "v: {0x10: a, 1.50: b, 2020-01-02: c}",
            json!({"16": "a", "1.5": "b", "2020-01-02 00:00:00 +0000 UTC": "c"}),
        ),
        ("a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\nv: {x: 3, <<: [*b, *a]}", json!({"x": 3, "y": 1, "z": 2})),
    ];
    for (text, expected) in cases {
        let found = read_settings(text, &YamlLimits::default()).map(|value| value["v"].clone());
        assert_eq!(found, Ok(expected), "{text}");
    }
    assert!(read_settings("v: !!bool yes", &YamlLimits::default()).is_err());
    let twice = read_settings("a: 1\na: 2", &YamlLimits::default()).unwrap_err();
    assert_eq!((twice.kind, twice.line), (YamlErrorKind::DuplicateKey("a".to_owned()), 2));
}

#[test]
fn a_missing_last_line_break_is_preserved() {
    assert_eq!(read("a: |\n  x")["a"], "x");
    assert_eq!(read("a: |\n  x\n")["a"], "x\n");
}

#[test]
fn tabs_behind_the_end_of_a_document_are_ignored() {
    assert_eq!(read("a: 1\n...\n\tb\n")["a"], 1);
    assert_eq!(problem("a: 1\n\tb: 1\n...\n").1, 2);
}

#[test]
fn an_error_names_its_line_and_column_and_no_value() {
    let error = read_value("user: admin\npassword: s3cret: x\n", &YamlLimits::default()).unwrap_err();
    assert_eq!((error.line, error.column), (2, 17));
    assert_data_eq!(error.to_string(), str!["line 2, column 17: a mapping value is not allowed here"]);
    assert_eq!(problem("é: é\nü: *x\n"), (YamlErrorKind::UnknownAnchor("x".to_owned()), 2, 4));
    assert_eq!(problem("a: &x [*x]"), (YamlErrorKind::AnchorInItself("x".to_owned()), 1, 8));
    assert_eq!(problem("a: .inf"), (YamlErrorKind::NotFinite, 1, 4));
    assert_eq!(problem("~: a"), (YamlErrorKind::UnusableKey("`null`"), 1, 1));
    assert_eq!(problem("a: !!int s3cret"), (YamlErrorKind::TagMismatch("!!int".to_owned()), 1, 10));
    assert_eq!(problem("a: b\u{7}"), (YamlErrorKind::ForbiddenCharacter { code: 7, offset: 4 }, 1, 5));
    assert_eq!(problem("a: \u{FFFE}"), (YamlErrorKind::ForbiddenCharacter { code: 0xFFFE, offset: 3 }, 1, 4));
}

#[test]
fn the_strict_reader_names_a_duplicate_key() {
    let error = read_value_strict("a: 1\nb:\n  c: 1\n  c: 2\n", &YamlLimits::default()).unwrap_err();
    assert_eq!((error.kind, error.line, error.column), (YamlErrorKind::DuplicateKey("c".to_owned()), 4, 3));
}

// Row: D-50
#[test]
fn nesting_over_the_limit_is_an_error_in_every_style() {
    let limits = YamlLimits { depth: 50, ..YamlLimits::default() };
    let levels: Vec<String> = (0..51).map(|level| format!("{}a:\n", "  ".repeat(level))).collect();
    let indented = levels.concat() + &"  ".repeat(51) + "a: 1\n";
    let through_aliases =
        format!("a: &a {}1{}\nb: {}*a{}\n", "[".repeat(30), "]".repeat(30), "[".repeat(30), "]".repeat(30));
    for text in ["[".repeat(51), "{a: ".repeat(51), "- ".repeat(51), indented, through_aliases] {
        let error = read_value(&text, &limits).unwrap_err();
        assert_eq!(error.kind, YamlErrorKind::TooDeep { limit: 50 }, "{text}");
    }
    assert!(read_value(&("[".repeat(50) + &"]".repeat(50)), &limits).is_ok());
}

// Row: D-51
#[test]
fn a_text_over_the_size_limit_is_refused_before_it_is_parsed() {
    let limits = YamlLimits { size_bytes: 10, ..YamlLimits::default() };
    let error = read_value("a: [[[[[[[[[", &limits).unwrap_err();
    assert_eq!(error.kind, YamlErrorKind::TooLarge { size_bytes: 12, limit_bytes: 10 });
}

#[test]
fn exponential_aliases_are_refused_and_normal_ones_accepted() {
    let first = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    let levels = (1..9).map(|level| {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        format!("a{level}: &a{level} [{items}]\n")
    });
    let bomb: Vec<String> = std::iter::once(first).chain(levels).collect();
    assert_eq!(problem(&bomb.concat()).0, YamlErrorKind::ExcessiveAliases);
    let honest = format!("a: &a {{x: 1, y: [1, 2]}}\nb:\n{}", "- *a\n".repeat(90));
    assert_eq!(read(&honest)["b"].as_array().map(Vec::len), Some(90));
}

// Row: D-261
#[test]
fn aliases_of_a_large_text_are_refused_at_the_limit() {
    let limits = YamlLimits { size_bytes: 50_000, ..YamlLimits::default() };
    let text = "x".repeat(1_000);
    for (anchor, alias) in [(text.clone(), "*a"), (format!("{{k: {text}}}"), "{<<: *a}")] {
        let document = |count| format!("a: &a {anchor}\nb:\n{}", format!("- {alias}\n").repeat(count));
        let error = read_value(&document(90), &limits).unwrap_err();
        assert_eq!(error.kind, YamlErrorKind::AliasesTooLarge { limit_bytes: 50_000 });
        assert!(read_value(&document(20), &limits).is_ok());
    }
    let keys = format!("a: &a {text}\nb:\n{}", "- {*a : 1}\n".repeat(90));
    let error = read_value(&keys, &limits).unwrap_err();
    assert_eq!(error.kind, YamlErrorKind::AliasesTooLarge { limit_bytes: 50_000 });
}

#[test]
fn many_anchors_are_parsed_in_linear_time() {
    let lines: Vec<String> = (0..50_000).map(|n| format!("- &a{n} {n}\n")).collect();
    assert_eq!(read(&lines.concat()).as_array().map(Vec::len), Some(50_000));
}

// Row: D-45
#[test]
fn json_is_parsed_with_all_escapes() {
    assert_eq!(
        read("{\n\t\"a\\/b\": \"\\ud83d\\ude00\", \"c\": [1.0, 2e3, null]}"),
        serde_json::json!({
            "a/b": "😀", "c": [1, 2000, null]
        })
    );
}

#[test]
fn text_accepted_by_go_is_accepted_despite_the_parser() {
    let cases = [
        ("a: \"x\ny\nz\"\nb: 'u\nv'\n", json!({"a": "x y z", "b": "u v"})),
        ("a:\n  b: 'x\n y'\n  c: 'x  \n\n  y\n\n\n\nz'\n", json!({"a": {"b": "x y", "c": "x\ny\n\n\nz"}})),
        ("a:\n  b: '{\r\n  \"c\": \"d\"\n}'\n", json!({"a": {"b": "{ \"c\": \"d\" }"}})),
        ("a: \"x\"#c\nb: []#d\nc: |#e\n  y\n", json!({"a": "x", "b": [], "c": "y\n"})),
        ("a: [\n\t1,\n\t'x\n\ty'\n]\n", json!({"a": [1, "x y"]})),
        ("a: |-2 # c\n  \tx\n  \t\nb: >2+\n\n  \t\n", json!({"a": "\tx\n\t", "b": "\n\t\n"})),
        (
            "a: \"it\\'s \\\"\\'\\\"\"\nb: \"\\\\'\"\nc: \"\\'\"\n",
            json!({"a": "it's \"'\"", "b": "\\'", "c": "'"}),
        ),
        ("a: b\u{85}c: |\n  x\u{85}  y\n", json!({"a": "b", "c": "x\ny\n"})),
        ("a: 'x\u{2028}  y'\nb: |\n  x\u{2029}  y\n", json!({"a": "x\u{2028}y", "b": "x\u{2029}y\n"})),
    ];
    for (text, expected) in cases {
        assert_eq!(read_value(text, &YamlLimits::default()), Ok(expected), "{text:?}");
    }
}

#[test]
fn text_refused_by_go_is_refused_with_line_and_column() {
    let cases = [
        "a:\n-\tb\n",
        "a: 1\n\t\nb: 2\n",
        "a:\n  b: 1\n  \t\nc: 2\n",
        "a: b\n\tc\n",
        "a: |\n  x\n\t\n",
        "a: |\n  \tx\n",
        "a|2: >-\n\n  \tx\n",
        "a:\n- |\n   x\n  \t\n- y\n",
        "a: &b.c d\n",
        "%FOO x\n---\na: b\n",
        "%YAML 1.2\n---\na: b\n",
    ];
    let reported = cases.map(|text| {
        let error = read_value(text, &YamlLimits::default()).unwrap_err();
        assert!(matches!(error.kind, YamlErrorKind::Syntax(_)), "{text:?}: {error}");
        error.to_string()
    });
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
line 2, column 2: found a tab where only spaces are allowed
line 2, column 1: found a tab where only spaces are allowed
line 3, column 3: found a tab where only spaces are allowed
line 2, column 1: found a tab where only spaces are allowed
line 3, column 1: found a tab where only spaces are allowed
line 2, column 3: found a tab where only spaces are allowed
line 3, column 3: found a tab where only spaces are allowed
line 4, column 3: found a tab where only spaces are allowed
line 1, column 4: an anchor name must consist of ASCII letters, digits, `_` and `-`
line 1, column 1: found an unknown directive
line 2, column 1: the version in `%YAML` is not 1.1
"#]]
    );
}

// Row: D-550
#[test]
fn text_that_go_ignores_or_reads_as_a_key_is_refused() {
    let cases =
        ["{\"a\": 1}}\n", "a: 1\n%YAML 1.1\n---\nb: 2\n", "a: 1\n\u{FEFF}b: 2\n", "a:\n- \u{FEFF}b\n"];
    let reported = cases.map(|text| read_value(text, &YamlLimits::default()).unwrap_err().to_string());
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
line 1, column 9: found a closing bracket that does not match
line 2, column 1: missing explicit document end marker before directive
line 2, column 1: a BOM must not appear inside a document
line 2, column 3: a BOM must not appear inside a document
"#]]
    );
    for (text, expected) in [
        ("\u{FEFF}# c\n\u{FEFF}a: 1\n", json!({"a": 1})),
        ("a: b\u{FEFF}\nc: '\u{FEFF}'\n", json!({"a": "b\u{FEFF}", "c": "\u{FEFF}"})),
    ] {
        assert_eq!(read(text), expected, "{text:?}");
    }
}

#[test]
fn files_in_utf_16_are_decoded() {
    let encode =
        |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let mut text = encode("\u{FEFF}a: 1\nb: 😀", bytes);
        assert_eq!(decode(&text).as_deref(), Ok("a: 1\nb: 😀"));
        text.pop();
        let error = decode(&text).unwrap_err();
        assert_data_eq!(error.to_string(), str!["line 2, column 4: found invalid UTF-16"]);
        assert_eq!(decode(&text[..2]).as_deref(), Ok(""));
    }
    assert_eq!(decode("\u{FEFF}é".as_bytes()).as_deref(), Ok("\u{FEFF}é"));
    assert_eq!(decode(b"a\nb\xFF").unwrap_err().kind, YamlErrorKind::InvalidUtf8 { offset: 3 });
}

#[test]
fn the_number_of_repairs_is_limited() {
    assert!(read_value(&"- \"x\"#c\n".repeat(30), &YamlLimits::default()).is_ok());
    assert!(read_value(&"- \"x\"#c\n".repeat(3_000), &YamlLimits::default()).is_err());
}

#[test]
fn repeated_texts_in_quotes_are_repaired_together() {
    let text = "- a: 'x\n  \"y\": \"z\", it''s\n\n  b: ''c'''\n  d: |\n    e: 'f\n".repeat(20);
    let list = json!({"a": "x \"y\": \"z\", it's\nb: 'c'", "d": "e: 'f\n"});
    assert_eq!(read(&text), Value::Array(vec![list; 20]));
    let text = "- a: \"x\n  y \\\" 'z'\"\n".repeat(5_000);
    assert_eq!(read(&text)[4_999], json!({"a": "x y \" 'z'"}));
}

#[test]
fn every_prefix_of_a_document_is_read_or_refused() {
    let documents = [
        "a: &x {b: 'it''s', \"c\\x41\\\n  d\": |2-\n    text\n\n  more\n  , e: [1, *x]}\n",
        "%YAML 1.1\n%TAG !e! tag:e,2000:\n---\n? - a: !e!t >+\n    one\n\n    two\n  # c\n: !<tag:x> é\u{2028}\n...\nrest\n",
        "- - ? \"k\\ud83d\\ude00\"\n    : !!binary aGk=\n  -\tb\n- <<: [*a, {c: d}]\n  \u{85}e: .inf\r\n",
        "[!foo, x]\n{? , : ,}\n[? : x, a: , b]\n&a !t &b *c\n\"\\",
    ];
    for document in documents {
        for end in (0..=document.len()).filter(|end| document.is_char_boundary(*end)) {
            let _ = read_value(&document[..end], &YamlLimits::default());
            let _ = read_value(&document[end..], &YamlLimits::default());
        }
    }
}

/// Generates values with YAML syntax in texts and keys; `<<` is never a key of an object.
fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z0-9:#&*!|>'\"%@` \\n\\t{}\\[\\],?\\-\\.~_/\\\\]{0,12}",
        "\\PC{0,8}",
        "([a-z]{1,9} {1,2}){0,30}",
        any::<String>(),
        prop::sample::select(vec![
            "yes",
            "0644",
            "1e3",
            "~",
            "",
            "2001-01-01",
            "12:30",
            "---",
            "...",
            "\u{FEFF}a",
            "\n",
            " "
        ])
        .prop_map(str::to_owned),
    ];
    let key = text.clone().prop_filter("merge keys are no keys", |key| key != "<<");
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has no others", |float| float.is_finite())
            .prop_map(scalar::float_value),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // Row: D-47
    #[test]
    fn printed_values_survive_a_round_trip(value in values()) {
        let text = write(&value);
        let back = read_value(&text, &YamlLimits::default());
        prop_assert_eq!(back.as_ref(), Ok(&value), "{}", text);
        prop_assert_eq!(write(&value), text);
    }

    #[test]
    fn object_streams_survive_a_round_trip(values in prop::collection::vec(values(), 0..5)) {
        let objects: Vec<Object> = values.into_iter().filter_map(|value| value.try_into().ok()).collect();
        // Without a line feed at the end, a text that ends in line breaks would lose one of them.
        let text = write_stream(&objects) + "\n";
        let back = read_stream(text.as_bytes(), &YamlLimits::default()).map(|stream| stream.objects);
        prop_assert_eq!(back.as_ref(), Ok(&objects), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _ = read_value(&text, &YamlLimits::default());
    }

    #[test]
    fn any_punctuation_is_read_or_refused(text in "[a-b0 \\n\\t:#&*!|>'\"%@{}\\[\\],?\\-\\.~<\\\\é]{0,40}") {
        let _ = read_value(&text, &YamlLimits::default());
        let _ = read_value_strict(&text, &YamlLimits::default());
    }

    #[test]
    fn any_bytes_are_read_or_refused_as_a_stream(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = read_stream(&bytes, &YamlLimits::default());
    }
}
