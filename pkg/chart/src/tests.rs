//! Behaviour of whole charts.

mod bad_input;
mod corpus;
mod values;

use crate::{Chart, ChartError, ChartFile, PrintOptions, Release, RenderOptions, Rendered, Values};

/// Loads a chart `web` with further files.
fn chart(files: &[(&str, &str)]) -> Result<Chart, ChartError> {
    let metadata = ("Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}");
    let own = files.iter().any(|(path, _)| *path == "Chart.yaml");
    let files = files.iter().chain((!own).then_some(&metadata));
    Chart::from_files(files.map(|(path, content)| ChartFile::new(*path, *content)))
}

fn options() -> RenderOptions {
    RenderOptions::new(Release::new("shop", "ns"))
}

fn render(files: &[(&str, &str)], set: &[&str]) -> Result<Rendered, ChartError> {
    let mut values = Values::default();
    for text in set {
        values.set(text).expect("an assignment");
    }
    chart(files)?.render(&values, &options())
}

/// Renders a chart and prints it.
fn printed(files: &[(&str, &str)], set: &[&str]) -> String {
    let rendered = render(files, set).expect("a rendered chart");
    rendered.print(&PrintOptions::default()).expect("a text")
}

#[test]
fn a_chart_is_shared_between_threads_and_rendered_many_times() {
    let files = [
        ("values.yaml", "name: x"),
        ("templates/a.yaml", "{{ include \"web/templates/b.yaml\" . }}"),
        ("templates/b.yaml", "name: {{ .Values.name }}"),
    ];
    let chart = chart(&files).expect("a chart");
    let render = |name: usize| {
        let mut values = Values::default();
        values.set(&format!("name=n{name}")).expect("an assignment");
        chart.render(&values, &options()).expect("a rendered chart").manifests.remove(0).content
    };
    let outputs: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|name| scope.spawn(move || render(name))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread")).collect()
    });
    assert_eq!(outputs, ["name: n0", "name: n1", "name: n2", "name: n3"]);
}

#[test]
fn equal_copies_of_a_library_are_one_library() {
    let library = "{{ define \"x\" }}{{ .Chart.Name }}{{ end }}body";
    let files = [
        ("charts/a/Chart.yaml", "{apiVersion: v2, name: a, version: 1.0.0}"),
        ("charts/b/Chart.yaml", "{apiVersion: v2, name: b, version: 1.0.0}"),
        ("charts/a/templates/_library.tpl", library),
        ("charts/b/templates/_library.tpl", library),
        // Parsed between both.
        ("charts/a/templates/_own.tpl", "{{ define \"x\" }}own{{ end }}"),
        (
            "templates/a.yaml",
            "a: {{ include \"x\" . }}-{{ include \"web/charts/b/templates/_library.tpl\" . }}",
        ),
    ];
    let chart = chart(&files).expect("a chart");
    for _ in 0..3 {
        let rendered = chart.render(&Values::default(), &options()).expect("a rendered chart");
        assert_eq!(rendered.manifests[0].content, "a: web-body");
    }
}

#[test]
fn crds_notes_and_tests_are_apart_from_manifests() {
    let files = [
        ("crds/b.yaml", "crd: b\n"),
        ("crds/a.txt", "no manifest"),
        ("templates/NOTES.txt", "installed as {{ .Release.Name }}"),
        ("templates/a.yaml", "kind: Service\n---\nkind: Namespace"),
        (
            "templates/t.yaml",
            "kind: Pod\nmetadata: {name: t, annotations: {helm.sh/hook: test, helm.sh/hook-weight: 5}}",
        ),
    ];
    let rendered = render(&files, &[]).expect("a rendered chart");
    assert_eq!(rendered.notes, "installed as shop");
    assert_eq!(
        rendered.manifests.iter().map(|manifest| &*manifest.kind).collect::<Vec<_>>(),
        ["Namespace", "Service"]
    );
    let hook = rendered.hooks[0].hook.clone().expect("a hook");
    assert_eq!((rendered.hooks[0].name.as_str(), hook.weight), ("t", 5));
    let print = |options: PrintOptions| rendered.print(&options).expect("a text");
    let all = print(PrintOptions { include_crds: true, ..PrintOptions::default() });
    assert!(all.starts_with("---\n# Source: web/crds/b.yaml\ncrd: b\n\n---\n"), "{all}");
    let without = print(PrintOptions { skip_tests: true, ..PrintOptions::default() });
    assert_eq!(without, print(PrintOptions { no_hooks: true, ..PrintOptions::default() }));
    let only = print(PrintOptions { show_only: vec!["templates/t*".to_owned()], ..PrintOptions::default() });
    assert!(only.starts_with("---\n# Source: web/templates/t.yaml\nkind: Pod\n"), "{only}");
    let wrong = PrintOptions { show_only: vec!["templates/x.yaml".to_owned()], ..PrintOptions::default() };
    assert_eq!(rendered.print(&wrong).expect_err("an error").pattern, "templates/x.yaml");
}

#[test]
fn objects_beside_the_values_are_json_in_the_order_of_helm() {
    let template = "a: {{ toJson .Chart }}\nb: {{ toRawJson .Capabilities.KubeVersion }}\nc:{{ toYaml .Chart | nindent 2 }}";
    let files = [
        ("Chart.yaml", "{apiVersion: v2, version: 1.0.0, name: web, type: application, home: h}"),
        ("templates/a.yaml", template),
    ];
    let expected = r#"a: {"name":"web","home":"h","version":"1.0.0","apiVersion":"v2","type":"application","IsRoot":true}
b: {"Version":"v1.37.0","Major":"1","Minor":"37"}
c:
  IsRoot: true
  apiVersion: v2
  home: h
  name: web
  type: application
  version: 1.0.0"#;
    assert_eq!(render(&files, &[]).expect("a rendered chart").manifests[0].content, expected);
}

#[test]
fn files_that_yaml_cannot_hold_make_an_empty_text() {
    let template = "a: {{ (.Files.Glob \"*.bin\").AsConfig | quote }}\nb: {{ (.Files.Glob \"*.bin\").AsSecrets | quote }}";
    let files = [("x.bin", "a\u{7f}"), ("templates/a.yaml", template)];
    let content = render(&files, &[]).expect("a rendered chart").manifests.remove(0).content;
    assert_eq!(content, "a: \"\"\nb: \"x.bin: YX8=\"");
}

#[test]
fn a_missing_file_is_an_empty_list_of_bytes() {
    let template = "a: x{{ .Files.Nope }} {{ index .Files \"nope\" | typeOf }} {{ .Files.Nope | quote }}";
    let content =
        render(&[("templates/a.yaml", template)], &[]).expect("a rendered chart").manifests.remove(0).content;
    assert_eq!(content, "a: x[] []uint8 \"\"");
}

#[test]
fn templates_of_release_names_have_no_data() {
    let name = |text: &str| Release::name_of_template(text).expect("a name");
    assert_eq!(name("{{ .X.Y | default \"web\" }}"), "web");
    assert_eq!(name("{{ . }}"), "<no value>");
}

#[test]
fn a_seed_repeats_random_values() {
    let chart = chart(&[("templates/a.yaml", "a: {{ randAlphaNum 20 }}")]).expect("a chart");
    let render = |seed| {
        let options = RenderOptions { seed, ..options() };
        chart.render(&Values::default(), &options).expect("a rendered chart").manifests.remove(0).content
    };
    assert_eq!(render(Some(7)), render(Some(7)));
    assert_ne!(render(Some(7)), render(Some(8)));
}
