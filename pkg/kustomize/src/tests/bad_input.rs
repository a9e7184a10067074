//! Invalid input is rejected with the files that led to it, all errors at once, and never panics.

use super::error_text;
use crate::{Build, BuildOptions, FetchResults, MemoryTree, TreePath};

const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

// Row: D-240
#[test]
fn a_kustomization_that_is_none_is_told_by_what_it_is() {
    let deep = format!("resources: {}{}", "[".repeat(10_000), "]".repeat(10_000));
    let cases = [
        ("- a\n", "the file must be a mapping, this is a list"),
        ("", "it is empty"),
        ("# nothing\n", "it is empty"),
        ("a\0b: c\n", "character U+0000 at byte 1 is not allowed"),
        ("resources: {a: b}\n", "`resources` must be a list, this is a mapping"),
        ("resources: [5, [a]]\n", "`resources[0]` must be a string, this is a number"),
        ("resources: [5, [a]]\n", "`resources[1]` must be a string, this is a list"),
        ("resource: []\n", "there is no field `resource`; is `resources` meant?"),
        (
            "replicas: [{name: a, count: 99999999999999999999}]\n",
            "`replicas[0].count` must be a whole number",
        ),
        (deep.as_str(), "nested deeper than the limit of 1000"),
        ("resources:\n\t- a\n", "found a tab"),
        ("patches: [{target: {kind: '*'}, patch: '[]'}]\n", "`kind: *` is no regular expression"),
        ("images: [{name: '('}]\n", "images[0].name: `(` is read as a regular expression, and is none"),
        ("sortOptions: {order: up}\n", "`up` is no order: write `fifo` or `legacy`"),
        ("resources: ['']\n", "resources[0]: `/` contains `/`, which led here"),
        ("resources: [kustomization.yaml]\n", "/kustomization.yaml: resources[0]: object 1 has no kind"),
        ("resources: [a\n", "/kustomization.yaml: cannot be read: line 1, "),
        (
            "patches: [{patch: 'a: ['}]\n",
            "/kustomization.yaml: patches[0].patch: cannot be read: document 1, ",
        ),
        ("configMapGenerator: [{name: a}, {name: a}]\n", "configMapGenerator[1]: `ConfigMap.v1.[noGrp]/a"),
        ("configMapGenerator: [{literals: [a=b]}]\n", "`name` is missing"),
        ("patches: [{patch: ''}]\n", "patches[0]: there is no patch"),
        ("crds: [gone.json]\nconfigurations: [gone.yaml]\n", "configurations[0]: `gone.yaml` is not there"),
        ("crds: [gone.json]\nconfigurations: [gone.yaml]\n", "crds[0]: `gone.json` is not there"),
    ];
    for (text, expected) in cases {
        let told = error_text(&[("/kustomization.yaml", text)]);
        assert!(told.starts_with("/kustomization.yaml: ") && told.contains(expected), "{told}");
    }
}

// Row: D-240
#[test]
fn an_object_that_is_none_is_told_by_its_place_in_the_file() {
    let deep = format!("{OBJECT}spec: {}{}", "[".repeat(10_000), "]".repeat(10_000));
    let aliases: Vec<String> =
        (1..10).map(|at| format!("a{at}: &a{at} [{}]", alias_ten_times(at - 1))).collect();
    let bomb = format!("{OBJECT}a0: &a0 [x, x]\n{}", aliases.join("\n"));
    let list = "apiVersion: v1\nkind: List\nitems: [null, 5, {apiVersion: v1, kind: A, metadata: {}}, [a]]\n";
    let cases = [
        ("hello\n", "document 1, line 1, column 1: expected a mapping, found a string"),
        ("[1]\n", "expected a mapping, found a list"),
        ("a: 1\n---\nkind: A\n", "object 1 of `/a.yaml` has no kind"),
        ("a: 1\n---\nkind: A\n", "object 2 of `/a.yaml` has no metadata.name"),
        ("kind: A\nmetadata: a\n", "object 1 of `/a.yaml` has no metadata.name"),
        ("kind: A\nmetadata: {name: 5}\n", "object 1 of `/a.yaml` has no metadata.name that is a string"),
        (list, "item 2 of a list in `/a.yaml` is a number; an object is a mapping"),
        (list, "item 4 of a list in `/a.yaml` is a list; an object is a mapping"),
        (list, "object 1 of `/a.yaml` has no metadata.name"),
        (deep.as_str(), "nested deeper than the limit of 1000"),
        (bomb.as_str(), "the document expands its aliases excessively"),
        ("kind: A\nmetadata: {name: \"a\0\"}\n", "character U+0000"),
    ];
    for (text, expected) in cases {
        let told = error_text(&[("/kustomization.yaml", "resources: [a.yaml]"), ("/a.yaml", text)]);
        assert!(told.starts_with("/kustomization.yaml: resources[0]: ") && told.contains(expected), "{told}");
    }
}

fn alias_ten_times(at: usize) -> String {
    vec![format!("*a{at}"); 10].join(", ")
}

#[test]
fn bytes_that_are_no_text_are_told() {
    let files: [(&str, &[u8]); 2] =
        [("/kustomization.yaml", b"resources: [a.yaml]"), ("/a.yaml", b"a: \xff\n")];
    for (at, expected) in [(0, "invalid utf-8"), (1, "invalid UTF-8 at byte 3")] {
        let mut tree: MemoryTree = files.into_iter().collect();
        tree.insert(TreePath::new(files[at].0), *b"a: \xff\n");
        let build =
            Build { tree: &tree, fetch_results: &FetchResults::new(), options: BuildOptions::default() };
        let told = build.run(&TreePath::new("/")).unwrap_err().to_string();
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn a_patch_leaves_an_object_or_nothing() {
    let built = |patch: &str| {
        let kustomization =
            format!("resources: [a.yaml]\npatches: [{{target: {{kind: ConfigMap}}, patch: '{patch}'}}]\n");
        let files = [("/kustomization.yaml", kustomization.as_str()), ("/a.yaml", OBJECT)];
        super::build(&files).map(|objects| objects.len())
    };
    for (path, left) in [
        ("/kind", "no `kind`"),
        ("/metadata", "no `metadata.name`"),
        ("/metadata/name", "no `metadata.name`"),
    ] {
        let told = built(&format!("[{{op: remove, path: {path}}}]")).unwrap_err();
        assert!(told.ends_with(&format!("what is left has {left}")), "{told}");
    }
    assert_eq!(built("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, $patch: delete}"), Ok(0));
}

#[test]
fn a_build_that_leaves_nothing_prints_nothing() {
    let kustomization = "resources: [a.yaml]\npatches:\n- patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, $patch: delete}'\n";
    let tree: MemoryTree = [("/kustomization.yaml", kustomization), ("/a.yaml", OBJECT)]
        .map(|(path, text)| (path, text.as_bytes()))
        .into_iter()
        .collect();
    let build = Build { tree: &tree, fetch_results: &FetchResults::new(), options: BuildOptions::default() };
    let output = build.run(&TreePath::new("/")).unwrap();
    assert_eq!(output.text(), "");
}

// Row: D-239
#[test]
fn a_component_that_does_nothing_is_none_the_worse() {
    let files = [("/kustomization.yaml", "resources: [a.yaml]\ncomponents: [c]"), ("/a.yaml", OBJECT)];
    let with_component = [&files[..], &[("/c/kustomization.yaml", "kind: Component")]].concat();
    assert_eq!(super::build(&with_component).map(|objects| objects.len()), Ok(1));
    let bare = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
    assert_eq!(super::build(&[("/kustomization.yaml", bare)]).map(|objects| objects.len()), Ok(0));
}
