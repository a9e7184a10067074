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
    let variables = [("N".to_owned(), "web".to_owned())].into();
    let substitution = Substitution { variables: &variables, sources: &variables };
    let changed = substitution.transform(objects(&["{kind: A, metadata: {name: '${N}'}}", &disabled]));
    let changed = changed.expect("objects");
    assert_eq!(changed.iter().map(Object::name).collect::<Vec<_>>(), ["web", "${N}"]);
    let broken = ["{kind: A, metadata: {name: '${'}}", "{kind: B, metadata: {name: '${-'}}"];
    assert_eq!(substitution.transform(objects(&broken)).expect_err("two problems").problems.len(), 2);
}

// Row: CMP-55
#[test]
fn variables_with_invalid_names_are_ignored() {
    let pairs = [("N", "web"), ("a-b", "x"), ("a.b", "x"), ("a b", "x")];
    let variables = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let substitution = Substitution { variables: &variables, sources: &variables };
    let text = "{kind: A, metadata: {name: '${N}'}, data: {a: 'a-b a.b a b $a-b'}}";
    let changed = substitution.transform(objects(&[text])).expect("an object");
    assert_eq!(
        (changed[0].name(), changed[0].get(&["data", "a"])),
        ("web", Some(&json!("a-b a.b a b $a-b")))
    );
    for name in ["a-b", "a.b", "a b"] {
        let text = format!("{{kind: A, metadata: {{name: '${{{name}}}'}}}}");
        assert!(substitution.transform(objects(&[&text])).is_err(), "{name}");
    }
}

#[test]
fn a_failed_substitution_does_not_show_a_secret() {
    let variables = [("N".to_owned(), "hidden: [".to_owned())].into();
    let substitution = Substitution { variables: &variables, sources: &variables };
    let secret = |password: &str| {
        let text = format!("{{apiVersion: v1, kind: Secret, stringData: {{password: '{password}'}}}}");
        substitution.transform(objects(&[&text])).expect_err("a problem").to_string()
    };
    snapbox::assert_data_eq!(
        [secret("${hidden"), secret("${N}")].join("\n"),
        snapbox::str![[r#"
cannot substitute the variables of Secret without name: line 4, column 13: expected `}` or an operator after the name
cannot substitute the variables of Secret without name: the result is no YAML: line 4: a mapping value is not allowed here
"#]]
    );
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
