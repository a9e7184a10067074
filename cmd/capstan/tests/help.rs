use snapbox::{assert_data_eq, str};

use crate::world;

#[test]
fn without_arguments_the_commands_are_listed() {
    let world = world();
    let outcome = world.run::<&str>([]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    assert_eq!(outcome, world.run(["--help"]));
    assert_eq!(outcome, world.run(["help"]));
    assert!(outcome.stdout.contains("Usage: capstan [OPTIONS] [COMMAND]"), "{outcome}");
}

// Row: D-72
#[test]
fn a_verb_shows_its_flags_and_examples() {
    assert_data_eq!(
        world().run(["help", "config", "repositories"]).to_string(),
        str![[r#"
exit 0
--- stdout
List the providers and where their releases are

Providers are compiled in; `providers` in clusterctl.yaml adds to them and replaces them. `provider
list` shows the same with whole urls, and says which entry comes from where.

Usage: capstan config repositories [OPTIONS]

Options:
  -o, --output <FORMAT>  Output format: text, json or yaml [default: text]

Examples:
  capstan config repositories
  capstan config repositories -o yaml

Use `capstan --help` for the global options.

"#]]
    );
}

// Row: D-316
#[test]
fn only_the_root_lists_the_global_flags() {
    let world = world();
    let lists = |path: &[&str]| world.run([path, &["--help"]].concat()).stdout.contains("--ca-bundle");
    assert!(lists(&[]));
    for path in [&["init"][..], &["config"], &["upgrade", "apply"], &["alpha", "rollout", "restart"]] {
        assert!(!lists(path), "{path:?}");
    }
}

#[test]
fn flags_that_a_verb_shares_with_verbs_below_it_are_listed() {
    let help = world().run(["init", "--help"]).stdout;
    let flags = help.split_once("\nProviders:\n").map(|(_, flags)| flags.split("\n\n").next().unwrap());
    assert_eq!(flags.map(|flags| flags.matches(" --").count()), Some(7), "{help}");
}

#[test]
fn help_comes_before_everything_that_is_missing_or_too_much() {
    let world = world();
    let help = world.run(["help", "provider", "add"]);
    assert_eq!(world.run(["provider", "add", "--help"]), help);
    assert_eq!(world.run(["provider", "add", "a", "b", "-h"]), help);
    assert_eq!(world.run(["provider", "-h", "add"]), help);
    let required = world.run(["bundle", "create", "--help"]);
    assert_eq!((required.status, required), (0, world.run(["help", "bundle", "create"])));
}

#[test]
fn a_group_without_a_verb_shows_its_verbs() {
    let world = world();
    let group = world.run(["config"]);
    assert_data_eq!(
        group.to_string(),
        str![[r#"
exit 0
--- stdout
Show the configuration

Usage: capstan config <COMMAND>

Commands:
  repositories  List the providers and where their releases are

Use `capstan --help` for the global options.

"#]]
    );
    assert_eq!(world.run(["help", "config", "nonsense"]), group);
}

#[test]
fn a_dash_alone_asks_for_nothing() {
    let world = world();
    assert_eq!(world.run(["-"]), world.run(["help"]));
    assert_eq!(world.run(["--", "nonsense"]), world.run(["help"]));
}

#[test]
fn an_unknown_topic_is_answered_on_stderr() {
    let outcome = world().run(["help", "nonsense"]);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (0, ""));
    assert!(outcome.stderr.starts_with("warning: unknown help topic `nonsense`\n"), "{outcome}");
    assert!(outcome.stderr.contains("Usage: capstan"), "{outcome}");
}

#[cfg(unix)]
#[test]
fn called_as_clusterctl_it_names_itself_so() {
    let world = world();
    for name in ["clusterctl", "/usr/local/bin/clusterctl", "clusterctl.exe"] {
        let help = world.run_as(name, ["config", "repositories", "--help"]).stdout;
        assert!(help.contains("Usage: clusterctl config repositories [OPTIONS]"), "{help}");
        // The lock file keeps its name.
        assert!(!help.replace("capstan.lock", "").contains("capstan"), "{help}");
    }
    let error = world.run_as("clusterctl", ["nonsense"]).stderr;
    assert!(error.contains("`clusterctl --help` lists the commands"), "{error}");
}
