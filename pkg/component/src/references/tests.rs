use manifest::read_stream;
use snapbox::{assert_data_eq, str};

use super::*;
use crate::check_component;

const SECRETS: &str = "
apiVersion: v1
kind: Secret
metadata: {name: first}
stringData: {values.yaml: '{a: {x: 1, w: 2}, list: [1, 2]}', values.yml: '{a: wrong}'}
---
apiVersion: v1
kind: Secret
metadata: {name: second, namespace: ns}
data: {custom: YToge3c6IDMsIHo6IDR9}
stringData: {A: secret-a, B: secret-b}
---
apiVersion: v1
kind: Secret
metadata: {name: elsewhere, namespace: other}
stringData: {values: '{}'}
---
apiVersion: v1
kind: Secret
metadata: {name: list}
stringData: {values: '[1]'}
";

async fn load(spec: &str) -> Result<References, String> {
    let text = format!(
        "apiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {{name: demo, namespace: ns}}\nspec:\n  sourceRef: {{fluxBucket: {{name: a}}}}\n{spec}"
    );
    let read = |text: &str| read_stream(text.as_bytes(), &YamlLimits::default()).unwrap().objects;
    let component = check_component(&read(&text)[0]).unwrap().component;
    let loaded = load_references(&component, &LocalObjects::new(read(SECRETS), "ns")).await;
    loaded.map_err(|problems| {
        problems.iter().map(|one| format!("{}: {one}", one.field)).collect::<Vec<_>>().join("\n")
    })
}

// Row: CMP-40, CMP-41, CMP-42, CMP-43, CMP-44
#[tokio::test]
async fn values_of_secrets_are_merged_in_order_and_inline_values_win() {
    let loaded =
        load("  values: {a: {z: 5}}\n  valuesFrom: [{name: first}, {name: second, key: custom}]\n").await;
    let values = Value::Object(loaded.unwrap().values);
    assert_eq!(values, serde_json::json!({"a": {"x": 1, "w": 3, "z": 5}, "list": [1, 2]}));
}

// Row: CMP-53, CMP-54
#[tokio::test]
async fn inline_variables_override_those_of_secrets() {
    let loaded =
        load("  postBuild: {substitute: {B: inline, C: c}, substituteFrom: [{name: second}]}\n").await;
    let variables = loaded.unwrap().variables;
    let of = |name: &str| variables.get(name).map(String::as_str);
    assert_eq!((of("A"), of("B"), of("C")), (Some("secret-a"), Some("inline"), Some("c")));
}

// Row: CMP-17
#[tokio::test]
async fn all_missing_references_are_reported_at_once() {
    let missing = load(
        "  kubeConfig: {secretRef: {name: elsewhere}}
  values: [1]
  valuesFrom: [{name: gone}, {name: first, key: nokey}, {name: second}, {name: list}]
  decryption: {provider: vault, secretRef: {name: second}}
  postBuild: {substituteFrom: [{name: gone}]}\n",
    )
    .await;
    assert_data_eq!(
        missing.unwrap_err(),
        str![[r#"
spec.kubeConfig.secretRef: error loading secret ns/elsewhere: secrets "elsewhere" not found
spec.valuesFrom[0]: error loading secret ns/gone: secrets "gone" not found
spec.valuesFrom[1]: key nokey not found in secret ns/first
spec.valuesFrom[2]: no matching key found in secret ns/second (tried values, values.yaml, values.yml)
spec.valuesFrom[3]: secret ns/list: the values must be a mapping, not a list
spec.values: values must be a mapping, not a list
spec.decryption.provider: invalid decryption provider: vault
spec.postBuild.substituteFrom[0]: error loading secret ns/gone: secrets "gone" not found
"#]]
    );
}

#[test]
fn a_mapping_is_replaced_by_other_values() {
    let map = |value: Value| value.as_object().cloned().unwrap();
    let mut onto = map(serde_json::json!({"a": {"b": 1}, "c": 1}));
    merge(&mut onto, map(serde_json::json!({"a": 2, "c": {"d": null}})));
    assert_eq!(Value::Object(onto), serde_json::json!({"a": 2, "c": {"d": null}}));
}
