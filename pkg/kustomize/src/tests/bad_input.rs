//! Invalid input is rejected with the files that led to it, all errors at once, and never panics.

use snapbox::{assert_data_eq, str};

use super::error_text;
use crate::{Build, BuildOptions, FetchResults, MemoryTree, TreePath};

const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

// Row: D-240
#[test]
fn invalid_kustomizations_are_refused_with_a_reason() {
    let deep = format!("resources: {}{}", "[".repeat(10_000), "]".repeat(10_000));
    let cases = [
        "- a\n",
        "",
        "# nothing\n",
        "a\0b: c\n",
        "resources: {a: b}\n",
        "resources: [5, [a]]\n",
        "resource: []\n",
        "replicas: [{name: a, count: 99999999999999999999}]\n",
        deep.as_str(),
        "resources:\n\t- a\n",
        "patches: [{target: {kind: '*'}, patch: '[]'}]\n",
        "images: [{name: '('}]\n",
        "sortOptions: {order: up}\n",
        "resources: ['']\n",
        "resources: [kustomization.yaml]\n",
        "resources: [a\n",
        "patches: [{patch: 'a: ['}]\n",
        "configMapGenerator: [{name: a}, {name: a}]\n",
        "configMapGenerator: [{literals: [a=b]}]\n",
        "patches: [{patch: ''}]\n",
        "crds: [gone.json]\nconfigurations: [gone.yaml]\n",
    ];
    let reported = cases.map(|text| error_text(&[("/kustomization.yaml", text)]));
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
/kustomization.yaml: the file must be a mapping, not a list
/kustomization.yaml: the file is empty
/kustomization.yaml: the file is empty
/kustomization.yaml: line 1, column 2: character U+0000 at byte 1 is not allowed in YAML: use an escape in double quotes
/kustomization.yaml: `resources` must be a list, not a mapping
/kustomization.yaml: `resources[0]` must be a string, not a number
/kustomization.yaml: `resources[1]` must be a string, not a list
/kustomization.yaml: unknown field `resource`; did you mean `resources`?
/kustomization.yaml: `replicas[0].count` must be a 64-bit integer, not a number
/kustomization.yaml: line 1, column 1012: nested deeper than the limit of 1000
/kustomization.yaml: line 2, column 1: found a tab where only spaces are allowed
/kustomization.yaml: patches[0]: `kind: *` is not a valid regular expression: error: repetition operator missing expression
/kustomization.yaml: images[0].name: `(` is not a valid regular expression: error: unclosed group
/kustomization.yaml: sortOptions: unknown order `up`: use `fifo` or `legacy`
/kustomization.yaml: resources[0]: cycle detected: `/` contains `/`, which includes it
/kustomization.yaml: resources[0]: object 1 has no kind
/kustomization.yaml: line 1, column 12: did not find expected `,` or `]`
/kustomization.yaml: patches[0].patch: document 1, line 1, column 4: did not find expected `,` or `]`
/kustomization.yaml: configMapGenerator[1]: `ConfigMap.v1.[noGrp]/a.[noNs]` already exists, from configMapGenerator[0]: set `behavior` to `merge` or `replace`
/kustomization.yaml: configMapGenerator[0]: `name` is missing
/kustomization.yaml: patches[0]: the patch is missing: set `patch` or `path`
/kustomization.yaml: configurations[0]: cannot find `gone.yaml`: no file or folder at `/gone.yaml`
/kustomization.yaml: crds[0]: cannot find `gone.json`: no file or folder at `/gone.json`
"#]]
    );
}

// Row: D-240
#[test]
fn invalid_objects_are_refused_with_their_position() {
    let deep = format!("{OBJECT}spec: {}{}", "[".repeat(10_000), "]".repeat(10_000));
    let aliases: Vec<String> =
        (1..10).map(|at| format!("a{at}: &a{at} [{}]", alias_ten_times(at - 1))).collect();
    let bomb = format!("{OBJECT}a0: &a0 [x, x]\n{}", aliases.join("\n"));
    let list = "apiVersion: v1\nkind: List\nitems: [null, 5, {apiVersion: v1, kind: A, metadata: {}}, [a]]\n";
    let cases = [
        "hello\n",
        "[1]\n",
        "a: 1\n---\nkind: A\n",
        "kind: A\nmetadata: a\n",
        "kind: A\nmetadata: {name: 5}\n",
        list,
        deep.as_str(),
        bomb.as_str(),
        "kind: A\nmetadata: {name: \"a\0\"}\n",
    ];
    let reported =
        cases.map(|text| error_text(&[("/kustomization.yaml", "resources: [a.yaml]"), ("/a.yaml", text)]));
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
/kustomization.yaml: resources[0]: cannot read `/a.yaml`: document 1, line 1, column 1: expected a mapping, found a string
/kustomization.yaml: resources[0]: cannot read `/a.yaml`: document 1, line 1, column 1: expected a mapping, found a list
/kustomization.yaml: resources[0]: object 1 of `/a.yaml` has no kind
/kustomization.yaml: resources[0]: object 2 of `/a.yaml` has no metadata.name
/kustomization.yaml: resources[0]: object 1 of `/a.yaml` has no metadata.name
/kustomization.yaml: resources[0]: object 1 of `/a.yaml` has no metadata.name of type string
/kustomization.yaml: resources[0]: item 2 of a list in `/a.yaml` must be a mapping, not a number
/kustomization.yaml: resources[0]: item 4 of a list in `/a.yaml` must be a mapping, not a list
/kustomization.yaml: resources[0]: object 1 of `/a.yaml` has no metadata.name
/kustomization.yaml: resources[0]: cannot read `/a.yaml`: document 1, line 4, column 1007: nested deeper than the limit of 1000
/kustomization.yaml: resources[0]: cannot read `/a.yaml`: document 1, line 4, column 10: the document expands its aliases excessively
/kustomization.yaml: resources[0]: cannot read `/a.yaml`: document 1, line 2, column 20: character U+0000 at byte 27 is not allowed in YAML: use an escape in double quotes
"#]]
    );
}

fn alias_ten_times(at: usize) -> String {
    vec![format!("*a{at}"); 10].join(", ")
}

#[test]
fn files_that_are_not_utf8_are_refused() {
    let files: [(&str, &[u8]); 2] =
        [("/kustomization.yaml", b"resources: [a.yaml]"), ("/a.yaml", b"a: \xff\n")];
    let reported = [0, 1].map(|at: usize| {
        let mut tree: MemoryTree = files.into_iter().collect();
        tree.insert(TreePath::new(files[at].0), *b"a: \xff\n");
        let build =
            Build { tree: &tree, fetch_results: &FetchResults::new(), options: BuildOptions::default() };
        build.run(&TreePath::new("/")).unwrap_err().to_string()
    });
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
/kustomization.yaml: line 1, column 4: invalid UTF-8 at byte 3: YAML must be UTF-8 text
/kustomization.yaml: resources[0]: cannot read `/a.yaml`: document 1, line 1, column 4: invalid UTF-8 at byte 3: YAML must be UTF-8 text
"#]]
    );
}

#[test]
fn a_patch_leaves_an_object_or_nothing() {
    let built = |patch: &str| {
        let kustomization =
            format!("resources: [a.yaml]\npatches: [{{target: {{kind: ConfigMap}}, patch: '{patch}'}}]\n");
        let files = [("/kustomization.yaml", kustomization.as_str()), ("/a.yaml", OBJECT)];
        super::build(&files).map(|objects| objects.len())
    };
    let reported = ["/kind", "/metadata", "/metadata/name"]
        .map(|path| built(&format!("[{{op: remove, path: {path}}}]")).unwrap_err());
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
/kustomization.yaml: patches[0]: cannot apply the patch to `ConfigMap.v1.[noGrp]/a.[noNs]`: operation 1 (replace ``): the result has no `kind`
/kustomization.yaml: patches[0]: cannot apply the patch to `ConfigMap.v1.[noGrp]/a.[noNs]`: operation 1 (replace ``): the result has no `metadata.name`
/kustomization.yaml: patches[0]: cannot apply the patch to `ConfigMap.v1.[noGrp]/a.[noNs]`: operation 1 (replace ``): the result has no `metadata.name`
"#]]
    );
    assert_eq!(built("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, $patch: delete}"), Ok(0));
}

#[test]
fn a_build_without_objects_prints_nothing() {
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
fn an_empty_component_changes_nothing() {
    let files = [("/kustomization.yaml", "resources: [a.yaml]\ncomponents: [c]"), ("/a.yaml", OBJECT)];
    let with_component = [&files[..], &[("/c/kustomization.yaml", "kind: Component")]].concat();
    assert_eq!(super::build(&with_component).map(|objects| objects.len()), Ok(1));
    let bare = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
    assert_eq!(super::build(&[("/kustomization.yaml", bare)]).map(|objects| objects.len()), Ok(0));
}
