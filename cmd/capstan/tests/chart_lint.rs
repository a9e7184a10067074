use snapbox::{assert_data_eq, str};
use support::binary::TestEnvironment;

use crate::world;

fn with_chart() -> TestEnvironment {
    let world = world();
    world.write("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.2.3\nappVersion: 7\n");
    world
        .write("web/values.yaml", "name: Web_1\nimage:\n  tag: v1\n  registry: example.org\nspare: {a: 1}\n");
    world.write(
        "web/templates/a.yaml",
        "kind: Pod\nmetadata: {name: {{ .Values.name }}}\nimage: {{ .Values.image.tag }}\n\
         owner: {{ required \"set owner\" .Values.owner }}\n",
    );
    world
}

// Row: D-382
#[test]
fn findings_of_helm_are_followed_by_values_nobody_reads() {
    let world = with_chart();
    let run = world.run_line("chart lint web");
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stdout
==> Linting web
[ERROR] Chart.yaml: appVersion should be of type string but it's of type float64
[INFO] Chart.yaml: icon is recommended
[WARNING] templates/a.yaml: object name does not conform to Kubernetes naming requirements: "Web_1": metadata.name: Invalid value: "Web_1": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(/.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')
[INFO] templates/a.yaml:4: the template requires `owner`, but values.yaml does not contain it
[INFO] values.yaml:4: no template reads `image.registry`
[INFO] values.yaml:5: no template reads `spare`

--- stderr
error: 1 chart(s) linted, 1 chart(s) failed

"#]]
    );
    let run = world.run_line("chart lint web --set name=web --quiet -o json");
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stdout
{
  "charts": [
    {
      "place": "web",
      "failed": true,
      "findings": [
        {
          "severity": "error",
          "file": "Chart.yaml",
          "message": "appVersion should be of type string but it's of type float64"
        }
      ]
    }
  ]
}
--- stderr
{"kind":"user","exitCode":1,"message":"1 chart(s) linted, 1 chart(s) failed","causes":[],"hints":[]}

"#]]
    );
}

#[test]
fn warnings_fail_a_strict_run_and_values_can_remove_them() {
    let world = with_chart();
    world.write(
        "web/Chart.yaml",
        "apiVersion: v2\nname: web\nversion: 1.2.3\nicon: https://example.org/i.svg\n",
    );
    assert_eq!(world.run_line("chart lint web --quiet").status, 0);
    assert_eq!(world.run_line("chart lint web --quiet --strict").status, 1);
    let run = world.run_line("chart lint web --quiet --strict --set name=web");
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 0

"#]]
    );
}

#[test]
fn subcharts_and_broken_charts_are_checked_too() {
    let world = with_chart();
    world.write("web/charts/db/Chart.yaml", "apiVersion: v2\nname: db\nversion: x\n");
    world.write("broken/Chart.yaml", "apiVersion: v2\nname: [\n");
    let run = world.run_line("chart lint web broken missing --with-subcharts --set name=web");
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stdout
==> Linting web
[ERROR] Chart.yaml: appVersion should be of type string but it's of type float64
[INFO] Chart.yaml: icon is recommended
[ERROR] templates/: error unpacking subchart db in web: validation: chart.metadata.version "x" is invalid
[ERROR] web: unable to load chart
	error unpacking subchart db in web: validation: chart.metadata.version "x" is invalid

==> Linting broken
[ERROR] Chart.yaml: unable to parse YAML
	error converting YAML to JSON: yaml: line 2: did not find expected `,` or `]`
[INFO] values.yaml: file does not exist
[ERROR] templates/: cannot load Chart.yaml: error converting YAML to JSON: yaml: line 2: did not find expected `,` or `]`
[ERROR] broken: unable to load chart
	cannot load Chart.yaml: error converting YAML to JSON: yaml: line 2: did not find expected `,` or `]`

==> Linting missing
[ERROR] missing: cannot find chart `missing`

==> Linting web/charts/db
[ERROR] Chart.yaml: version 'x' is not a valid SemVer
[INFO] Chart.yaml: icon is recommended
[INFO] values.yaml: file does not exist
[ERROR] templates/: validation: chart.metadata.version "x" is invalid
[ERROR] web/charts/db: unable to load chart
	validation: chart.metadata.version "x" is invalid

--- stderr
error: 4 chart(s) linted, 4 chart(s) failed

"#]]
    );
}

#[test]
fn a_checked_chart_is_neither_installed_nor_upgraded() {
    let world = with_chart();
    world.write(
        "web/templates/a.yaml",
        "kind: A\nmetadata: {name: {{ .Release.IsInstall }}_{{ .Release.IsUpgrade }}_{{ .Release.Revision }}}\n",
    );
    let run = world.run_line("chart lint web");
    assert!(run.stdout.contains(": \"false_false_0\": "), "{run}");
}
