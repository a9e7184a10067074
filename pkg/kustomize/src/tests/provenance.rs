//! The provenance of fields in a traced build.

use manifest::Object;
use manifest::provenance::{FieldOrigin, Trace};

use super::build_with;
use crate::{BuildOptions, Reorder};

fn traced(files: &[(&str, &str)]) -> Vec<Object> {
    build_with(files, BuildOptions { trace: Trace::On, reorder: Reorder::None, ..BuildOptions::default() })
        .unwrap()
}

/// Returns each field that the origin did not set, with its setter.
fn fields(object: &Object) -> Vec<String> {
    object.changed_fields().into_iter().map(|it| format!("{} {}", it.pointer, it.origin)).collect()
}

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 1
  template:
    spec:
      containers:
      - {name: web, image: 'web:1', args: [--url, $(URL)], envFrom: [{configMapRef: {name: settings}}]}
";

#[test]
fn provenance_names_the_last_entry_and_the_file_it_names() {
    let objects = traced(&[
        (
            "/prod/kustomization.yaml",
            "resources: [../base]\ncomponents: [../part]\nnamespace: prod\nnamePrefix: prod-\nlabels: [{pairs: {team: a}}]\n\
             replicas: [{name: web, count: 3}]\nimages: [{name: other, newTag: x}, {name: web, newTag: '2'}]\n\
             patches: [{path: cpu.yaml}, {target: {kind: Deployment}, patch: '[{op: add, path: /spec/paused, value: true}]'}]",
        ),
        (
            "/prod/cpu.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web, \
             resources: {limits: {cpu: 2}}}, {name: log, image: log}]}}}",
        ),
        (
            "/part/kustomization.yaml",
            "kind: Component\nconfigMapGenerator: [{name: settings, behavior: merge, literals: [b=2]}]",
        ),
        (
            "/base/kustomization.yaml",
            "resources: [deployment.yaml]\nconfigMapGenerator: [{name: settings, literals: [a=1, b=1]}]\n\
             vars: [{name: URL, objref: {apiVersion: v1, kind: ConfigMap, name: settings}, fieldref: {fieldpath: data.a}}]",
        ),
        ("/base/deployment.yaml", DEPLOYMENT),
    ]
    .map(|(path, text)| (path, text))
    .iter()
    .chain(&[("/kustomization.yaml", "resources: [prod]")])
    .copied()
    .collect::<Vec<_>>());

    let [deployment, settings] = objects.as_slice() else { panic!("two objects") };
    let origin = |object: &Object| object.provenance().unwrap().object_origin().to_string();
    assert_eq!(origin(deployment), "/base/deployment.yaml");
    assert_eq!(origin(settings), "/base/kustomization.yaml: configMapGenerator[0]");
    let prod = "/prod/kustomization.yaml";
    let expected = [
        format!("/metadata/labels/team {prod}: labels[0]"),
        format!("/metadata/name {prod}: namePrefix"),
        format!("/metadata/namespace {prod}: namespace"),
        format!("/spec/paused {prod}: patches[1]"),
        format!("/spec/replicas {prod}: replicas[0]"),
        "/spec/template/spec/containers/0/args/1 $(URL)".to_owned(),
        "/spec/template/spec/containers/0/envFrom/0/configMapRef/name name of the ConfigMap".to_owned(),
        format!("/spec/template/spec/containers/0/image {prod}: images[1]"),
        format!("/spec/template/spec/containers/0/resources/limits/cpu {prod}: patches[0] (/prod/cpu.yaml)"),
        format!("/spec/template/spec/containers/1/image {prod}: patches[0] (/prod/cpu.yaml)"),
        format!("/spec/template/spec/containers/1/name {prod}: patches[0] (/prod/cpu.yaml)"),
    ];
    assert_eq!(fields(deployment), expected);
    let expected = [
        "/data/b /part/kustomization.yaml: configMapGenerator[0]".to_owned(),
        format!("/metadata/labels/team {prod}: labels[0]"),
        "/metadata/name content hash".to_owned(),
        format!("/metadata/namespace {prod}: namespace"),
    ];
    assert_eq!(fields(settings), expected);
}

#[test]
fn provenance_names_files_of_replacements_and_transformers() {
    let objects = traced(&[
        (
            "/kustomization.yaml",
            "resources: [a.yaml]\ntransformers: [label.yaml]\nreplacements: [{path: r.yaml}]\nbuildMetadata: [managedByLabel]",
        ),
        ("/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {from: x, to: y}}"),
        (
            "/r.yaml",
            "{source: {kind: ConfigMap, fieldPath: data.from}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.to]}]}",
        ),
        (
            "/label.yaml",
            "{apiVersion: builtin, kind: LabelTransformer, metadata: {name: l}, labels: {x: y}, fieldSpecs: [{path: metadata/labels, create: true}]}",
        ),
    ]);
    let expected = [
        "/data/to /kustomization.yaml: replacements[0] (/r.yaml)",
        "/metadata/labels/app.kubernetes.io~1managed-by /kustomization.yaml: buildMetadata",
        "/metadata/labels/x /kustomization.yaml: transformers[0] (/label.yaml)",
    ];
    assert_eq!(fields(&objects[0]), expected);
}

#[test]
fn a_restored_field_keeps_the_origin_of_unchanged_parts() {
    let objects = traced(&[
        (
            "/kustomization.yaml",
            "resources: [base]\npatches: [{target: {kind: ConfigMap}, patch: '[{op: replace, path: /data, value: {a: \"1\", b: \"2\"}}]'}]",
        ),
        ("/base/kustomization.yaml", "resources: [a.yaml]\nnameSuffix: -x"),
        ("/base/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '1', b: '1'}}"),
    ]);
    let expected =
        ["/data/b /kustomization.yaml: patches[0]", "/metadata/name /base/kustomization.yaml: nameSuffix"];
    assert_eq!(fields(&objects[0]), expected);
}

#[test]
fn origins_traced_before_the_build_are_kept() {
    let mut given: Object = Object::try_from(
        serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}),
    )
    .unwrap();
    let setter =
        |file: &str| std::sync::Arc::new(FieldOrigin { file: file.to_owned(), ..FieldOrigin::default() });
    given.start_provenance(&setter("components.yaml"));
    given.set_label("l", "1");
    given.record_provenance(&setter("variable"));
    let tree: crate::MemoryTree =
        [("/kustomization.yaml", "nameSuffix: -x".as_bytes())].into_iter().collect();
    let options = BuildOptions { trace: Trace::On, ..BuildOptions::default() };
    let build = crate::Build { tree: &tree, fetch_results: &crate::FetchResults::new(), options };
    let beneath = crate::BaseObjects { objects: vec![given], name: "components.yaml".to_owned() };
    let output = build.run_onto(&crate::TreePath::new("/"), None, beneath).unwrap();
    let object = &output.objects[0];
    assert_eq!(object.provenance().unwrap().object_origin(), &*setter("components.yaml"));
    assert_eq!(
        fields(object),
        ["/metadata/labels/l variable", "/metadata/name /kustomization.yaml: nameSuffix"]
    );
}
