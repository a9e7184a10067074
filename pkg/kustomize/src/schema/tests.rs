use manifest::{Value, yaml};

use crate::tests::build_with;
use crate::{BuildOptions, LoadRestrictor, Reorder};

use super::*;

fn field_at<'s>(schema: &'s Schema, api_version: &str, kind: &str, way: &str) -> Option<&'s FieldSchema> {
    let mut at = schema.kind(api_version, kind)?;
    let mut steps = way.split('.').peekable();
    while let Some(step) = steps.next() {
        let field = schema.field(at, step)?;
        if steps.peek().is_none() {
            return Some(field);
        }
        at = field.type_id?;
    }
    None
}

fn keys(schema: &Schema, api_version: &str, kind: &str, path: &str) -> String {
    match field_at(schema, api_version, kind, path).and_then(|field| field.keys.as_deref()) {
        Some(keys) => format!("[{}]", keys.join(",")),
        None => "replaced".to_owned(),
    }
}

#[test]
fn lists_of_built_in_kinds_have_merge_keys_for_the_exact_version() {
    let pod = "spec.template.spec.containers";
    for (api_version, kind, path, expected) in [
        ("apps/v1", "Deployment", pod, "[name]"),
        ("extensions/v1beta1", "Deployment", pod, "replaced"),
        ("apps/v1beta1", "Deployment", pod, "replaced"),
        ("example.com/v1", "Deployment", pod, "replaced"),
        ("apps/v1", "Deployment", "spec.template.spec.containers.ports", "[containerPort,protocol]"),
        ("apps/v1", "Deployment", "spec.template.spec.tolerations", "replaced"),
        ("apps/v1", "Deployment", "spec.template.spec.containers.args", "replaced"),
        ("batch/v1beta1", "CronJob", "spec.jobTemplate.spec.template.spec.volumes", "[name]"),
        ("v1", "Pod", "spec.topologySpreadConstraints", "[topologyKey,whenUnsatisfiable]"),
        ("v1", "Service", "spec.ports", "[port,protocol]"),
        ("v1", "ServiceAccount", "secrets", "[name]"),
        ("v1", "ServiceAccount", "imagePullSecrets", "replaced"),
        ("v1", "ConfigMap", "metadata.finalizers", "[]"),
        ("v1", "ConfigMap", "metadata.ownerReferences", "[uid]"),
    ] {
        assert_eq!(
            keys(&Schema::default(), api_version, kind, path),
            expected,
            "{api_version} {kind} {path}"
        );
    }
}

#[test]
fn every_type_named_in_the_tables_exists() {
    let schema = Schema::default();
    assert!(schema.graph.types.len() > 20);
    assert!(schema.graph.kinds.values().map(HashMap::len).sum::<usize>() > 80);
    assert_eq!(keys(&schema, "v1", "Node", "spec.podCIDRs"), "[]");
    assert_eq!(keys(&schema, "storage.k8s.io/v1", "CSINode", "spec.drivers"), "[name]");
}

#[test]
fn definitions_are_read_through_references_inline_types_and_maps() {
    let text = "
com.example.Widget:
  x-kubernetes-group-version-kind: [{group: example.com, version: v1, kind: Widget}]
  properties:
    spec: {$ref: '#/definitions/com.example.Spec'}
com.example.Spec:
  properties:
    parts:
      type: array
      x-kubernetes-patch-strategy: merge,retainKeys
      x-kubernetes-patch-merge-key: name
      items: {properties: {tags: {type: array, items: {type: string}, x-kubernetes-patch-strategy: merge}}}
    plain: {type: array, items: {type: string}}
    named: {additionalProperties: {$ref: '#/definitions/com.example.Spec'}}
    ring: {$ref: '#/definitions/ring'}
ring: {$ref: '#/definitions/ring'}
";
    let Value::Object(definitions) = yaml::read_value(text, &manifest::YamlLimits::default()).unwrap() else {
        panic!()
    };
    let mut schema = Schema::default();
    schema.select(read::graph(&definitions, BuiltIn::Absent));
    for (path, expected) in [
        ("spec.parts", "[name]"),
        ("spec.parts.tags", "[]"),
        ("spec.plain", "replaced"),
        ("spec.named.any.parts", "[name]"),
        ("spec.ring.x", "replaced"),
    ] {
        assert_eq!(keys(&schema, "example.com/v1", "Widget", path), expected, "{path}");
    }
    assert_eq!(keys(&schema, "apps/v1", "Deployment", "spec.template.spec.containers"), "replaced");
}

const PARTIAL: &str = "
definitions:
  com.example.Widget:
    x-kubernetes-group-version-kind: [{group: example.com, version: v1, kind: Widget}]
    properties:
      spec: {properties: {template: {$ref: '#/definitions/io.k8s.api.core.v1.PodTemplateSpec'}}}
";

/// Counts the containers of a Widget and of a Deployment, after a patch that adds a second container to each.
fn containers(top: &str, component: &str, base: &str) -> [usize; 2] {
    let object = |start: &str, name: &str| {
        format!(
            "{start}, metadata: {{name: a}}, spec: {{template: {{spec: {{containers: [{{name: {name}}}]}}}}}}}}\n---\n"
        )
    };
    let both = |name: &str| {
        object("{apiVersion: example.com/v1, kind: Widget", name)
            + &object("{apiVersion: apps/v1, kind: Deployment", name)
    };
    let (widget, patches) = (both("a"), both("b"));
    let component = format!("kind: Component\n{component}");
    let options = BuildOptions {
        reorder: Reorder::None,
        load_restrictor: LoadRestrictor::None,
        ..BuildOptions::default()
    };
    let files = [
        ("/kustomization.yaml", top),
        ("/component/kustomization.yaml", &component),
        ("/component/p.yaml", &patches),
        ("/p.yaml", &patches),
        ("/base/kustomization.yaml", base),
        ("/base/c.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}"),
        ("/base/o.yaml", PARTIAL),
        ("/component/o.yaml", PARTIAL),
        ("/o.yaml", PARTIAL),
        ("/w.yaml", &widget),
    ];
    let objects = build_with(&files, options).unwrap();
    ["Widget", "Deployment"].map(|kind| {
        let object = objects.iter().find(|object| object.kind() == kind).unwrap();
        object.get(&["spec", "template", "spec", "containers"]).and_then(Value::as_array).unwrap().len()
    })
}

#[test]
fn a_later_schema_keeps_the_built_in_definitions() {
    let (openapi, patches) = ("openapi: {path: o.yaml}", "patches: [{path: p.yaml}]");
    let merged =
        "resources: [c.yaml]\npatches: [{patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}'}]";
    let with = |resources: &str, rest: &str| format!("resources: [{resources}]\n{rest}");
    let base = with("c.yaml", openapi);
    for (top, component, base, expected) in [
        (with("w.yaml", &format!("{openapi}\n{patches}")), String::new(), "", [1, 1]),
        (with("base, w.yaml", patches), String::new(), &*base, [1, 1]),
        (with("w.yaml, base", patches), String::new(), &*base, [2, 2]),
        (with("w.yaml", "components: [component]"), format!("{openapi}\n{patches}"), "", [2, 2]),
        (
            with("base", "components: [component]"),
            with("../w.yaml", &format!("{openapi}\n{patches}")),
            merged,
            [2, 2],
        ),
    ] {
        assert_eq!(containers(&top, &component, base), expected, "{top} / {component} / {base}");
    }
}

#[test]
fn cluster_scoped_kinds_get_no_namespace_from_openapi_paths() {
    let path = |path: &str, group: &str, kind: &str| {
        format!(
            "  {path}: {{get: {{x-kubernetes-group-version-kind: {{group: {group}, version: v1, kind: {kind}}}}}}}\n"
        )
    };
    let schema = "definitions: {}\npaths:\n".to_owned()
        + &path("/widgets", "example.com", "Widget")
        + &path("/gadgets", "example.com", "Gadget")
        + &path("/namespaces/{namespace}/gadgets", "example.com", "Gadget")
        + &path("/api/v1/configmaps", "''", "ConfigMap");
    let kinds = ["example.com/v1, kind: Widget", "example.com/v1, kind: Gadget", "v1, kind: ConfigMap"];
    let objects = kinds.map(|kind| format!("{{apiVersion: {kind}, metadata: {{name: a}}}}\n")).join("---\n");
    let files = [
        ("/kustomization.yaml", "resources: [r.yaml]\nnamespace: ns\nopenapi: {path: o.yaml}"),
        ("/r.yaml", &objects),
        ("/o.yaml", &schema),
    ];
    let options = BuildOptions { reorder: Reorder::None, ..BuildOptions::default() };
    let built = build_with(&files, options).unwrap();
    assert_eq!(built.iter().map(Object::namespace).collect::<Vec<_>>(), ["", "ns", "ns"]);
}
