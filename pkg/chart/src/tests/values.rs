//! Values of subcharts.

use serde_json::json;

use super::{printed, render};
use crate::{AssignmentError, ChartError, Values, ValuesError};

const SUBCHART: &str = "{apiVersion: v2, name: db, version: 1.2.0}";
const PRINT: &str = "v: {{ toJson .Values }}";

/// The last line that the template of the subchart printed.
fn values_of_subchart(files: &[(&str, &str)], set: &[&str]) -> String {
    let mut all = vec![("charts/db/Chart.yaml", SUBCHART), ("charts/db/templates/a.yaml", PRINT)];
    all.extend_from_slice(files);
    printed(&all, set).trim_end().rsplit("v: ").next().expect("a line").to_owned()
}

#[test]
fn values_of_the_parent_win_over_those_of_a_subchart() {
    let files = [("values.yaml", "db: {a: {x: 1}}"), ("charts/db/values.yaml", "a: {x: 0, z: 0}\nb: 0")];
    assert_eq!(values_of_subchart(&files, &["db.b=2"]), r#"{"a":{"x":1,"z":0},"b":2,"global":{}}"#);
}

#[test]
fn null_removes_a_default() {
    let files = [("charts/db/values.yaml", "a: {x: 0, z: 0}")];
    assert_eq!(values_of_subchart(&files, &["db.a.x=null"]), r#"{"a":{"z":0},"global":{}}"#);
}

#[test]
fn a_table_below_a_global_is_shared_by_all_charts() {
    let files = [
        ("values.yaml", "global: {image: {pull: {a: 1}}}"),
        ("charts/db/values.yaml", "global: {image: {pull: {b: 2}, c: 3}}"),
        ("templates/a.yaml", "global: {{ toJson .Values.global }}"),
        ("charts/db/Chart.yaml", SUBCHART),
    ];
    let text = printed(&files, &[]);
    assert!(text.contains(r#"global: {"image":{"pull":{"a":1,"b":2}}}"#), "{text}");
}

#[test]
fn aliases_conditions_and_imports_select_subcharts() {
    let metadata = "
apiVersion: v2
name: web
version: 1.0.0
dependencies:
- {name: db, version: 1.x, alias: first, import-values: [out, {child: in, parent: into}]}
- {name: db, version: '>=1.0', alias: second, condition: second.enabled}
- {name: db, version: '*', alias: third, tags: [extra]}";
    let files = [
        ("Chart.yaml", metadata),
        ("templates/a.yaml", "own: {{ .Values.port }} {{ .Values.into.x }}"),
        ("charts/db/Chart.yaml", SUBCHART),
        ("charts/db/values.yaml", "exports: {out: {port: 80}}\nin: {x: up}"),
        ("charts/db/templates/a.yaml", "name: {{ .Chart.Name }}"),
    ];
    let text = printed(&files, &["second.enabled=false,tags.extra=true"]);
    let expected = "---\n# Source: web/charts/first/templates/a.yaml\nname: first\n---\n# Source: web/charts/third/templates/a.yaml\nname: third\n---\n# Source: web/templates/a.yaml\nown: 80 up\n";
    assert_eq!(text, expected);
}

#[test]
fn values_that_a_schema_rejects_are_reported_for_all_charts() {
    let schema = r#"{"properties": {"count": {"type": "integer", "maximum": 1000}}, "required": ["m"]}"#;
    let files = [
        ("values.schema.json", schema),
        ("charts/db/Chart.yaml", SUBCHART),
        ("charts/db/values.schema.json", schema),
        ("charts/db/values.yaml", "count: x\nm: 1"),
    ];
    let Err(ChartError::Schema { reports }) = render(&files, &["count=70000"]) else { panic!("a report") };
    let problems: Vec<(String, Vec<String>)> = reports
        .iter()
        .map(|report| {
            let problems = report.problems.as_ref().expect("a schema");
            (report.chart.clone(), problems.iter().map(ToString::to_string).collect())
        })
        .collect();
    let own = vec![
        "- at '': missing property 'm'".to_owned(),
        "- at '/count': maximum: got 70,000, want 1,000".to_owned(),
    ];
    let inner = vec!["- at '/count': got string, want integer".to_owned()];
    assert_eq!(problems, [("web".to_owned(), own), ("db".to_owned(), inner)]);
}

// Row: D-557
#[test]
fn schemas_of_other_places_are_not_loaded() {
    let rendered = |schema: serde_json::Value| {
        let schema = schema.to_string();
        let files = [("values.schema.json", &*schema), ("templates/a.yaml", "")];
        render(&files, &["a=1"])
    };
    for place in ["file:///etc/passwd", "other.json"] {
        let error = rendered(json!({"properties": {"a": {"$ref": place}}})).expect_err(place).to_string();
        assert!(error.contains(&format!("{place}: schemas of other places are not fetched")), "{error}");
    }
    for place in ["https://example.org/a.json", "http://127.0.0.1:1/a.json#/definitions/b"] {
        let warnings = rendered(json!({"properties": {"a": {"$ref": place}}})).expect("a result").warnings;
        let address = place.trim_end_matches("#/definitions/b");
        let expected =
            format!("the values of `web` are not checked against `{address}`, which is not fetched");
        assert_eq!(warnings, [expected]);
    }
    // Other keywords count beside a reference since draft 2019-09.
    let schema = |draft: &str| {
        json!({
            "$schema": draft,
            "$id": "https://example.org/own.json",
            "properties": {"a": {"$ref": "https://example.org/a.json", "type": "string"}, "b": {"$ref": "https://example.org/own.json"}},
        })
    };
    assert!(rendered(schema("https://json-schema.org/draft/2020-12/schema")).is_err());
    assert!(rendered(schema("http://json-schema.org/draft-07/schema#")).is_ok());
}

#[test]
fn patterns_of_schemas_have_the_syntax_of_go() {
    let problems = |pattern: &str, value: &str| {
        let schema = json!({"properties": {"a": {"pattern": pattern}}, "patternProperties": {pattern: {}}});
        let schema = schema.to_string();
        let chart =
            super::chart(&[("values.schema.json", &schema), ("templates/a.yaml", "")]).expect("a chart");
        let mut values = Values::default();
        values.set_literal(&format!("a={value}")).expect("an assignment");
        match chart.render(&values, &super::options()) {
            Ok(_) => Ok(Vec::new()),
            Err(ChartError::Schema { mut reports }) => {
                let problems = reports.swap_remove(0).problems;
                problems.map(|all| all.into_iter().map(|problem| problem.message).collect())
            }
            Err(error) => panic!("{error:?}"),
        }
    };
    for (pattern, value) in [
        (r"^[\w-.]+$", "a-b.c"),
        ("^{{.*}}$", "{{x}}"),
        (r"\Qa.b\E", "a.b"),
        ("^[[a]$", "["),
        ("a{,3}", "a{,3}"),
    ] {
        assert_eq!(problems(pattern, value), Ok(Vec::new()), "{pattern}");
    }
    let expected = r"'x' does not match pattern '^\\d+$'".to_owned();
    assert_eq!(problems(r"^\d+$", "x"), Ok(vec![expected]));
    problems("a(?=b)", "x").expect_err("a group that Go does not have");
}

#[test]
fn assignments_have_the_types_of_helm() {
    let mut values = Values::default();
    values.merge_file("f.yaml", b"list: [1, {a: 2}]\ntable: {x: 1}").expect("a table");
    values.set(r"a=1,b=x\,y,c={1,true,z},list[1].a=5,table.y=null").expect("an assignment");
    values.set_string("d=1").expect("an assignment");
    values.set_json(r#"e={"f":[1.5]},g=2k=3"#).expect("an assignment");
    values.set_literal(r"h=a,b\c").expect("an assignment");
    let read = &mut |file: &str| Ok(format!("<{file}>").into_bytes());
    values.set_file("i=path", read).expect("an assignment");
    let chart = super::chart(&[("templates/a.yaml", "{{ toJson .Values }}")]).expect("a chart");
    let rendered = chart.render(&values, &super::options()).expect("a rendered chart");
    let expected = r#"{"a":1,"b":"x,y","c":[1,true,"z"],"d":"1","e":{"f":[1.5]},"g":2,"h":"a,b\\c","i":"\u003cpath\u003e","k":3,"list":[1,{"a":5}],"table":{"x":1,"y":null}}"#;
    assert_eq!(rendered.manifests[0].content, expected);
}

#[test]
fn values_in_utf_16_are_read() {
    let mut values = Values::default();
    let text: Vec<u8> = "\u{FEFF}a: ü\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    values.merge_file("f.yaml", &text).expect("a table");
    let chart = super::chart(&[("templates/a.yaml", PRINT)]).expect("a chart");
    let rendered = chart.render(&values, &super::options()).expect("a rendered chart");
    assert_eq!(rendered.manifests[0].content, r#"v: {"a":"ü"}"#);
}

#[test]
fn files_keep_their_bytes_and_texts_must_be_utf_8() {
    let chart = super::chart(&[
        (
            "templates/a.yaml",
            "{{ if .Values.file }}a: {{ .Values.file | b64enc }}{{ else }}a: {{ .Values.bytes | b64dec }}{{ end }}",
        ),
        ("templates/NOTES.txt", "{{ b64dec \"6Q==\" }}"),
    ]);
    let chart = chart.expect("a chart");
    let mut values = Values::default();
    values.set_file("file=f", &mut |_: &str| Ok(b"caf\xE9\n".to_vec())).expect("an assignment");
    let rendered = chart.render(&values, &super::options()).expect("a rendered chart");
    assert_eq!(rendered.manifests[0].content, "a: Y2Fm6Qo=");
    values = Values::default();
    values.set("bytes=Y2Fm6Qo=").expect("an assignment");
    let error = chart.render(&values, &super::options()).expect_err("a byte that is not UTF-8");
    let ChartError::ManifestYaml { error, .. } = error else { panic!("{error:?}") };
    assert_eq!((error.line, error.column), (1, 7));
    let error = Values::default().merge_file("f.yaml", b"a: caf\xE9").expect_err("a byte that is not UTF-8");
    assert!(error.to_string().contains("invalid UTF-8"), "{error}");
}

#[test]
fn a_malformed_assignment_is_an_error() {
    let error = |text: &str| match Values::default().set(text) {
        Err(ValuesError::Assignment { error, .. }) => error,
        other => panic!("expected an error, got {other:?}"),
    };
    assert_eq!(error("a"), AssignmentError::NoValue("a".to_owned()));
    assert_eq!(error("a[-1]=1"), AssignmentError::NegativeIndex(-1));
    assert_eq!(error("a={1"), AssignmentError::OpenList);
    assert_eq!(error("a[99999]=1"), AssignmentError::IndexTooLarge { index: 99_999, limit: 65_536 });
    let found = "a number";
    let wrong = AssignmentError::WrongType { key: "a".to_owned(), found, expected: "a table" };
    assert_eq!(error("a=1,a.b=2"), wrong);
    assert_eq!(error(&format!("a{}=1", "[0]".repeat(20_000))), AssignmentError::TooDeep { limit: 100 });
}

#[test]
fn a_literal_replaces_no_value_by_a_list() {
    let mut values = Values::default();
    values.set_json("a=[1]").expect("an assignment");
    let Err(ValuesError::Assignment { flag, error, .. }) = values.set_literal("a[0][1]=x") else {
        panic!("expected an error")
    };
    let (key, found) = ("[0]".to_owned(), "a number");
    assert_eq!(flag, "--set-literal");
    assert_eq!(error, AssignmentError::WrongType { key, found, expected: "a list" });
}
