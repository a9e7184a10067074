use serde_json::json;
use snapbox::{IntoData as _, assert_data_eq, str};

use super::*;

fn catalog(values: &[Value]) -> String {
    write_documents(values, YamlStyle::CATALOG)
}

#[test]
fn objects_have_sorted_keys_and_indented_lists() {
    let value = json!({
        "metadata": {"name": "a", "labels": {}, "finalizers": []},
        "b": [1, [2, [3]], {"x": null, "y": [true]}],
        "kind": "ConfigMap",
    });
    assert_data_eq!(
        catalog(&[value]),
        str![[r#"
b:
  - 1
  - - 2
    - - 3
  - x: null
    y:
      - true
kind: ConfigMap
metadata:
  finalizers: []
  labels: {}
  name: a

"#]]
        .raw()
    );
}

#[test]
fn ambiguous_texts_are_quoted() {
    let texts = [
        "yes",
        "0123",
        "true",
        "null",
        "~",
        "12:30",
        "1_000",
        "0x1f",
        "1.0",
        "=",
        "<<",
        "",
        " a",
        "a ",
        "a: b",
        "a #b",
        "#a",
        "- a",
        "-",
        "*a",
        "it's",
        "2001-01-01",
        "---a",
    ];
    assert_data_eq!(
        catalog(&[json!(texts)]),
        str![[r#"
- 'yes'
- '0123'
- 'true'
- 'null'
- '~'
- '12:30'
- '1_000'
- '0x1f'
- '1.0'
- '='
- '<<'
- ''
- ' a'
- 'a '
- 'a: b'
- 'a #b'
- '#a'
- '- a'
- '-'
- '*a'
- it's
- '2001-01-01'
- '---a'

"#]]
        .raw()
    );
}

#[test]
fn other_texts_stay_plain() {
    let texts =
        ["1e3", "0o17", "y", "n", "a:b", "a#b", "::1", "-a", "?a", "a, b", "it's", "x\"y", "08", "a{b}"];
    assert_data_eq!(
        catalog(&[json!(texts)]),
        str![[r#"
- 1e3
- 0o17
- y
- n
- a:b
- a#b
- ::1
- -a
- ?a
- a, b
- it's
- x"y
- 08
- a{b}

"#]]
        .raw()
    );
}

#[test]
fn texts_with_special_characters_are_escaped() {
    let texts = ["é", "a\tb", "\u{1F600}", "\u{2028}", "\r\n", "\u{0}\u{1b}", "quote \" é \\"];
    assert_data_eq!(
        catalog(&[json!(texts)]),
        str![[r#"
- "\xE9"
- "a\tb"
- "\U0001F600"
- "\L"
- "\r\n"
- "\0\e"
- "quote \" \xE9 \\"

"#]]
        .raw()
    );
}

#[test]
fn several_lines_become_a_literal_block_if_possible() {
    let value = json!({
        "clip": "a\nb\n", "strip": "a\n\nb", "keep": "a\n\n", "indented": "  a\nb\n", "blank": "\na",
        "space": "a \nb", "end": "a\nb ", "break": "\n", "é": "é\nb",
    });
    assert_data_eq!(
        catalog(&[value]),
        str![[r#"
blank: |2-

  a
break: |2+

clip: |
  a
  b
end: "a\nb "
indented: |2
    a
  b
keep: |+
  a

space: "a \nb"
strip: |-
  a

  b
"\xE9": "\xE9\nb"

"#]]
        .raw()
    );
}

#[test]
fn long_texts_are_folded_at_column_80() {
    let words = (1..20).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
    let value = json!({"plain": words, "quoted": format!("{words}: 'x'"), "escaped": format!("é {words}"), "nested": [{"list": [words]}]});
    assert_data_eq!(
        catalog(&[value]),
        str![[r#"
escaped: "\xE9 word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11\
  \ word12 word13 word14 word15 word16 word17 word18 word19"
nested:
  - list:
      - word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11 word12
        word13 word14 word15 word16 word17 word18 word19
plain: word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11 word12
  word13 word14 word15 word16 word17 word18 word19
quoted: 'word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11 word12
  word13 word14 word15 word16 word17 word18 word19: ''x'''

"#]]
        .raw()
    );
}

#[test]
fn long_and_empty_keys_stand_behind_a_question_mark() {
    let value = json!({"": 1, "a\nb": {"x": 1}, "k".repeat(122): 2, "k".repeat(123): [1]});
    assert_data_eq!(
        catalog(&[value]),
        str![[r#"
? ''
: 1
? |-
  a
  b
: x: 1
kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: 2
? kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk
: - 1

"#]].raw()
    );
}

#[test]
fn documents_are_separated_and_open_ends_are_marked() {
    assert_data_eq!(
        catalog(&[json!({"a": 1}), json!(null), json!([1]), json!({})]),
        str![[r#"
a: 1
--- null
---
- 1
--- {}

"#]]
        .raw()
    );
    assert_data_eq!(
        catalog(&[json!(null)]),
        str![[r#"
null
...

"#]]
        .raw()
    );
    assert_data_eq!(
        catalog(&[json!({"a": "x\n\n"})]),
        str![[r#"
a: |+
  x

...

"#]]
        .raw()
    );
    assert_eq!(catalog(&[]), "");
}

#[test]
fn embedded_texts_have_lists_at_the_key_and_quotes() {
    let value = json!({"a": [{"b": ["c"]}, [1, 2]], "t": "x\ny\n", "f": 1e20});
    assert_data_eq!(
        write_document(&value, YamlStyle::EMBEDDED),
        str![[r#"
a:
- b:
  - c
- - 1
  - 2
f: 1.0e+20
t: 'x

  y

  '

"#]]
        .raw()
    );
}
