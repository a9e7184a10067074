use snapbox::{assert_data_eq, str};

use crate::world;

// Row: ENG-19
#[test]
fn a_template_is_printed_with_the_values_of_all_files() {
    let world = world();
    world.write(
        "map.yaml",
        "{{ name }}/{{ namespace }}: {{ .a.b }} {{ .a.c }} {{ bitwiseOr 1 .num }}{{ .none }}\n",
    );
    world.write("one.yaml", "a: {b: 1, c: 2}\nnum: 4\n");
    world.write("two.yaml", "a: {c: yes}\n");
    let run =
        world.run_line("component template map.yaml --values one.yaml --values two.yaml --name web -n shop");
    assert_eq!(
        (run.status, run.stdout.as_str(), run.stderr.as_str()),
        (0, "web/shop: 1 true 5\n", ""),
        "{run}"
    );
}

#[test]
fn a_failing_template_prints_nothing_and_names_its_line() {
    let world = world();
    world.write("map.yaml", "a: 1\nb: {{ required \"host must be set\" .host }}\n");
    let run = world.run_line("component template map.yaml");
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
    assert!(run.stderr.contains("map.yaml:2") && run.stderr.contains("host must be set"), "{run}");
}

// Row: CMP-04, CMP-37, CMP-39
#[test]
fn a_component_is_rendered_with_its_values_and_those_of_files() {
    let world = world();
    world.write(
        "source/map.yaml",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: {{ name }}}, data: {a: {{ .a }}, b: {{ .b }}}}\n",
    );
    let component = |spec: &str| {
        format!(
            "apiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {{name: web, namespace: shop}}\nspec: {{sourceRef: {{fluxBucket: {{name: s}}}}, {spec}}}\n"
        )
    };
    world.write("web.yaml", component("values: {a: one, b: two}"));
    world.write("b.yaml", "b: three\n");
    world.write("patched.yaml", component("postBuild: {patches: [{patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {c: d}}'}]}"));
    world.write("wrong.yaml", component("timeout: soon"));
    assert_data_eq!(
        world.screens([
            "component render web.yaml --source source --values b.yaml",
            "component render patched.yaml --source source",
            "component render wrong.yaml --source source",
        ]),
        str![[r#"
$ capstan component render web.yaml --source source --values b.yaml
exit 0
--- stdout
apiVersion: v1
data:
  a: one
  b: three
kind: ConfigMap
metadata:
  name: web

$ capstan component render patched.yaml --source source
exit 0
--- stdout
apiVersion: v1
data:
  a: null
  b: null
  c: d
kind: ConfigMap
metadata:
  name: web

$ capstan component render wrong.yaml --source source
exit 1
--- stderr
error: invalid Components: 1 problem
  cause: wrong.yaml:4: web: spec.timeout: Invalid value: "soon": must match '^([0-9]+(/.[0-9]+)?(ns|us|µs|ms|s|m|h))+$'

"#]]
    );
}

#[test]
fn a_file_without_encryption_is_printed_as_it_is_and_needs_no_key() {
    let world = world();
    world.write("plain.yaml", "a: ENC[not really]\n");
    world.write("keys/readme.txt", "no key\n");
    world.write("damaged/a.agekey", "AGE-SECRET-KEY-1WRONG\n");
    assert_data_eq!(
        world.screens([
            "component decrypt plain.yaml --keys keys",
            "component decrypt plain.yaml --keys damaged",
            "component decrypt plain.yaml --keys none",
        ]),
        str![[r#"
$ capstan component decrypt plain.yaml --keys keys
exit 0
--- stdout
a: ENC[not really]

$ capstan component decrypt plain.yaml --keys damaged
exit 1
--- stderr
error: cannot read the key file `a.agekey`: line 1 is no age identity (`AGE-SECRET-KEY-1…`)

$ capstan component decrypt plain.yaml --keys none
exit 1
--- stderr
error: cannot read `[CWD]/none`
  cause: No such file or directory (os error 2)

"#]]
    );
}

#[test]
fn all_wrong_substitutions_of_a_file_are_named_with_their_lines() {
    let world = world();
    world.write("map.yaml", "a: ${A:=one} ${B^^}\nb: $${C} ${D-x}\nc: ${\n");
    world.write("right.yaml", "a: ${A:=one} ${B^^} $${C}\n");
    world.write("vars.yaml", "B: b\n");
    world.write("number.yaml", "B: 1\n");
    assert_data_eq!(
        world.screens([
            "component substitute map.yaml --vars vars.yaml",
            "component substitute right.yaml --vars vars.yaml",
            "component substitute right.yaml --vars number.yaml",
        ]),
        str![[r#"
$ capstan component substitute map.yaml --vars vars.yaml
exit 1
--- stderr
error: cannot substitute the variables in `map.yaml`
  cause: `${D-x}` at line 2, column 10: expected `}` or an operator after the name
  cause: `${` at line 3, column 4: expected a name after `${`

$ capstan component substitute right.yaml --vars vars.yaml
exit 0
--- stdout
a: one B ${C}

$ capstan component substitute right.yaml --vars number.yaml
exit 1
--- stderr
error: cannot read the variables in `number.yaml`
  cause: `B` must be a string, not a number
hint: put quotes around the value of `B`

"#]]
    );
}
