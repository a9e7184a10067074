use std::sync::Arc;

use serde_json::json;

use super::FieldOrigin;
use crate::{Object, Value, YamlLimits, read_stream, write_stream, write_traced_stream};

fn setter(file: &str) -> Arc<FieldOrigin> {
    Arc::new(FieldOrigin { file: file.to_owned(), ..FieldOrigin::default() })
}

/// Makes an object with a sequence of contents, each set by the next letter.
fn changed(contents: &[Value]) -> Object {
    let (first, later) = contents.split_first().unwrap();
    let mut object = Object::try_from(first.clone()).unwrap();
    object.start_provenance(&setter("base"));
    for (content, letter) in later.iter().zip(["a", "b", "c"]) {
        *object.as_map_mut() = content.as_object().unwrap().clone();
        object.record_provenance(&setter(letter));
    }
    object
}

fn fields(contents: &[Value]) -> Vec<String> {
    let object = changed(contents);
    object.changed_fields().into_iter().map(|it| format!("{} {}", it.pointer, it.origin)).collect()
}

#[test]
fn a_field_is_attributed_to_the_step_that_set_it_last() {
    let contents = [
        json!({"kind": "X", "spec": {"count": 1, "size": 1, "gone": 1, "same": [1]}}),
        json!({"kind": "X", "spec": {"count": 2, "size": 2, "same": [1], "new": {"x": 1, "y": {}}}}),
        json!({"kind": "X", "spec": {"count": 2, "size": 3, "same": [1], "new": {"x": 2, "y": {}}}}),
    ];
    assert_eq!(fields(&contents), ["/spec/count a", "/spec/new/x b", "/spec/new/y a", "/spec/size b"]);
}

#[test]
fn all_setters_of_a_field_are_known_since_its_creation() {
    let object = changed(&[
        json!({"size": 1, "same": 1, "list": [{"name": "x", "n": 1}, {"name": "y", "n": 1}]}),
        json!({"size": 2, "same": 1, "list": [{"name": "y", "n": 2}], "new": {"a": 1, "b": 1}}),
        json!({"size": 3, "same": 1, "list": [{"name": "w"}, {"name": "y", "n": 3}], "new": {"a": 2, "b": 1}}),
    ]);
    let setters = |pointer: &str| {
        let path: Vec<String> = pointer.split('/').map(str::to_owned).collect();
        let provenance = object.provenance().unwrap();
        provenance.setters(&path).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(setters("same"), "base");
    assert_eq!(setters("size"), "base a b");
    assert_eq!(setters("list/1/n"), "base a b");
    assert_eq!(setters("list/0/name"), "b");
    assert_eq!((setters("new/a"), setters("new/b")), ("a b".to_owned(), "a".to_owned()));
}

#[test]
fn list_items_keep_their_origin_when_others_change() {
    let container = |name: &str, image: &str| json!({"name": name, "image": image});
    let contents = [
        json!({"list": [container("web", "1"), container("log", "1")], "args": ["x", "y"]}),
        json!({"list": [container("web", "1"), container("log", "2")], "args": ["x", "z"]}),
        json!({"list": [container("new", "1"), container("web", "3"), container("log", "2")], "args": ["w", "x", "z"]}),
    ];
    let expected =
        ["/args/0 b", "/args/2 a", "/list/0/image b", "/list/0/name b", "/list/1/image b", "/list/2/image a"];
    assert_eq!(fields(&contents), expected);
}

#[test]
fn an_emptied_field_is_attributed_to_the_step_that_emptied_it() {
    let contents = [json!({"a": {"b": 1}, "c": [1], "d": {}}), json!({"a": {}, "c": [], "d": {}})];
    assert_eq!(fields(&contents), ["/a a", "/c a"]);
}

#[test]
fn replaced_text_is_attributed_to_its_mark() {
    let read = |text: &str| {
        let value = crate::yaml::read_value(text, &YamlLimits::default()).unwrap();
        Object::try_from(value).unwrap()
    };
    let mut object = read(
        "{kind: X, count: 3, name: demo-md, list: [{name: demo}, {name: b}], cidrs: [a, b], more: {x: 1, z: 2}}",
    );
    object.start_provenance(&setter("base"));
    let marked = read(
        "{kind: X, count: '!N', name: '!C-md', list: [{name: '!C'}, {name: b}], cidrs: ['!L'], more: '!M'}",
    );
    object.record_marked_provenance(&marked, &|text| text.strip_prefix('!').map(setter));
    let found: Vec<String> =
        object.changed_fields().iter().map(|it| format!("{} {}", it.pointer, it.origin)).collect();
    let expected =
        ["/cidrs/0 L", "/cidrs/1 L", "/count N", "/list/0/name C", "/more/x M", "/more/z M", "/name C-md"];
    assert_eq!(found, expected);
}

#[test]
fn pointers_follow_rfc_6901() {
    let contents = [json!({}), json!({"a/b~c": 1})];
    assert_eq!(fields(&contents), ["/a~1b~0c a"]);
}

#[test]
fn comments_show_the_origin_above_and_changes_beside_values() {
    let long = "word ".repeat(30);
    let object = changed(&[
        json!({"kind": "X", "old": true, "list": [{"name": "a"}]}),
        json!({
            "kind": "X", "old": true, "list": [{"name": "a", "empty": {}}, "text"],
            "lines": "one\ntwo\n", "long": long.trim(), "number": 1, "quoted": "1"
        }),
    ]);
    let text = write_traced_stream(std::slice::from_ref(&object));
    let expected = "\
# base
kind: X
lines: | # a
  one
  two
list:
- empty: {} # a
  name: a
- text # a
long: word word word word word word word word word word word word word word word word
  word word word word word word word word word word word word word word # a
number: 1 # a
old: true
quoted: \"1\" # a";
    assert_eq!(text, expected);
    let read = read_stream(text.as_bytes(), &YamlLimits::default()).unwrap();
    assert_eq!(read.objects, [object]);
}

#[test]
fn a_custom_origin_text_takes_one_line() {
    let mut object = changed(&[json!({"a": 1, "b": 1}), json!({"a": 2, "b": 2})]);
    object.map_origins(|setter| FieldOrigin { field: "line\nbreak".to_owned(), ..setter.clone() });
    let text = write_traced_stream(std::slice::from_ref(&object));
    assert_eq!(text, "# base: line break\na: 2 # a: line break\nb: 2 # a: line break");
}

#[test]
fn an_origin_in_the_same_file_is_shown_by_its_line() {
    let mut object = Object::try_from(json!({"a": 1})).unwrap();
    object.start_provenance(&setter("base"));
    object.as_map_mut().insert("a".to_owned(), json!(2));
    object
        .record_provenance(&Arc::new(FieldOrigin { field: "${A}".to_owned(), ..(*setter("base")).clone() }));
    assert_eq!(write_traced_stream(std::slice::from_ref(&object)), "# base\na: 2 # ${A}");
    assert_eq!(object.changed_fields()[0].origin.to_string(), "base: ${A}");
}

#[test]
fn an_untraced_object_is_printed_without_comments() {
    let object = Object::try_from(json!({"a": 1, "b": ["x\ny\n"]})).unwrap();
    let objects = [object];
    assert_eq!(write_traced_stream(&objects), write_stream(&objects));
}
