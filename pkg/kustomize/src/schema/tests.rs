use manifest::{Value, yaml};

use super::*;

fn way<'s>(schema: &'s Schema, api_version: &str, kind: &str, way: &str) -> Option<&'s Field> {
    let mut at = schema.kind(api_version, kind)?;
    let mut steps = way.split('.').peekable();
    while let Some(step) = steps.next() {
        let field = schema.field(at, step)?;
        if steps.peek().is_none() {
            return Some(field);
        }
        at = field.of?;
    }
    None
}

fn keys(schema: &Schema, api_version: &str, kind: &str, path: &str) -> String {
    match way(schema, api_version, kind, path).and_then(|field| field.keys.as_deref()) {
        Some(keys) => format!("[{}]", keys.join(",")),
        None => "replaced".to_owned(),
    }
}

#[test]
fn lists_of_built_in_kinds_have_their_keys_and_only_under_the_exact_version() {
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
fn every_type_that_is_named_in_the_tables_is_there() {
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
    let Value::Object(definitions) = yaml::read_value(text, &Limits::default()).unwrap() else { panic!() };
    let schema = Schema { graph: Arc::new(read::graph(&definitions)), is_chosen: true };
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
