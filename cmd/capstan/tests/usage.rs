use snapbox::{assert_data_eq, str};

use crate::world;

fn output(arguments: &[&str]) -> String {
    world().run(arguments).to_string()
}

#[test]
fn an_unknown_command_is_told_with_the_near_ones() {
    assert_data_eq!(
        output(&["versoin"]),
        str![[r#"
exit 1
--- stderr
error: unknown command `versoin`
hint: did you mean `version`?
hint: `capstan --help` lists the commands

"#]]
    );
    assert_data_eq!(
        output(&["nonsense"]),
        str![[r#"
exit 1
--- stderr
error: unknown command `nonsense`
hint: `capstan --help` lists the commands

"#]]
    );
}

#[test]
fn an_unknown_flag_is_told_and_where_it_belongs() {
    assert_data_eq!(
        output(&["version", "--outptu", "short"]),
        str![[r#"
exit 1
--- stderr
error: unknown flag `--outptu`
hint: did you mean `--output`?

"#]]
    );
    assert_data_eq!(
        output(&["version", "--replace"]),
        str![[r#"
exit 1
--- stderr
error: unknown flag `--replace`
hint: it is a flag of `provider add`

"#]]
    );
    assert_data_eq!(
        output(&["version", "-x"]),
        str![[r#"
exit 1
--- stderr
error: unknown flag `-x`

"#]]
    );
}

#[test]
fn flags_are_read_as_the_peer_reads_them() {
    let world = world();
    let short = ["-o=short", "-oshort", "--output=short"];
    for flag in short {
        assert_eq!(world.run(["version", flag]).stdout, "v1.14.0\n", "{flag}");
    }
    for flags in [
        &["-v5"][..],
        &["-v", "5"],
        &["-v=5"],
        &["--v=5"],
        &["--v", "5"],
        &["--quiet=false"],
        &["--quiet=T"],
        &["--help=false"],
        &["-o", "json"],
    ] {
        let arguments = ["version"].iter().chain(flags).chain(&["-o", "short"]);
        assert_eq!(world.run(arguments).stdout, "v1.14.0\n", "{flags:?}");
    }
    assert_eq!(world.run(["-v", "2", "version", "-o", "short"]).stdout, "v1.14.0\n");
    assert_eq!(world.run(["--quiet", "-v2", "version", "-o", "short"]).stdout, "v1.14.0\n");
    let yaml = world.run(["config", "repositories", "-o", "yaml"]);
    assert_eq!(world.run(["config", "-o", "yaml", "repositories"]), yaml);
}

#[test]
fn a_value_that_does_not_fit_is_told_with_what_would() {
    assert_data_eq!(
        output(&["version", "-v", "loud"]),
        str![[r#"
exit 1
--- stderr
error: invalid value `loud` for `--v`
  cause: a whole number from 0 to 10 is expected

"#]]
    );
    assert_data_eq!(
        output(&["version", "--quiet=maybe"]),
        str![[r#"
exit 1
--- stderr
error: invalid value `maybe` for `--quiet`
  cause: true or false is expected

"#]]
    );
    assert_data_eq!(
        output(&["version", "--color", "sometimes"]),
        str![[r#"
exit 1
--- stderr
error: invalid value `sometimes` for `--color`
hint: take one of auto, always, never

"#]]
    );
    assert_data_eq!(
        output(&["version", "-o"]),
        str![[r#"
exit 1
--- stderr
error: flag `--output` needs a value

"#]]
    );
}

// Row: D-315
#[test]
fn a_wrong_number_of_arguments_shows_one_line_of_usage() {
    assert_data_eq!(
        output(&["completion"]),
        str![[r#"
exit 1
--- stderr
error: missing argument SHELL: the shell: bash, zsh, fish or powershell
usage: capstan completion [OPTIONS] <SHELL>

"#]]
    );
    assert_data_eq!(
        output(&["version", "extra"]),
        str![[r#"
exit 1
--- stderr
error: unexpected argument `extra`: `version` takes none
usage: capstan version [OPTIONS]

"#]]
    );
    assert_data_eq!(
        output(&["move", "sttaus"]),
        str![[r#"
exit 1
--- stderr
error: unexpected argument `sttaus`: `move` takes none
usage: capstan move [OPTIONS] [COMMAND]
hint: did you mean `move status`?

"#]]
    );
}

#[test]
fn words_behind_a_leading_double_dash_are_no_commands() {
    for arguments in [&["--", "completion", "completion"][..], &["--", "version"], &["--"], &["-"]] {
        let run = world().run(arguments);
        assert_eq!(run.status, 0, "{run}");
        assert!(run.stdout.contains("Usage: capstan"), "{run}");
    }
}

// Row: D-92
#[test]
fn a_misspelt_verb_of_a_group_is_an_error_with_the_near_name() {
    for (line, meant) in [
        ("kustomize lnt config", "kustomize lint"),
        ("bundle verfy x.tar", "bundle verify"),
        ("cache verfy", "cache verify"),
        ("upgrade pln", "upgrade plan"),
        ("generate clutser", "generate cluster"),
        ("alpha rollout rstart", "alpha rollout restart"),
        ("alpha rolout", "alpha rollout"),
        ("sandbox strat lab", "sandbox start"),
    ] {
        let stderr = world().run_expecting_failure(line);
        assert!(stderr.starts_with("error: unknown command `"), "{stderr}");
        assert!(stderr.contains(&format!("hint: did you mean `{meant}`?\n")), "{stderr}");
    }
    assert_data_eq!(
        output(&["generate", "cluste", "demo"]),
        str![[r#"
exit 1
--- stderr
error: unknown command `generate cluste`
hint: did you mean `generate cluster`?
hint: `capstan generate --help` lists the commands

"#]]
    );
}

// Row: D-92
#[test]
fn a_misspelt_verb_is_reported_before_its_flags() {
    for (line, unknown) in [
        ("describe clusters --sandbox dr", "describe clusters"),
        ("describe --sandbox dr clusters", "describe clusters"),
        ("upgrade aply --contract v1beta2", "upgrade aply"),
        ("alpha rollout rstart md/x --namespace n", "alpha rollout rstart"),
        ("statsu --sandbox dr", "statsu"),
        ("--sandbox dr statsu", "statsu"),
    ] {
        let stderr = world().run_expecting_failure(line);
        assert!(stderr.starts_with(&format!("error: unknown command `{unknown}`\n")), "{line}: {stderr}");
    }
    let stderr = world().run_expecting_failure("upgrade apply --contrct v1beta2");
    assert!(stderr.starts_with("error: unknown flag `--contrct`\n"), "{stderr}");
}

// Row: D-92
#[test]
fn a_group_without_a_verb_prints_its_help() {
    let run = world().run(["generate"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains("Usage: capstan generate"), "{run}");
}
