use serde_json::json;

use super::*;
use crate::{Build, BuildOptions, FetchResults, MemoryTree, Reorder, TreePath};

/// Returns the `spec` of `x` after a replacement from `data.a` of the ConfigMap `s`, or the error.
fn replaced(data: &str, spec: &str, path: &str, options: &str) -> Result<Value, String> {
    let target = format!("{{select: {{kind: X}}, fieldPaths: ['{path}'], options: {{{options}}}}}");
    let kustomization = format!(
        "replacements:\n- source: {{kind: ConfigMap, name: s, fieldPath: data.a}}\n  targets: [{target}]\n"
    );
    build(data, spec, &kustomization, &[])
}

fn build(data: &str, spec: &str, kustomization: &str, files: &[(&str, &str)]) -> Result<Value, String> {
    let objects = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: s}}\ndata: {{a: {data}}}\n---\napiVersion: e/v1\nkind: X\nmetadata: \
         {{name: x}}\nspec: {spec}\n"
    );
    let mut tree: MemoryTree =
        files.iter().map(|(path, text)| (format!("/{path}"), text.as_bytes())).collect();
    tree.insert(TreePath::new("/r.yaml"), objects.into_bytes());
    tree.insert(
        TreePath::new("/kustomization.yaml"),
        format!("resources: [r.yaml]\n{kustomization}").into_bytes(),
    );
    let options = BuildOptions { reorder: Reorder::None, ..BuildOptions::default() };
    let build = Build { tree: &tree, fetch_results: &FetchResults::new(), options };
    let output = build
        .run(&TreePath::new("/"))
        .map_err(|report| report.to_string().replace("/kustomization.yaml: ", ""))?;
    Ok(output.objects[1].get(&["spec"]).cloned().unwrap_or_default())
}

#[test]
fn a_field_keeps_its_type_and_a_new_one_has_that_of_its_text() {
    for (data, spec, options, expected) in [
        ("'8080'", "{p: 1}", "", json!(8080)),
        ("8080", "{p: q}", "", json!("8080")),
        ("'true'", "{p: false}", "", json!(true)),
        ("'8080'", "{}", "create: true", json!(8080)),
        ("abc", "{}", "create: true", json!("abc")),
        ("[1]", "{}", "create: true", json!([1])),
        ("{b: 1}", "{p: {c: 1}}", "", json!({"b": 1})),
        ("b", "{p: {c: 1}}", "", json!("b")),
        ("v", "{p: a.b.c}", "delimiter: '.', index: 1", json!("a.v.c")),
        ("v", "{p: a.b.c}", "delimiter: '.', index: -1", json!("v.a.b.c")),
        ("v", "{p: a.b.c}", "delimiter: '.', index: 9", json!("a.b.c.v")),
        ("v", "{}", "delimiter: '.', index: 9, create: true", json!(".v")),
    ] {
        assert_eq!(
            replaced(data, spec, "spec.p", options).map(|spec| spec["p"].clone()),
            Ok(expected),
            "{data} -> {spec}"
        );
    }
}

#[test]
fn paths_lead_through_names_elements_and_indices() {
    let list = "{l: [{name: my-a, v: p}, {name: a, v: q}, {name: b, v: r}]}";
    for (spec, path, options, expected) in [
        (list, "spec.l.[name=a].v", "", json!(["v", "v", "r"])),
        (list, "spec.l.[name=^a].v", "", json!(["p", "v", "r"])),
        (list, "spec.l.*.v", "", json!(["v", "v", "v"])),
        (list, "spec.l.2.v", "", json!(["p", "q", "v"])),
        ("{l: [{name: b, v: q}]}", "spec.l.[name=a].v", "create: true", json!(["q", "v"])),
        ("{}", "spec.l.[name=a].v", "create: true", json!(["v"])),
        ("{l: [{v: q}]}", "spec.l.1.v", "create: true", json!(["q", "v"])),
    ] {
        let spec = replaced("v", spec, path, options).unwrap();
        let values: Vec<&Value> = spec["l"].as_array().unwrap().iter().map(|item| &item["v"]).collect();
        assert_eq!(json!(values), expected, "{path}");
    }
    for (spec, path, expected) in [
        ("{l: [x, xy, z]}", "spec.l.[=x]", json!({"l": ["v", "v", "z"]})),
        ("{a.b/c: x, d.e: y}", "spec.[a.b/c]", json!({"a.b/c": "v", "d.e": "y"})),
        ("{a.b/c: x, d.e: y}", "spec.d\\.e", json!({"a.b/c": "x", "d.e": "v"})),
        ("{'80': x}", "spec.80", json!({"80": "v"})),
    ] {
        assert_eq!(replaced("v", spec, path, ""), Ok(expected), "{path}");
    }
}

#[test]
fn a_path_goes_on_in_a_text_that_holds_json_or_yaml() {
    for (text, path, options, expected) in [
        (r#"'{"b": {"c": "x"}, "a": "<"}'"#, "spec.p.b.c", "", r#"{"a":"\u003c","b":{"c":"v"}}"#),
        (r#"'{"b": {"c": 1}}'"#, "spec.p.z", "create: true", r#"{"b":{"c":1},"z":"v"}"#),
        (r#""b: x\na: 2\n""#, "spec.p.b", "", "a: 2\nb: v"),
    ] {
        let spec = replaced("v", &format!("{{p: {text}}}"), path, options).unwrap();
        assert_eq!(spec["p"], expected, "{path}");
    }
}

// Row: D-235
#[test]
fn what_is_wrong_is_told_without_the_value() {
    for (spec, path, options, expected) in [
        ("{port: 1}", "spec.prot.x", "", "there is no `prot.x`; is `port` meant?"),
        ("{l: [{port: 1}]}", "spec.l.*.prot", "", "there is no `prot`; is `port` meant?"),
        ("{p: 1}", "spec.p", "", "it must be a number, this is a string"),
        ("{p: {c: 1}}", "spec.p", "delimiter: '.'", "it must be a single value, this is a mapping"),
        ("{l: {c: 1}}", "spec.l.*", "", "it must be a list, this is a mapping"),
        ("{l: [1]}", "spec.l.5", "create: true", "there is no `5`"),
    ] {
        let told = replaced("secret", spec, path, options).unwrap_err();
        let start = format!("replacements[0].targets[0]: cannot set `{path}` of `X.v1.e/x.[noNs]`: ");
        assert_eq!(told, format!("{start}{expected}"));
    }
    assert!(
        replaced("v", "{}", "spec.l.[name=(].v", "").unwrap_err().contains("`(` is no regular expression")
    );
    let of = |replacement: &str| {
        build("{b: 1}", "{}", &format!("replacements: [{replacement}]"), &[]).unwrap_err()
    };
    for (replacement, expected) in [
        ("{source: {kind: ConfigMap}}", "replacements[0]: there are no `targets`"),
        (
            "{targets: [{select: {kind: X}}]}",
            "replacements[0].source: there is no `source` and no `sourceValue`",
        ),
        (
            "{sourceValue: a, targets: [{}]}",
            "replacements[0].targets[0]: there is no `select` that says which objects are meant",
        ),
        (
            "{source: {kind: ConfigMap, name: q}, targets: [{select: {kind: X}}]}",
            "replacements[0].source: no object is or was of kind `ConfigMap`, of name `q`",
        ),
        (
            "{source: {}, targets: [{select: {kind: X}}]}",
            "replacements[0].source: 2 objects are or were any: say more of the one that is meant",
        ),
        (
            "{source: {kind: ConfigMap, fieldPath: dota.a}, targets: [{select: {kind: X}}]}",
            "replacements[0].source: cannot take `dota.a` of `ConfigMap.v1.[noGrp]/s.[noNs]`: there is no `dota.a`; is \
             `data` meant?",
        ),
        (
            "{source: {kind: ConfigMap, fieldPath: data.a.b, options: {delimiter: '.', index: 3}}, targets: [{select: {kind: X}}]}",
            "replacements[0].source: cannot take `data.a.b` of `ConfigMap.v1.[noGrp]/s.[noNs]`: there is no part 3, the text has \
             1; they are counted from 0",
        ),
        (
            "{path: a, source: {}}",
            "replacements[0]: `path` stands beside `source` or `targets`: keep one of both",
        ),
    ] {
        assert_eq!(of(replacement), expected);
    }
}

#[test]
fn files_hold_one_replacement_or_several_and_values_may_be_written_out() {
    let replacement = "{sourceValue: w, targets: [{select: {kind: X}, fieldPaths: [spec.p]}]}";
    for text in [replacement.to_owned(), format!("[{replacement}]")] {
        let built = build("v", "{p: q}", "replacements: [{path: f.yaml}]", &[("f.yaml", &text)]);
        assert_eq!(built, Ok(json!({"p": "w"})));
    }
    let told = build("v", "{}", "replacements: [{path: f.yaml}]", &[("f.yaml", "{sorce: {}}")]).unwrap_err();
    assert_eq!(told, "replacements[0].path: there is no field `f.yaml.sorce`; is `source` meant?");
}

#[test]
fn rejected_objects_are_left_alone_and_several_targets_follow_one_another() {
    let targets = "[{select: {name: '.'}, reject: [{kind: ConfigMap}], fieldPaths: [metadata.labels.n], options: {create: true}}, \
                   {select: {kind: X}, fieldPaths: [spec.p]}]";
    let built = build("v", "{p: q}", &format!("replacements: [{{sourceValue: w, targets: {targets}}}]"), &[]);
    assert_eq!(built, Ok(json!({"p": "w"})));
}

#[test]
fn a_source_is_asked_for_by_the_namespace_that_is_written_whatever_its_kind() {
    for (written, asked, is_found) in [
        ("", "", true),
        ("", "default", true),
        ("", "b", false),
        ("b", "b", true),
        ("b", "", true),
        ("b", "default", false),
    ] {
        let class = format!("apiVersion: v1\nkind: Node\nmetadata: {{name: node, namespace: '{written}'}}\n");
        let kustomization = format!(
            "components: [c]\nreplacements:\n- source: {{kind: Node, name: node, namespace: '{asked}'}}\n  targets: [{{select: \
             {{kind: X}}, fieldPaths: [spec.p]}}]\n"
        );
        let files =
            [("c/kustomization.yaml", "kind: Component\nresources: [n.yaml]\n"), ("c/n.yaml", &*class)];
        let spec = build("a", "{p: q}", &kustomization, &files);
        assert_eq!(
            spec.as_ref().is_ok_and(|spec| spec["p"] == "node"),
            is_found,
            "{written:?} {asked:?} {spec:?}"
        );
    }
}
