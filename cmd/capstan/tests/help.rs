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
Manage the providers and Clusters of Cluster API management clusters.

A drop-in replacement for clusterctl, with the same commands, flags, files and labels.

Usage: capstan [OPTIONS] [COMMAND]

Commands:
  quickstart  Take a tour on two sandboxes: install, generate, apply, describe and move
  generate    Generate YAML from provider components, cluster templates and other templates
  init        Install Cluster API and providers on a management cluster
  upgrade     Upgrade the providers of a management cluster
  delete      Delete providers from a management cluster
  move        Move Clusters and their objects to another management cluster
  backup      Back up Clusters and their objects to one file
  restore     Restore Clusters from a backup
  plan        Show what a command would change on a management cluster
  status      Show installed providers and their health
  describe    Show workload clusters
  graph       Draw the owner graph of Cluster API objects
  get         List workload clusters and get their kubeconfigs
  alpha       Experimental commands
  render      Render all objects of a first installation, for GitOps
  lock        Lock the versions and files of providers and charts, or verify the lock
  kustomize   Build and check kustomizations
  chart       Render and check Helm charts without helm and without a cluster
  catalog     Compile catalogs of clusters from class hierarchies
  component   Render, apply, show and delete Components of component-operator
  controller  Run the controller of Components
  explain     Show the origin of a value or a file
  config      Show the configuration
  provider    List and configure providers
  cache       Manage the cache of fetched files
  bundle      Transfer releases, charts, settings and images to an air-gapped site in one file
  publish     Publish the files of a release to a registry
  convert     Convert Cluster API objects from v1beta1 to v1beta2
  sandbox     Run embedded Kubernetes API servers, for experiments and tests
  self        Check the installation of capstan
  completion  Print the completion script of a shell
  version     Print the version
  help        Print the help of a command

Global flags are explained by `capstan help flags`.

"#]]
    );
}

// Row: D-72
#[test]
fn a_verb_shows_its_flags_beside_their_descriptions_and_examples() {
    assert_data_eq!(
        world().run(["help", "get", "kubeconfig"]).to_string(),
        str![[r#"
exit 0
--- stdout
Print the kubeconfig of a workload cluster

Prints the kubeconfig that the control plane provider stored on the management cluster. `--merge`
adds it to a kubeconfig instead and prints its context name. The current context and the entries of
other contexts stay unchanged.

Usage: capstan get kubeconfig [OPTIONS] <NAME>

Arguments:
  <NAME>                       Workload cluster name

Options:
  -n, --namespace <NAMESPACE>  Namespace of the workload cluster [default: the namespace of the
                               context]
      --user                   Use the user kubeconfig of a managed control plane, with a cloud
                               login
      --wait                   Wait until the kubeconfig exists
      --timeout <DURATION>     Maximum time to wait [default: 15m]
      --merge[=<FILE>]         Add it to a kubeconfig instead [default file: $KUBECONFIG, else
                               ~/.kube/config]
      --context-name <NAME>    Name of the merged context [default: the original name]
      --allow-unsafe-fields    Also merge fields that run commands, read files, or change the proxy
                               or TLS trust

Examples:
  capstan get kubeconfig demo > demo.kubeconfig
  capstan get kubeconfig demo -n team --wait
  kubectl --context $(capstan get kubeconfig demo --merge) get nodes

Global flags and these shared flags are explained by `capstan help flags`:
  Management cluster  --kubeconfig --kubeconfig-context --sandbox
                      --max-in-flight --progress

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
        assert!(help.stdout.contains("`capstan help flags`"), "{help}");
        assert_eq!(explained(path), 0, "{help}");
    }
    assert!(world.run(["help", "init"]).stdout.contains(" --max-in-flight"));
    assert_eq!(explained(&["flags"]), 1);
}

#[test]
fn flags_shared_with_subcommands_are_listed() {
    let help = world().run(["init", "--help"]).stdout;
    let flags = help.split_once("\nProviders:\n").map(|(_, flags)| flags.split("\n\n").next().unwrap());
    assert_eq!(flags.map(|flags| flags.matches(" --").count()), Some(7), "{help}");
}

#[test]
fn help_ignores_missing_and_surplus_arguments() {
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
  repositories  List the providers and the URLs of their releases

Global flags are explained by `capstan help flags`.

"#]]
    );
    assert_eq!(world.run(["help", "config", "nonsense"]), group);
}

#[test]
fn a_single_dash_is_refused() {
    let world = world();
    assert_eq!(world.run(["-"]), world.run(["help"]));
    assert_eq!(world.run(["--", "nonsense"]), world.run(["help"]));
}

#[test]
fn an_unknown_help_topic_is_reported_on_stderr() {
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
fn help_uses_the_name_clusterctl_if_called_by_it() {
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
hint: run `clusterctl --help` to list the commands

"#]]
    );
}
