//! Templates that would take all time, memory or stack: an error names their line.

use crate::{Error, Limit, Limits, Output, Problem, Session, Settings, Value};

fn limit(text: &str) -> (usize, Limit) {
    let limits = Limits { steps: 200_000, ..Limits::default() };
    let settings = Settings { limits, ..Settings::helm() };
    match super::output(text, settings) {
        Err(Error::Render(error)) => match error.innermost().problem {
            Problem::Limit(limit) => (error.line, limit),
            _ => panic!("expected a limit, got {error}"),
        },
        other => panic!("expected a limit, got {:?}", other.map(Output::into_text)),
    }
}

#[test]
fn endless_recursion_names_the_line() {
    let depth = Limits::default().depth;
    assert_eq!(
        limit("{{ define \"x\" }}{{ template \"x\" . }}{{ end }}\n{{ template \"x\" . }}").1,
        Limit::Depth(depth)
    );
    let both = "{{ define \"x\" }}{{ include \"y\" . }}{{ end }}{{ define \"y\" }}{{ template \"x\" . }}{{ end }}\n{{ include \"x\" . }}";
    assert_eq!(limit(both), (2, Limit::Depth(depth)));
    let text = "{{ $_ := set . \"t\" \"{{ tpl .t . }}\" }}\n\n{{ tpl .t . }}";
    assert_eq!(limit(text), (3, Limit::Depth(depth)));
}

#[test]
fn a_template_that_includes_itself_fails_as_in_helm() {
    let text = "{{ define \"x\" }}{{ include \"x\" . }}{{ end }}\n{{ include \"x\" . }}";
    let Err(Error::Render(error)) = super::output(text, Settings::helm()) else {
        panic!("expected an error")
    };
    assert_eq!(error.line, 2);
    let message = &error.innermost().message;
    assert!(message.ends_with("has a nested reference name: x: unable to execute template"), "{message}");
}

#[test]
fn endless_loops_take_a_limited_number_of_steps() {
    assert_eq!(limit("\n{{ range 9000000000000000000 }}{{ end }}"), (2, Limit::Steps(200_000)));
    let nested = "{{ range until 1000 }}{{ range until 1000 }}{{ $x := add 1 2 }}{{ end }}{{ end }}";
    assert_eq!(limit(nested).1, Limit::Steps(200_000));
    let compared = "{{ $l := until 3000 }}{{ uniq $l }}";
    assert_eq!(limit(compared).1, Limit::Steps(200_000));
}

#[test]
fn huge_texts_and_lists_are_refused_before_allocation() {
    let output = Limit::Output(Limits::default().output_bytes);
    for text in [
        "{{ repeat 1000000000000 \"abc\" }}",
        "{{ until 1000000000000 }}",
        "{{ untilStep 0 9223372036854775807 1 }}",
        "{{ seq 1 100000000000 }}",
        "{{ indent 1000000000 \"a\\nb\" }}",
        "{{ randAlphaNum 1000000000 }}",
        "{{ $s := repeat 1000000 \"aaaa\" }}{{ replace \"a\" (repeat 100 \"b\") $s }}",
        "{{ $s := repeat 1000000 \"aaaa\" }}{{ regexReplaceAll \"a\" $s (repeat 100 \"b\") }}",
        "{{ $s := repeat 1000000 \"aaaa\" }}{{ wrapWith 1 (repeat 100 \"b\") $s }}",
        "{{ $s := repeat 1000000 \"aaaa\" }}{{ join (repeat 100 \"b\") (splitList \"\" (trunc 1000000 $s)) }}",
    ] {
        assert_eq!(limit(text), (1, output), "{text}");
    }
}

#[test]
fn all_texts_share_one_limit() {
    let text = "{{ $l := list }}{{ range until 1000 }}{{ $l = append $l (repeat 60000000 \"a\") }}{{ end }}";
    assert_eq!(limit(text).1, Limit::Created(Limits::default().created_bytes));
    let text = "{{ range until 1000 }}{{ repeat 1000000 \"a\" }}{{ end }}";
    assert_eq!(limit(text).1, Limit::Output(Limits::default().output_bytes));
}

#[test]
fn a_huge_width_is_ignored() {
    assert_eq!(super::rendered("{{ printf \"%999999999d\" 1 }}"), "%!(NOVERB)%!(EXTRA int=1)");
    assert_eq!(super::rendered("{{ printf \"%900000d\" 1 | len }}"), "900000");
}

#[test]
fn a_huge_precision_prints_zeros() {
    for (verb, length) in [('f', 70_002), ('e', 70_006), ('g', 3), ('x', 70_008)] {
        let text = format!("{{{{ printf \"%.70000{verb}\" 1.5 | len }}}}");
        assert_eq!(super::rendered(&text), length.to_string(), "{verb}");
    }
}

#[test]
fn values_nested_by_a_loop_print_no_deeper_than_the_limit() {
    let nest = "{{ $d := dict }}{{ range until 100000 }}{{ $d = dict \"k\" $d }}{{ end }}";
    assert_eq!(super::rendered(nest), "");
    for function in
        ["toYaml $d", "toJson $d", "print $d", "deepCopy $d", "toToml $d", "eq 1 (len (toString $d))"]
    {
        let settings = Settings::helm();
        let Err(error) = super::output(&format!("{nest}{{{{ {function} }}}}"), settings) else {
            panic!("{function} succeeded")
        };
        assert!(error.to_string().contains("nested deeper than the limit of 1000"), "{function}: {error}");
    }
    let lists = "{{ $l := list }}{{ range until 100000 }}{{ $l = list $l }}{{ end }}";
    assert_eq!(super::rendered(lists), "");
}

#[test]
fn a_map_that_contains_itself_cannot_be_printed() {
    for function in ["toYaml", "toJson", "print", "deepCopy", "toPrettyJson", "toYamlPretty"] {
        let text = format!("{{{{ $d := dict }}}}{{{{ $_ := set $d \"d\" $d }}}}{{{{ {function} $d }}}}");
        let Err(error) = super::output(&text, Settings::helm()) else { panic!("{function} succeeded") };
        assert!(error.to_string().contains("contains itself"), "{function}: {error}");
    }
}

#[test]
fn deep_nesting_of_a_template_is_an_error() {
    let parse = |text: &str| {
        let functions = std::sync::Arc::new(crate::Functions::helm());
        crate::Templates::new("set", functions).parse("t", text).expect_err("too deep").to_string()
    };
    assert_eq!(
        parse(&format!("{{{{ {} }}}}", "(".repeat(100_000))),
        "template: t:1: max expression depth exceeded"
    );
    let blocks = "{{ if .x }}\n".repeat(100_000);
    assert_eq!(parse(&blocks), "template: t:1001: actions are nested deeper than the limit of 1000");
}

#[test]
fn deep_templates_run_on_a_small_stack() {
    let text = format!("{}{}{}", "{{ if .name }}".repeat(900), "x", "{{ end }}".repeat(900));
    let parens = format!("{{{{ {}.name{} }}}}", "(".repeat(900), ")".repeat(900));
    let thread = std::thread::Builder::new().stack_size(256 << 10);
    let run = move || (super::rendered(&text), super::rendered(&parens));
    let handle = thread.spawn(run).expect("a thread");
    assert_eq!(handle.join().expect("no overflow"), ("x".to_owned(), "web".to_owned()));
}

#[test]
fn hostile_patterns_are_refused_or_run_in_linear_time() {
    let settings = Settings::helm();
    let large = "{{ regexFind \"((((a{100}){100}){100}){100})\" \"a\" }}";
    let Err(error) = super::output(large, settings) else { panic!("compiled") };
    assert!(error.to_string().contains("expression too large"), "{error}");
    assert_eq!(
        super::rendered("{{ regexMatch \"^(a+)+$\" (printf \"%sb\" (repeat 100000 \"a\")) }}"),
        "false"
    );
}

#[test]
fn a_render_after_an_error_starts_with_fresh_state() {
    let templates = super::helm("{{ if .bad }}{{ template \"t\" . }}{{ end }}ok");
    let mut session = Session::new(Settings::helm());
    let bad = Value::map([("bad", Value::Bool(true))]);
    assert!(templates.render("t", &bad, &mut session).is_err());
    let good = templates.render("t", &Value::map([("bad", Value::Bool(false))]), &mut session);
    assert_eq!(good.expect("output").into_text().unwrap(), "ok");
}

#[test]
fn values_that_contain_others_billions_of_times_are_refused() {
    let build = "{{ $d := dict \"x\" 1 }}{{ $e := dict \"x\" 1 }}{{ range until 36 }}\
        {{ $d = dict \"a\" $d \"b\" $d }}{{ $e = dict \"a\" $e \"b\" $e }}{{ end }}";
    for call in [
        "toJson $d",
        "toYaml $d",
        "toToml $d",
        "deepCopy $d",
        "deepEqual $d $e",
        "list $d $e | uniq",
        "has $d (list $e)",
        "print $d",
        "printf \"%v\" $d",
        "quote $d",
        "join \",\" (list $d)",
    ] {
        let rendered = super::output(&format!("{build}{{{{ {call} | toString | len }}}}"), Settings::helm());
        let error = rendered.expect_err(call).to_string();
        assert!(error.contains("limit of") || error.contains("more than"), "{call}: {error}");
    }
}
