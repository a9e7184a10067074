use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

use super::*;
use crate::results::Reads;

struct Double;

impl Natives for Double {
    fn functions(&self) -> &'static [NativeFunction] {
        &[NativeFunction { name: "double", parameters: &["x"] }]
    }

    fn call(&self, _name: &str, arguments: &[Value]) -> Result<Value, String> {
        match arguments[0].as_i64() {
            Some(number) => Ok(json!({"twice": number * 2})),
            None => Err("a number is needed".to_owned()),
        }
    }
}

/// Evaluates `main.jsonnet` of some files. The folder `vendor` is a search path.
fn run(files: &[(&str, &str)]) -> Result<Evaluated, String> {
    run_with(&EvaluationControl::default(), files)
}

fn run_with(control: &EvaluationControl, files: &[(&str, &str)]) -> Result<Evaluated, String> {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let search_paths: Vec<PathBuf> = vec![folder.path().join("vendor")];
    let external_variables = BTreeMap::from([("target".to_owned(), "one".to_owned())]);
    let reads = Arc::<Reads>::default();
    let evaluation = Evaluation {
        search_paths: &search_paths,
        external_variables,
        natives: &Double,
        reads: &reads,
        control,
    };
    let shown = |text: String| text.replace(&folder.path().display().to_string(), "[FOLDER]");
    evaluate(&folder.path().join("main.jsonnet"), &evaluation)
        .map(|evaluated| Evaluated { traces: evaluated.traces.into_iter().map(shown).collect(), ..evaluated })
        .map_err(|error| shown(api::error_chain(&error).lines.join("\n")))
}

#[test]
fn imports_are_found_beside_the_file_and_in_search_paths() {
    let evaluated = run(&[
        (
            "main.jsonnet",
            "{ a: import 'lib/a.libsonnet', t: importstr 'lib/t.txt', target: std.extVar('target') }",
        ),
        ("lib/a.libsonnet", "import '../b.libsonnet'"),
        ("b.libsonnet", "import 'c.libsonnet'"),
        ("vendor/c.libsonnet", "{ from: 'vendor' }"),
        ("lib/t.txt", "text\n"),
    ]);
    assert_eq!(evaluated.unwrap().value, json!({"a": {"from": "vendor"}, "t": "text\n", "target": "one"}));
}

#[test]
fn numbers_are_integers_if_they_are_whole() {
    let evaluated = run(&[("main.jsonnet", "[1, 1.0, 1.5, -0, 1e20, 1e-5]")]).unwrap();
    assert_eq!(evaluated.value, json!([1, 1, 1.5, 0, 1e20, 1e-5]));
}

#[test]
fn native_functions_get_and_return_values() {
    let program = "local double = std.native('double'); [double(2), double(2).twice, std.native('none')]";
    assert_eq!(run(&[("main.jsonnet", program)]).unwrap().value, json!([{"twice": 4}, 4, null]));
}

#[test]
fn traces_are_returned_with_their_position() {
    let evaluated = run(&[("main.jsonnet", "\nstd.trace('seen', 1)")]).unwrap();
    assert_eq!(evaluated.traces, ["[FOLDER]/main.jsonnet:2 seen"]);
}

#[test]
fn errors_name_their_position_and_the_open_calls() {
    let program = "local f(x) = error 'boom ' + x;\n{ a: [f(1)] }\n";
    assert_data_eq!(
        run(&[("main.jsonnet", program)]).unwrap_err(),
        str![[r#"
[FOLDER]/main.jsonnet:1:14: boom 1
[FOLDER]/main.jsonnet:2:7: in call of `f`
"#]]
    );
    assert_data_eq!(
        run(&[("main.jsonnet", "{ a: 1 + }")]).unwrap_err(),
        str!["[FOLDER]/main.jsonnet:1:10: unexpected `rightbrace`"]
    );
    assert_data_eq!(
        run(&[("main.jsonnet", "{ a: b }")]).unwrap_err(),
        str!["[FOLDER]/main.jsonnet:1:6: unknown variable: b"]
    );
    assert_data_eq!(
        run(&[("main.jsonnet", "{ a: {}.b }")]).unwrap_err(),
        str!["[FOLDER]/main.jsonnet:1:6: field does not exist: b"]
    );
    assert_data_eq!(
        run(&[("main.jsonnet", "std.extVar('absent')")]).unwrap_err(),
        str![[r#"
[FOLDER]/main.jsonnet:1:1: undefined external variable: absent
[FOLDER]/main.jsonnet:1:1: in call of `extVar`
"#]]
    );
    assert_data_eq!(
        run(&[("main.jsonnet", "std.native('double')('x')")]).unwrap_err(),
        str![[r#"
[FOLDER]/main.jsonnet:1:1: a number is needed
[FOLDER]/main.jsonnet:1:1: in a call
"#]]
    );
    assert_data_eq!(
        run(&[("main.jsonnet", "import 'absent.libsonnet'")]).unwrap_err(),
        str![
            "[FOLDER]/main.jsonnet:1:1: no file `absent.libsonnet` in the folder of the importing file, the libraries or the search paths `[FOLDER]/vendor`"
        ]
    );
    assert_data_eq!(
        run(&[("main.jsonnet", "import 'a.libsonnet'"), ("a.libsonnet", "{\n  a: 'x\n")]).unwrap_err(),
        str!["[FOLDER]/a.libsonnet:2:6: a text has no end"]
    );
    assert_data_eq!(
        run(&[("main.jsonnet", "{ f(x): x }.f")]).unwrap_err(),
        str!["the result of `[FOLDER]/main.jsonnet` has a function"]
    );
    assert_data_eq!(
        run(&[]).unwrap_err(),
        str!["cannot read `[FOLDER]/main.jsonnet`: No such file or directory (os error 2)"]
    );
}

// Row: D-451
#[test]
fn endless_recursion_is_an_error() {
    for program in [
        "local f(x) = 1 + f(x + 1); f(0)",
        "local a = { b: $.b }; a",
        "local f(x) = [f(x)]; f(0)",
        "local o = { a: self }; o",
        "import 'main.jsonnet'",
    ] {
        let error = run(&[("main.jsonnet", program)]).unwrap_err();
        assert!(error.contains("too many nested calls") || error.contains("infinite recursion"), "{error}");
    }
}

#[test]
fn deeply_nested_sources_are_rejected() {
    for (open, close) in [("[", "]"), ("(", ")"), ("if true then ", ""), ("local a = 1; ", ""), ("{a:", "}")]
    {
        let program = format!("{}1{}", open.repeat(50_000), close.repeat(50_000));
        let error = run(&[("main.jsonnet", &program)]).unwrap_err();
        assert_eq!(error, "`[FOLDER]/main.jsonnet` is nested deeper than 10000 levels");
        let program = format!("{}1{}", open.repeat(2_000), close.repeat(2_000));
        assert!(run(&[("main.jsonnet", &program)]).is_ok(), "{open}");
    }
}

// Row: D-471
#[test]
fn values_that_would_fill_the_memory_are_errors() {
    for (program, expected) in [
        ("std.repeat('ab', 1e9)", "std.repeat makes more than 100000000 characters"),
        ("std.repeat([1], 1e9)", "std.repeat makes more than 10000000 elements"),
        ("std.makeArray(1e12, function(i) i)", "std.makeArray makes more than 10000000 elements"),
        ("std.range(1, 1e12)", "std.range makes more than 10000000 elements"),
    ] {
        let error = run(&[("main.jsonnet", program)]).unwrap_err();
        assert!(error.starts_with(&format!("[FOLDER]/main.jsonnet:1:1: {expected}\n")), "{error}");
    }
}

// Row: D-505
#[test]
fn values_that_leave_a_program_have_a_maximum_size() {
    let text = "'%70000000d' % 1";
    let error = run(&[("main.jsonnet", text)]).unwrap_err();
    assert_eq!(error, "the result of `[FOLDER]/main.jsonnet` is larger than 64 MiB");
    let error =
        run(&[("main.jsonnet", "local x = [[i] for i in std.range(1, 1100000)]; { x: x }")]).unwrap_err();
    assert_eq!(error, "the result of `[FOLDER]/main.jsonnet` is larger than 64 MiB");
    let error = run(&[("main.jsonnet", &format!("std.native('double')({text})"))]).unwrap_err();
    assert!(error.contains("native function `double` takes no value of more than 64 MiB"), "{error}");
    assert_eq!(run(&[("main.jsonnet", &format!("std.length({text})"))]).unwrap().value, json!(70_000_000));
}

#[test]
fn functions_with_limits_have_their_results() {
    let program = "[std.repeat('ab', 2), std.repeat(count=2, what=[1]), std.makeArray(2, function(i) i), std.range(1, 3),
        std.range(3, 1), std.repeat('a', 0), std.thisFile, 'é%s' % std.length('é')]";
    let value = run(&[("main.jsonnet", program)]).unwrap().value;
    let this_file = value[6].as_str().unwrap();
    assert!(this_file.ends_with("/main.jsonnet"), "{this_file}");
    let items = value.as_array().unwrap();
    assert_eq!(items[..6], json!(["abab", [1, 1], [0, 1], [1, 2, 3], [], ""]).as_array().unwrap()[..]);
    assert_eq!(value[7], "é1");
    let error = run(&[("main.jsonnet", "std.repeat(1, 2)")]).unwrap_err();
    assert!(!error.contains("limits"), "{error}");
}

/// A program that takes some seconds, so that its thread ends although nothing stops it.
const SLOW: &str = "local loop(n) = std.foldl(function(sum, i) if n == 0 then sum else loop(n - 1), std.range(1, 2000), 0); loop(2)";

// Row: D-521
#[test]
fn a_program_that_does_not_end_is_left_after_its_time() {
    let control = EvaluationControl::default().with_timeout(Duration::from_millis(50));
    assert!(run_with(&control, &[("main.jsonnet", "1")]).is_ok() && !control.has_abandoned_program());
    let error = run_with(&control, &[("main.jsonnet", SLOW)]).unwrap_err();
    assert_eq!(error, "cannot evaluate `[FOLDER]/main.jsonnet`: it did not end in 0.05 s");
    assert!(control.has_abandoned_program());
}

#[test]
fn an_interruption_ends_a_program() {
    let control = EvaluationControl::default().interrupted_by(Arc::new(AtomicBool::new(true)));
    let error = run_with(&control, &[("main.jsonnet", SLOW)]).unwrap_err();
    assert_eq!(error, "cannot evaluate `[FOLDER]/main.jsonnet`: the run was interrupted");
}
