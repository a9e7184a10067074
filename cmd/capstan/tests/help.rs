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
  -o, --output <FORMAT>  Output format: text, yaml or json [default: text]

Global options:
      --config <PATH|URL>  Path or URL of the configuration file [default: clusterctl.yaml in
                           $XDG_CONFIG_HOME/cluster-api, then in $HOME/.cluster-api]
      --lock <PATH|off>    Path of the lock, or `off` to go without one [default: capstan.lock
                           beside the configuration file]
      --locked             Read nothing that is not in the lock
  -v, --v <N>              How much to log, from 0 to 10: 1 shows decisions, 5 every request [env:
                           CLUSTERCTL_LOG_LEVEL]
      --color <WHEN>       When to use colour [default: auto] [possible values: auto, always, never]
      --quiet              Print no status lines and draw no progress; warnings and errors stay
      --offline            Open no connection for files of providers: what is not on this machine is
                           an error [env: CAPSTAN_OFFLINE]
      --refresh            Ask hosts again for files of pinned versions that are in the cache
      --ca-bundle <FILE>   PEM certificates that are trusted for hosts of repositories, besides
                           those of the system and SSL_CERT_FILE [env: CAPSTAN_CA_BUNDLE]
  -h, --help               Print help

Examples:
  capstan config repositories
  capstan config repositories -o yaml

"#]]
    );
}

#[test]
fn help_comes_before_everything_that_is_missing_or_too_much() {
    let world = world();
    let help = world.run(["help", "provider", "add"]);
    assert_eq!(world.run(["provider", "add", "--help"]), help);
    assert_eq!(world.run(["provider", "add", "a", "b", "-h"]), help);
    assert_eq!(world.run(["provider", "-h", "add"]), help);
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

Usage: capstan config [OPTIONS] <COMMAND>

Commands:
  repositories  List the providers and where their releases are

Global options:
      --config <PATH|URL>  Path or URL of the configuration file [default: clusterctl.yaml in
                           $XDG_CONFIG_HOME/cluster-api, then in $HOME/.cluster-api]
      --lock <PATH|off>    Path of the lock, or `off` to go without one [default: capstan.lock
                           beside the configuration file]
      --locked             Read nothing that is not in the lock
  -v, --v <N>              How much to log, from 0 to 10: 1 shows decisions, 5 every request [env:
                           CLUSTERCTL_LOG_LEVEL]
      --color <WHEN>       When to use colour [default: auto] [possible values: auto, always, never]
      --quiet              Print no status lines and draw no progress; warnings and errors stay
      --offline            Open no connection for files of providers: what is not on this machine is
                           an error [env: CAPSTAN_OFFLINE]
      --refresh            Ask hosts again for files of pinned versions that are in the cache
      --ca-bundle <FILE>   PEM certificates that are trusted for hosts of repositories, besides
                           those of the system and SSL_CERT_FILE [env: CAPSTAN_CA_BUNDLE]
  -h, --help               Print help

"#]]
    );
    let beside_a_warning = world.run(["config", "nonsense"]);
    assert_eq!((beside_a_warning.status, &beside_a_warning.stdout), (group.status, &group.stdout));
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
        // The lock is a file of its own name.
        assert!(!help.replace("capstan.lock", "").contains("capstan"), "{help}");
    }
    let error = world.run_as("clusterctl", ["nonsense"]).stderr;
    assert!(error.contains("`clusterctl --help` lists the commands"), "{error}");
}
