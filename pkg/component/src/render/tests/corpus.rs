//! Sources with the objects or texts that component-operator-runtime rendered, or with the fact that it refused.

use std::fs;
use std::path::Path;

use chart::{Capabilities, KubeVersion};
use manifest::{YamlLimits, read_stream, yaml};
use serde_json::Map;
use support::folder::{files, folders};

use super::*;

/// Cases in which the runtime renders nothing, as the chart around the subcharts has no templates.
const UMBRELLA_CHARTS: [&str; 3] = ["subchart-condition-spaces", "subchart-tags", "subchart-values-nonmap"];

#[test]
fn every_template_prints_what_the_runtime_printed() {
    check("template", &[], |case| {
        let tree: MemoryTree =
            [("/template", fs::read(case.join("template")).unwrap())].into_iter().collect();
        let mut request = RenderRequest::new(&tree, "demo", "demo-ns");
        request.values = values(case);
        let printed = render_template(&request, "template").map_err(|error| error.to_string())?;
        Ok(difference(&printed, &fs::read(case.join("expected.txt")).unwrap_or_default()))
    });
}

#[test]
fn every_kustomization_renders_the_objects_of_the_runtime() {
    check("kustomize", &[], objects_of);
}

#[test]
fn every_chart_renders_the_objects_of_the_runtime() {
    check("chart", &UMBRELLA_CHARTS, objects_of);
}

/// Runs all cases of a set. `run` returns the difference, or else the reason of a refusal.
fn check(set: &str, departures: &[&str], run: impl Fn(&Path) -> Result<Option<String>, String>) {
    let Some(corpus) = support::skip::corpus() else { return };
    let mut failed = Vec::new();
    let mut count = 0;
    for case in folders(&corpus.join("components").join(set)) {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        if departures.contains(&name.as_str()) {
            continue;
        }
        count += 1;
        let facts: Value = serde_json::from_slice(&fs::read(case.join("case.json")).unwrap()).unwrap();
        let found = match (run(&case), facts["expect"] == "error") {
            (Ok(_), true) => Some("the runtime refused this".to_owned()),
            (Ok(found), false) => found,
            (Err(_), true) => None,
            (Err(reason), false) => Some(format!("refused: {reason}")),
        };
        failed.extend(found.map(|found| format!("{name}: {found}")));
    }
    assert!(count > 0, "no cases of {set}");
    assert!(failed.is_empty(), "{} of {count} cases differ:\n{}", failed.len(), failed.join("\n"));
}

fn difference<T: PartialEq + std::fmt::Debug + ?Sized>(printed: &T, expected: &T) -> Option<String> {
    (printed != expected).then(|| format!("expected\n{expected:?}\nfound\n{printed:?}"))
}

fn objects_of(case: &Path) -> Result<Option<String>, String> {
    let component = read_yaml(&case.join("component.yaml"));
    let spec = |name: &str| component["spec"][name].as_str();
    let tree: MemoryTree = files(&case.join("source")).into_iter().collect();
    let name = spec("name").unwrap_or("demo");
    let mut request = RenderRequest::new(&tree, name, spec("namespace").unwrap_or("demo-ns"));
    request.path = spec("path").unwrap_or_default();
    request.values = values(case);
    request.capabilities = capabilities(case);
    request.component = component.clone();
    let objects = render(&request).map_err(|error| error.to_string())?;
    let objects: Vec<Value> = objects.into_iter().map(|object| normalize(object.into_value())).collect();
    let expected = fs::read(case.join("expected.yaml")).unwrap_or_default();
    let expected = read_stream(&expected, &YamlLimits::default()).unwrap().objects;
    let expected: Vec<Value> = expected.into_iter().map(|object| normalize(object.into_value())).collect();
    Ok(difference(&objects, &expected))
}

/// Makes whole numbers equal to integers.
fn normalize(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "whole and small")]
            Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => json!(float as i64),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(normalize).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, normalize(value))).collect(),
        other => other,
    }
}

fn capabilities(case: &Path) -> Capabilities {
    let facts = read_yaml(&case.join("case.json"));
    let args: Vec<&str> = facts["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let after = |flag: &str| args.iter().position(|arg| *arg == flag).and_then(|at| args.get(at + 1));
    let mut capabilities = Capabilities::default();
    if let Some(version) = after("--kube-version") {
        capabilities.kube_version = KubeVersion::parse(version).unwrap();
    }
    if let Some(file) = after("--api-versions") {
        let text = fs::read_to_string(case.join(file)).unwrap();
        capabilities.api_versions = text.lines().map(str::to_owned).collect();
    }
    capabilities
}

fn values(case: &Path) -> Value {
    let path = case.join("values.yaml");
    if path.exists() { read_yaml(&path) } else { Value::Object(Map::new()) }
}

fn read_yaml(path: &Path) -> Value {
    match yaml::read_value(&fs::read_to_string(path).unwrap(), &YamlLimits::default()).unwrap() {
        Value::Null => Value::Object(Map::new()),
        value => value,
    }
}
