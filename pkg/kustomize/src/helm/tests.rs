use std::collections::BTreeMap;

use snapbox::{assert_data_eq, str};
use support::tar::{TarEntry, gzip, tar};

use crate::{Build, BuildOptions, BuildOutput, BuildReport, FetchResults, MemoryTree, TreePath};

use super::*;

const CHART: &str = "apiVersion: v2\nname: c\nversion: 1.0.0\n";
/// Prints the facts that a kustomization decides.
const TEMPLATE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}\n\
    data: {values: {{ .Values | toJson | quote }}, kube: {{ .Capabilities.KubeVersion.Version }}, \
    api: {{ .Capabilities.APIVersions.Has \"lab/v1\" | quote }}}\n";

fn run(files: &[(&str, &str)], answers: &FetchResults) -> Result<BuildOutput, BuildReport> {
    let tree: MemoryTree = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    Build { tree: &tree, fetch_results: answers, options: BuildOptions::default() }
        .run(&TreePath::new("/top"))
}

/// Builds a kustomization beside the chart `c`, and returns the objects as YAML, or the problems.
fn built(kustomization: &str, others: &[(&str, &str)]) -> String {
    let mut files = vec![
        ("/top/kustomization.yaml", kustomization),
        ("/top/charts/c/Chart.yaml", CHART),
        ("/top/charts/c/templates/a.yaml", TEMPLATE),
    ];
    files.extend(others);
    match run(&files, &FetchResults::new()) {
        Ok(output) => {
            output.objects.into_iter().map(|object| manifest::yaml::write(&object.into_value())).collect()
        }
        Err(report) => report.to_string(),
    }
}

fn archive(files: &[(&str, &str)]) -> Arc<[u8]> {
    let entries: Vec<TarEntry> = files.iter().map(|(path, text)| TarEntry::file(*path, *text)).collect();
    gzip(&tar(&entries)).into()
}

#[test]
fn a_chart_of_a_repository_is_requested_once_and_rendered() {
    let files = [(
        "/top/kustomization.yaml",
        "helmCharts: [{name: c, repo: 'https://r', version: '1', releaseName: r}]\n",
    )];
    let mut answers = FetchResults::new();
    let requests = run(&files, &answers).unwrap_err().requests;
    let pull = ChartPull { name: "c".into(), repo: "https://r".into(), version: "1".into(), devel: false };
    assert_eq!(requests.iter().collect::<Vec<_>>(), [&FetchRequest::Chart(pull)]);
    let packed = archive(&[("c/Chart.yaml", CHART), ("c/templates/a.yaml", TEMPLATE)]);
    let request = requests.into_iter().next().unwrap();
    answers.insert(request.clone(), Ok(FetchedContent::Bytes(packed)));
    let output = run(&files, &answers).unwrap();
    assert_eq!(output.objects.iter().map(manifest::Object::name).collect::<Vec<_>>(), ["r"]);
    answers.insert(request, Err("offline".to_owned()));
    assert_data_eq!(
        run(&files, &answers).unwrap_err().to_string(),
        str!["/top/kustomization.yaml: helmCharts[0]: cannot fetch `c`: offline"]
    );
}

// Row: D-248
#[test]
fn values_come_from_the_chart_the_kustomization_and_further_files() {
    let own = ("/top/charts/c/values.yaml", "a: 1\nb: 1\n");
    let more = ("/top/more.yaml", "b: 3\n");
    let charts = [
        ("helmCharts: [{name: c, releaseName: r}]", vec![own]),
        ("helmCharts: [{name: c, releaseName: r, valuesInline: {a: 2}}]", vec![]),
        (
            "helmCharts: [{name: c, releaseName: r, valuesInline: {a: 2}, additionalValuesFiles: [more.yaml]}]",
            vec![own, more],
        ),
        ("helmCharts: [{name: c, releaseName: r, valuesFile: more.yaml}]", vec![own, more]),
    ];
    let reported = charts.map(|(kustomization, files)| {
        built(kustomization, &files).lines().find(|line| line.contains("values:")).unwrap().to_owned()
    });
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
  values: '{"a":1,"b":1}'
  values: '{"a":2}'
  values: '{"a":2,"b":3}'
  values: '{"a":1,"b":3}'
"#]]
    );
}

#[test]
fn the_namespace_is_that_of_the_nearest_kustomization_that_sets_one() {
    let files = [
        ("/top/kustomization.yaml", "namespace: top\nresources: [../mid]\n"),
        ("/mid/kustomization.yaml", "resources: [../base]\n"),
        ("/base/kustomization.yaml", "helmCharts: [{name: c, releaseName: r}]\n"),
        ("/base/charts/c/Chart.yaml", CHART),
        ("/base/charts/c/templates/a.yaml", TEMPLATE),
    ];
    let output = run(&files, &FetchResults::new()).unwrap();
    assert_eq!(output.objects[0].namespace(), "top");
}

#[test]
fn the_old_field_ignores_its_namespace() {
    let kustomization =
        "helmChartInflationGenerator: [{chartName: c, releaseName: r, releaseNamespace: spare}]\n";
    assert_data_eq!(
        built(kustomization, &[]),
        str![[r#"
apiVersion: v1
data:
  api: "false"
  kube: v1.37.0
  values: '{}'
kind: ConfigMap
metadata:
  name: r
  namespace: default

"#]]
    );
}

#[test]
fn a_kustomization_chooses_cluster_crds_hooks_and_release_name() {
    let chart = "{name: c, nameTemplate: '{{ \"x\" | repeat 3 }}', namespace: ns, kubeVersion: v1.30.1, \
                 apiVersions: [lab/v1], includeCRDs: true, skipHooks: true}";
    let others = [
        ("/top/charts/c/crds/a.yaml", "apiVersion: lab/v1\nkind: Crd\nmetadata: {name: crd}\n"),
        (
            "/top/charts/c/templates/hook.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n",
        ),
    ];
    assert_data_eq!(
        built(&format!("helmCharts: [{chart}]\n"), &others),
        str![[r#"
apiVersion: v1
data:
  api: "true"
  kube: v1.30.1
  values: '{}'
kind: ConfigMap
metadata:
  name: xxx
  namespace: ns
apiVersion: lab/v1
kind: Crd
metadata:
  name: crd

"#]]
    );
}

#[test]
fn a_release_without_a_name_is_named_after_the_chart_and_the_time() {
    let text = built("helmCharts: [{name: c}]\n", &[]);
    assert!(text.contains("\n  name: c-0\n"), "{text}");
}

#[test]
fn problems_of_a_chart_name_the_field_and_the_template() {
    let kustomization = "helmCharts: [{name: c, releaseName: r}]\n";
    let cases = [
        vec![("/top/charts/c/Chart.yaml", "name: c\n")],
        vec![("/top/charts/c/templates/b.yaml", "{{ .Values.a.b }}")],
        vec![("/top/charts/c/.helmignore", "[")],
        vec![("/top/charts/c/values.yaml", "[1]")],
    ];
    let reported = cases.map(|files| built(kustomization, &files));
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
/top/kustomization.yaml: helmCharts[0]: cannot load chart `c`: validation: chart.metadata.version is required
/top/kustomization.yaml: helmCharts[0]: cannot render `c`: template: c/templates/b.yaml:1:10: executing "c/templates/b.yaml" at <.Values.a.b>: nil pointer evaluating interface {}.b
/top/kustomization.yaml: helmCharts[0]: cannot read `/top/charts/c/.helmignore`: syntax error in pattern
/top/kustomization.yaml: helmCharts[0]: cannot load chart `c`: cannot load values.yaml: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}
"#]]
    );
}

#[test]
fn charts_that_cannot_be_rendered_are_refused_with_a_reason() {
    let cases = [
        "{repo: x}",
        "{name: gone}",
        "{name: c, valuesMerge: x}",
        "{name: c, releaseName: a, nameTemplate: b}",
        "{name: c, releaseName: --post-renderer=x}",
        "{name: c, releaseName: r, kubeVersion: x}",
    ];
    let reported = cases.map(|chart| built(&format!("helmCharts: [{chart}]"), &[]));
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
/top/kustomization.yaml: helmCharts[0]: `name` of the chart is missing
/top/kustomization.yaml: helmCharts[0]: no chart at `/top/charts/gone`, and no `repo` to pull the chart from
/top/kustomization.yaml: helmCharts[0]: `valuesMerge` must be `override`, `merge` or `replace`, not `x`
/top/kustomization.yaml: helmCharts[0]: `releaseName` and `nameTemplate` cannot be combined
/top/kustomization.yaml: helmCharts[0]: cannot render `c`: release name "--post-renderer=x": invalid release name, must match regex ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(/.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be longer than 53
/top/kustomization.yaml: helmCharts[0]: invalid kube version 'x': could not parse "x" as version
"#]]
    );
}

#[test]
fn hints_of_a_chart_name_no_flags_of_other_commands() {
    let kustomization = "helmCharts: [{name: c, releaseName: r}]\n";
    let cases = [
        ("/top/charts/c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\nkubeVersion: '>9'\n"),
        ("/top/charts/c/templates/b.yaml", "{{ .Values.name.first }}"),
        ("/top/charts/c/templates/b.yaml", "{{ .Values.missing.first }}"),
    ];
    let hints = cases.map(|(path, text)| {
        let mut files: BTreeMap<&str, &str> = BTreeMap::from([
            ("/top/kustomization.yaml", kustomization),
            ("/top/charts/c/Chart.yaml", CHART),
            ("/top/charts/c/values.yaml", "names: {first: x}\n"),
        ]);
        files.insert(path, text);
        let files: Vec<(&str, &str)> = files.into_iter().collect();
        let report = run(&files, &FetchResults::new()).unwrap_err();
        report.errors.iter().flat_map(BuildProblem::hints).collect::<Vec<_>>().join(" ")
    });
    assert_data_eq!(
        hints.join("\n"),
        str![[r#"
set `kubeVersion` in the entry of the chart
line 1 of `c/templates/b.yaml`: `.Values.name` has no value; similar names are `names`
line 1 of `c/templates/b.yaml`: set a value for `.Values.missing`
"#]]
    );
}
