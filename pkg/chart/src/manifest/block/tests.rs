use super::super::Head;
use super::read;

/// Checks that this reader agrees with the full one if it reads a document at all.
fn agrees(document: &str) -> bool {
    let Some(head) = read(document) else { return false };
    let json = crate::value_tree::read_json_text(document);
    let json = json.unwrap_or_else(|error| panic!("{error}: {document:?}"));
    let full = Head::of_json(&json).unwrap_or_else(|error| panic!("{error}: {document:?}"));
    let facts = |head: &Head| (head.api_version.clone(), head.kind.clone(), head.name.clone());
    assert_eq!(facts(&head), facts(&full), "{document:?}");
    let hooks: Vec<_> = full.annotations.iter().filter(|(key, _)| key.starts_with("helm.sh/")).collect();
    assert_eq!(head.annotations.iter().collect::<Vec<_>>(), hooks, "{document:?}");
    true
}

const DOCUMENT: &str = "# a comment
apiVersion: apps/v1
kind: \"Deployment\"
metadata:
  name: web
  annotations:
    helm.sh/hook: pre-install
    note: 'a b'
spec:
  replicas: -1
  list:
  - name: a
    on: 1.5
  -   - b
      - c: {}
  text: |-
    a: b
     # c

    d
  long: some words
    more words

    and more
  next: []
  'quoted': \"a \\\"b\\\"

    # c\\n d\"
  again: 'it''s
    e'
  flow: [a, \"b\"]
  below:
    {}
  path: .a[?(@.b==\"c\")]
  other:
  - |
    g
  - --h
  last: \u{e9} # f
";

#[test]
fn simple_documents_are_read_like_others() {
    assert!(agrees(DOCUMENT));
    for document in [
        "",
        "# a comment",
        "a: b",
        "a: b # c\nd: e",
        "\"a\": b\n'c/d': e",
        "kind: A\nmetadata:\nspec:\n  a: 1",
        "metadata:\n  name: 'x'\n  labels:\n    a: b",
        "metadata:\n  annotations:\n    {}\n  name: x # y",
        "metadata:\n  annotations:\n    \"helm.sh/hook\": test\n    'a': b",
        "a: .spec.b\nb: ^(c|d)$\nc: :80\nd: ../e\ne: --f=g\nf: -e\ng: _h\ni: <j>\nk: \\d+",
        "a: 'b''c\n\n  # d'\ne: \"f \\\"\n    g: h\\n\"",
        "a: [b, \"c d\", '']\ne: [ 1 ]\nf:\n  []\ng:\n  h\n  i",
        "a:\n- |\n  b: c\n- >-\n  d\n-   e: |\n      f\n    g: h",
        "a: \u{201c}b\u{201d} \u{1f600}\nc: \u{e9}",
        "a:\n  b: c\n   \"d\", [e],\n    {f} *g",
    ] {
        assert!(agrees(document), "{document:?}");
    }
}

#[test]
fn other_documents_are_left_to_the_full_reader() {
    for document in [
        "- a: b",
        "kind: 5",
        "kind: yes",
        "Kind: A",
        "kind: A\nkind: B",
        "metadata: x",
        "metadata:\n- a",
        "a: 1e999",
        "a: .inf",
        "a: &x b",
        "a: !!int b",
        "a: \"b\\x\"",
        "a: b: c",
        "a: b # c\n  d",
        "a: 'b",
        "a: 'b\nc'",
        "a: 'b' c",
        "a: \"b\" # c",
        "a: <<",
        "a: -.INF",
        "metadata:\n  annotations:\n    a: []",
        "a: [b, *c]",
        "a: [b c]",
        "a:\n  |\n  b",
        "a: b\n  # c\n  d",
        "a: b\n  - c",
        "a: \u{85}b",
        "a: b\u{2028}",
        "a:\tb",
        "a: b\n c: d",
        "a: |\n  b\n c",
        "null: a",
        "a: [b",
        "a: \u{feff}",
    ] {
        assert!(!agrees(document), "{document:?}");
    }
}

/// Every change of one place gives a document that both read alike, or that only the full reader reads.
#[test]
fn no_small_change_makes_the_readers_disagree() {
    let insertions = [
        "", " ", "  ", "\n", "\n\n", "-", "- ", ":", ": ", "#", " #", "'", "\"", "|", "|\n", ">-\n", "[",
        "{}", "e9", "a", "1", "\n ",
    ];
    let mut read = 0;
    for at in (0..DOCUMENT.len()).filter(|at| DOCUMENT.is_char_boundary(*at)) {
        for insertion in insertions {
            for rest in (at..=at + 2).filter_map(|end| DOCUMENT.get(end..)) {
                let changed = format!("{}{insertion}{rest}", &DOCUMENT[..at]);
                read += usize::from(agrees(changed.trim()));
            }
        }
    }
    assert!(read > 5_000, "{read} documents are simple");
}
