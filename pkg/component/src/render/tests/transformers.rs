//! Changes of rendered objects.

use super::*;
use crate::RECONCILER;

fn objects(texts: &[&str]) -> Vec<Object> {
    let text = texts.join("\n---\n");
    manifest::read_stream(text.as_bytes(), &manifest::YamlLimits::default()).expect("objects").objects
}

#[test]
fn substitution_leaves_out_objects_that_disable_it() {
    let disabled = format!(
        "{{kind: B, metadata: {{name: '${{N}}', annotations: {{{RECONCILER}/disableSubstitution: 'true'}}}}}}"
    );
    let substitute = |text: &str| {
        if text.contains("broken") { Err("no brace".to_owned()) } else { Ok(text.replace("${N}", "web")) }
    };
    let substitution = Substitution { substitute: &substitute };
    let changed = substitution.transform(objects(&["{kind: A, metadata: {name: '${N}'}}", &disabled]));
    let changed = changed.expect("objects");
    assert_eq!(changed.iter().map(Object::name).collect::<Vec<_>>(), ["web", "${N}"]);
    let broken = ["{kind: A, metadata: {name: broken}}", "{kind: B, metadata: {name: broken}}"];
    assert_eq!(substitution.transform(objects(&broken)).expect_err("two problems").problems.len(), 2);
}

#[test]
fn patches_and_images_change_rendered_objects_in_place() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: b}\nspec: {template: {spec: {containers: [{name: c, image: 'nginx:1'}]}}}";
    let transformer = KustomizeTransformer {
        patches: json!([{
            "target": {"kind": "Deployment"},
            "patch": "[{op: add, path: /spec/replicas, value: 3}]",
        }]),
        images: json!([{"name": "nginx", "newTag": "2"}]),
    };
    let namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: z}}";
    let changed = transformer.transform(objects(&[deployment, namespace])).expect("objects");
    assert_eq!(changed.iter().map(Object::name).collect::<Vec<_>>(), ["b", "z"]);
    assert_eq!(changed[0].get(&["spec", "replicas"]), Some(&json!(3)));
    let containers = changed[0].get(&["spec", "template", "spec", "containers"]);
    assert_eq!(containers, Some(&json!([{"name": "c", "image": "nginx:2"}])));
}
