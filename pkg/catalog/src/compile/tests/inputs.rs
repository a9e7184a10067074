use std::time::Duration;

use serde_json::json;
use snapbox::{IntoData as _, assert_data_eq, str};

use super::*;

// Row: CAT-67
#[test]
fn fields_of_programs_become_files_in_the_chosen_format() {
    let program = "local params = (import 'lib/kapitan.libjsonnet').inventory().parameters;
{ 'a/list': [params.one, null], empty: {}, secret: params.one.secret, 'x.txt': 'text' }";
    let input = |output_type: &str, path: &str| json!({"input_type": "jsonnet", "input_paths": ["one/m.jsonnet"], "output_path": path, "output_type": output_type});
    let workshop = Workshop::new(&[("m.jsonnet", program)]);
    assert_data_eq!(
        workshop.compiled(json!([input("yaml", "y")])),
        str![[r#"
=== y/a/list.yaml
list:
  - 1
  - 2.5
secret: t/c/key
text: |-
  a
  b
--- null
...

=== y/empty.yaml

=== y/secret.yaml
t
--- /
--- c
--- /
--- k
--- e
--- y
...

=== y/x.txt.yaml
t
--- e
--- x
--- t
...


"#]]
        .raw()
    );
    let program = "{ a: { b: [1, 1e20], s: { t: 'x' } } }";
    let workshop = Workshop::new(&[("m.jsonnet", program), ("p.jsonnet", "{ 'p.txt': 'plain' }")]);
    let plain = json!({"input_type": "jsonnet", "input_paths": ["one/p*.jsonnet"], "output_path": ".", "output_type": "plain"});
    assert_data_eq!(
        workshop.compiled(json!([input("json", "j"), input("toml", "t"), plain])),
        str![[r#"
=== j/a.json
{
  "b": [
    1,
    100000000000000000000
  ],
  "s": {
    "t": "x"
  }
}
=== p.txt
plain
=== t/a.toml
b = [ 1, 100000000000000000000,]

[s]
t = "x"


"#]]
        .raw()
    );
}

#[test]
fn a_program_without_object_gets_the_name_of_its_file() {
    let program = "[{ a: std.trace('seen', 1) }]";
    let workshop = Workshop::new(&[("m.jsonnet", program)]);
    let input = json!([{"input_type": "jsonnet", "input_paths": ["BASE/m.jsonnet"], "output_path": "."}]);
    assert_data_eq!(
        workshop.compiled(input),
        str![[r#"
TRACE: [FOLDER]/dependencies/one/m.jsonnet:1 seen
=== m.yaml
a: 1


"#]]
    );
}

#[test]
fn empty_values_are_pruned_on_request() {
    let workshop = Workshop::new(&[("m.jsonnet", "{ a: { b: null, c: [], d: { e: {} }, f: 1 } }")]);
    let input = json!([{"input_type": "jsonnet", "input_paths": ["one/m.jsonnet"], "output_path": ".", "prune": true}]);
    assert_data_eq!(
        workshop.compiled(input),
        str![[r#"
=== a.yaml
d: {}
f: 1


"#]]
    );
}

// Row: D-454
#[test]
fn templates_see_the_inventory_and_keep_their_names() {
    let workshop = Workshop::new(&[
        ("t/a2.j2", "{{ inventory.parameters.one.list }} {{ input_params.x }} {{ own }}\n"),
        (
            "t/sub/b.txt",
            "{{ inventory.parameters.one.secret }} {{ inventory_global.one.parameters._instance }}",
        ),
        ("t/.hidden", "{{ nothing }}"),
    ]);
    let input = json!([{
        "input_type": "jinja2", "input_paths": ["one/t"], "output_path": "o", "suffix_remove": true,
        "input_params": {"x": "param"},
    }]);
    assert_data_eq!(
        workshop.compiled(input),
        str![[r#"
=== o/a2
[1, 2.5] param variable
=== o/sub/b.txt
t/c/key one

"#]]
    );
}

#[test]
fn templates_see_keys_in_the_order_of_the_hierarchy() {
    let text = "{% for key in inventory.parameters.one %}{{ key }} {% endfor %}{{ inventory_global.one.parameters.one.items() | first }}";
    let workshop = Workshop::new(&[("t.txt", text)]);
    let input = json!([{"input_type": "jinja2", "input_paths": ["one/t.txt"], "output_path": "."}]);
    assert_data_eq!(
        workshop.compiled(input),
        str![[r#"
=== t.txt
text secret list ('text', 'a/nb')

"#]]
    );
}

// Row: D-449
#[test]
fn charts_become_one_file_for_each_template() {
    let workshop = Workshop::new(&[
        ("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("chart/values.yaml", "a: 1\nb: x\n"),
        ("chart/crds/crd.yaml", "kind: CustomResourceDefinition\nmetadata: {name: c}\n"),
        (
            "chart/templates/a.yaml",
            "kind: B\nvalue: {{ .Values.a }}\nname: {{ .Release.Name }}/{{ .Release.Namespace }}\n---\n---\nkind: A\nb: {{ .Values.b | quote }}\n",
        ),
        ("chart/templates/none.yaml", "{{- if false }}kind: X{{ end }}"),
    ]);
    let input = json!([{
        "input_type": "helm", "input_paths": ["BASE/chart"], "output_path": "h",
        "helm_values": {"a": "0123", "b": "1e3"},
        "helm_params": {"name": "rel", "namespace": "ns"},
    }]);
    assert_data_eq!(
        workshop.compiled(input),
        str![[r#"
=== h/web/crds/crd.yaml
kind: CustomResourceDefinition
metadata:
  name: c

=== h/web/templates/a.yaml
b: 1e3
kind: A
---
kind: B
name: rel/ns
value: 83


"#]]
    );
}

#[test]
fn parameters_of_charts_are_flags_of_helm() {
    let chart = ("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
    let template = ("chart/templates/a.yaml", "kind: A\nupgrade: {{ .Release.IsUpgrade }}\n");
    let crd = ("chart/crds/c.yaml", "kind: CustomResourceDefinition\n");
    let compiled = |parameters: Value| {
        let input = json!([{"input_type": "helm", "input_paths": ["one/chart"], "output_path": "h", "helm_params": parameters}]);
        Workshop::new(&[chart, template, crd]).compiled(input)
    };
    assert_data_eq!(
        compiled(json!({"is_upgrade": true, "skip_crds": true})),
        str![[r#"
=== h/web/crds/c.yaml
kind: CustomResourceDefinition

=== h/web/templates/a.yaml
kind: A
upgrade: true


"#]]
    );
    for (name, reason) in [
        ("set", "helm 'set' flag is not supported. Use 'helm_values' to specify template values"),
        (
            "values",
            "helm 'values' flag is not supported. Use 'helm_values_files' to specify template values files",
        ),
        ("show_only", "helm flag 'show-only' is not supported."),
        ("include-crds", "helm flag names must use '_' and not '-': include-crds"),
        ("n", "invalid helm flag: 'n'. helm_params supports only long flag names"),
    ] {
        let expected =
            format!("cannot compile `one`\nError compiling targets: Error compiling one: {reason}");
        let found = compiled(json!({ name: "x" }));
        assert_eq!(found.trim_end(), expected);
    }
}

#[test]
fn kustomizations_get_namespace_and_patches() {
    let workshop = Workshop::new(&[("k/kustomization.yaml", "namespace: own\nresources: [a.yaml]\n")]);
    let input = json!([{
        "input_type": "kustomize", "input_paths": ["one/k"], "output_path": "k",
        "patches": {"p": {"patch": {"spec": 1}, "target": {"kind": "X"}}},
    }]);
    assert_data_eq!(
        workshop.compiled(input),
        str![[r#"
=== k/built-configmap.yaml
data:
  t: '{"namespace":"own","patches":[{"path":"p.yaml","target":{"kind":"X"}}],"resources":["k"]}'
kind: ConfigMap
metadata:
  name: Built


"#]]
    );
}

// Row: D-446
#[test]
fn the_wrapper_of_kustomize_needs_no_permission() {
    let program = "{ kustomization: { resources: ['x'] } }";
    let workshop = Workshop::new(&[("m.jsonnet", program)]);
    let inputs = json!([
        {"input_type": "jsonnet", "input_paths": ["one/m.jsonnet"], "output_path": "BASE/k"},
        {
            "input_type": "external", "input_paths": [KUSTOMIZE_WRAPPER], "output_path": ".",
            "env_vars": {"INPUT_DIR": "BASE/k"}, "args": ["${compiled_target_dir}/built"],
        },
        {"input_type": "remove", "input_paths": ["BASE/k"], "output_path": "."},
    ]);
    let base = workshop.base();
    assert_data_eq!(
        workshop.compiled(inputs),
        str![[r#"
=== built/v1_configmap_built.yaml
resources:
  - x


"#]]
    );
    assert!(!base.join("k").exists());
}

#[test]
fn other_programs_get_their_words_and_variables() {
    let input = |variables: Value| {
        json!([{
            "input_type": "external", "input_paths": ["one/run"], "output_path": "e", "env_vars": variables,
            "args": ["'two words'", "${compiled_target_dir}/x"],
        }])
    };
    let run = |variables: Value| {
        let text = Workshop::new(&[("run", "")]).compiled(input(variables));
        // The name of the temporary folder differs in each run.
        regex::Regex::new("compiling-[^/]*").unwrap().replace_all(&text, "compiling-[ID]").into_owned()
    };
    assert_data_eq!(
        run(json!({"OUT": "${compiled_target_dir}/file"})),
        str![[r#"
=== e/file
[FOLDER]/dependencies/one/run 'two words' [FOLDER]/out/.compiling-[ID]/compiled/one/e/x

"#]]
    );
    assert_data_eq!(
        run(json!({})),
        str![[r#"
cannot compile `one`
Error compiling targets: Error compiling one: cannot run `one/run`: `one/run` failed
hint
"#]]
    );
}

#[test]
fn files_are_copied_and_compiled_files_removed() {
    let workshop = Workshop::new(&[("f/a.txt", "a"), ("f/sub/b.txt", "b"), ("c.txt", "c")]);
    let inputs = json!([
        {"input_type": "copy", "input_paths": ["one/f", "one/c.txt"], "output_path": "to"},
        {"input_type": "remove", "input_paths": ["compiled/one/to/sub"], "output_path": "."},
        {"input_type": "copy", "input_paths": ["one/none"], "output_path": ".", "ignore_missing": true},
    ]);
    assert_data_eq!(
        workshop.compiled(inputs),
        str![[r#"
=== to/a.txt
a
=== to/c.txt
c

"#]]
    );
}

// Row: D-447
#[test]
fn files_outside_of_the_target_and_its_component_are_refused() {
    for input in [
        json!({"input_type": "jsonnet", "input_paths": ["one/up.jsonnet"], "output_path": "."}),
        json!({"input_type": "jsonnet", "input_paths": ["one/m.jsonnet"], "output_path": "../two"}),
        json!({"input_type": "jsonnet", "input_paths": ["one/m.jsonnet"], "output_path": "/etc"}),
        json!({"input_type": "remove", "input_paths": ["/etc/hostname"], "output_path": "."}),
        json!({"input_type": "remove", "input_paths": ["BASE"], "output_path": "."}),
    ] {
        let workshop = Workshop::new(&[("m.jsonnet", "{ a: {} }"), ("up.jsonnet", "{ '../a': {} }")]);
        let error = workshop.compiled(json!([input]));
        assert!(error.contains("is outside of the output folder of the target"), "{error}");
    }
}

#[test]
fn invalid_inputs_name_their_entry() {
    let problem = |input: Value| Workshop::new(&[("m.jsonnet", "{ a: 5 }")]).compiled(input);
    assert_data_eq!(
        problem(json!({"a": 1})),
        str![[r#"
cannot compile `one`
Error compiling targets: Error compiling one: `parameters.kapitan.compile` is not a list
"#]]
    );
    assert_data_eq!(
        problem(json!([{"input_type": "nope", "input_paths": [], "output_path": "."}])),
        str![[r#"
cannot compile `one`
Error compiling targets: Error compiling one: `parameters.kapitan.compile[0]` is invalid: unknown variant `nope`, expected one of `copy`, `external`, `helm`, `jinja2`, `jsonnet`, `kustomize`, `remove`
"#]]
    );
    assert_data_eq!(
        problem(json!([{"input_type": "jsonnet", "input_paths": ["one/none"], "output_path": "."}])),
        str![[r#"
cannot compile `one`
Error compiling targets: Error compiling one: one/none not found in search_paths
"#]]
    );
    assert_data_eq!(
        problem(json!([{"input_type": "jsonnet", "input_paths": ["one/m.jsonnet"], "output_path": "."}])),
        str![[r#"
cannot compile `one`
Error compiling targets: Error compiling one: 'int' object is not iterable
"#]]
    );
}

// Row: D-448
#[test]
fn a_failed_target_keeps_the_files_of_the_last_run() {
    let good = json!([{"input_type": "jsonnet", "input_paths": ["one/m.jsonnet"], "output_path": "."}]);
    let bad = json!([{"input_type": "jsonnet", "input_paths": ["one/bad.jsonnet"], "output_path": "."}]);
    let workshop = Workshop::new(&[("m.jsonnet", "{ a: { x: 1 } }"), ("bad.jsonnet", "error 'no'")]);
    let workshop = workshop.target("one", &good).target("two", &good);
    workshop.compile().unwrap();
    assert_eq!(workshop.files(), ["compiled/one/a.yaml", "compiled/two/a.yaml"]);
    let workshop = workshop.target("two", &bad).target("three", &bad);
    assert_data_eq!(
        workshop.compile().unwrap_err(),
        str![[r#"
cannot compile `three`, `two`
Error compiling targets: Error compiling three: [FOLDER]/dependencies/one/bad.jsonnet:1:1: no
Error compiling targets: Error compiling two: [FOLDER]/dependencies/one/bad.jsonnet:1:1: no
"#]]
    );
    assert_eq!(workshop.files(), ["compiled/one/a.yaml", "compiled/two/a.yaml"]);
}

// Row: D-521
#[test]
fn a_program_that_does_not_end_fails_its_target_and_stops_the_run() {
    let input = json!([{
        "input_type": "jsonnet", "input_paths": ["one/m.jsonnet"], "output_path": ".", "continue_on_compile_error": true,
    }]);
    // The program takes some seconds, so that its thread ends although nothing stops it.
    let program = "std.foldl(function(sum, i) sum + std.foldl(function(a, b) b, std.range(1, 2000), 0), std.range(1, 2000), 0)";
    let workshop = Workshop::new(&[("m.jsonnet", program)]);
    let workshop = (0..9).fold(workshop, |workshop, at| workshop.target(&format!("t{at}"), &input));
    let workshop = Workshop {
        control: EvaluationControl::default().with_timeout(Duration::from_millis(50)),
        ..workshop
    };
    let error = workshop.compile().unwrap_err();
    let line = "Error compiling targets: Error compiling t0: cannot evaluate `[FOLDER]/dependencies/one/m.jsonnet`: it did not end in 0.05 s";
    assert!(error.lines().any(|found| found == line), "{error}");
    assert!(error.contains("CAPSTAN_JSONNET_TIMEOUT=20m") && !error.contains("t8"), "{error}");
    assert_eq!(workshop.files(), Vec::<String>::new());
}

#[test]
fn an_input_may_fail_if_its_settings_allow_it() {
    let workshop = Workshop::new(&[("m.jsonnet", "error 'no'")]);
    let input = json!([{
        "input_type": "jsonnet", "input_paths": ["one/m.jsonnet"], "output_path": ".", "continue_on_compile_error": true,
    }]);
    assert_data_eq!(
        workshop.compiled(input),
        str![[r#"
Error compiling one: [FOLDER]/dependencies/one/m.jsonnet:1:1: no

"#]]
    );
}
