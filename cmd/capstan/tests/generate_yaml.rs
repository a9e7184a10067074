use snapbox::{assert_data_eq, str};

use crate::{repository::with_repository, world};

// Row: PRV-42
#[test]
fn values_come_from_the_environment_and_the_configuration() {
    let world = with_repository().env("FROM_ENVIRONMENT", "exported");
    let run = world.run_with_stdin(
        ["generate", "yaml"],
        "a: ${FROM_ENVIRONMENT}\nb: ${FROM_CONFIG}\nc: ${NEITHER:-default}\n",
    );
    assert_data_eq!(
        run.stdout,
        str![[r#"
a: exported
b: configured
c: default

"#]]
    );
}

// Row: PRV-31
#[test]
fn the_functions_of_the_substitution_language_work() {
    let cases = [
        ("${V}", "hello-World.tar.gz"),
        ("${#V}", "18"),
        ("${V^}", "Hello-World.tar.gz"),
        ("${V^^}", "HELLO-WORLD.TAR.GZ"),
        ("${V,,}", "hello-world.tar.gz"),
        ("${V:6}", "World.tar.gz"),
        ("${V:6:5}", "World"),
        ("${V#*.}", "tar.gz"),
        ("${V##*.}", "gz"),
        ("${V%.*}", "hello-World.tar"),
        ("${V%%.*}", "hello-World"),
        ("${V/l/L}", "heLlo-World.tar.gz"),
        ("${V//l/L}", "heLLo-WorLd.tar.gz"),
        ("${V/#hello/bye}", "bye-World.tar.gz"),
        ("${V/%gz/xz}", "hello-World.tar.xz"),
        ("${UNSET:-${V:6:5}}", "World"),
        ("$${V}", "${V}"),
    ];
    let world = world().env("V", "hello-World.tar.gz");
    for (expression, value) in cases {
        let run = world.run_with_stdin(["generate", "yaml"], format!("a: x {expression}\n"));
        assert_eq!(run.stdout, format!("a: x {value}\n"), "{expression}: {run}");
    }
}

#[test]
fn a_file_url_may_have_one_slash() {
    let world = world();
    let path = world.write("t.yaml", "a: 1\n").display().to_string();
    for url in [format!("file:{path}"), format!("file://{path}")] {
        assert_eq!(world.run(["generate", "yaml", "--from", &url]).stdout, "a: 1\n");
    }
}

#[test]
fn names_are_listed_or_an_empty_line_is_printed() {
    let world = world();
    let listed = |text: &str| world.run_with_stdin(["generate", "yaml", "--list-variables"], text).stdout;
    assert_eq!(listed("b: ${B}\na: ${A:=1}\n"), "Variables:\n  - A\n  - B\n");
    assert_eq!(listed("a: 1\n"), "\n");
}

// Row: D-41
#[test]
fn an_invalid_substitution_is_reported_with_its_position() {
    let run = world().run_with_stdin(["generate", "yaml"], "a: 1\nb: ${V.x}\n");
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot substitute variables in `<stdin>`
  cause: cannot read the substitution `${V.x}` at line 2, column 4: expected `}` or an operator after the name

"#]]
    );
}

#[test]
fn a_binary_file_is_refused_at_its_first_invalid_byte() {
    let run = world().run_with_stdin(["generate", "yaml"], b"a: 1\nb: \xff\xfe\n");
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stderr
error: `<stdin>` is not UTF-8 text: invalid byte at offset 8 (line 2)

"#]]
    );
}
