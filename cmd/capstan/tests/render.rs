use crate::small_providers::with_small_providers;

#[test]
fn everything_of_a_first_installation_is_rendered_without_a_cluster() {
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
fn a_folder_has_a_file_for_each_kind_and_is_the_same_the_second_time() {
    let world = with_small_providers();
    let render = || world.run(["render", "-i", "own:v1.0.0", "--output-dir", "out"]);
    assert_eq!(render().to_string(), "exit 0\n");
    let before = world.files();
    let deployment = world.read("out/infrastructure-own/deployment.yaml");
    assert!(deployment.starts_with("apiVersion: apps/v1\nkind: Deployment\n"), "{deployment}");
    assert!(world.read("out/inventory/provider.yaml").contains("version: v1.0.0"));
    assert_eq!(render().to_string(), "exit 0\n");
    assert_eq!((world.files(), world.read("out/infrastructure-own/deployment.yaml")), (before, deployment));
    world.write("out/cluster-api/gone.yaml", "");
    let run = render();
    assert_eq!(run.status, 0);
    assert!(run.stderr.contains("warning: `[CWD]/out/cluster-api/gone.yaml` is no longer part"), "{run}");
}

#[test]
fn what_is_wrong_with_every_provider_is_told_at_once() {
    let world = with_small_providers().env("TOKEN", "x");
    world.write(
        "../home/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml",
        "a: ${A}\n",
    );
    world.write("../home/.config/repository/cluster-api/v1.0.0/core-components.yaml", "b: ${B}\n");
    let run = world.run(["render", "--core", "cluster-api:v1.0.0", "-i", "own:v1.0.0"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run}");
    assert!(run.stderr.contains("error: 2 providers cannot be rendered"), "{run}");
    for told in ["`A` at", "`B` at"] {
        assert!(run.stderr.contains(told), "{run}");
    }
}
