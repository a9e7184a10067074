use snapbox::{assert_data_eq, str};

use super::*;
use crate::tests::build_top as build;
use crate::{Build, BuildOptions, FetchResults, MemoryTree, TreePath};

const NO_HASH: &str = "generatorOptions: {disableNameSuffixHash: true}\n";

fn made(fields: &str) -> String {
    let files = [
        ("/top/kustomization.yaml", &*format!("{NO_HASH}{fields}")),
        ("/top/a.env", "\u{feff}A=1\n# no\n\n  B=x y \nC\r\nD=a=b\n"),
        ("/top/dir/f.txt", "one\ntwo\n"),
    ];
    build(&files).unwrap().0
}

// Row: KUS-31, KUS-35
#[test]
fn keys_come_from_environment_files_literals_and_files() {
    let text = made(
        "configMapGenerator: [{name: a, envs: [a.env], literals: [\"q='1'\", 'r=\"a\"b', s=], \
                     files: [dir/f.txt, k=dir/f.txt]}]",
    );
    let expected = "apiVersion: v1\ndata:\n  A: \"1\"\n  B: 'x y '\n  C: \"\"\n  D: a=b\n  f.txt: |\n    one\n    \
                    two\n  k: |\n    one\n    two\n  q: \"1\"\n  r: '\"a\"b'\n  s: \"\"\nkind: ConfigMap\nmetadata:\n  \
                    name: a\n";
    assert_eq!(text, expected);
}

// Row: KUS-33
#[test]
fn a_secret_is_base64_in_lines_of_70_characters() {
    let long = "x".repeat(53);
    let text =
        made(&format!("secretGenerator: [{{name: a, literals: [s=hi, l={long}]}}, {{name: b, type: t}}]"));
    let wrapped =
        "  l: |\n    eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eH\n    g=\n";
    let first = format!(
        "apiVersion: v1\ndata:\n{wrapped}  s: aGk=\nkind: Secret\nmetadata:\n  name: a\ntype: Opaque\n"
    );
    let second = "---\napiVersion: v1\ndata: {}\nkind: Secret\nmetadata:\n  name: b\ntype: t\n";
    assert_eq!(text, first + second);
    assert_eq!(wrapped_base64(&[0; 51]).len(), 68);
    assert_eq!(wrapped_base64(&[0; 105]), format!("{}\n{}\n", "A".repeat(70), "A".repeat(70)));
}

#[test]
fn bytes_that_are_not_utf8_become_binary_data() {
    let files = [
        (
            "/top/kustomization.yaml",
            format!("{NO_HASH}configMapGenerator: [{{name: a, files: [b]}}]").into_bytes(),
        ),
        ("/top/b", vec![0xff, 0xfe]),
    ];
    let tree: MemoryTree = files.into_iter().collect();
    let answers = FetchResults::new();
    let build = Build { tree: &tree, fetch_results: &answers, options: BuildOptions::default() };
    let output = build.run(&TreePath::new("/top")).unwrap();
    let expected = "apiVersion: v1\nbinaryData:\n  b: //4=\nkind: ConfigMap\nmetadata:\n  name: a\n";
    assert_eq!(output.text(), expected);
}

#[test]
fn own_options_win_over_general_ones_except_switches() {
    let text = made(
        "configMapGenerator: [{name: a, options: {labels: {a: own}, annotations: {c: d}, immutable: true}}]",
    );
    assert!(text.contains("annotations:\n    c: d\n  labels:\n    a: own\n"), "{text}");
    let own = GeneratorOptions { labels: [("a".into(), "own".into())].into(), ..GeneratorOptions::default() };
    let labels = [("a".into(), "all".into()), ("b".into(), "all".into())].into();
    let all = GeneratorOptions { labels, immutable: true, ..GeneratorOptions::default() };
    let options = merge_options(&own, &all);
    let pairs: Vec<_> = options.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!((pairs.join(","), options.immutable), ("a=own,b=all".to_owned(), true));
    assert!(!options.disable_name_suffix_hash);
}

const BASE: (&str, &str) = (
    "/base/kustomization.yaml",
    "generatorOptions: {disableNameSuffixHash: true}\nnamePrefix: base-\nconfigMapGenerator: [{name: a, literals: [x=1, \
     w=1], options: {labels: {l: base, m: base}}}]",
);

fn onto_base(generator: &str) -> Result<String, String> {
    let text = format!("resources: [../base]\n{NO_HASH}configMapGenerator: [{generator}]");
    build(&[("/top/kustomization.yaml", &text), BASE]).map(|(text, _)| text)
}

// Row: KUS-36
#[test]
fn merge_and_replace_keep_the_name_of_the_object() {
    let merged =
        onto_base("{name: a, behavior: merge, literals: [w=2, z=2], options: {labels: {m: top}}}").unwrap();
    let expected = "apiVersion: v1\ndata:\n  w: \"2\"\n  x: \"1\"\n  z: \"2\"\nkind: ConfigMap\nmetadata:\n  labels:\n    \
                    l: base\n    m: top\n  name: base-a\n";
    assert_eq!(merged, expected);
    let replaced = onto_base("{name: base-a, behavior: replace, literals: [z=2]}").unwrap();
    let expected = "apiVersion: v1\ndata:\n  z: \"2\"\nkind: ConfigMap\nmetadata:\n  labels:\n    l: base\n    \
                    m: base\n  name: base-a\n";
    assert_eq!(replaced, expected);
}

#[test]
fn generators_need_a_behavior_only_for_existing_objects() {
    let cases = [
        "{name: base-a}",
        "{name: b, behavior: merge}",
        "{name: a, namespace: other, behavior: replace}",
        "{literals: [a=b]}",
    ];
    let reported = cases.map(|generator| onto_base(generator).unwrap_err());
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
/top/kustomization.yaml: configMapGenerator[0]: `ConfigMap.v1.[noGrp]/base-a.[noNs]` already exists, from configMapGenerator[0] in `/base/kustomization.yaml`: set `behavior` to `merge` or `replace`
/top/kustomization.yaml: configMapGenerator[0]: cannot merge `ConfigMap.v1.[noGrp]/b.[noNs]`: the object does not exist; remove `behavior` to create it
/top/kustomization.yaml: configMapGenerator[0]: cannot replace `ConfigMap.v1.[noGrp]/a.other`: the object does not exist; remove `behavior` to create it
/top/kustomization.yaml: configMapGenerator[0]: `name` is missing
"#]]
    );
}

#[test]
fn all_faults_of_sources_are_reported_without_values() {
    let generator = "secretGenerator: [{name: a, options: {disableNameSuffixHash: true}, literals: [secret, =secret, k=secret, k=secret], files: [x=, a=b=c, gone]}]";
    let reported = build(&[("/top/kustomization.yaml", generator)]).unwrap_err();
    assert_data_eq!(
        reported.replace("; /top", "\n/top"),
        str![[r#"
/top/kustomization.yaml: secretGenerator[0].literals[0]: expected `key=value`
/top/kustomization.yaml: secretGenerator[0].literals[1]: expected `key=value`
/top/kustomization.yaml: secretGenerator[0].files[0]: `x=` must have the form `path` or `key=path`
/top/kustomization.yaml: secretGenerator[0].files[1]: `a=b=c` must have the form `path` or `key=path`
/top/kustomization.yaml: secretGenerator[0].files[2]: cannot find `gone`: no file or folder at `/top/gone`
/top/kustomization.yaml: secretGenerator[0]: duplicate key `k`: from literals[2] and from literals[3]
"#]]
    );
    assert!(!reported.contains("secret,") && !reported.contains("=secret"), "{reported}");
}

// Row: D-236
#[test]
fn input_that_kustomize_accepts_gives_warnings() {
    let text = format!("{NO_HASH}configMapGenerator: [{{name: a, behavior: Merge, literals: [a/b=1]}}]");
    let (text, warnings) = build(&[("/top/kustomization.yaml", &text)]).unwrap();
    assert!(text.contains("a/b: \"1\""), "{text}");
    assert_data_eq!(
        warnings.join("\n"),
        str![[r#"
/top/kustomization.yaml: configMapGenerator[0].literals[0]: Kubernetes rejects the key `a/b`: use at most 253 letters, digits, `-`, `_` and `.`
/top/kustomization.yaml: configMapGenerator[0]: unknown behavior `Merge` is treated as `create`: use `create`, `merge` or `replace`
"#]]
    );
}
