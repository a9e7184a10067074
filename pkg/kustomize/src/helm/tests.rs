use snapbox::{assert_data_eq, str};

use crate::{Build, BuildOptions, BuildOutput, BuildReport, FetchResults, MemoryTree, TreePath};

use super::*;

fn run(
    files: &[(&str, &str)],
    answers: &FetchResults,
    helm: HelmPermission,
) -> Result<BuildOutput, BuildReport> {
    let tree: MemoryTree = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    let options = BuildOptions { helm, ..BuildOptions::default() };
    Build { tree: &tree, fetch_results: answers, options }.run(&TreePath::new("/top"))
}

fn only_request(files: &[(&str, &str)], answers: &FetchResults) -> FetchRequest {
    run(files, answers, HelmPermission::On).unwrap_err().requests.into_iter().next().unwrap()
}

const KUSTOMIZATION: &str = "namespace: ns\nhelmCharts: [{name: c, repo: 'https://r', version: '1', releaseName: r, \
                             valuesInline: {a: 2}, includeCRDs: true, additionalValuesFiles: [more.yaml]}]\n";

#[test]
fn a_chart_is_pulled_then_rendered_and_its_objects_are_added() {
    let mut files = vec![("/top/kustomization.yaml", KUSTOMIZATION), ("/top/more.yaml", "x: 1")];
    let mut answers = FetchResults::new();
    let pull = only_request(&files, &answers);
    let FetchRequest::ChartPull(chart) = &pull else { panic!("{pull:?}") };
    assert_eq!((&*chart.repo, chart.destination.as_str()), ("https://r", "/top/charts/c-1"));
    let root = TreePath::new("/.charts/c");
    answers.insert(pull, Ok(FetchedContent::Folder { top: root.clone(), root: root.clone() }));
    files.push(("/.charts/c/values.yaml", "a: 1\nb: 1\n"));
    let template = only_request(&files, &answers);
    let FetchRequest::ChartTemplate(asked) = &template else { panic!("{template:?}") };
    assert_eq!((&*asked.release, &*asked.namespace, &asked.chart), ("r", "ns", &root));
    assert_eq!(asked.flags, ["--include-crds"]);
    let more = ChartValues::File(TreePath::new("/top/more.yaml"));
    assert_eq!(asked.values, [ChartValues::Text("a: 2\nb: 1\n".to_owned()), more]);
    let printed = "walk.go: a message: of helm\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    answers.insert(template, Ok(FetchedContent::Bytes(printed.as_bytes().into())));
    let output = run(&files, &answers, HelmPermission::On).unwrap();
    assert_eq!(output.objects.iter().map(manifest::Object::name).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn a_chart_in_the_tree_is_not_pulled() {
    let files = [
        ("/top/kustomization.yaml", "helmCharts: [{name: c}]\n"),
        ("/top/charts/c/Chart.yaml", "name: c"),
        ("/top/charts/c/values.yaml", "a: 1"),
    ];
    let FetchRequest::ChartTemplate(asked) = only_request(&files, &FetchResults::new()) else {
        panic!("no template")
    };
    assert_eq!(asked.chart, TreePath::new("/top/charts/c"));
    assert_eq!(asked.values, [ChartValues::File(TreePath::new("/top/charts/c/values.yaml"))]);
}

// Row: D-248
#[test]
fn a_chart_without_values_uses_those_of_the_kustomization() {
    let wanted_with = |chart: &str| {
        let text = format!("helmCharts: [{chart}]\n");
        only_request(
            &[("/top/kustomization.yaml", &text), ("/top/charts/c/Chart.yaml", "name: c")],
            &FetchResults::new(),
        )
    };
    for (chart, expected) in [
        ("{name: c}", vec![]),
        ("{name: c, valuesInline: {a: 1}}", vec![ChartValues::Text("a: 1\n".to_owned())]),
    ] {
        let FetchRequest::ChartTemplate(asked) = wanted_with(chart) else { panic!("no template") };
        assert_eq!(asked.values, expected);
    }
}

#[test]
fn a_chart_of_the_old_field_takes_no_namespace_from_it() {
    let files = [
        (
            "/top/kustomization.yaml",
            "helmChartInflationGenerator: [{chartName: c, releaseNamespace: spare}]\n",
        ),
        ("/top/charts/c/values.yaml", "a: 1"),
    ];
    let FetchRequest::ChartTemplate(asked) = only_request(&files, &FetchResults::new()) else {
        panic!("no template")
    };
    assert_eq!(asked.namespace, "");
}

#[test]
fn a_chart_takes_the_namespace_of_the_nearest_kustomization_that_sets_one() {
    let files = [
        ("/top/kustomization.yaml", "namespace: top\nresources: [../mid]\n"),
        ("/mid/kustomization.yaml", "resources: [../base]\n"),
        ("/base/kustomization.yaml", "helmCharts: [{name: c}]\n"),
        ("/base/charts/c/Chart.yaml", "name: c"),
    ];
    let FetchRequest::ChartTemplate(asked) = only_request(&files, &FetchResults::new()) else {
        panic!("no template")
    };
    assert_eq!(asked.namespace, "top");
}

#[test]
fn a_failed_render_reports_the_reason_of_helm() {
    let files =
        [("/top/kustomization.yaml", "helmCharts: [{name: c}]\n"), ("/top/charts/c/values.yaml", "a: 1")];
    let template = only_request(&files, &FetchResults::new());
    let reported = run(
        &files,
        &FetchResults::from([(template, Err("no such function".to_owned()))]),
        HelmPermission::On,
    );
    assert_data_eq!(
        reported.unwrap_err().to_string(),
        str!["/top/kustomization.yaml: helmCharts[0]: cannot render `c`: no such function"]
    );
}

#[test]
fn charts_that_cannot_be_rendered_are_refused_with_a_reason() {
    let cases = [
        (HelmPermission::Off, "{name: c}"),
        (HelmPermission::On, "{repo: x}"),
        (HelmPermission::On, "{name: c}"),
        (HelmPermission::On, "{name: c, valuesMerge: x}"),
    ];
    let reported = cases.map(|(helm, chart)| {
        let text = format!("helmCharts: [{chart}]");
        run(&[("/top/kustomization.yaml", &text)], &FetchResults::new(), helm).unwrap_err().to_string()
    });
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
/top/kustomization.yaml: helmCharts[0]: cannot render chart `c` with `helm`: must specify --enable-helm
/top/kustomization.yaml: helmCharts[0]: `name` of the chart is missing
/top/kustomization.yaml: helmCharts[0]: no chart at `/top/charts/c`, and no `repo` to pull the chart from
/top/kustomization.yaml: helmCharts[0]: `valuesMerge` must be `override`, `merge` or `replace`, not `x`
"#]]
    );
}
