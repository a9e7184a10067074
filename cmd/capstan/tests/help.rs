use snapbox::{assert_data_eq, str};

use crate::world;

#[test]
fn without_arguments_the_commands_are_listed() {
    let world = world();
    let outcome = world.run::<&str>([]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    assert_eq!(outcome, world.run(["--help"]));
    assert_eq!(outcome, world.run(["help"]));
    assert_data_eq!(
        outcome.to_string(),
        str![[r#"
exit 0
--- stdout
Install, render, upgrade and move everything a Cluster API management cluster runs.

A drop-in for clusterctl: the same verbs, flags, files and labels.

Usage: capstan [OPTIONS] [COMMAND]

Commands:
  quickstart  Show everything once, on two sandboxes: install, generate, apply, describe, move
  generate    Generate yaml from provider components, cluster templates and other templates
  init        Install Cluster API and providers on a management cluster
  upgrade     Upgrade the providers of a management cluster
  delete      Delete providers from a management cluster
  move        Move Clusters and all that belongs to them to another management cluster
  backup      Back up Clusters and everything that belongs to them into one file
  restore     Restore Clusters from a backup
  plan        Show what a verb would do to a management cluster, and write nothing
  status      Show installed providers and their health
  describe    Show workload clusters
  graph       Draw the owner graph of the objects of Cluster API
  get         List workload clusters, and get the kubeconfig of one
  alpha       Use what may still change from release to release
  render      Render everything a first installation applies, for GitOps
  lock        Lock the version and every file of providers, or check what is locked
  kustomize   Build kustomizations, and find what is wrong with them
  explain     Say where a value or a file comes from, and what else was looked at
  config      Show the configuration
  provider    List and configure providers
  cache       Look at what is kept of fetched files, and make room
  bundle      Carry releases, settings and images to a closed site in one file
  publish     Put the files of a release into a registry
  convert     Convert Cluster API objects from v1beta1 to v1beta2
  sandbox     Run an embedded Kubernetes API server, for trying things and for tests
  completion  Print the completion script of a shell
  version     Print the version
  help        Print the help of a command

Shared flags, explained by `capstan help flags`:
  Global flags        --config --lock --locked --v --color --quiet --offline
                      --refresh --ca-bundle --help --version

"#]]
    );
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

Shared flags, explained by `capstan help flags`:
  Global flags        --config --lock --locked --v --color --quiet --offline
                      --refresh --ca-bundle --help

"#]]
    );
}

// Row: D-316
#[test]
fn shared_flags_are_named_by_commands_and_explained_once() {
    let world = world();
    let explained =
        |path: &[&str]| world.run([&["help"], path].concat()).stdout.matches("--ca-bundle <FILE>").count();
    for path in [&[][..], &["init"], &["config"], &["upgrade", "apply"], &["alpha", "rollout", "restart"]] {
        let help = world.run([&["help"], path].concat());
        assert!(help.stdout.contains(" --ca-bundle"), "{help}");
        assert_eq!(explained(path), 0, "{help}");
    }
    assert_eq!(explained(&["flags"]), 1);
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

Usage: capstan config [OPTIONS] <COMMAND>

Commands:
  repositories  List the providers and where their releases are

Shared flags, explained by `capstan help flags`:
  Global flags        --config --lock --locked --v --color --quiet --offline
                      --refresh --ca-bundle --help

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
    let help = world().run(["help"]).stdout;
    let warning = outcome.stderr.strip_suffix(&help).unwrap();
    assert_eq!((outcome.status, outcome.stdout.as_str()), (0, ""));
    assert_data_eq!(
        warning,
        str![[r#"
warning: unknown help topic `nonsense`

"#]]
    );
}

#[cfg(unix)]
#[test]
fn called_as_clusterctl_it_names_itself_so() {
    let world = world();
    for name in ["clusterctl", "/usr/local/bin/clusterctl", "clusterctl.exe"] {
        let help = world.run_as(name, ["config", "repositories", "--help"]).stdout;
        assert!(help.contains(" clusterctl config repositories [OPTIONS]"), "{help}");
        // The lock file keeps its name.
        assert!(!help.replace("capstan.lock", "").contains("capstan"), "{help}");
    }
    assert_data_eq!(
        world.run_as("clusterctl", ["nonsense"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: unknown command `nonsense`
hint: `clusterctl --help` lists the commands

"#]]
    );
}
