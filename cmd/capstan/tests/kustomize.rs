use std::fs;

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::binary::TestEnvironment;

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

#[cfg(unix)]
#[test]
fn charts_are_rendered_by_helm_if_allowed() {
    let world = world();
    let charts = "helmCharts: [{name: c, releaseName: r, valuesInline: {a: 1}, apiVersions: [v9]}]\n";
    world.write("kustomization.yaml", charts);
    world.write("charts/c/values.yaml", "b: 2\n");
    assert_data_eq!(
        world.screens(["kustomize build", "kustomize build --enable-helm"]),
        str![[r#"
$ capstan kustomize build
exit 1
--- stderr
error: cannot build `.`
  cause: kustomization.yaml: helmCharts[0]: cannot render chart `c` with `helm`: must specify --enable-helm

$ capstan kustomize build --enable-helm
exit 1
--- stderr
error: cannot build `.`
  cause: kustomization.yaml: helmCharts[0]: cannot render `c`: cannot run the program `helm`: No such file or directory (os error 2)
hint: install helm, or set its path with `--helm-command PATH`

"#]]
    );
    world.script(
        "my-helm",
        "[ -n \"$HELM_CONFIG_HOME\" ] || exit 1\n\
         while [ $# -gt 0 ]; do [ \"$1\" = --kube-version ] && v=$2; [ \"$1\" = --api-versions ] && a=$2; shift; done\n\
         printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: c}\\ndata: {v: %s, a: %s}\\n' \"$v\" \"$a\"",
    );
    let flags = "--enable-helm --helm-command my-helm --helm-kube-version v1.30 --helm-api-versions v8";
    let text = built(&world, &format!("build {flags}"));
    assert!(text.contains("v: v1.30") && text.contains("a: v9"), "{text}");
    world.script("my-helm", "echo chart is bad >&2; exit 3");
    assert_data_eq!(
        world.run_line(&format!("kustomize build {flags}")).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot build `.`
  cause: kustomization.yaml: helmCharts[0]: cannot render `c`: `my-helm` failed with exit status: 3: chart is bad

"#]]
    );
}

// Row: D-226
#[cfg(unix)]
#[test]
fn a_chart_version_is_fetched_once_into_the_cache() {
    let world = world();
    let chart = "helmCharts: [{name: c, repo: 'https://charts.lab', version: 1.0.0, releaseName: r}]\n";
    world.write("kustomization.yaml", chart);
    world.script(
        "helm",
        "[ $1 = pull ] && { /bin/mkdir $4/c; echo \"$5 $6 $7 $8 $9\" >> pulls; exit 0; }\n\
         printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: %s}\\n' \"$2\"",
    );
    assert_data_eq!(
        world.run_line("kustomize build --enable-helm --offline").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot build `.`
  cause: kustomization.yaml: helmCharts[0]: cannot fetch `c`: offline: the chart is not in the cache

"#]]
    );
    let text = built(&world, "build --enable-helm");
    assert!(text.contains("name: r"), "{text}");
    assert_eq!(built(&world, "build --enable-helm --offline"), text);
    assert_eq!(
        world.read(world.current_dir().join("pulls")),
        "--repo https://charts.lab c --version 1.0.0\n"
    );
    assert!(!world.current_dir().join("charts").exists());
    // The version that a range selects may change.
    world.write("kustomization.yaml", chart.replace("1.0.0", "^1.0.0"));
    for times in [1, 2] {
        built(&world, "build --enable-helm");
        let pulls = world.read(world.current_dir().join("pulls"));
        assert_eq!(pulls.matches("--version ^1.0.0\n").count(), times, "{pulls}");
    }
    world.write("kustomization.yaml", chart.replace("releaseName: r", "releaseName: --post-renderer=x"));
    assert_data_eq!(
        world.run_line("kustomize build --enable-helm").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot build `.`
  cause: kustomization.yaml: helmCharts[0]: cannot render `c`: `--post-renderer=x` is not a valid name

"#]]
    );
}

#[cfg(unix)]
#[test]
fn a_modified_cached_chart_is_fetched_again() {
    let world = world();
    let chart = "helmCharts: [{name: c, repo: 'https://charts.lab', version: 1.0.0, releaseName: r}]\n";
    world.write("kustomization.yaml", chart);
    world.script(
        "helm",
        "[ $1 = pull ] && { /bin/mkdir $4/c; echo whole > $4/c/Chart.yaml; echo 1 >> pulls; exit 0; }\n\
         printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: %s}\\n' \"$2\"",
    );
    let pulls = || world.read(world.current_dir().join("pulls")).lines().count();
    built(&world, "build --enable-helm");
    let charts = world.home().join(".cache/capstan/charts");
    let kept = fs::read_dir(charts).unwrap().next().unwrap().unwrap().path();
    for damage in ["c/Chart.yaml", "c/added.yaml", ".digest"] {
        built(&world, "build --enable-helm");
        let before = pulls();
        fs::write(kept.join(damage), "other").unwrap();
        assert_ne!(world.run_line("kustomize build --enable-helm --offline").status, 0, "{damage}");
        built(&world, "build --enable-helm");
        assert_eq!((pulls(), kept.join("c/added.yaml").exists()), (before + 1, false), "{damage}");
        assert_eq!(fs::read_to_string(kept.join("c/Chart.yaml")).unwrap(), "whole\n");
    }
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
