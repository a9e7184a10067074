use snapbox::{assert_data_eq, str};
use support::binary::TestEnvironment;

use crate::world;

fn with_chart() -> TestEnvironment {
    let world = world();
    world.write("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.2.3\nappVersion: 1.10\n");
    world.write("web/values.yaml", "# Replicas\nreplicas: 1\n");
    world.write("web/crds/a.yaml", "kind: CustomResourceDefinition\n");
    world.write("web/templates/a.yaml", "kind: A\nspec: {{ toJson .Values }} # {{ .Release.Namespace }}\n");
    world
}

#[test]
fn flags_set_values_in_the_order_of_helm() {
    let world = with_chart();
    world.write("more.yaml", "replicas: 2\nlist: [a]\n");
    world.write("text", "content");
    let run = world.run_line(
        "chart template shop web -f more.yaml --set-file f=text --set-string s=1,replicas=9 --set n=1,list[1]=b \
         --set-json j=[1] --set-literal l=a,b -n prod",
    );
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run}");
    assert_data_eq!(
        run.stdout,
        str![[r#"
---
# Source: web/templates/a.yaml
kind: A
spec: {"f":"content","j":[1],"l":"a,b","list":["a","b"],"n":1,"replicas":"9","s":"1"} # prod

"#]]
    );
}

// Row: D-554
#[test]
fn flags_of_helm_without_effect_are_accepted() {
    let world = with_chart();
    let plain = world.run_expecting_success("chart template shop web");
    for flags in [
        "--atomic --create-namespace --debug --disable-openapi-validation --force=false --hide-notes --replace",
        "--render-subchart-notes --skip-crds --take-ownership --wait --wait=true --wait-for-jobs --release-name",
        "--timeout 5m --description text --labels a=b,c=d -l e=f --keyring k --insecure-skip-tls-verify --plain-http",
        "--burst-limit 1 --qps 1.5 --registry-config f --repository-cache f --repository-config f --ca-file f",
        "--kube-apiserver u --kube-as-group g --kube-as-user u --kube-ca-file f --kube-tls-server-name n",
        "--kube-token t --kube-insecure-skip-tls-verify --kubeconfig f --kube-context c --cert-file f --key-file f",
        "--enable-dns --username u --password p",
        "--username u --cert-file f",
        "--password p --key-file f",
    ] {
        let run = world.run_expecting_success(&format!("chart template shop web {flags}"));
        assert_eq!(run.stdout, plain.stdout, "{flags}");
    }
    let global = "--debug --qps 1 --kube-token t --kubeconfig f --kube-context c -n x --registry-config f";
    world.run_expecting_success(&format!("chart show values web --keyring k --plain-http {global}"));
    let lint = |flags: &str| world.run_line(&format!("chart lint web {flags}")).to_string();
    assert_eq!(lint(global), lint(""));
}

// Row: D-551
// Row: D-552
// Row: D-554
// Row: D-555
#[test]
fn flags_of_helm_that_cannot_be_honoured_are_refused() {
    let world = with_chart();
    world.write("dns/Chart.yaml", "apiVersion: v2\nname: dns\nversion: 1.0.0\n");
    world.write("dns/templates/a.yaml", "a: {{ getHostByName \"example.org\" | quote }}\n");
    let screens = world.screens([
        "chart template shop web --verify",
        "chart template shop dns --enable-dns",
        "chart template shop web --validate --kube-token s3cret",
        "chart show values web --jsonpath {.replicas}",
    ]);
    assert_data_eq!(
        screens,
        str![[r#"
$ capstan chart template shop web --verify
exit 1
--- stderr
error: `--verify` is not supported: capstan reads no provenance files
hint: pin the digest of the chart with `capstan lock --chart URL`

$ capstan chart template shop dns --enable-dns
exit 1
--- stderr
error: cannot render chart `dns`
  cause: template: dns/templates/a.yaml:1:6: executing "dns/templates/a.yaml" at <getHostByName "example.org">: error calling getHostByName: the output would depend on the name server of this machine; set the address as a value

$ capstan chart template shop web --validate --kube-token s3cret
exit 1
--- stderr
error: `--kube-…` flags are not supported: a kubeconfig must say how to connect
hint: write the connection to a file, and use `--kubeconfig FILE`

$ capstan chart show values web --jsonpath {.replicas}
exit 1
--- stderr
error: unknown flag `--jsonpath`

"#]]
    );
}

#[test]
fn a_missing_value_names_its_line_and_similar_names() {
    let world = with_chart();
    world.write("web/templates/b.yaml", "kind: B\n\nx: {{ .Values.replica.count }}\n");
    let run = world.run_line("chart template shop web");
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot render chart `web`
  cause: template: web/templates/b.yaml:3:13: executing "web/templates/b.yaml" at <.Values.replica.count>: nil pointer evaluating interface {}.count
hint: line 3 of `web/templates/b.yaml`: `.Values.replica` has no value; similar names are `replicas`

"#]]
    );
}

#[test]
fn all_required_values_are_named_at_once() {
    let world = with_chart();
    world.write("web/templates/b.yaml", "x: {{ required \"x is required\" .Values.x }}\n");
    world.write("web/templates/c.yaml", "z: {{ required \"z is required\" .Values.z }}\n");
    let run = world.run_line("chart template shop web");
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot render chart `web`
  cause: execution error at (web/templates/c.yaml:1:6): z is required
  cause: web/templates/c.yaml:1: z is required
  cause: web/templates/b.yaml:1: x is required
hint: set all of these values

"#]]
    );
}

#[cfg(unix)]
#[test]
fn a_link_to_a_folder_around_it_is_refused() {
    let world = with_chart();
    std::os::unix::fs::symlink("..", world.current_dir().join("web/templates/up")).unwrap();
    let run = world.run_line("chart template shop web");
    assert_eq!(run.status, 1, "{run}");
}

#[test]
fn parts_of_a_chart_are_shown_as_helm_shows_them() {
    let world = with_chart();
    let run = world.run_line("chart show all web");
    assert_data_eq!(
        run.stdout,
        str![[r#"
apiVersion: v2
appVersion: "1.1"
name: web
version: 1.2.3

---
# Replicas
replicas: 1

---
kind: CustomResourceDefinition


"#]]
    );
}

#[test]
fn objects_are_printed_as_json_with_their_templates() {
    let world = with_chart();
    world.write("web/templates/NOTES.txt", "Welcome to {{ .Release.Name }}\n");
    world.write(
        "web/templates/b.yaml",
        "# nothing\n---\nkind: Job\nmetadata: {name: b, annotations: {helm.sh/hook: \"post-install, test\"}}\n",
    );
    let run = world.run_line("chart template shop web --include-crds -o json");
    assert_data_eq!(
        run.stdout,
        str![[r#"
{
  "objects": [
    {
      "source": "web/crds/a.yaml",
      "object": {
        "kind": "CustomResourceDefinition"
      }
    },
    {
      "source": "web/templates/a.yaml",
      "object": {
        "kind": "A",
        "spec": {
          "replicas": 1
        }
      }
    },
    {
      "source": "web/templates/b.yaml",
      "hookEvents": [
        "post-install",
        "test"
      ],
      "object": {
        "kind": "Job",
        "metadata": {
          "annotations": {
            "helm.sh/hook": "post-install, test"
          },
          "name": "b"
        }
      }
    }
  ],
  "notes": "Welcome to shop/n"
}

"#]]
    );
}

// Row: D-380
#[test]
fn files_are_written_by_template_and_never_through_links() {
    let world = with_chart();
    world.write("web/templates/b.yaml", "kind: B\n---\nkind: C\n");
    let run = world.run_line("chart template shop web --include-crds --output-dir out");
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 0
--- stdout
wrote out/web/crds/a.yaml
wrote out/web/templates/a.yaml
wrote out/web/templates/b.yaml
wrote out/web/templates/b.yaml


"#]]
    );
    assert_data_eq!(
        world.read("out/web/templates/b.yaml"),
        str![[r#"
---
# Source: web/templates/b.yaml
kind: B
---
# Source: web/templates/b.yaml
kind: C

"#]]
    );
    let run = world.run_line("chart template shop web --include-crds --output-dir out --release-name");
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 0
--- stdout
wrote out/web/crds/a.yaml
wrote out/shop/web/templates/a.yaml
wrote out/shop/web/templates/b.yaml
wrote out/shop/web/templates/b.yaml


"#]]
    );
    #[cfg(unix)]
    {
        let out = world.current_dir().join("other");
        std::fs::create_dir_all(&out).unwrap();
        std::os::unix::fs::symlink(world.current_dir(), out.join("web")).unwrap();
        let run = world.run_line("chart template shop web --output-dir other");
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
        assert!(run.stderr.contains("other/web`: it is a symbolic link"), "{run}");
        assert!(!world.current_dir().join("templates").exists());
    }
}

// Row: D-381
#[test]
fn a_kustomization_changes_the_rendered_objects() {
    let world = with_chart();
    world.write(
        "web/templates/a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {r: '{{ .Values.replicas }}'}\n",
    );
    world.write(
        "patches/kustomization.yaml",
        "namePrefix: x-\npatches: [{patch: '[{op: add, path: /data/more, value: added}]', target: {kind: ConfigMap}}]\n",
    );
    let run = world.run_line("chart template shop web --kustomization patches");
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 0
--- stdout
apiVersion: v1
data:
  more: added
  r: "1"
kind: ConfigMap
metadata:
  name: x-a

"#]]
    );
    let run = world.run_line("chart template shop web --post-renderer ./program");
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stderr
error: `--post-renderer` is not supported: capstan runs no programs on manifests
hint: change the objects with `--kustomization DIR`, or pipe the output to the program

"#]]
    );
}

#[test]
fn provenance_names_the_template_line_and_the_source_of_values() {
    let world = with_chart();
    world.write(
        "web/values.yaml",
        "replicas: 1\nimage: {name: web, tag: v1}\nextra: {mode: fast}\nhosts: [{name: a}]\n",
    );
    world
        .write("web/templates/_names.tpl", "{{ define \"labels\" }}\nteam: {{ .Values.team }}\n{{- end }}\n");
    world.write(
        "web/templates/a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n  labels:\n    \
         {{- include \"labels\" . | nindent 4 }}\ndata:\n  fixed: x\n  replicas: {{ .Values.replicas | quote }}\n  \
         image: {{ .Values.image.name }}:{{ .Values.image.tag }}\n  {{- with .Values.image }}\n  \
         tag: {{ .tag }}\n  {{- end }}\n  {{- range $key, $value := .Values.extra }}\n  \
         {{ $key }}: {{ $value }}\n  {{- end }}\n  {{- range .Values.hosts }}\n  host: {{ .name }}\n  {{- end }}\n",
    );
    world.write("team.yaml", "team: a\n");
    let line = "chart template shop web -f team.yaml --set image.tag=v2";
    let run = world.run_line(&format!("{line} --provenance"));
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 0
--- stdout
# web/templates/a.yaml
apiVersion: v1
data:
  fixed: x
  host: a # line 18 (web/values.yaml: hosts[0].name)
  image: web:v2 # line 10 (web/values.yaml: image.name, --set: image.tag)
  mode: fast # line 15 (web/values.yaml: extra)
  replicas: "1" # line 9 (web/values.yaml: replicas)
  tag: v2 # line 12 (--set: image.tag)
kind: ConfigMap
metadata:
  labels:
    team: a # line 6 (team.yaml: team)
  name: shop # line 4

"#]]
    );
    let run = world.run_line(&format!("{line} --provenance=json"));
    assert_data_eq!(
        run.stdout,
        str![[r#"
{
  "objects": [
    {
      "apiVersion": "v1",
      "kind": "ConfigMap",
      "name": "shop",
      "origin": {
        "file": "web/templates/a.yaml"
      },
      "fields": [
        {
          "path": "/data/host",
          "setBy": {
            "file": "web/templates/a.yaml",
            "field": "line 18",
            "content": "web/values.yaml: hosts[0].name"
          }
        },
        {
          "path": "/data/image",
          "setBy": {
            "file": "web/templates/a.yaml",
            "field": "line 10",
            "content": "web/values.yaml: image.name, --set: image.tag"
          }
        },
        {
          "path": "/data/mode",
          "setBy": {
            "file": "web/templates/a.yaml",
            "field": "line 15",
            "content": "web/values.yaml: extra"
          }
        },
        {
          "path": "/data/replicas",
          "setBy": {
            "file": "web/templates/a.yaml",
            "field": "line 9",
            "content": "web/values.yaml: replicas"
          }
        },
        {
          "path": "/data/tag",
          "setBy": {
            "file": "web/templates/a.yaml",
            "field": "line 12",
            "content": "--set: image.tag"
          }
        },
        {
          "path": "/metadata/labels/team",
          "setBy": {
            "file": "web/templates/a.yaml",
            "field": "line 6",
            "content": "team.yaml: team"
          }
        },
        {
          "path": "/metadata/name",
          "setBy": {
            "file": "web/templates/a.yaml",
            "field": "line 4"
          }
        }
      ]
    }
  ]
}

"#]]
    );
}
