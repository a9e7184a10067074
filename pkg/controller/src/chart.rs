//! A Helm chart of the objects that run the controller, made from the same objects as the manifests.

use std::collections::BTreeMap;

use component::{RECONCILER, definitions};
use manifest::{Object, write_stream};
use serde_json::json;

use crate::{
    MAX_SHARDS,
    manifests::{DEFAULT_SERVICE_ACCOUNT, add_argument, bind_to, change_container, fixed_objects, of_shard},
};

/// Texts in objects, and the expressions that take their places in templates.
const EXPRESSIONS: [(&str, &str); 7] = [
    ("chart-namespace", "{{ .Release.Namespace }}"),
    ("chart-image", r#"{{ required "set the image, whose entry point is capstan" $.Values.image | quote }}"#),
    ("chart-binding", "component-operator{{ if .Values.clusterAdmin }}-admin{{ end }}"),
    ("chart-role", r#"{{ if .Values.clusterAdmin }}cluster-admin{{ else }}component-operator{{ end }}"#),
    ("replicas: 1\n", "replicas: {{ $.Values.replicas }}\n"),
    ("chart-index/chart-count", "{{ $index }}/{{ $.Values.shards }}"),
    ("chart-index", "{{ $index }}"),
];

const VALUES: &str = "\
# Image whose entry point is capstan.
image: ''
# Number of replicas of each shard, of which one works.
replicas: 1
# Number of shards, each with a Deployment of its own.
shards: 1
# Let the controller write every kind, instead of only acting as service accounts.
clusterAdmin: false
";

/// Returns the files of a Helm chart by path. Rendered in a namespace, its templates are the manifests without the
/// namespace. The definitions stay when the release is deleted.
pub fn chart_files(version: &str) -> BTreeMap<String, String> {
    let description = "The controller of Components.";
    let chart = format!(
        "apiVersion: v2\nname: component-operator\ndescription: {description}\ntype: application\nversion: {version}\nappVersion: {version}\n"
    );
    let mut files = BTreeMap::from([
        ("Chart.yaml".to_owned(), chart),
        ("values.yaml".to_owned(), VALUES.to_owned()),
        ("values.schema.json".to_owned(), values_schema()),
        ("templates/definitions.yaml".to_owned(), definitions_template()),
    ]);
    for mut object in fixed_objects("chart-namespace") {
        let name = format!("templates/{}.yaml", object.kind().to_lowercase());
        let text = match object.kind() {
            // `helm install --create-namespace` creates it.
            "Namespace" => continue,
            "ClusterRole" => {
                format!("{{{{- if not .Values.clusterAdmin }}}}\n{}{{{{- end }}}}\n", template(&object))
            }
            "Deployment" => deployment_template(&object),
            "ClusterRoleBinding" => {
                bind_to(&mut object, "chart-binding", "chart-role");
                template(&object)
            }
            _ => template(&object),
        };
        files.insert(name, text);
    }
    files
}

/// Returns the schema of the values, with the limits of the flags. Without it, the text `"false"` would be true in a template.
fn values_schema() -> String {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "image": {"type": "string"},
            "replicas": {"type": "integer", "minimum": 0},
            "shards": {"type": "integer", "minimum": 1, "maximum": MAX_SHARDS},
            "clusterAdmin": {"type": "boolean"},
        },
    });
    format!("{schema:#}\n")
}

/// Returns the definitions as a template. Helm upgrades them, but never deletes them.
fn definitions_template() -> String {
    let mut definitions = definitions();
    for definition in &mut definitions {
        definition.set_annotation("helm.sh/resource-policy", "keep");
    }
    write_stream(&definitions).replace("{{", "{{ \"{{\" }}") + "\n"
}

fn deployment_template(deployment: &Object) -> String {
    let mut deployment = deployment.clone();
    change_container(&mut deployment, |container| container["image"] = json!("chart-image"));
    let single = with_optional_argument(deployment.clone(), None);
    let shard = with_optional_argument(deployment, Some("chart-index"));
    format!(
        "{{{{- if eq (int .Values.shards) 1 }}}}\n{single}{{{{- else }}}}\n{{{{- range $index := until (int \
         .Values.shards) }}}}\n---\n{shard}{{{{- end }}}}\n{{{{- end }}}}\n"
    )
}

/// Returns a Deployment as a template, whose flag for the default service account depends on the values.
fn with_optional_argument(mut deployment: Object, index: Option<&str>) -> String {
    add_argument(&mut deployment, DEFAULT_SERVICE_ACCOUNT);
    if let Some(index) = index {
        deployment = of_shard(&deployment, index, "chart-index/chart-count");
    }
    let text = template(&deployment).replace(".Release", "$.Release");
    let is_flag = |line: &&str| line.contains(DEFAULT_SERVICE_ACCOUNT);
    let Some(line) = text.lines().find(is_flag) else { return text };
    text.replace(
        &format!("{line}\n"),
        &format!("        {{{{- if not $.Values.clusterAdmin }}}}\n{line}\n        {{{{- end }}}}\n"),
    )
}

/// Returns an object with expressions in place of its variable texts.
fn template(object: &Object) -> String {
    let text = write_stream(std::slice::from_ref(object)) + "\n";
    let label = format!("{RECONCILER}/shard: chart-index");
    let text = text.replace(&label, &format!("{RECONCILER}/shard: \"chart-index\""));
    EXPRESSIONS.iter().fold(text, |text, (from, to)| text.replace(from, to))
}
