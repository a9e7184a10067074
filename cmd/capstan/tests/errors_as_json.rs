//! Tests of the final error of a run, in the form for scripts.

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::binary::{RunOutput, TestEnvironment};

use crate::{repository::with_repository, world};

/// Runs a command line that must fail with empty stdout. Returns the last line of stderr.
#[track_caller]
fn error(world: &TestEnvironment, line: &str) -> Value {
    let run = world.run_line(line);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{line}\n{run}");
    last_line(&run)
}

#[track_caller]
fn last_line(run: &RunOutput) -> Value {
    let line = run.stderr.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}\n{run}"))
}

// Row: D-318
#[test]
fn a_usage_error_is_one_json_object() {
    assert_data_eq!(
        world().run_line("version --outptu short -o json").to_string(),
        str![[r#"
exit 1
--- stderr
{"kind":"user","exitCode":1,"message":"unknown flag `--outptu`","causes":[],"hints":["did you mean `--output`?"]}

"#]]
    );
    for line in
        ["upgrade pln -o json", "--output=json nonsense", "nonsense -ojson", "status -o json --sandbox"]
    {
        assert_eq!(error(&world(), line)["kind"], "user", "{line}");
    }
    let usage = error(&world(), "describe cluster -o json");
    assert_eq!(usage["usage"], "capstan describe cluster [OPTIONS] <NAME>");
}

#[test]
fn an_error_of_a_verb_has_its_causes_and_completed_hints() {
    let world = with_repository();
    let unknown = error(&world, "generate provider -i nonsense -o json --config clusterctl.yaml");
    assert_eq!(unknown["kind"], "user", "{unknown}");
    let world = world.env("KUBECONFIG", "nowhere");
    let nowhere = error(&world, "generate provider -i nonsense -o json");
    assert_eq!(nowhere["kind"], "user", "{nowhere}");
    assert_data_eq!(
        nowhere["hints"][0].as_str().unwrap(),
        str!["list the known providers with `capstan config repositories`"]
    );
    let environment = error(&world, "status -o json");
    assert_eq!(environment["kind"], "environment", "{environment}");
}

// Row: D-318
#[test]
fn with_json_progress_the_error_is_the_last_line() {
    let error = error(&world(), "init --infrastructure nonsense --progress json --kubeconfig nowhere");
    assert_eq!((&error["event"], &error["exitCode"]), (&json!("error"), &json!(1)), "{error}");
}

#[test]
fn with_yaml_the_error_is_yaml() {
    assert_data_eq!(
        world().run(["version", "-o", "yaml", "--nonsense"]).to_string(),
        str![[r#"
exit 1
--- stderr
causes: []
exitCode: 1
hints: []
kind: user
message: unknown flag `--nonsense`

"#]]
    );
}

#[test]
fn a_file_named_json_does_not_select_json_errors() {
    let world = world();
    world.write("broken.yaml", "a: [");
    assert_data_eq!(
        world.run_line("convert broken.yaml -o json").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot read documents in `broken.yaml`
  cause: document 1, line 1, column 4: did not find expected `,` or `]`

"#]]
    );
}
