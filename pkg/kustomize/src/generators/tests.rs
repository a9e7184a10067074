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
fn bytes_that_are_no_text_are_binary_data() {
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
fn own_options_win_over_those_of_all_apart_from_switches() {
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
fn a_merge_adds_to_the_object_and_a_replacement_takes_its_place_both_under_its_name() {
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
fn what_is_there_needs_a_behavior_and_what_is_not_may_have_none() {
    let cases = [
        (
            "{name: base-a}",
            "`ConfigMap.v1.[noGrp]/base-a.[noNs]` is there already, from configMapGenerator[0] in \
             `/base/kustomization.yaml`: set `behavior` to `merge` or `replace`",
        ),
        (
            "{name: b, behavior: merge}",
            "`ConfigMap.v1.[noGrp]/b.[noNs]` is not there: nothing to merge; without `behavior` it is created",
        ),
        (
            "{name: a, namespace: other, behavior: replace}",
            "`ConfigMap.v1.[noGrp]/a.other` is not there: nothing to replace; without `behavior` it is created",
        ),
        ("{literals: [a=b]}", "`name` is missing: the object needs one"),
    ];
    for (generator, expected) in cases {
        let told = onto_base(generator).unwrap_err();
        assert_eq!(told, format!("/top/kustomization.yaml: configMapGenerator[0]: {expected}"));
    }
}

#[test]
fn every_fault_of_the_sources_is_told_and_no_value() {
    let generator = "secretGenerator: [{name: a, options: {disableNameSuffixHash: true}, literals: [secret, =secret, k=secret, k=secret], files: [x=, a=b=c, gone]}]";
    let told = build(&[("/top/kustomization.yaml", generator)]).unwrap_err();
    let place = "/top/kustomization.yaml: secretGenerator[0]";
    let expected = [
        format!("{place}.literals[0]: this is no `key=value`"),
        format!("{place}.literals[1]: this is no `key=value`"),
        format!("{place}.files[0]: `x=` is neither a path nor `key=path`"),
        format!("{place}.files[1]: `a=b=c` is neither a path nor `key=path`"),
        format!("{place}.files[2]: `gone` is not there: neither a file nor a folder at `/top/gone`"),
        format!("{place}: the key `k` is there twice: from literals[2] and from literals[3]"),
    ];
    assert_eq!(told, expected.join("; "));
    assert!(!told.contains("secret,") && !told.contains("=secret"), "{told}");
}

// Row: D-236
#[test]
fn what_the_peer_lets_pass_is_warned_of() {
    let text = format!("{NO_HASH}configMapGenerator: [{{name: a, behavior: Merge, literals: [a/b=1]}}]");
    let (text, warnings) = build(&[("/top/kustomization.yaml", &text)]).unwrap();
    assert!(text.contains("a/b: \"1\""), "{text}");
    let told: Vec<&str> = warnings.iter().map(|text| text.split(": ").nth(2).unwrap()).collect();
    assert_eq!(told, ["the key `a/b` will be refused", "`Merge` is no behavior and counts as `create`"]);
}
