use snapbox::{assert_data_eq, str};

use crate::{customise, repository::with_repository};

// Row: PRV-83
#[test]
fn a_release_is_shown_with_its_templates_and_classes() {
    let run = with_repository().run(["provider", "show", "-i", "own"]);
    assert_data_eq!(
        run.stdout,
        str![[r#"
Name:     own
Type:     InfrastructureProvider
Place:    [HOME]/.config/repository/infrastructure-own
Version:  v1.1.0
Contract: v1beta2
Versions:
  - v1.1.0
  - v1.0.0
  - v0.9.0
Flavors:
  - big
  - (plain)
ClusterClasses:
  - small

"#]]
    );
}

// Row: PRV-83
#[test]
fn provider_show_prints_json() {
    let run = with_repository().run(["provider", "show", "-i", "own:v1.0.0", "-o", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(shown["version"], "v1.0.0");
    assert_eq!(shown["flavors"].to_string(), r#"["big",""]"#);
    assert_eq!(shown["clusterClasses"].to_string(), r#"["small"]"#);
}

#[test]
fn a_provider_is_shown_with_its_overlay() {
    let world = customise::customised("");
    let run = world.run(["provider", "show", "-i", "own"]);
    assert_data_eq!(
        run.stdout,
        str![[r#"
Name:          own
Type:          InfrastructureProvider
Place:         [HOME]/.config/repository/infrastructure-own
Version:       v1.1.0
Contract:      v1beta2
Kustomization: [HOME]/.config/cluster-api/layer
Versions:
  - v1.1.0
  - v1.0.0
  - v0.9.0
Flavors:
  - big
  - (plain)
ClusterClasses:
  - small

"#]]
    );
    let url = "https://ann:pw@git.lab/o/r//own?ref=v1";
    world.configure(
        customise::with_layer().replace("kustomization: layer", &format!("kustomization: '{url}'")),
    );
    let run = world.run(["provider", "show", "-i", "own", "-o", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(shown["kustomization"], "https://git.lab/o/r//own?ref=v1");
    let run = world.run(["provider", "show", "-b", "kubeadm", "-o", "json"]);
    assert!(run.status == 0 && !run.stdout.contains("kustomization"), "{run}");
}

#[test]
fn a_missing_release_is_reported_with_existing_ones() {
    let run = with_repository().run(["provider", "show", "-i", "own:v3.0.0"]);
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot show `infrastructure-own`
  cause: cannot read `metadata.yaml` of `infrastructure-own` v3.0.0
  cause: cannot find release `v3.0.0` in `[HOME]/.config/repository/infrastructure-own`
hint: the newest releases are `v1.1.0`, `v1.0.0`, `v0.9.0`

"#]]
    );
}

#[test]
fn a_provider_is_found_by_its_name_alone() {
    let world = with_repository();
    let shown = |arguments: &str| -> serde_json::Value {
        serde_json::from_str(
            &world.run_expecting_success(&format!("provider show {arguments} -o json")).stdout,
        )
        .unwrap()
    };
    assert_eq!(shown("own"), shown("-i own"));
    assert_eq!(
        (&shown("own")["version"], &shown("own:v1.0.0")["version"]),
        (&"v1.1.0".into(), &"v1.0.0".into())
    );
    assert_data_eq!(
        world.run_expecting_failure("provider show onw"),
        str![[r#"
error: the provider `onw` does not exist
hint: did you mean `own`?

"#]]
    );
    assert_data_eq!(
        world.run_expecting_failure("provider show kubeadm:v1.0.0"),
        str![[r#"
error: several types have a provider named `kubeadm`
hint: use `--bootstrap kubeadm:v1.0.0` or `--control-plane kubeadm:v1.0.0`

"#]]
    );
    assert_data_eq!(
        world.run_expecting_failure("provider show own -i own"),
        str![[r#"
error: the provider `own` cannot be combined with a provider flag

"#]]
    );
}
