use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::*;
use crate::tests::{build, built, error_text};

const WORKLOADS: &str = "
apiVersion: v1
kind: Service
metadata: {name: s}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: st, labels: null}
spec:
  template: {spec: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {}}}, {}]}}}}
  volumeClaimTemplates: [{spec: {}}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: cj}
spec: {jobTemplate: {spec: {selector: {matchLabels: null}}}}
";

/// Returns the paths at which a key stands in the objects, each with the kind of the object.
fn places(kustomization: &str, key: &str) -> Vec<String> {
    let mut found = Vec::new();
    for object in build(&[("/kustomization.yaml", kustomization), ("/r.yaml", WORKLOADS)]).unwrap() {
        let kind = object.kind().to_owned();
        walk(&object.into_value(), &kind, key, &mut found);
    }
    found
}

fn walk(value: &Value, at: &str, key: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) if fields.contains_key(key) => found.push(at.to_owned()),
        Value::Object(fields) => {
            for (name, value) in fields {
                walk(value, &format!("{at}/{name}"), key, found);
            }
        }
        Value::Array(items) => {
            for item in items {
                walk(item, at, key, found);
            }
        }
        _ => {}
    }
}

// Row: KUS-05
#[test]
fn labels_are_added_to_the_fields_of_their_entry() {
    let with =
        |entry: &str| places(&format!("resources: [r.yaml]\nlabels: [{{pairs: {{x: '1'}}{entry}}}]"), "x");
    let own = ["Service/metadata/labels", "StatefulSet/metadata/labels", "CronJob/metadata/labels"];
    assert_eq!(with(""), own);
    assert_eq!(
        with(", includeTemplates: true"),
        [
            "Service/metadata/labels",
            "StatefulSet/metadata/labels",
            "StatefulSet/spec/template/metadata/labels",
            "StatefulSet/spec/volumeClaimTemplates/metadata/labels",
            "CronJob/metadata/labels",
            "CronJob/spec/jobTemplate/metadata/labels",
            "CronJob/spec/jobTemplate/spec/template/metadata/labels",
        ]
    );
    let custom = with(", fields: [{kind: Service, path: spec/extra/tags, create: true}]");
    assert_eq!(custom, ["Service/metadata/labels", "Service/spec/extra/tags", own[1], own[2]]);
}

#[test]
fn common_labels_replace_null_only_in_creatable_fields() {
    let places = places("resources: [r.yaml]\ncommonLabels: {x: '1'}", "x");
    let selectors: Vec<&str> =
        places.iter().map(String::as_str).filter(|at| !at.ends_with("metadata/labels")).collect();
    let affinity = "StatefulSet/spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/\
                    labelSelector/matchLabels";
    assert_eq!(selectors, ["Service/spec/selector", "StatefulSet/spec/selector/matchLabels", affinity]);
}

#[test]
fn annotations_are_added_to_pod_templates_too() {
    let places = places("resources: [r.yaml]\ncommonAnnotations: {x: '1'}", "x");
    let pods: Vec<&String> = places.iter().filter(|at| at.contains("emplate")).collect();
    assert_eq!(
        pods,
        [
            "StatefulSet/spec/template/metadata/annotations",
            "CronJob/spec/jobTemplate/metadata/annotations",
            "CronJob/spec/jobTemplate/spec/template/metadata/annotations",
        ]
    );
}

#[test]
fn a_custom_field_spec_replaces_the_general_one() {
    let entry = "{pairs: {x: '1'}, fields: [{kind: Service, path: metadata/labels, create: true}]}";
    assert_eq!(places(&format!("resources: [r.yaml]\nlabels: [{entry}]"), "x"), ["Service/metadata/labels"]);
    let entry = entry.replace(", create: true", "");
    let kustomization = format!("resources: [r.yaml]\nlabels: [{entry}]");
    assert_data_eq!(
        error_text(&[("/kustomization.yaml", &kustomization), ("/r.yaml", WORKLOADS)]),
        str![
            "/kustomization.yaml: labels[0]: two field specs for `metadata/labels` of `*` differ in `create`: set both to the same value"
        ]
    );
}

#[test]
fn a_field_that_is_not_a_mapping_is_refused_with_its_object() {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {selector: [1]}";
    assert_data_eq!(
        error_text(&[
            ("/kustomization.yaml", "resources: [r.yaml]\ncommonLabels: {a: b}"),
            ("/r.yaml", service)
        ]),
        str![
            "/kustomization.yaml: commonLabels: `spec/selector` of `Service.v1.[noGrp]/s.[noNs]` must be a mapping, not a list"
        ]
    );
}

#[test]
fn new_labels_override_existing_ones() {
    let config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {a: b, c: d}}";
    let labels = "resources: [r.yaml]\ncommonLabels: {a: x}";
    let text = built(&[("/kustomization.yaml", labels), ("/r.yaml", config_map)]);
    assert_eq!(text["metadata"]["labels"], json!({"a": "x", "c": "d"}));
}

// Row: D-238
#[test]
fn labels_without_selectors_keep_the_selectors_of_a_base() {
    let service = built(&[
        ("/kustomization.yaml", "resources: [base]\nlabels: [{pairs: {team: a}}]"),
        (
            "/base/kustomization.yaml",
            "resources: [s.yaml]\nlabels: [{pairs: {team: b}, includeSelectors: true}]",
        ),
        ("/base/s.yaml", "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {app: x}}}"),
    ]);
    assert_eq!(service["metadata"]["labels"], json!({"team": "a"}));
    assert_eq!(service["spec"]["selector"], json!({"app": "x", "team": "b"}));
}
