use crate::world;

#[test]
fn a_template_is_printed_with_the_values_of_all_files() {
    let world = world();
    world.write(
        "map.yaml",
        "{{ name }}/{{ namespace }}: {{ .a.b }} {{ .a.c }} {{ bitwiseOr 1 .num }}{{ .none }}\n",
    );
    world.write("one.yaml", "a: {b: 1, c: 2}\nnum: 4\n");
    world.write("two.yaml", "a: {c: yes}\n");
    let run = world.run_line("component template map.yaml -f one.yaml --values two.yaml --name web -n shop");
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
