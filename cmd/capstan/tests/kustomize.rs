use std::fs;

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{
    binary::TestEnvironment,
    host::{FakeHost, Reply},
    tar::{TarEntry, gzip, tar},
};
use transport::Digest;

use crate::world;

const SECRET: &str = "s3cret-of-nobody";

fn with_overlay() -> TestEnvironment {
    let world = world();
    world.write("base/kustomization.yaml", "resources: [map.yaml]\n");
    world.write("base/map.yaml", map("m"));
    world.write("overlay/kustomization.yaml", "namePrefix: pre-\nresources: [../base]\n");
    world
}

fn map(name: &str) -> String {
    format!("apiVersion: v1\ndata: {{b: '1', a: x}}\nkind: ConfigMap\nmetadata:\n  name: {name}\n")
}

fn built(world: &TestEnvironment, arguments: &str) -> String {
    let run = world.run_line(&format!("kustomize {arguments}"));
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{arguments}\n{run}");
    run.stdout
}

// Row: KUS-43
#[test]
fn a_build_equals_the_output_of_kustomize() {
    let world = with_overlay();
    let expected = "apiVersion: v1\ndata:\n  a: x\n  b: \"1\"\nkind: ConfigMap\nmetadata:\n  name: pre-m\n";
    assert_eq!(built(&world, "build overlay"), expected);
    let flags = "--enable-alpha-plugins --enable-exec --network --network-name n --mount type=bind -e A=1 \
                 --as-current-user --reorder none --load-restrictor LoadRestrictionsRootOnly overlay";
    assert_eq!(built(&world, &format!("build {flags}")), expected);
    world.write("kustomization.yaml", "resources: [overlay]\n");
    assert_eq!(built(&world, "build"), expected);
    assert!(built(&world, "build --enable-managedby-label").contains("managed-by: kustomize-v"));
}

#[test]
fn field_origins_are_printed_as_comments_or_json() {
    let world = with_overlay();
    let patch = "patches: [{path: p.yaml}, {patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {c: z}}'}]\n";
    world.write("overlay/kustomization.yaml", format!("namePrefix: pre-\nresources: [../base]\n{patch}"));
    world.write("overlay/p.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {b: '2'}}");
    let expected = "\
# base/map.yaml
apiVersion: v1
data:
  a: x
  b: \"2\" # overlay/kustomization.yaml: patches[0] (overlay/p.yaml)
  c: z # overlay/kustomization.yaml: patches[1]
kind: ConfigMap
metadata:
  name: pre-m # overlay/kustomization.yaml: namePrefix
";
    assert_eq!(built(&world, "build overlay --provenance"), expected);
    assert_eq!(built(&world, "build overlay --provenance -o out.yaml"), "");
    assert_eq!(world.read(world.current_dir().join("out.yaml")), expected);
    let report: Value = serde_json::from_str(&built(&world, "build overlay --provenance=json")).unwrap();
    let object = &report["objects"][0];
    assert_eq!((&object["name"], &object["origin"]["file"]), (&"pre-m".into(), &"base/map.yaml".into()));
    let field = &object["fields"][0];
    assert_eq!((&field["path"], &field["setBy"]["content"]), (&"/data/b".into(), &"overlay/p.yaml".into()));
    assert_data_eq!(
        world.run_line("kustomize build overlay --provenance=yaml").to_string(),
        str![[r#"
exit 1
--- stderr
error: invalid value `yaml` for `--provenance`
hint: use comments or json

"#]]
    );
}

// Row: KUS-28
// Row: KUS-45
#[cfg(unix)]
#[test]
fn paths_and_links_stay_inside_the_root_unless_allowed() {
    let world = with_overlay();
    world.write("one/kustomization.yaml", "resources: [link.yaml, ../base/map.yaml]\n");
    world.write("other.yaml", map("other"));
    std::os::unix::fs::symlink("../other.yaml", world.current_dir().join("one/link.yaml")).unwrap();
    assert_data_eq!(
        world.screens([
            "kustomize build one",
            "kustomize build one --load-restrictor LoadRestrictionsNone",
            "kustomize build one --load-restrictor none",
        ]),
        str![[r#"
$ capstan kustomize build one
exit 1
--- stderr
error: cannot build `one`: 2 errors
  cause: one/kustomization.yaml: resources[0]: `[CWD]/other.yaml` is outside `[CWD]/one`
  cause: one/kustomization.yaml: resources[1]: `[CWD]/base/map.yaml` is outside `[CWD]/one`

$ capstan kustomize build one --load-restrictor LoadRestrictionsNone
exit 0
--- stdout
apiVersion: v1
data:
  a: x
  b: "1"
kind: ConfigMap
metadata:
  name: m
---
apiVersion: v1
data:
  a: x
  b: "1"
kind: ConfigMap
metadata:
  name: other

$ capstan kustomize build one --load-restrictor none
exit 1
--- stderr
error: invalid value `none` for `--load-restrictor`
hint: use LoadRestrictionsRootOnly or LoadRestrictionsNone

"#]]
    );
}

// Row: D-220
#[test]
fn all_build_errors_are_reported_with_their_file_chain() {
    let world = with_overlay();
    world.write("base/kustomization.yaml", "resource: [map.yaml]\n");
    world.write("overlay/kustomization.yaml", "resources: [../base, gone.yaml]\n");
    assert_data_eq!(
        world.screens(["kustomize build overlay", "kustomize build gone", "kustomize build base/map.yaml"]),
        str![[r#"
$ capstan kustomize build overlay
exit 1
--- stderr
error: cannot build `overlay`: 2 errors
  cause: base/kustomization.yaml: unknown field `resource`; did you mean `resources`? (included by overlay/kustomization.yaml)
  cause: overlay/kustomization.yaml: resources[1]: cannot find `gone.yaml`: no file or folder at `[CWD]/overlay/gone.yaml`

$ capstan kustomize build gone
exit 1
--- stderr
error: the folder `gone` does not exist

$ capstan kustomize build base/map.yaml
exit 1
--- stderr
error: `base/map.yaml` is a file
hint: use the folder that contains `kustomization.yaml`

"#]]
    );
}

// Row: D-228
#[test]
fn a_build_writes_one_file_or_one_file_per_object() {
    let world = with_overlay();
    let text = built(&world, "build overlay");
    assert_eq!(built(&world, "build overlay -o out.yaml"), "");
    assert_eq!(world.read(world.current_dir().join("out.yaml")), text);
    fs::create_dir(world.current_dir().join("out")).unwrap();
    assert_eq!(built(&world, "build overlay -o out"), "");
    assert_eq!(world.read(world.current_dir().join("out/v1_configmap_pre-m.yaml")), text);
    world.write("base/map.yaml", map("a/b"));
    assert_data_eq!(
        world.run_line("kustomize build overlay -o out").to_string(),
        str![[r#"
exit 1
--- stderr
error: `v1_configmap_pre-a/b.yaml` is not a unique and valid file name for an object; nothing was written
hint: write to one file instead of a folder

"#]]
    );
    world.write("base/map.yaml", "[");
    world.run_expecting_failure("kustomize build overlay -o out.yaml");
    assert_eq!(world.read(world.current_dir().join("out.yaml")), text);
}

#[test]
fn a_build_warning_is_reported_once() {
    let world = with_overlay();
    world.write("base/kustomization.yaml", "resources: [map.yaml]\ncommonLabels: {a: b}\n");
    world.write("two/kustomization.yaml", "resources: [../base]\nnamePrefix: two-\n");
    world.write("kustomization.yaml", "resources: [overlay, two]\n");
    assert_data_eq!(
        world.run_line("kustomize build").to_string(),
        str![[r#"
exit 0
--- stdout
apiVersion: v1
data:
  a: x
  b: "1"
kind: ConfigMap
metadata:
  labels:
    a: b
  name: pre-m
---
apiVersion: v1
data:
  a: x
  b: "1"
kind: ConfigMap
metadata:
  labels:
    a: b
  name: two-m
--- stderr
warning: base/kustomization.yaml: `commonLabels` is deprecated: use `labels` (included by kustomization.yaml, overlay/kustomization.yaml)

"#]]
    );
}

// Row: D-356
#[test]
fn charts_are_rendered_without_helm_and_its_flags_have_no_effect() {
    let world = world();
    let charts = "helmCharts: [{name: c, releaseName: r, valuesInline: {a: 1}, apiVersions: [v9]}]\n";
    world.write("kustomization.yaml", charts);
    world.write("charts/c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
    world.write("charts/c/values.yaml", "b: 2\n");
    world.write(
        "charts/c/templates/map.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata:\n  \
         values: {{ .Values | toJson | quote }}\n  kube: {{ .Capabilities.KubeVersion.Version }}\n  \
         v8: {{ .Capabilities.APIVersions.Has \"v8\" | quote }}\n  v9: {{ .Capabilities.APIVersions.Has \"v9\" | quote }}\n",
    );
    let flags = "--enable-helm --helm-command no-such-helm --helm-debug --helm-kube-version v1.30 --helm-api-versions v8";
    assert_data_eq!(
        world.screens(["kustomize build", &format!("kustomize build {flags}")]),
        str![[r#"
$ capstan kustomize build
exit 0
--- stdout
apiVersion: v1
data:
  kube: v1.37.0
  v8: "false"
  v9: "true"
  values: '{"a":1,"b":2}'
kind: ConfigMap
metadata:
  name: r

$ capstan kustomize build --enable-helm --helm-command no-such-helm --helm-debug --helm-kube-version v1.30 --helm-api-versions v8
exit 0
--- stdout
apiVersion: v1
data:
  kube: v1.30
  v8: "false"
  v9: "true"
  values: '{"a":1,"b":2}'
kind: ConfigMap
metadata:
  name: r

"#]]
    );
    world.write("charts/c/templates/bad.yaml", "{{ .Values.gone.x }}");
    assert_data_eq!(
        world.run_line("kustomize build").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot build `.`
  cause: kustomization.yaml: helmCharts[0]: cannot render `c`: template: c/templates/bad.yaml:1:10: executing "c/templates/bad.yaml" at <.Values.gone.x>: nil pointer evaluating interface {}.x
hint: line 1 of `c/templates/bad.yaml`: set a value for `.Values.gone`

"#]]
    );
}

// Row: D-226
#[test]
fn a_chart_of_a_version_is_fetched_once_and_not_into_the_tree() {
    let host = FakeHost::internet();
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\n";
    let archive = gzip(&tar(&[
        TarEntry::file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        TarEntry::file("c/templates/a.yaml", template),
    ]));
    let entry = format!("{{name: c, version: 1.0.0, digest: {}, urls: [c.tgz]}}", Digest::of(&archive).hex());
    host.on(
        "files.example.org/charts/index.yaml",
        Reply::text(format!("apiVersion: v1\nentries:\n  c: [{entry}]\n")),
    );
    host.on("files.example.org/charts/c.tgz", Reply::file(archive));
    let world = world();
    let ca = world.write("ca.pem", host.ca_pem());
    let world = world.env("HTTPS_PROXY", host.proxy_url()).env("SSL_CERT_FILE", ca);
    let chart = "{name: c, repo: 'https://files.example.org/charts', version: 1.0.0, releaseName: r}";
    world.write("kustomization.yaml", format!("helmCharts: [{chart}]\n"));
    let offline = "kustomize build --offline";
    let screens = world.screens([offline, "kustomize build", offline]);
    assert!(!world.current_dir().join("charts").exists());
    world.write("kustomization.yaml", format!("helmCharts: [{}]\n", chart.replace("1.0.0", "^2.0.0")));
    assert_data_eq!(
        format!("{screens}{}", world.screens(["kustomize build"])),
        str![[r#"
$ capstan kustomize build --offline
exit 1
--- stderr
error: cannot build `.`
  cause: kustomization.yaml: helmCharts[0]: cannot fetch `c`: cannot read the chart repository `https://files.example.org/charts`: cannot fetch `https://files.example.org/charts/index.yaml` in offline mode: it is not cached
hint: run the command once online, without `--offline` or `CAPSTAN_OFFLINE`, or use a `.tgz` archive

$ capstan kustomize build
exit 0
--- stdout
apiVersion: v1
kind: ConfigMap
metadata:
  name: r

$ capstan kustomize build --offline
exit 0
--- stdout
apiVersion: v1
kind: ConfigMap
metadata:
  name: r
--- stderr
offline: using https://files.example.org/charts/index.yaml from the cache, fetched 0 minutes ago
$ capstan kustomize build
exit 1
--- stderr
error: cannot build `.`
  cause: kustomization.yaml: helmCharts[0]: cannot fetch `c`: cannot find version `^2.0.0` of chart `c` in `https://files.example.org/charts`
hint: the only version is `1.0.0`

"#]]
    );
}

#[test]
fn lint_reports_errors_and_warnings_without_secrets() {
    let world = with_overlay();
    assert_eq!(built(&world, "lint base overlay"), "");
    world.write("base/kustomization.yaml", "resources: [map.yaml]\ncommonLabels: {a: b}\n");
    assert_data_eq!(
        world.run_line("kustomize lint base").to_string(),
        str![[r#"
exit 0
--- stdout
base/kustomization.yaml: warning: `commonLabels` is deprecated: use `labels`

"#]]
    );
    assert_eq!(world.run_line("kustomize lint base --exit-status").status, 3);
    let secret =
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData: {{k: {SECRET}}}\n");
    world.write("overlay/s.yaml", secret);
    world.write("overlay/kustomization.yaml", "resources: [../base, s.yaml, s.yaml, gone]\n");
    let outcome = world.run_line("kustomize lint overlay -o json");
    assert_eq!(outcome.status, 1, "{outcome}");
    let error: Value = serde_json::from_str(&outcome.stderr).unwrap();
    assert_eq!(error["kind"], json!("user"), "{outcome}");
    assert!(!outcome.to_string().contains(SECRET), "{outcome}");
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let findings = report.pointer("/kustomizations/0/findings").unwrap().as_array().unwrap();
    let of = |finding: &Value| format!("{} {}", finding["severity"], finding["field"]);
    let found: Vec<String> = findings.iter().map(of).collect();
    assert_eq!(found, ["\"error\" \"resources[2]\"", "\"error\" \"resources[3]\"", "\"warning\" null"]);
    assert_eq!(findings[2]["byWayOf"][0], "overlay/kustomization.yaml");
}

#[test]
fn lint_checks_a_whole_tree_and_reports_lines() {
    let world = world();
    world.write("base/kustomization.yaml", "resources:\n- map.yaml\n\ncommonLabels: {a: b}\n");
    world.write("base/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n");
    world.write("overlays/a/kustomization.yml", "resources:\n- ../../base\n- gone.yaml\n");
    world.write("overlays/b/Kustomization", "resources:\n- ../../base\n\npatches:\n- path: away.yaml\n");
    world
        .write("parts/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n");
    world.write(".hidden/kustomization.yaml", "resources: [gone]\n");
    let outcome = world.run_line("kustomize lint --recursive -o json");
    assert_eq!(outcome.status, 1, "{outcome}");
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let kustomizations = report["kustomizations"].as_array().unwrap();
    let places: Vec<_> = kustomizations.iter().map(|one| one["place"].as_str().unwrap()).collect();
    assert_eq!(places, ["./base", "./overlays/a", "./overlays/b"]);
    let errors = kustomizations.iter().flat_map(|one| one["findings"].as_array().unwrap());
    let errors = errors.filter(|finding| finding["severity"] == "error");
    let errors: Vec<_> =
        errors.map(|it| (it["file"].as_str().unwrap(), it["line"].as_u64().unwrap())).collect();
    assert_eq!(errors, [("overlays/a/kustomization.yml", 3), ("overlays/b/Kustomization", 5)]);
    // The warning of the base appears once, not three times.
    assert_data_eq!(
        world.screens(["kustomize lint -r .", "kustomize lint -r parts"]),
        str![[r#"
$ capstan kustomize lint -r .
exit 1
--- stdout
base/kustomization.yaml: warning: `commonLabels` is deprecated: use `labels`
overlays/a/kustomization.yml:3: error: resources[1]: cannot find `gone.yaml`: no file or folder at `[CWD]/overlays/a/gone.yaml`
overlays/b/Kustomization:5: error: patches[0].path: cannot find `away.yaml`: no file or folder at `[CWD]/overlays/b/away.yaml`
--- stderr
error: 2 errors, one warning

$ capstan kustomize lint -r parts
exit 1
--- stderr
error: `parts` and its subfolders contain no kustomization

"#]]
    );
}
