//! Tests with streams as found in files.

use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::*;
use crate::Value;

fn read(text: &str) -> ObjectStream {
    read_stream(text.as_bytes(), &YamlLimits::default()).unwrap()
}

fn values(stream: ObjectStream) -> Vec<Value> {
    stream.objects.into_iter().map(Value::from).collect()
}

#[test]
fn documents_without_content_give_no_object() {
    let stream = read("---\n# c\n---\n\n---\nnull\n---\na: 1\n---  # next\n~\n---\t\nb: 2\n---");
    assert_eq!(stream.lines, [8, 12]);
    assert_eq!(values(stream), [json!({"a": 1}), json!({"b": 2})]);
    assert_eq!(read(""), ObjectStream::default());
}

#[test]
fn the_line_of_an_object_is_where_its_content_starts() {
    let stream = read("\u{FEFF}# head\r\n\r\na: 1\r\n---\r\n\r\n# comment\r\nb: 2\r\n");
    assert_eq!(stream.lines, [3, 7]);
}

#[test]
fn separators_inside_indented_text_are_text() {
    let stream = read("a: |\n  x\n  ---\n  y\n---\nb: |\n  z");
    assert_eq!(values(stream), [json!({"a": "x\n---\ny\n"}), json!({"b": "z\n"})]);
}

#[test]
fn all_invalid_documents_are_in_one_error_with_their_lines() {
    let text = b"a: 1\n---\nb: [1\n---\nc: 3\n---x\nd: \xFF4\n---\n- e\n---\nf: \x07\n";
    let error = read_stream(text, &YamlLimits::default()).unwrap_err();
    let found: Vec<_> =
        error.documents.iter().map(|bad| (bad.index, bad.error.line, bad.error.kind.clone())).collect();
    assert_eq!(
        found,
        [
            (2, 3, YamlErrorKind::Syntax("did not find expected `,` or `]`".into())),
            (4, 6, YamlErrorKind::Separator),
            (5, 7, YamlErrorKind::InvalidUtf8 { offset: 32 }),
            (6, 9, YamlErrorKind::NotAMapping("a list")),
            (7, 11, YamlErrorKind::ForbiddenCharacter { code: 7, offset: 50 }),
        ]
    );
    assert_eq!(text[32], 0xFF);
    assert_eq!(text[50], 7);
}

// Row: D-49
#[test]
fn an_error_shows_the_position_and_no_value() {
    let text = "kind: Secret\nstringData:\n  password: s3cret: x\n  user: admin\n";
    let error = read_stream(text.as_bytes(), &YamlLimits::default()).unwrap_err();
    assert_data_eq!(
        error.to_string(),
        str!["document 1, line 3, column 19: a mapping value is not allowed here"]
    );
    assert!(!format!("{error:?}").contains("s3cret"));
}

// Row: D-52
#[test]
fn surprising_input_gives_warnings() {
    let stream = read(
        "on: 1\n\"on\": 2\n1: a\n0644: b\n---\na: 1\na: 2\n...\nb: 3\n---\nc: &c {x: 1}\nd:\n  x: 0\n  <<: *c\n",
    );
    let found: Vec<_> = stream.warnings.iter().map(|warning| (warning.line, warning.kind.clone())).collect();
    assert_eq!(
        found,
        [
            (1, StreamWarningKind::RespelledKey("true".to_owned())),
            (4, StreamWarningKind::RespelledKey("420".to_owned())),
            (7, StreamWarningKind::DuplicateKey("a".to_owned())),
            (9, StreamWarningKind::TextAfterEnd),
        ]
    );
}

#[test]
fn a_stream_over_the_size_limit_is_refused_whole() {
    let limits = YamlLimits { size_bytes: 8, ..YamlLimits::default() };
    let error = read_stream(b"a: 1\n---\nb: 1\n", &limits).unwrap_err();
    assert_eq!(error.documents[0].error.kind, YamlErrorKind::TooLarge { size_bytes: 14, limit_bytes: 8 });
}

#[test]
fn binary_input_is_refused_at_its_first_invalid_byte() {
    let error = read_stream(b"\x7fELF\x02\x01\x01\0\0\0", &YamlLimits::default()).unwrap_err();
    assert_eq!(error.documents[0].error.kind, YamlErrorKind::ForbiddenCharacter { code: 0x7F, offset: 0 });
    let error = read_stream(b"\x1f\x8b\x08\0", &YamlLimits::default()).unwrap_err();
    assert_eq!(error.documents[0].error.kind, YamlErrorKind::InvalidUtf8 { offset: 1 });
}

#[test]
fn objects_are_printed_with_separators_between_them() {
    let objects: Vec<Object> = [json!({"b": 1, "a": ["x"]}), json!({}), json!({"t": "x\n\n"})]
        .map(|value| value.try_into().unwrap())
        .into();
    assert_eq!(write_stream(&objects), "a:\n- x\nb: 1\n---\n{}\n---\nt: |+\n  x\n");
    assert_eq!(write_stream(&[]), "");
}

#[test]
fn resources_have_text_annotations_and_list_fields_without_value() {
    let text = "
kind: A
metadata:
  annotations:
    f: >
      one
        two
    a: 1.50
    b: yes
    c: 2020-01-01
    d: null
    e: x
    7: 0x10
  labels: {a: 1.50}
  note: {annotations: {a: 1.50}}
spec:
  a/b:
  list:
  - x:
    y: ~
  flow: {x: , y: }
  folded: >
    one
      two
";
    let list = text.trim_start().replace('\n', "\n  ");
    let text = format!("{text}---\nkind: List\nitems:\n- {list}\n");
    let stream = read_resources(text.as_bytes()).unwrap();
    let annotations = json!({
        "f": "one\n  two\n", "a": "1.50", "b": "yes", "c": "2020-01-01", "d": null, "e": "x", "7": "0x10",
    });
    let [object, list] = stream.objects.as_slice() else { panic!("two objects") };
    assert_eq!(object.get(&["metadata", "annotations"]), Some(&annotations));
    assert_eq!(list.as_map()["items"][0]["metadata"]["annotations"], annotations);
    assert_eq!(object.get(&["metadata", "labels"]), Some(&json!({"a": 1.5})));
    assert_eq!(object.get(&["metadata", "note", "annotations"]), Some(&json!({"a": 1.5})));
    assert_eq!(object.get(&["spec", "folded"]), Some(&json!("one\n\n  two\n")));
    let empty = ["/spec/a~1b", "/spec/list/0/x", "/spec/flow/x", "/spec/flow/y"];
    assert_eq!(stream.empty_fields[0], empty);
    assert_eq!(stream.empty_fields[1], empty.map(|field| format!("/items/0{field}")));
}

#[test]
fn resources_keep_their_missing_last_line_break() {
    let text = b"kind: A\nx: |\n  one\n  two";
    assert_eq!(read_resources(text).unwrap().objects[0].as_map()["x"], "one\ntwo");
    assert_eq!(read_stream(text, &YamlLimits::default()).unwrap().objects[0].as_map()["x"], "one\ntwo\n");
}

// Row: D-261
#[test]
fn documents_share_one_alias_limit() {
    let limits = YamlLimits { size_bytes: 50_000, ..YamlLimits::default() };
    let document = format!("a: &a {}\nb: [{}]\n", "x".repeat(1_000), "*a, ".repeat(10));
    assert!(read_stream(document.as_bytes(), &limits).is_ok());
    let error = read_stream(vec![document; 9].join("---\n").as_bytes(), &limits).unwrap_err();
    assert!(matches!(error.documents[0].error.kind, YamlErrorKind::AliasesTooLarge { .. }));
}
