#[cfg(unix)]
use std::process::Command;

use snapbox::{assert_data_eq, str};
use support::{binary::TestEnvironment, skip::program};

#[cfg(unix)]
use crate::testing::Sandboxes;
use crate::testing::with_small_providers;

#[test]
fn a_first_installation_is_rendered_without_a_cluster() {
    let run = with_small_providers().run(["render", "-i", "own:v1.0.0"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run}");
    let names: Vec<&str> = run.stdout.lines().filter_map(|line| line.strip_prefix("  name: ")).collect();
    let at = |name: &str| names.iter().position(|known| *known == name).unwrap_or_else(|| panic!("{name}"));
    assert!(at("issuers.cert-manager.io") < at("cluster-api-system"));
    assert!(at("infrastructure-own-system") < at("providers.clusterctl.cluster.x-k8s.io"));
    assert_eq!(run.stdout.matches("\nkind: Provider\n").count(), 4);
    assert!(!run.stdout.contains("${"), "{run}");
}

#[test]
fn a_folder_has_one_file_per_kind_and_is_reproducible() {
    let world = with_small_providers();
    let render = || world.run(["render", "-i", "own:v1.0.0", "--output-dir", "out"]);
    assert_eq!(render().to_string(), "exit 0\n");
    let before = world.files();
    let deployment = world.read("out/infrastructure-own/deployment.yaml");
    assert!(deployment.starts_with("apiVersion: apps/v1\nkind: Deployment\n"), "{deployment}");
    assert!(world.read("out/inventory/custom-resources/provider.yaml").contains("version: v1.0.0"));
    assert_eq!(render().to_string(), "exit 0\n");
    assert_eq!((world.files(), world.read("out/infrastructure-own/deployment.yaml")), (before, deployment));
    world.write("out/cluster-api/gone.yaml", "");
    assert_data_eq!(
        render().to_string(),
        str![[r#"
exit 0
--- stderr
warning: `[CWD]/out/cluster-api/gone.yaml` is no longer part of the output; delete the file unless it is yours

"#]]
    );
}

/// Returns the kinds in the folders of a part, in the order in which kubectl reads them.
fn kinds_in_order(world: &TestEnvironment, folder: &str) -> Vec<String> {
    let inside = format!("[CWD]/{folder}/");
    let files = world.files();
    let files =
        files.iter().filter(|file| file.starts_with(&inside)).map(|file| file.trim_start_matches("[CWD]/"));
    let kind = |line: &str| line.strip_prefix("kind: ").map(str::to_owned);
    files.flat_map(|file| world.read(file).lines().filter_map(kind).collect::<Vec<_>>()).collect()
}

#[test]
fn folders_list_dependencies_first() {
    let world = with_small_providers();
    assert_eq!(world.run(["render", "-i", "own:v1.0.0", "--output-dir", "out"]).status, 0);
    let kinds = kinds_in_order(&world, "out/infrastructure-own");
    assert_eq!(kinds[0], "Namespace", "{kinds:?}");
    let definitions = kinds.iter().skip(1).take_while(|kind| *kind == "CustomResourceDefinition").count();
    assert!(!kinds[1 + definitions..].iter().any(|kind| kind == "CustomResourceDefinition"), "{kinds:?}");
    let inventory = kinds_in_order(&world, "out/inventory");
    assert_eq!(inventory, ["CustomResourceDefinition", "Provider", "Provider", "Provider", "Provider"]);
    assert_eq!(kinds_in_order(&world, "out/inventory/custom-resources"), ["Provider"; 4]);
}

#[cfg(unix)]
#[test]
fn kubectl_applies_all_folders_after_the_definitions() {
    let Some(program) = program("kubectl") else {
        return;
    };
    let sandboxes = Sandboxes::of(with_small_providers());
    let world = sandboxes.world();
    world.run_expecting_success("render -i own:v1.0.0 --output-dir out");
    assert_eq!(sandboxes.run(&["start", "lab"]).status, 0);
    let kubectl = |arguments: &str| {
        let mut command = Command::new(&program);
        command.arg("--kubeconfig").arg(sandboxes.file("lab", "kubeconfig")).args(arguments.split(' '));
        command.current_dir(world.current_dir()).env("HOME", world.home()).output().unwrap()
    };
    let first = kubectl("apply -f out/cert-manager -f out/inventory");
    assert!(first.status.success(), "{first:?}");
    let all = kubectl("apply -R -f out");
    assert!(all.status.success(), "{all:?}");
    let providers = kubectl("get providers.clusterctl.cluster.x-k8s.io -A -o name");
    assert_eq!(String::from_utf8_lossy(&providers.stdout).lines().count(), 4, "{providers:?}");
}

// Row: D-99
#[test]
fn errors_of_all_providers_are_reported_together() {
    let world = with_small_providers().env("TOKEN", "x");
    world.write(
        "../home/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml",
        "a: ${A}\n",
    );
    world.write("../home/.config/repository/cluster-api/v1.0.0/core-components.yaml", "b: ${B}\n");
    let run = world.run(["render", "--core", "cluster-api:v1.0.0", "-i", "own:v1.0.0"]);
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot render 2 providers
  cause: cannot build the components of `cluster-api` v1.0.0: a variable has no value: `B` at [HOME]/.config/repository/cluster-api/v1.0.0/core-components.yaml:1
  cause: cannot build the components of `infrastructure-own` v1.0.0: a variable has no value: `A` at [HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml:1
hint: set the missing variables with `export B=VALUE`, or in clusterctl.yaml: `B: VALUE`
hint: list all variables with their defaults: `capstan generate cluster NAME --list-variables`, or for a provider `capstan generate provider --describe`
hint: set the missing variables with `export A=VALUE`, or in clusterctl.yaml: `A: VALUE`

"#]]
    );
}
