use manifest::{YamlLimits, read_stream};
use snapbox::{IntoData as _, assert_data_eq, str};

use super::*;

fn component(spec: &str) -> Object {
    let text = format!(
        "apiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {{name: demo, namespace: ns}}\nspec: {spec}\n"
    );
    read_stream(text.as_bytes(), &YamlLimits::default()).unwrap().objects.remove(0)
}

fn problems(spec: &str) -> String {
    let problems = check_component(&component(spec)).unwrap_err();
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

// Row: CMP-09
#[test]
fn every_field_of_the_sample_is_accepted() {
    let checked = check_component(&component(
        "
  namespace: target-ns
  name: target-name
  kubeConfig: {secretRef: {name: kubeconfig}}
  serviceAccountName: sa
  suspend: false
  requeueInterval: 10m
  retryInterval: 3m
  timeout: 5m30.5s
  reapplyInterval: 1h
  sourceRef: {fluxGitRepository: {namespace: source-ns, name: source-name}}
  digest: sha256:1
  revision: main/4b14dbc37ca976be75a7508bb41fb99d4a36ab9
  sticky: true
  path: ./deploy
  values: {someKey: {nested: [1, null]}}
  valuesFrom: [{name: values-secret}, {name: more, key: k}]
  decryption: {provider: sops, secretRef: {name: sops-secret}}
  postBuild:
    substitute: {VAR: VALUE}
    substituteFrom: [{name: subst-secret}]
    patches: [{patch: '{}', target: {kind: ConfigMap, labelSelector: a=b}}]
    images: [{name: a, newName: b, newTag: c, digest: d}]
  adoptionPolicy: IfUnowned
  updatePolicy: SsaOverride
  deletePolicy: Delete
  missingNamespacesPolicy: Create
  additionalManagedTypes: [{group: '*.x.io', kind: '*'}]
  dependencies: [{namespace: other-namespace, name: other-component}, {name: another-component}]",
    ))
    .unwrap();
    assert_eq!(checked.unknown_fields, [""; 0]);
    // Nothing was lost between the text and the types.
    let written = serde_json::to_value(&checked.component.spec).unwrap();
    let mut read = checked.object.get(&["spec"]).unwrap().clone();
    read.as_object_mut().unwrap().remove("suspend");
    assert_eq!(written, read);
}

// Row: CMP-26
#[test]
fn exactly_one_source_is_required() {
    let of = |spec: &str| problems(spec).lines().count();
    assert_eq!(of("{sourceRef: {fluxBucket: {name: a}, fluxHelmChart: {name: a}}}"), 1);
    assert_eq!(of("{sourceRef: {fluxNope: {name: a}}}"), 1);
    assert_data_eq!(
        [problems("{sourceRef: {}}"), problems("{}")].join("\n"),
        str![[r#"
spec.sourceRef: Invalid value: Exactly one of 'blueprint' or 'httpRepository' or 'fluxGitRepository' or 'fluxOciRepository' or 'fluxBucket' or 'fluxHelmChart' must be provided
spec.sourceRef: Required value
"#]]
        .raw()
    );
}

#[test]
fn an_api_server_accepts_the_same_sources() {
    let names = ["blueprint", "httpRepository", "fluxBucket", "fluxHelmChart"];
    for choice in 0..1 << names.len() {
        let chosen = names.iter().enumerate().filter(|(at, _)| choice & (1 << at) != 0);
        let fields: Vec<String> = chosen.map(|(_, name)| format!("{name}: {{name: a, url: b}}")).collect();
        let object = component(&format!("{{sourceRef: {{{}}}}}", fields.join(", ")));
        let by_rule = kube_cel::Validator::new().validate(&SCHEMA, &object.clone().into_value(), None);
        assert_eq!(check_component(&object).is_ok(), by_rule.is_ok(), "{fields:?}");
    }
}

#[test]
fn all_problems_of_a_component_are_reported_at_once() {
    assert_data_eq!(
        problems(
            "
  sourceRef: {fluxGitRepository: {name: 5}}
  adoptionPolicy: never
  requeueInterval: 5 minutes
  retryInterval: 30
  kubeConfig: {}
  valuesFrom: [{name: a}, {key: x}]
  postBuild: {substitute: {A: 5}, patches: {}}
  additionalManagedTypes: [{group: x}]"
        ),
        str![[r#"
spec.additionalManagedTypes[0].kind: Required value
spec.adoptionPolicy: Unsupported value: "never": supported values: "Never", "IfUnowned", "Always"
spec.kubeConfig.secretRef: Required value
spec.postBuild.patches: Invalid value: a mapping: must be of type array
spec.postBuild.substitute.A: Invalid value: a number: must be of type string
spec.requeueInterval: Invalid value: "5 minutes": must match '^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$'
spec.retryInterval: Invalid value: a number: must be of type string
spec.sourceRef.fluxGitRepository.name: Invalid value: a number: must be of type string
spec.valuesFrom[1].name: Required value
"#]]
        .raw()
    );
}

#[test]
fn unknown_fields_are_named_and_nulls_are_absent() {
    let checked = check_component(&component(
        "{sourceRef: {fluxBucket: {name: a, nmae: b}, fluxHelmChart: null}, digset: x, values: {free: {form: null}}}",
    ))
    .unwrap();
    assert_eq!(checked.unknown_fields, ["spec.digset", "spec.sourceRef.fluxBucket.nmae"]);
    assert_eq!(checked.component.spec.values.unwrap()["free"]["form"], Value::Null);
}

#[test]
fn other_kinds_and_missing_names_are_refused() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {}\nspec: {sourceRef: {fluxBucket: {name: a}}}\n";
    let object = read_stream(text.as_bytes(), &YamlLimits::default()).unwrap().objects.remove(0);
    let fields: Vec<_> = check_component(&object).unwrap_err().into_iter().map(|one| one.field).collect();
    assert_eq!(fields, ["apiVersion", "kind", "metadata.name"]);
}

#[test]
fn names_that_no_server_accepts_are_refused() {
    let mut object = component("{sourceRef: {fluxBucket: {name: s}}}");
    object.as_map_mut()["metadata"] = serde_json::json!({"name": "../x", "namespace": "a.b"});
    let problems = check_component(&object).unwrap_err();
    assert_data_eq!(
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        str![[r#"
metadata.name: Invalid value: `../x` is not a valid DNS-1123 subdomain: lower case letters, digits, `-` and `.`, with a letter or digit at both ends of each part
metadata.namespace: Invalid value: `a.b` is not a valid DNS-1123 label: lower case letters, digits and `-`, with a letter or digit at both ends
"#]]
    );
}

#[test]
fn names_labels_and_annotations_are_texts() {
    let mut object = component("{sourceRef: {fluxBucket: {name: s}}}").into_value();
    object["metadata"] = serde_json::json!({
        "name": 123, "namespace": false, "labels": {"a": 1, "b": "2"}, "annotations": {"c": ["d"]},
    });
    let problems = check_component(&Object::try_from(object).unwrap()).unwrap_err();
    assert_data_eq!(
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        str![[r#"
metadata.name: Invalid value: a number: must be of type string
metadata.namespace: Invalid value: a boolean: must be of type string
metadata.labels.a: Invalid value: a number: must be of type string
metadata.annotations.c: Invalid value: a list: must be of type string
"#]]
    );
}
