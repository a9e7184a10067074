use snapbox::{assert_data_eq, str};

use crate::world;

fn output(arguments: &[&str]) -> String {
    world().run(arguments).to_string()
}

#[test]
fn an_unknown_command_gets_suggestions() {
    assert_data_eq!(
        output(&["versoin"]),
        str![[r#"
exit 1
--- stderr
error: unknown command `versoin`
hint: did you mean `version`?
hint: run `capstan --help` to list the commands

"#]]
    );
    assert_data_eq!(
        output(&["nonsense"]),
        str![[r#"
exit 1
--- stderr
error: unknown command `nonsense`
hint: run `capstan --help` to list the commands

"#]]
    );
}

#[test]
fn a_word_of_another_tool_or_group_leads_to_its_command() {
    assert_data_eq!(
        world().screens(["install", "template", "rollback demo", "list"]),
        str![[r#"
$ capstan install
exit 1
--- stderr
error: unknown command `install`
hint: did you mean `init` or `controller install`?
hint: run `capstan --help` to list the commands

$ capstan template
exit 1
--- stderr
error: unknown command `template`
hint: did you mean `chart template` or `component template`?
hint: run `capstan --help` to list the commands

$ capstan rollback demo
exit 1
--- stderr
error: unknown command `rollback`
hint: did you mean `upgrade rollback`?
hint: run `capstan --help` to list the commands

$ capstan list
exit 1
--- stderr
error: unknown command `list`
hint: run `capstan --help` to list the commands

"#]]
    );
    let help = world().run(["help", "stauts"]);
    let warning = help.stderr.lines().next();
    assert_eq!(warning, Some("warning: unknown help topic `stauts`; did you mean `status`?"));
}

#[test]
fn an_unknown_flag_names_the_command_that_has_it() {
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
hint: `--replace` is a flag of `provider add`

"#]]
    );
    assert_data_eq!(
        output(&["sandbox", "delete", "lab", "--follow"]),
        str![[r#"
exit 1
--- stderr
error: unknown flag `--follow`
hint: `--follow` is a flag of `sandbox logs`

"#]]
    );
    // Many commands have this flag, so it does not tell which one was meant.
    assert_data_eq!(
        output(&["sandbox", "delete", "lab", "--yes"]),
        str![[r#"
exit 1
--- stderr
error: unknown flag `--yes`

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
fn a_confirmation_needs_a_flag_that_asks() {
    assert_data_eq!(
        output(&["catalog", "apply", "c-1", "--yes"]),
        str![[r#"
exit 1
--- stderr
error: `--take-over` is required

"#]]
    );
}

#[test]
fn flags_are_parsed_like_clusterctl() {
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
fn an_invalid_value_is_reported_with_the_valid_ones() {
    assert_data_eq!(
        output(&["version", "-v", "loud"]),
        str![[r#"
exit 1
--- stderr
error: invalid value `loud` for `--v`
  cause: expected a whole number from 0 to 10

"#]]
    );
    assert_data_eq!(
        output(&["version", "--quiet=maybe"]),
        str![[r#"
exit 1
--- stderr
error: invalid value `maybe` for `--quiet`
  cause: expected true or false

"#]]
    );
    assert_data_eq!(
        output(&["version", "--color", "sometimes"]),
        str![[r#"
exit 1
--- stderr
error: invalid value `sometimes` for `--color`
hint: use one of auto, always, never

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

#[test]
fn an_empty_path_counts_as_missing() {
    assert_data_eq!(
        output(&["describe", "cluster", "demo", "--kubeconfig", ""]),
        str![[r#"
exit 1
--- stderr
error: cannot find a kubeconfig
hint: use `--kubeconfig FILE` or `--sandbox NAME`, or set KUBECONFIG (these files do not exist: [HOME]/.kube/config)

"#]]
    );
    assert_data_eq!(
        output(&["move", "--to-kubeconfig="]),
        str![[r#"
exit 1
--- stderr
error: the target cluster is missing
hint: add the target with `--to-kubeconfig FILE` or `--to-sandbox NAME`, or preview the move with `--dry-run`

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
error: missing argument SHELL: shell: bash, zsh, fish or powershell
usage: capstan completion [OPTIONS] <SHELL>

"#]]
    );
    assert_data_eq!(
        output(&["version", "extra"]),
        str![[r#"
exit 1
--- stderr
error: unexpected argument `extra`: `version` takes no arguments
usage: capstan version [OPTIONS]

"#]]
    );
    assert_data_eq!(
        output(&["move", "sttaus"]),
        str![[r#"
exit 1
--- stderr
error: unexpected argument `sttaus`: `move` takes no arguments
usage: capstan move [OPTIONS] [COMMAND]
hint: did you mean `move status`?

"#]]
    );
}

#[test]
fn words_after_a_leading_double_dash_are_not_commands() {
    let help = world().run([] as [&str; 0]);
    for arguments in [&["--", "completion", "completion"][..], &["--", "version"], &["--"], &["-"]] {
        assert_eq!(world().run(arguments), help, "{arguments:?}");
    }
    assert_eq!(help.status, 0, "{help}");
}

// Row: D-92
#[test]
fn a_misspelt_subcommand_gets_a_suggestion() {
    assert_data_eq!(
        world().screens([
            "kustomize lnt config",
            "bundle verfy x.tar",
            "cache verfy",
            "upgrade pln",
            "generate clutser",
            "alpha rollout rstart",
            "alpha rolout",
            "sandbox strat lab",
        ]),
        str![[r#"
$ capstan kustomize lnt config
exit 1
--- stderr
error: unknown command `kustomize lnt`
hint: did you mean `kustomize lint`?
hint: run `capstan kustomize --help` to list the commands

$ capstan bundle verfy x.tar
exit 1
--- stderr
error: unknown command `bundle verfy`
hint: did you mean `bundle verify`?
hint: run `capstan bundle --help` to list the commands

$ capstan cache verfy
exit 1
--- stderr
error: unknown command `cache verfy`
hint: did you mean `cache verify`?
hint: run `capstan cache --help` to list the commands

$ capstan upgrade pln
exit 1
--- stderr
error: unknown command `upgrade pln`
hint: did you mean `upgrade plan`?
hint: run `capstan upgrade --help` to list the commands

$ capstan generate clutser
exit 1
--- stderr
error: unknown command `generate clutser`
hint: did you mean `generate cluster`?
hint: run `capstan generate --help` to list the commands

$ capstan alpha rollout rstart
exit 1
--- stderr
error: unknown command `alpha rollout rstart`
hint: did you mean `alpha rollout restart`?
hint: run `capstan alpha rollout --help` to list the commands

$ capstan alpha rolout
exit 1
--- stderr
error: unknown command `alpha rolout`
hint: did you mean `alpha rollout`?
hint: run `capstan alpha --help` to list the commands

$ capstan sandbox strat lab
exit 1
--- stderr
error: unknown command `sandbox strat`
hint: did you mean `sandbox start`?
hint: run `capstan sandbox --help` to list the commands

"#]]
    );
    assert_data_eq!(
        output(&["generate", "cluste", "demo"]),
        str![[r#"
exit 1
--- stderr
error: unknown command `generate cluste`
hint: did you mean `generate cluster`?
hint: run `capstan generate --help` to list the commands

"#]]
    );
}

// Row: D-92
#[test]
fn a_misspelt_verb_is_reported_before_its_flags() {
    assert_data_eq!(
        world().screens([
            "describe clusters --sandbox dr",
            "describe --sandbox dr clusters",
            "upgrade aply --contract v1beta2",
            "alpha rollout rstart md/x --namespace n",
            "statsu --sandbox dr",
            "--sandbox dr statsu",
            "upgrade apply --contrct v1beta2",
        ]),
        str![[r#"
$ capstan describe clusters --sandbox dr
exit 1
--- stderr
error: unknown command `describe clusters`
hint: did you mean `describe cluster`?
hint: run `capstan describe --help` to list the commands

$ capstan describe --sandbox dr clusters
exit 1
--- stderr
error: unknown command `describe clusters`
hint: did you mean `describe cluster`?
hint: run `capstan describe --help` to list the commands

$ capstan upgrade aply --contract v1beta2
exit 1
--- stderr
error: unknown command `upgrade aply`
hint: did you mean `upgrade apply`?
hint: run `capstan upgrade --help` to list the commands

$ capstan alpha rollout rstart md/x --namespace n
exit 1
--- stderr
error: unknown command `alpha rollout rstart`
hint: did you mean `alpha rollout restart`?
hint: run `capstan alpha rollout --help` to list the commands

$ capstan statsu --sandbox dr
exit 1
--- stderr
error: unknown command `statsu`
hint: did you mean `status`?
hint: run `capstan --help` to list the commands

$ capstan --sandbox dr statsu
exit 1
--- stderr
error: unknown command `statsu`
hint: did you mean `status`?
hint: run `capstan --help` to list the commands

$ capstan upgrade apply --contrct v1beta2
exit 1
--- stderr
error: unknown flag `--contrct`
hint: did you mean `--contract`?

"#]]
    );
}

// Row: D-92
#[test]
fn a_group_without_a_verb_prints_its_help() {
    for group in ["generate", "upgrade", "plan"] {
        let run = world().run([group]);
        assert_eq!(run.status, 0, "{run}");
        assert_eq!(run, world().run([group, "--help"]));
    }
}
