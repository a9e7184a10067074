use snapbox::{assert_data_eq, str};

use crate::world;

/// Returns the first lines of a text. Another test compares the whole list with that of clusterctl.
fn head(text: &str, lines: usize) -> String {
    text.lines().take(lines).flat_map(|line| [line, "\n"]).collect()
}

// Row: PRV-82, D-76
#[test]
fn known_providers_are_listed_with_their_types() {
    let outcome = world().run(["config", "repositories"]);
    assert_eq!(outcome.stderr, "");
    assert_data_eq!(
        head(&outcome.stdout, 4),
        str![[r#"
NAME                       TYPE                       URL                                                                                               FILE
cluster-api                CoreProvider               https://github.com/kubernetes-sigs/cluster-api/releases/latest/                                   core-components.yaml
canonical-kubernetes       BootstrapProvider          https://github.com/canonical/cluster-api-k8s/releases/latest/                                     bootstrap-components.yaml
k0sproject-k0smotron       BootstrapProvider          https://github.com/k0sproject/k0smotron/releases/latest/                                          bootstrap-components.yaml

"#]]
    );
}

// Row: D-71
#[test]
fn structured_output_uses_the_field_names_of_clusterctl() {
    let world = world();
    assert_data_eq!(
        head(&world.run(["config", "repositories", "-o", "yaml"]).stdout, 8),
        str![[r#"
- File: core-components.yaml
  Name: cluster-api
  ProviderType: CoreProvider
  URL: https://github.com/kubernetes-sigs/cluster-api/releases/latest/
- File: bootstrap-components.yaml
  Name: canonical-kubernetes
  ProviderType: BootstrapProvider
  URL: https://github.com/canonical/cluster-api-k8s/releases/latest/

"#]]
    );
    assert_data_eq!(
        head(&world.run(["config", "repositories", "-o", "json"]).stdout, 8),
        str![[r#"
[
  {
    "File": "core-components.yaml",
    "Name": "cluster-api",
    "ProviderType": "CoreProvider",
    "URL": "https://github.com/kubernetes-sigs/cluster-api/releases/latest/"
  },
  {

"#]]
    );
}

#[test]
fn an_unknown_output_format_is_refused() {
    assert_data_eq!(
        world().run(["config", "repositories", "-o", "toml"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: invalid output format `toml`
hint: use `--output` with text, yaml or json

"#]]
    );
}

// Row: PRV-13
#[test]
fn the_configuration_overrides_the_url_of_a_known_provider() {
    let world = world();
    world.configure(
        "providers:\n- name: aws\n  type: InfrastructureProvider\n  url: \
         https://gitlab.example.com/api/v4/projects/42/packages/generic/aws/v2.9.0/infrastructure-components.yaml\n",
    );
    let list = world.run(["config", "repositories"]).stdout;
    let aws = list.lines().find(|line| line.starts_with("aws ")).unwrap_or_default();
    assert_data_eq!(
        aws.split_whitespace().collect::<Vec<_>>().join(" "),
        str![
            "aws InfrastructureProvider https://gitlab.example.com/api/v4/projects/42/packages/generic/aws/v2.9.0/ infrastructure-components.yaml"
        ]
    );
}

// Row: D-05
#[test]
fn all_invalid_provider_entries_are_reported_together() {
    let world = world();
    world.configure(
        "providers:\n- name: Bad\n  type: InfrastructureProvider\n  url: x\n- name: b\n  type: Nonsense\n  url: x\n",
    );
    assert_data_eq!(
        world.run(["config", "repositories"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: 2 invalid providers in `[HOME]/.config/cluster-api/clusterctl.yaml`: providers[0] ("Bad", "InfrastructureProvider"): name must be in lower case; providers[1] ("b", "Nonsense"): unknown provider type `Nonsense`; known types: CoreProvider, BootstrapProvider, ControlPlaneProvider, InfrastructureProvider, IPAMProvider, RuntimeExtensionProvider, AddonProvider
hint: correct or remove the entry; one invalid entry blocks all providers

"#]]
    );
}
