//! Behaviour of whole templates.

mod crypto;
mod hostile;
mod recorded;

use std::sync::Arc;

use crate::{Error, Functions, Output, Problem, Session, Settings, Templates, Value};

fn helm(text: &str) -> Templates {
    let mut templates = Templates::new("set", Arc::new(Functions::helm()));
    templates.parse("t", text).expect("a valid template");
    templates
}

fn values() -> Value {
    Value::from_json(&serde_json::from_str(include_str!("tests/values.json")).expect("JSON"))
}

fn output(text: &str, settings: Settings) -> Result<Output, Error> {
    helm(text).render("t", &values(), &mut Session::new(settings))
}

fn rendered(text: &str) -> String {
    output(text, Settings::helm()).expect("output").into_text().unwrap()
}

fn problem(text: &str, settings: Settings) -> Problem {
    match output(text, settings) {
        Err(Error::Render(error)) => error.innermost().problem.clone(),
        other => panic!("expected a render error, got {other:?}"),
    }
}

#[test]
fn a_template_set_is_shared_between_threads() {
    let templates = helm("{{ .name | upper }}");
    let render = || {
        let output = templates.render("t", &values(), &mut Session::new(Settings::helm()));
        output.expect("output").into_text().unwrap()
    };
    let outputs: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(render)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread")).collect()
    });
    assert_eq!(outputs, ["WEB"; 4]);
}

#[test]
fn a_nil_path_is_named_with_similar_keys() {
    let expected = Problem::Nil {
        path: ".nested.imago".to_owned(),
        field: "tag".to_owned(),
        near: vec!["image".to_owned()],
    };
    assert_eq!(problem("{{ .nested.imago.tag }}", Settings::helm()), expected);
    let inside = "{{ define \"x\" }}{{ .nested.imago.tag }}{{ end }}{{ include \"x\" . }}";
    assert_eq!(problem(inside, Settings::helm()), expected);
}

// Row: D-559
#[test]
fn dates_are_shown_in_a_named_zone_or_in_utc() {
    let zones =
        ["America/New_York", "america/new_york", "../zoneinfo/Asia/Tokyo", "America/Sao_Paulo", "Local"];
    let shown = zones.map(|zone| {
        rendered(&format!("{{{{ dateInZone \"2006-01-02T15:04:05Z07:00 MST\" 1700000000 \"{zone}\" }}}}"))
    });
    let utc = "2023-11-14T22:13:20Z UTC";
    let mut expected = [utc; 5];
    // A machine may lack the database of zones.
    if jiff::tz::TimeZone::get(zones[0]).is_ok() {
        expected[0] = "2023-11-14T17:13:20-05:00 EST";
        expected[3] = "2023-11-14T19:13:20-03:00 -03";
    }
    assert_eq!(shown, expected);
    assert_eq!(rendered("{{ date \"15:04 MST\" 0 }}"), "00:00 UTC");
}

// Row: D-558
#[test]
fn complex_numbers_are_refused() {
    for number in ["1i", "-0x1p3i", "1.5+2i"] {
        let Err(Error::Render(error)) = output(&format!("{{{{ {number} }}}}"), Settings::helm()) else {
            panic!("expected an error of {number}")
        };
        assert!(error.to_string().ends_with(&format!("complex number {number} is not supported")), "{error}");
    }
}

#[test]
fn a_missing_key_in_strict_mode_names_similar_keys() {
    let strict = Settings { missing_key: crate::MissingKey::Error, ..Settings::helm() };
    let expected = Problem::MissingKey { path: ".nestd".to_owned(), near: vec!["nested".to_owned()] };
    assert_eq!(problem("{{ .nestd }}", strict), expected);
}

#[test]
fn an_unknown_function_names_similar_functions() {
    let mut templates = Templates::new("set", Arc::new(Functions::helm()));
    match templates.parse("t", "line one\n{{ .x | nident 2 }}") {
        Err(Error::Parse(error)) => {
            assert_eq!((error.line, error.template.as_str()), (2, "t"));
            assert!(error.near.contains(&"nindent".to_owned()), "{:?}", error.near);
        }
        other => panic!("expected a parse error, got {other:?}"),
    }
}

#[test]
fn an_error_inside_an_include_keeps_every_position() {
    let text = "{{ define \"x\" }}\n{{ fail \"no\" }}{{ end }}\n\n{{ include \"x\" . }}";
    let Err(Error::Render(error)) = output(text, Settings::helm()) else { panic!("expected an error") };
    assert_eq!((error.line, error.innermost().line), (4, 2));
    assert_eq!(error.innermost().problem, Problem::Failed { message: "no".to_owned() });
}

#[test]
fn lint_mode_ignores_required_and_fail() {
    let lint = Settings { lint: true, ..Settings::helm() };
    let text = "[{{ required \"x\" .missing }}{{ fail \"y\" }}]";
    assert_eq!(output(text, lint).expect("output").into_text().unwrap(), "[]");
}

#[test]
fn a_seed_repeats_random_values() {
    let text = "{{ randAlphaNum 20 }} {{ uuidv4 }} {{ randInt 1 1000000 }} {{ randBytes 9 }} {{ shuffle \"abcdefgh\" }}";
    let run =
        |seed| output(text, Settings { seed, ..Settings::helm() }).expect("output").into_text().unwrap();
    assert_eq!(run(Some(1)), run(Some(1)));
    assert_ne!(run(Some(1)), run(Some(2)));
    assert_ne!(run(None), run(None));
}

#[test]
fn the_clock_comes_from_the_settings() {
    let now = jiff::Timestamp::from_second(1_700_000_000).expect("a time");
    let text = "{{ now | date \"2006-01-02 15:04:05\" }} {{ now | unixEpoch }} {{ ago 1699999990 }}";
    let output = output(text, Settings { now, ..Settings::helm() }).expect("output");
    assert_eq!(output.into_text().unwrap(), "2023-11-14 22:13:20 1700000000 10s");
}

#[test]
fn a_fraction_of_a_second_has_nine_digits_at_most() {
    let now = jiff::Timestamp::new(1_700_000_000, 120_000_000).expect("a time");
    let text = "{{ now | date \".00000000000 ,9999999999 .0\" }}";
    let output = output(text, Settings { now, ..Settings::helm() }).expect("output");
    assert_eq!(output.into_text().unwrap(), ".120000000 ,12 .1");
}

#[test]
fn spans_name_the_action_that_wrote_each_piece() {
    let text = "a: 1\nb: {{ .name }}{{ .missing }}\n{{ template \"x\" . }}{{ define \"x\" }}\nc: {{ .count }}{{ end }}";
    let output = output(text, Settings { trace: true, ..Settings::helm() }).expect("output");
    let shown: Vec<(String, usize, &str)> = output
        .spans
        .iter()
        .map(|span| {
            let text = String::from_utf8_lossy(&output.bytes[span.output.clone()]).into_owned();
            (text, span.line, span.template.as_str())
        })
        .collect();
    let expected = [("a: 1\nb: ", 1, "t"), ("web", 2, "t"), ("\n", 2, "t"), ("\nc: ", 3, "x"), ("3", 4, "x")];
    assert_eq!(shown, expected.map(|(text, line, template)| (text.to_owned(), line, template)));
}

#[test]
fn without_trace_there_are_no_spans() {
    assert_eq!(output("{{ .name }}", Settings::helm()).expect("output").spans, []);
}

#[test]
fn nil_data_of_an_include_is_no_value() {
    let text = "{{ define \"x\" }}[{{ .a }}{{ len (keys .) }}]{{ end }}{{ include \"x\" .missing }}{{ include \"x\" nil }}";
    assert_eq!(rendered(text), "[0][0]");
}

#[test]
fn a_dash_behind_a_class_is_plain() {
    assert_eq!(
        rendered(r#"{{ regexMatch "^[\\w-\\.]+$" "a-b.c" }} {{ regexMatch "^[\\d-x]+$" "1-x" }}"#),
        "true true"
    );
}

#[test]
fn binary_texts_survive_encoding() {
    assert_eq!(rendered("{{ \"/wD+gA==\" | b64dec | b64enc }}"), "/wD+gA==");
    assert_eq!(rendered("{{ \"é\" | trunc 1 | printf \"%q\" }}"), "\"\\xc3\"");
}

#[test]
fn a_change_of_a_map_is_seen_by_later_templates_of_a_session() {
    let mut templates = helm("{{ $_ := set . \"extra\" (dict \"k\" \"v\") }}");
    templates.parse("u", "{{ .extra.k }}").expect("a valid template");
    let (data, mut session) = (values(), Session::new(Settings::helm()));
    templates.render("t", &data, &mut session).expect("output");
    assert_eq!(templates.render("u", &data, &mut session).expect("output").into_text().unwrap(), "v");
}

#[test]
fn a_map_that_contains_itself_is_freed_with_its_session() {
    let data = values();
    output("{{ $a := dict \"x\" (list 1) }}{{ $_ := set $a \"self\" $a }}", Settings::helm())
        .expect("output");
    let mut session = Session::new(Settings::helm());
    helm("{{ $_ := set . \"self\" . }}").render("t", &data, &mut session).expect("output");
    drop(session);
    let Value::Map(map) = data else { panic!("a map") };
    assert!(map.is_empty(), "the session empties the maps that templates changed");
}

#[test]
fn other_delimiters_hold_for_nested_texts_too() {
    let functions = Arc::new(Functions::component());
    let mut templates = Templates::new("set", functions).with_delimiters(crate::Delimiters::new("<%", ""));
    templates.parse("t", "{{ .name }} <%- .name }} <% tpl \"<% .name | upper }}\" . }}").expect("a template");
    let output = templates.render("t", &values(), &mut Session::new(Settings::helm()));
    assert_eq!(output.expect("output").into_text().unwrap(), "{{ .name }}web WEB");
}

#[test]
fn functions_of_components_fail_on_bad_input() {
    let run = |text: &str| {
        let mut templates = Templates::new("set", Arc::new(Functions::component()));
        templates.parse("t", text)?;
        Ok::<_, Error>(
            templates.render("t", &values(), &mut Session::new(Settings::helm()))?.into_text().unwrap(),
        )
    };
    for text in [
        "fromYaml \"a: [\"",
        "fromYamlArray \"a: 1\"",
        "fromJson \"{\"",
        "fromJsonArray \"{}\"",
        "required \"x\" .missing",
        "bitwiseAnd \"x\"",
        "bitwiseOr -1",
        "parseIPv4Address \"1.2.3\"",
        "parseIPv4Address \"1.2.3.256\"",
        "formatIPv4Address (list 1)",
    ] {
        assert!(run(&format!("{{{{ {text} }}}}")).is_err(), "{text}");
    }
    let text = "{{ bitwiseShiftLeft 4 \"0x10\" }} {{ bitwiseShiftRight 64 1 }} {{ bitwiseXor 7 2 true }} \
                {{ parseIPv4Address \"10.0.1.2\" | add 1 | formatIPv4Address }}";
    assert_eq!(run(text).expect("output"), "256 0 4 10.0.1.3");
    let text = "{{ int \"1.5\" }} {{ add \"2.9\" \"-.5\" 1 }} {{ max \"+3.\" \"1e3\" }} {{ bitwiseOr \"\" \"4.7\" }}";
    assert_eq!(run(text).expect("output"), "1 3 3 4");
    assert!(run("{{ toYaml \"a\u{7f}\" }}").is_err());
}
