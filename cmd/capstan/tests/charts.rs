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
