//! The rules for templates and their output.

use std::sync::LazyLock;

use regex::bytes::Regex;
use serde_json::Value;

use super::{Findings, deprecation, object_name};
use crate::chart::Chart;
use crate::decode::{Fields, TypeError};
use crate::files::extension;
use crate::options::RenderOptions;
use crate::value_tree::{go_text, read_json};
use crate::values::Values;

static CRD_HOOK: LazyLock<Regex> = LazyLock::new(|| pattern(r#""?helm\.sh/hook"?:\s+crd-install"#));
static RELEASE_TIME: LazyLock<Regex> = LazyLock::new(|| pattern(r"\.Release\.Time"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("invariant: a valid pattern")
}

/// Renders the chart and checks its own templates. Helm checks those of subcharts with `--with-subcharts`.
pub(super) fn check(chart: &Chart, values: &Values, options: &RenderOptions, findings: &mut Findings) {
    let outputs = match chart.render_for_lint(values, options) {
        Ok(Some(outputs)) => outputs,
        Ok(None) => return,
        Err(error) => return findings.error("templates/", error.to_string()),
    };
    for template in &chart.loaded.templates {
        let path = template.path.as_str();
        let extension = extension(path);
        if !matches!(extension, ".yaml" | ".yml" | ".tpl" | ".txt") {
            let valid = "Valid extensions are .yaml, .yml, .tpl, or .txt";
            findings.error(path, format!("file extension '{extension}' not valid. {valid}"));
        }
        if CRD_HOOK.is_match(&template.content) {
            findings.warning(
                path,
                "manifest is a crd-install hook. This hook is no longer supported in v3 and all CRDs should also exist \
                 the crds/ directory at the top level of the chart",
            );
        }
        if RELEASE_TIME.is_match(&template.content) {
            findings.error(
                path,
                ".Release.Time has been removed in v3, please replace with the `now` function in your templates",
            );
        }
        let name = format!("{}/{path}", chart.metadata().name);
        let output = outputs.iter().find(|(output, _)| *output == name).map_or("", |(_, text)| text);
        if extension == ".yaml" && !output.trim().is_empty() && !check_output(path, output, options, findings)
        {
            return;
        }
    }
}

/// Checks the documents of a template. False if one is not YAML: Helm then checks no further template.
fn check_output(path: &str, output: &str, options: &RenderOptions, findings: &mut Findings) -> bool {
    if let Some(line) = output.lines().find(|line| !line.trim().is_empty())
        && line.starts_with([' ', '\t'])
    {
        findings.warning(
            path,
            format!("document starts with an illegal indent: {line:?}, which may cause parsing problems"),
        );
    }
    for document in documents(output) {
        let document = match document {
            Ok(document) => document,
            Err(rest) => {
                findings
                    .error(path, format!("unable to parse YAML: invalid Yaml document separator: {rest}"));
                return false;
            }
        };
        match read_json(document.as_bytes()) {
            Ok(Value::Null) => {}
            Ok(json) => match Head::read(&json) {
                Ok(head) => head.check(path, output, &json, options, findings),
                Err(error) => {
                    findings.error(path, format!("unable to parse YAML: {error}"));
                    return false;
                }
            },
            Err(error) => {
                let reason = go_text(&error);
                findings.error(
                    path,
                    format!("unable to parse YAML: error converting YAML to JSON: yaml: {reason}"),
                );
                return false;
            }
        }
    }
    true
}

/// Splits an output as Kubernetes does: at lines with only `---` and a comment. The text behind any other `---` at the
/// start of a line is an error in place of the document before it.
fn documents(output: &str) -> Vec<Result<&str, &str>> {
    let mut documents = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in output.split_inclusive('\n') {
        if let Some(rest) = line.strip_prefix("---") {
            let rest = rest.trim();
            if !rest.is_empty() && !rest.starts_with('#') {
                documents.push(Err(rest));
                return documents;
            }
            documents.push(Ok(&output[start..at]));
            start = at + line.len();
        }
        at += line.len();
    }
    documents.push(Ok(&output[start..]));
    documents
}

/// The checked fields of an object.
#[derive(Default)]
struct Head {
    api_version: String,
    kind: String,
    name: String,
}

impl Head {
    fn read(json: &Value) -> Result<Self, TypeError> {
        let mut head = Self::default();
        let fields = Fields::of(json, "K8sYamlStruct", "rules.K8sYamlStruct")?;
        fields.text("apiVersion", &mut head.api_version)?;
        fields.text("kind", &mut head.kind)?;
        let metadata = fields.get("metadata").unwrap_or(&Value::Null);
        let metadata = Fields::of(metadata, "K8sYamlStruct.metadata", "rules.k8sYamlMetadata")?;
        metadata.text("namespace", &mut String::new())?;
        metadata.text("name", &mut head.name)?;
        Ok(head)
    }

    fn check(
        &self,
        path: &str,
        output: &str,
        json: &Value,
        options: &RenderOptions,
        findings: &mut Findings,
    ) {
        let Self { api_version, kind, name } = self;
        if let Some(problem) = object_name::problem(kind, name) {
            findings.warning(path, problem);
        }
        if let Some(warning) = deprecation::warning(api_version, kind, &options.capabilities.kube_version) {
            findings.warning(path, warning);
        }
        let is_workload = matches!(kind.as_str(), "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet");
        if is_workload && !output.contains("matchLabels") && !output.contains("matchExpressions") {
            findings.error(
                path,
                format!("a {kind} must contain matchLabels or matchExpressions, and {name:?} does not"),
            );
        }
        let has_policy = |item: &Value| {
            item.pointer("/metadata/annotations/helm.sh~1resource-policy").is_some_and(Value::is_string)
        };
        if kind == "List" && json["items"].as_array().is_some_and(|items| items.iter().any(has_policy)) {
            findings.error(path, "Annotation 'helm.sh/resource-policy' within List objects are ignored");
        }
    }
}
