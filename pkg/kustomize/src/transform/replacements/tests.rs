use serde_json::json;
use snapbox::{assert_data_eq, str};

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
fn a_replaced_field_keeps_its_type() {
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
fn paths_select_names_elements_and_indices() {
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
fn a_path_continues_into_embedded_json_or_yaml() {
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
fn faults_are_reported_without_the_value() {
    let reported = [
        ("{port: 1}", "spec.prot.x", ""),
        ("{l: [{port: 1}]}", "spec.l.*.prot", ""),
        ("{p: 1}", "spec.p", ""),
        ("{p: {c: 1}}", "spec.p", "delimiter: '.'"),
        ("{l: {c: 1}}", "spec.l.*", ""),
        ("{l: [1]}", "spec.l.5", "create: true"),
        ("{}", "spec.l.[name=(].v", ""),
    ]
    .map(|(spec, path, options)| replaced("secret", spec, path, options).unwrap_err());
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
replacements[0].targets[0]: cannot set `spec.prot.x` of `X.v1.e/x.[noNs]`: `prot.x` not found; did you mean `port`?
replacements[0].targets[0]: cannot set `spec.l.*.prot` of `X.v1.e/x.[noNs]`: `prot` not found; did you mean `port`?
replacements[0].targets[0]: cannot set `spec.p` of `X.v1.e/x.[noNs]`: expected a number, found a string
replacements[0].targets[0]: cannot set `spec.p` of `X.v1.e/x.[noNs]`: expected a single value, found a mapping
replacements[0].targets[0]: cannot set `spec.l.*` of `X.v1.e/x.[noNs]`: expected a list, found a mapping
replacements[0].targets[0]: cannot set `spec.l.5` of `X.v1.e/x.[noNs]`: `5` not found
replacements[0].targets[0]: invalid path `spec.l.[name=(].v`: `(` is not a valid regular expression: error: unclosed group
"#]]
    );
    let of = |replacement: &str| {
        build("{b: 1}", "{}", &format!("replacements: [{replacement}]"), &[]).unwrap_err()
    };
    let reported = [
        "{source: {kind: ConfigMap}}",
        "{targets: [{select: {kind: X}}]}",
        "{sourceValue: a, targets: [{}]}",
        "{source: {kind: ConfigMap, name: q}, targets: [{select: {kind: X}}]}",
        "{source: {}, targets: [{select: {kind: X}}]}",
        "{source: {kind: ConfigMap, fieldPath: dota.a}, targets: [{select: {kind: X}}]}",
        "{source: {kind: ConfigMap, fieldPath: data.a.b, options: {delimiter: '.', index: 3}}, targets: [{select: {kind: X}}]}",
        "{path: a, source: {}}",
    ]
    .map(of);
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
replacements[0]: `targets` is missing
replacements[0].source: `source` or `sourceValue` is required
replacements[0].targets[0]: `select` is missing
replacements[0].source: no object matches kind `ConfigMap`, name `q`
replacements[0].source: 2 objects match an empty selector: make the selector more specific
replacements[0].source: cannot read `dota.a` of `ConfigMap.v1.[noGrp]/s.[noNs]`: `dota.a` not found; did you mean `data`?
replacements[0].source: cannot read `data.a.b` of `ConfigMap.v1.[noGrp]/s.[noNs]`: part 3 not found; the last part is 0
replacements[0]: `path` cannot be combined with `source` or `targets`
"#]]
    );
}

#[test]
fn replacement_files_may_be_lists_with_literal_values() {
    let replacement = "{sourceValue: w, targets: [{select: {kind: X}, fieldPaths: [spec.p]}]}";
    for text in [replacement.to_owned(), format!("[{replacement}]")] {
        let built = build("v", "{p: q}", "replacements: [{path: f.yaml}]", &[("f.yaml", &text)]);
        assert_eq!(built, Ok(json!({"p": "w"})));
    }
    let reported =
        build("v", "{}", "replacements: [{path: f.yaml}]", &[("f.yaml", "{sorce: {}}")]).unwrap_err();
    assert_data_eq!(
        reported,
        str!["replacements[0].path: unknown field `f.yaml.sorce`; did you mean `source`?"]
    );
}

#[test]
fn rejected_objects_stay_and_targets_apply_in_order() {
    let targets = "[{select: {name: '.'}, reject: [{kind: ConfigMap}], fieldPaths: [metadata.labels.n], options: {create: true}}, \
                   {select: {kind: X}, fieldPaths: [spec.p]}]";
    let built = build("v", "{p: q}", &format!("replacements: [{{sourceValue: w, targets: {targets}}}]"), &[]);
    assert_eq!(built, Ok(json!({"p": "w"})));
}

#[test]
fn a_source_matches_by_the_written_namespace_for_any_kind() {
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

#[test]
fn a_former_id_without_a_namespace_is_one_in_default() {
    let written = |prefix: &str, kind: &str, target: &str| {
        let target = format!("{{select: {{kind: {kind}}}, {target} fieldPaths: [spec.p]}}");
        let kustomization = format!("{prefix}replacements: [{{sourceValue: w, targets: [{target}]}}]");
        build("v", "{p: q}", &kustomization, &[]).unwrap()["p"] == "w"
    };
    let prefix = "namePrefix: p-\n";
    assert!(written(prefix, "X, namespace: default", ""));
    assert!(!written("", "X, namespace: default", ""));
    assert!(!written(prefix, "X", "reject: [{namespace: default}],"));
    assert!(written("", "X", "reject: [{namespace: default}],"));
}

// Row: D-560
#[test]
fn references_follow_a_name_that_a_replacement_writes() {
    let objects = "apiVersion: v1\nkind: Service\nmetadata: {name: svc}\n---\napiVersion: networking.k8s.io/v1\nkind: Ingress\n\
                   metadata: {name: ing}\nspec: {defaultBackend: {service: {name: svc}}}\n";
    let targets = "[{select: {kind: Service}, fieldPaths: [metadata.name]}]";
    let kustomization =
        format!("resources: [o.yaml]\nreplacements: [{{sourceValue: new, targets: {targets}}}]");
    let tree: MemoryTree = [("/o.yaml", objects), ("/kustomization.yaml", &kustomization)]
        .map(|(path, text)| (path, text.as_bytes()))
        .into_iter()
        .collect();
    let options = BuildOptions { reorder: Reorder::None, ..BuildOptions::default() };
    let output = Build { tree: &tree, fetch_results: &FetchResults::new(), options }.run(&TreePath::new("/"));
    let ingress = &output.unwrap().objects[1];
    assert_eq!(ingress.get(&["spec", "defaultBackend", "service", "name"]), Some(&json!("new")));
}
