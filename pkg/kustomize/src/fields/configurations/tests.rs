use serde_json::json;
use snapbox::{assert_data_eq, str};

use crate::tests::{build, built, error_text};

const THING: &str = "apiVersion: x.io/v1\nkind: Thing\nmetadata: {name: t, annotations: {p: q}}\nspec: {name: z, refs: [{name: c}], cm: c}";
const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}";

// Row: KUS-19
#[test]
fn every_field_table_can_be_extended() {
    let configuration = "
namePrefix: [{path: metadata/annotations/p, kind: Thing}]
nameSuffix: [{path: spec/name, kind: Thing}]
namespace: [{path: spec/ns, kind: Thing, create: true}]
commonLabels: [{path: spec/match, kind: Thing, create: true}]
labels: [{path: spec/more, kind: Thing, create: true}]
templateLabels: [{path: spec/pods, kind: Thing, create: true}]
commonAnnotations: [{path: spec/notes, kind: Thing, create: true}]
nameReference: [{kind: ConfigMap, version: v1, fieldSpecs: [{path: spec/cm}, {path: spec/refs/name, kind: Thing, create: true}]}]
";
    let kustomization = "resources: [c.yaml, t.yaml]\nconfigurations: [fields.yaml]\nnamePrefix: p-\nnameSuffix: -s\n\
                         namespace: nn\ncommonLabels: {a: b}\ncommonAnnotations: {c: d}\n\
                         labels: [{pairs: {e: f}}, {pairs: {g: h}, includeTemplates: true}]";
    let thing = built(&[
        ("/kustomization.yaml", kustomization),
        ("/fields.yaml", configuration),
        ("/c.yaml", CONFIG_MAP),
        ("/t.yaml", THING),
    ]);
    assert_eq!(
        thing["spec"],
        json!({
            "cm": "p-c-s", "refs": [{"name": "p-c-s"}], "name": "z-s", "ns": "nn", "match": {"a": "b"},
            "more": {"e": "f", "g": "h"}, "pods": {"g": "h"}, "notes": {"c": "d"}
        })
    );
    assert_eq!(thing["metadata"]["annotations"], json!({"c": "d", "p": "p-q"}));
}

#[test]
fn field_tables_of_a_folder_reach_its_parent() {
    let fields = "commonLabels: [{path: spec/match, kind: Thing, create: true}]";
    let mut files = vec![
        ("/kustomization.yaml", "resources: [base, mine]\ncommonLabels: {a: b}"),
        ("/base/kustomization.yaml", "resources: [c.yaml]\nconfigurations: [fields.yaml]"),
        ("/base/c.yaml", CONFIG_MAP),
        ("/base/fields.yaml", fields),
        ("/mine/kustomization.yaml", "resources: [t.yaml]\ncommonLabels: {c: d}"),
        ("/mine/t.yaml", THING),
    ];
    assert_eq!(built(&files)["spec"]["match"], json!({"a": "b"}));
    files[1].1 = "resources: [c.yaml]";
    assert_eq!(built(&files)["spec"].get("match"), None);
}

#[test]
fn an_earlier_spec_for_one_kind_replaces_the_built_in_one() {
    let fields = "commonLabels: [{path: metadata/labels, kind: Thing, create: true}]";
    let labelled = |kustomization: &str, base: &str| {
        let files = [
            ("/kustomization.yaml", kustomization),
            ("/fields.yaml", fields),
            ("/c.yaml", CONFIG_MAP),
            ("/t.yaml", THING),
            ("/base/kustomization.yaml", "resources: [c.yaml]"),
            ("/base/c.yaml", base),
        ];
        let objects = build(&files).unwrap();
        objects.iter().map(|object| object.label("a").is_some()).collect::<Vec<_>>()
    };
    let first = "resources: [c.yaml, t.yaml]\nconfigurations: [fields.yaml]\ncommonLabels: {a: b}";
    assert_eq!(labelled(first, CONFIG_MAP), [false, true]);
    // The nested folder brings the built-in tables along.
    let later = first.replace("c.yaml", "base");
    assert_eq!(labelled(&later, CONFIG_MAP), [true, true]);
}

#[test]
fn faults_of_a_file_are_reported_at_its_entry() {
    let kustomization = "resources: [t.yaml]\nconfigurations: [1.yaml, 2.yaml, gone.yaml, 3.yaml]";
    let reported = error_text(&[
        ("/kustomization.yaml", kustomization),
        ("/t.yaml", THING),
        ("/1.yaml", "namoPrefix: []\nnameReference: [{kind: A, fieldSpec: []}]"),
        ("/2.yaml", "images: [{kind: Thing}]"),
        ("/3.yaml", "commonLabels: [{path: metadata/labels, kind: Thing}]"),
    ]);
    assert_data_eq!(
        reported,
        str![[r#"
/kustomization.yaml: configurations[0]: unknown field `nameReference[0].fieldSpec`; did you mean `fieldSpecs`?
/kustomization.yaml: configurations[0]: unknown field `namoPrefix`; did you mean `namePrefix`?
/kustomization.yaml: configurations[1]: a field spec of `Thing` has no `path`
/kustomization.yaml: configurations[2]: cannot find `gone.yaml`: no file or folder at `/gone.yaml`
/kustomization.yaml: configurations: two field specs for `metadata/labels` of `*` differ in `create`: set both to the same value
"#]]
    );
}

// Row: KUS-19
#[test]
fn openapi_definitions_mark_name_and_label_fields() {
    let definitions = r#"{
      "x/v1.Thing": {"Schema": {"properties": {"apiVersion": {}, "kind": {}, "metadata": {}, "spec": {"$ref": "x/v1.Spec"}}}},
      "x/v1.Spec": {"Schema": {"properties": {
        "map": {"x-kubernetes-object-ref-api-version": "v1", "x-kubernetes-object-ref-kind": "ConfigMap",
                "x-kubernetes-object-ref-name-key": "n"},
        "other": {"x-kubernetes-object-ref-api-version": "v1", "x-kubernetes-object-ref-kind": "ConfigMap"},
        "match": {"x-kubernetes-label-selector": ""}, "notes": {"x-kubernetes-annotation": ""},
        "id": {"x-kubernetes-identity": ""}, "spec": {"$ref": "x/v1.Spec"}}}}}"#;
    let thing = "apiVersion: x/v1\nkind: Thing\nmetadata: {name: t}\n\
                 spec: {map: {n: c}, other: {name: c}, match: {}, notes: {}, id: i, spec: {id: j}}";
    let files = [
        (
            "/kustomization.yaml",
            "resources: [c.yaml, t.yaml]\ncrds: [d.json]\nnamePrefix: p-\ncommonLabels: {a: b}\ncommonAnnotations: {c: d}",
        ),
        ("/d.json", definitions),
        ("/c.yaml", CONFIG_MAP),
        ("/t.yaml", thing),
    ];
    assert_eq!(
        built(&files)["spec"],
        json!({"map": {"n": "p-c"}, "other": {"name": "p-c"}, "match": {"a": "b"}, "notes": {"c": "d"}, "id": "p-i", "spec": {"id": "j"}})
    );
}

#[test]
fn invalid_definitions_are_refused() {
    let files = [
        ("/kustomization.yaml", "crds: [d.json, e.json]"),
        ("/d.json", "[]"),
        ("/e.json", "{a: 1, b: {schema: 2}}"),
    ];
    assert_data_eq!(
        error_text(&files),
        str!["/kustomization.yaml: crds[0]: the file must be a mapping of definitions, not a list"]
    );
}
