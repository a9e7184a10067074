use manifest::Value;
use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::error::PatchError;
use crate::tests as testing;
use crate::{
    Build, BuildOptions, BuildOutput, ConflictDetection, FetchResults, MemoryTree, Reorder, TreePath,
};

const OBJECTS: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web, tier: front}}
spec: {template: {spec: {containers: [{name: app, args: [a, b]}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, annotations: {a: x, b: z}}
data: {k: v}
";

fn build(kustomization: &str, files: &[(&str, &str)]) -> Result<BuildOutput, String> {
    let mut tree: MemoryTree =
        files.iter().map(|(path, text)| (format!("/{path}"), text.as_bytes())).collect();
    tree.insert(
        TreePath::new("/kustomization.yaml"),
        format!("resources: [r.yaml]\n{kustomization}").into_bytes(),
    );
    tree.insert(TreePath::new("/r.yaml"), OBJECTS.as_bytes());
    let options = BuildOptions {
        reorder: Reorder::None,
        conflicts: ConflictDetection::Reported,
        ..BuildOptions::default()
    };
    let build = Build { tree: &tree, fetch_results: &FetchResults::new(), options };
    build.run(&TreePath::new("/")).map_err(|report| report.to_string())
}

/// Builds the objects with one patch, given as an entry without its dash.
fn patched(entry: &str) -> Vec<Value> {
    let output = build(&format!("patches:\n- {}\n", entry.replace('\n', "\n  ")), &[]).unwrap();
    output.objects.into_iter().map(manifest::Object::into_value).collect()
}

fn refused(entry: &str) -> String {
    let reported = build(&format!("patches:\n- {}\n", entry.replace('\n', "\n  ")), &[]).unwrap_err();
    reported.replace("/kustomization.yaml: ", "")
}

fn warnings(kustomization: &str) -> Vec<String> {
    let output = build(kustomization, &[]).unwrap();
    output.warnings.iter().map(|warning| warning.to_string().replace("/kustomization.yaml: ", "")).collect()
}

// Row: KUS-06, KUS-08
#[test]
fn a_patch_without_target_matches_by_its_id() {
    let built = patched(
        "patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: web, annotations: {a: null}}, data: {k: w}}'",
    );
    assert_eq!(built[1]["data"]["k"], "w");
    assert_eq!(built[1]["metadata"]["annotations"], serde_json::json!({"b": "z"}));
}

#[test]
fn a_target_replaces_the_id_and_the_object_keeps_its_own() {
    let patch = "kind: Other, metadata: {name: other, namespace: n, labels: null}, spec: {replicas: 2}";
    let built = patched(&format!("patch: '{{{patch}}}'\ntarget: {{kind: Deployment}}"));
    assert_eq!(built[0]["kind"], "Deployment");
    assert_eq!(
        built[0]["metadata"],
        serde_json::json!({"name": "web", "labels": {"app": "web", "tier": "front"}})
    );
    assert_eq!(built[0]["spec"]["replicas"], 2);
    let options = "options: {allowNameChange: true, allowKindChange: true}";
    let built = patched(&format!("patch: '{{{patch}}}'\ntarget: {{kind: Deployment}}\n{options}"));
    assert_eq!((&built[0]["kind"], &built[0]["metadata"]["name"]), (&"Other".into(), &"other".into()));
    assert_eq!(built[0]["metadata"].get("namespace"), None);
}

#[test]
fn labels_and_annotations_of_a_targeted_patch_are_strings() {
    let patch = "kind: X, metadata: {name: x, annotations: {a: null, c: true}}";
    let built = patched(&format!("patch: '{{{patch}}}'\ntarget: {{kind: ConfigMap}}"));
    assert_eq!(built[1]["metadata"]["annotations"], serde_json::json!({"a": "null", "b": "z", "c": "true"}));
}

// Row: KUS-38, KUS-39
#[test]
fn operations_change_every_target_and_count_from_the_end() {
    let args = "/spec/template/spec/containers/0/args";
    let built = patched(&format!(
        "patch: |-\n  - {{op: add, path: {args}/0, value: z}}\n  - {{op: replace, path: {args}/-1, value: w}}\n  - \
         {{op: add, path: {args}/-, value: c}}\n  - {{op: add, path: /metadata/annotations, value: {{k: 1}}}}\ntarget: \
         {{kind: Deployment}}"
    ));
    assert_eq!(built[0].pointer(args), Some(&serde_json::json!(["z", "a", "w", "c"])));
    assert_eq!(built[0]["metadata"]["annotations"], serde_json::json!({"k": "1"}));
}

// Row: KUS-37
#[test]
fn files_hold_several_patches_and_may_be_empty() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n";
    let several = format!("{deployment}spec: {{a: 1}}\n---\n{deployment}spec: {{b: 1}}\n---\n# nothing\n");
    let inline = "'{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, $patch: delete}'";
    let output = build(
        &format!("patches: [{{path: empty.yaml}}]\npatchesStrategicMerge: [several.yaml, {inline}]"),
        &[("several.yaml", &several), ("empty.yaml", "# nothing\n")],
    )
    .unwrap();
    assert_eq!(output.objects.len(), 1);
    let spec = output.objects[0].get(&["spec"]).unwrap();
    assert_eq!((&spec["a"], &spec["b"]), (&1.into(), &1.into()));
}

// Row: KUS-20
#[test]
fn faulty_patches_are_refused_with_suggestions() {
    let target = "target: {kind: Deployment}";
    let reported = [
        "path: ''",
        "path: a\npatch: b",
        "patch: foo",
        "patch: '[{op: remove, path: /spec}]'",
        "patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: wep}}'",
        &format!("patch: '[{{op: remove, path: /spec/templete/spec}}]'\n{target}"),
        &format!("patch: '[{{op: test, path: /kind, value: X}}]'\n{target}"),
        &format!("patch: '{{kind: X, metadata: {{name: x}}, spec: {{template: 1}}}}'\n{target}"),
        &format!("patch: '[{{op: foo, path: /a}}, {{op: add, path: /a}}, 1]'\n{target}"),
        "patch: '{kind: Deployment, apiVersion: apps/v1, metadata: {name: web}}'\ntarget: {name: 'a(', kind: '['}",
    ]
    .map(refused);
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
patches[0]: the patch is missing: set `patch` or `path`
patches[0]: `patch` cannot be combined with `path`
patches[0].patch: a patch must be a mapping (strategic merge) or a list of operations (JSON patch), not a string
patches[0]: a list of operations requires a `target`
patches[0]: no object matches `ConfigMap.v1.[noGrp]/wep.[noNs]`; did you mean `web`?
patches[0]: cannot apply the patch to `Deployment.v1.apps/web.[noNs]`: operation 1 (remove `/spec/templete/spec`): the path does not exist; did you mean `template`?
patches[0]: cannot apply the patch to `Deployment.v1.apps/web.[noNs]`: operation 1 (test `/kind`): the value differs or is missing
patches[0]: cannot merge the patch into `Deployment.v1.apps/web.[noNs]`: `spec.template` is a number in the patch and a mapping in the object
patches[0].patch: operation 1 is invalid: unknown variant `foo`, expected one of `add`, `remove`, `replace`, `move`, `copy`, `test`; patches[0].patch: operation 3 is invalid: invalid type: integer `1`, expected internally tagged enum PatchOperation
patches[0]: `kind: [` is not a valid regular expression: error: unclosed character class; patches[0]: `name: a(` is not a valid regular expression: error: unclosed group
"#]]
    );
}

#[test]
fn a_patch_to_an_existing_id_is_refused() {
    let reported = refused(
        "patch: '[{op: replace, path: /kind, value: ConfigMap}, {op: replace, path: /apiVersion, value: v1}]'\ntarget: \
         {kind: Deployment}",
    );
    assert_data_eq!(
        reported,
        str![
            "patches[0]: duplicate object `ConfigMap.v1.[noGrp]/web.[noNs]`: from `/r.yaml` and from `/r.yaml`"
        ]
    );
}

// Row: D-236
#[test]
fn a_target_without_objects_and_foreign_directives_are_warnings() {
    let reported = warnings(
        "patches:\n- patch: '[{op: remove, path: /x}]'\n  target: {name: none}\n- patch: '{kind: X, metadata: {name: x}, \
         spec: {$retainKeys: [a]}}'\n  target: {kind: Deployment}\n- patch: '{kind: X, metadata: {name: x}, $patch: replace}'\n  \
         target: {kind: Deployment}",
    );
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
patches[0]: no object matches the `target`: the patch changes nothing
patches[1]: `$retainKeys` is not a directive here and becomes a field; only `$patch` is a directive
patches[2]: `$patch: replace` has no effect on an object; use it for fields and lists
"#]]
    );
}

#[test]
fn conflicting_patches_give_a_warning_with_both_places() {
    let container = |image: &str| {
        format!(
            "- patch: '{{kind: X, metadata: {{name: x}}, spec: {{template: {{spec: {{containers: [{{name: app, image: \
             {image}}}]}}}}}}}}'\n  target: {{kind: Deployment}}\n"
        )
    };
    let agreeing = format!("patches:\n{}{}", container("a"), container("a"));
    assert!(warnings(&agreeing).is_empty());
    let reported = warnings(&format!("patches:\n{}{}", container("a"), container("b")));
    assert_data_eq!(
        reported.join("\n"),
        str![[
            r#"patches[1]: overwrites `spec.template.spec.containers[name="app"].image` of `Deployment.v1.apps/web.[noNs]`, which patches[0] set to another value"#
        ]]
    );
    let operation = |value: &str| {
        format!(
            "- patch: '[{{op: add, path: /spec/replicas, value: {value}}}]'\n  target: {{kind: Deployment}}\n"
        )
    };
    let reported = warnings(&format!("patches:\n{}{}", operation("1"), operation("2")));
    assert_eq!(reported.len(), 1, "{reported:?}");
}

#[test]
fn lists_merge_by_the_keys_of_the_custom_schema() {
    let schema = "definitions:\n  w:\n    x-kubernetes-group-version-kind: [{group: '', version: v1, kind: ConfigMap}]\n    \
                  properties:\n      parts: {type: array, items: {}, x-kubernetes-patch-strategy: merge, \
                  x-kubernetes-patch-merge-key: id}\n";
    let patch = |id: &str| {
        format!(
            "- patch: '{{apiVersion: v1, kind: ConfigMap, metadata: {{name: web}}, parts: [{{id: {id}}}]}}'\n"
        )
    };
    let kustomization = format!("openapi: {{path: s.yaml}}\npatches:\n{}{}", patch("a"), patch("b"));
    let output = build(&kustomization, &[("s.yaml", schema)]).unwrap();
    assert_eq!(output.objects[1].get(&["parts"]), Some(&serde_json::json!([{"id": "b"}, {"id": "a"}])));
    let reported = ["{version: v1.20}", "{version: v1.21.2, path: x}", "{file: x}", "{path: r.json}"]
        .map(|openapi| build(&format!("openapi: {openapi}"), &[("r.json", "{}")]).unwrap_err());
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
/kustomization.yaml: openapi.version: `openapi.version` must be `v1.21.2`, not `v1.20`: set `openapi.path` for another schema
/kustomization.yaml: openapi: `openapi.path` cannot be combined with `openapi.version`
/kustomization.yaml: openapi: unknown field `openapi.file`: use `path` or `version`
/kustomization.yaml: openapi.path: `/r.json` is not an OpenAPI schema: `definitions` must be a mapping, not absent
"#]]
    );
}

#[test]
fn operations_treat_a_missing_key_as_null() {
    let with = |operations: &str| {
        testing::build(&[
            (
                "/kustomization.yaml",
                &*format!("resources: [a.yaml]\npatches: [{{target: {{kind: A}}, patch: '{operations}'}}]"),
            ),
            ("/a.yaml", "{apiVersion: v1, kind: A, metadata: {name: a}, spec: {list: [{}]}}"),
        ])
        .map(|objects| objects[0].as_map()["spec"].to_string())
    };
    for (operation, spec) in [
        ("{op: replace, path: /spec/x, value: 1}", r#"{"list":[{}],"x":1}"#),
        ("{op: replace, path: /spec/list/0/x, value: 1}", r#"{"list":[{"x":1}]}"#),
        ("{op: test, path: /spec/x, value: null}", r#"{"list":[{}]}"#),
        ("{op: copy, from: /spec/x, path: /spec/y}", r#"{"list":[{}],"y":null}"#),
    ] {
        assert_eq!(with(&format!("[{operation}]")).unwrap(), spec, "{operation}");
    }
    for refused in [
        "{op: replace, path: /spec/x/y, value: 1}",
        "{op: replace, path: /spec/list/1, value: 1}",
        "{op: test, path: /spec/x, value: 1}",
        "{op: remove, path: /spec/x}",
        "{op: move, from: /spec/x, path: /spec/y}",
    ] {
        assert!(with(&format!("[{refused}]")).is_err(), "{refused}");
    }
}

#[test]
fn a_strategic_merge_drops_fields_without_a_value() {
    let deployment = testing::built(&[
        (
            "/kustomization.yaml",
            "resources: [a.yaml]\npatches: [{patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {new: 1}}'}]",
        ),
        (
            "/a.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, creationTimestamp: null, labels: }\nspec:\n  \
             selector: {matchLabels: }\n  template:\n    spec:\n      containers: [{name: c, resources: , env: [{name: A, value: \
             }]}]\n      tolerations: [{key: , operator: Exists}]\n",
        ),
    ]);
    let expected = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "creationTimestamp": null},
        "spec": {
            "new": 1,
            "selector": {},
            "template": {"spec": {
                "containers": [{"name": "c", "env": [{"name": "A"}]}],
                "tolerations": [{"key": null, "operator": "Exists"}],
            }},
        },
    });
    assert_eq!(deployment, expected);
}

#[test]
fn only_the_field_patches_accepts_empty_patches() {
    let files = [
        ("none", ""),
        ("comment", "# a"),
        ("dashes", "---"),
        ("nothing", "null"),
        ("braces", "{}"),
        ("list", "[]"),
    ];
    let patch = ("full", "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {k: w}}");
    let files: Vec<(&str, &str)> = files.into_iter().chain([patch]).collect();
    let target = "target: {version: v1, kind: ConfigMap, name: web}";
    let empty = PatchError::Empty.to_string();
    for (file, text) in &files[..6] {
        for entry in [format!("path: {file}"), format!("path: {file}, target: {{kind: ConfigMap}}")] {
            assert!(build(&format!("patches: [{{{entry}}}]"), &files).is_ok(), "{entry}");
        }
        for entry in [(*file).to_owned(), format!("'{text}'")] {
            let with = |more: &str| build(&format!("patchesStrategicMerge: [{entry}{more}]"), &files);
            let reported = with("").unwrap_err();
            assert_eq!(reported, "/kustomization.yaml: patchesStrategicMerge: ".to_owned() + &empty);
            assert_eq!(with(", full").unwrap().objects[1].as_map()["data"]["k"], "w");
        }
        let reported = build(&format!("patchesJson6902: [{{path: {file}, {target}}}]"), &files).unwrap_err();
        assert_eq!(reported, "/kustomization.yaml: patchesJson6902[0]: ".to_owned() + &empty);
    }
}

// Row: D-243
#[test]
fn operations_work_on_missing_annotations() {
    for field in ["patches", "patchesJson6902"] {
        let with = |operation: &str| {
            let target = "target: {group: apps, version: v1, kind: Deployment, name: web}";
            let output = build(&format!("{field}: [{{patch: '[{operation}]', {target}}}]"), &[]).unwrap();
            output.objects[0].as_map()["metadata"].get("annotations").cloned()
        };
        let added = r#"{"op": "add", "path": "/metadata/annotations/a.b~1c", "value": "d"}"#;
        assert_eq!(with(added), Some(json!({"a.b/c": "d"})));
        assert_eq!(with(r#"{"op": "remove", "path": "/metadata/annotations"}"#), None);
        assert_eq!(with(r#"{"op": "add", "path": "/spec/replicas", "value": 1}"#), None);
    }
}

#[test]
fn text_before_the_first_slash_of_a_path_gives_a_warning() {
    let with = |operation: &str| {
        build(&format!("patches: [{{target: {{kind: ConfigMap}}, patch: '[{operation}]'}}]"), &[])
    };
    let output =
        with("{op: replace, path: spec/data/k, value: w}, {op: copy, from: x/data/k, path: /data/l}")
            .unwrap();
    assert_eq!(output.objects[1].as_map()["data"], json!({"k": "w", "l": "w"}));
    let warnings: Vec<String> = output.warnings.iter().map(ToString::to_string).collect();
    assert_data_eq!(
        warnings.join("\n"),
        str![[r#"
/kustomization.yaml: patches[0].patch: the path `spec/data/k` is read as `/data/k`: text before the first slash is ignored
/kustomization.yaml: patches[0].patch: the path `x/data/k` is read as `/data/k`: text before the first slash is ignored
"#]]
    );
    assert!(with("{op: remove, path: data}").is_err());
}

#[test]
fn an_unknown_kind_merges_like_the_kind_in_the_patch() {
    let container = |api_version: &str, name: &str| {
        let spec = format!("{{template: {{spec: {{containers: [{{name: {name}}}]}}}}}}");
        format!("{{apiVersion: {api_version}, metadata: {{name: a}}, spec: {spec}}}")
    };
    let rollout = container("argoproj.io/v1alpha1, kind: Rollout", "old");
    for (written_for, count) in [("apps/v1, kind: Deployment", 2), ("argoproj.io/v1alpha1, kind: Rollout", 1)]
    {
        let patch = container(written_for, "new");
        let kustomization =
            format!("resources: [a.yaml]\npatches: [{{target: {{kind: Rollout}}, patch: '{patch}'}}]");
        let object = testing::built(&[("/kustomization.yaml", &kustomization), ("/a.yaml", &rollout)]);
        let containers = object.pointer("/spec/template/spec/containers").and_then(Value::as_array).unwrap();
        assert_eq!(containers.len(), count, "{written_for}");
    }
}

#[test]
fn patches_that_may_rename_convert_annotations_to_text() {
    let metadata = |metadata: &str, options: &str| {
        let patch = format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: web, {metadata}}}}}");
        patched(&format!("patch: '{patch}'\noptions: {{{options}}}"))[1]["metadata"].clone()
    };
    for option in ["allowNameChange: true", "allowKindChange: true"] {
        let changed = metadata("labels: {a: null, b: c}, annotations: {a: null}", option);
        let annotations = json!({"a": "null", "b": "z"});
        assert_eq!(changed, json!({"name": "web", "labels": {"b": "c"}, "annotations": annotations}));
        assert_eq!(metadata("annotations: null", option)["annotations"], json!({"a": "x", "b": "z"}));
    }
    assert_eq!(
        metadata("annotations: {a: null}", "allowNameChange: false")["annotations"],
        json!({"b": "z"})
    );
}
