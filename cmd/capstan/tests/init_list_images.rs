use snapbox::{assert_data_eq, str};

use crate::repository::with_repository;

// Row: PRV-26
#[test]
fn images_of_a_first_installation_are_listed_without_a_cluster_and_without_values() {
    let run = with_repository().run(["init", "list-images", "--infrastructure", "own"]);
    assert_data_eq!(
        run.stdout,
        str![[r#"
registry.example.com/bootstrap-kubeadm/manager:v1
registry.example.com/cert-manager/manager:v1
registry.example.com/cluster-api/manager:v1
registry.example.com/control-plane-kubeadm/manager:v1
registry.example.com/infrastructure-own/manager:v1

"#]]
    );
}

#[test]
fn a_dash_leaves_a_default_provider_out_and_overrides_are_in_place() {
    let world = with_repository();
    let config = world.read(world.config_file());
    world.configure(format!("{config}images:\n  all: {{repository: mirror.local}}\n"));
    let run = world.run(["init", "list-images", "-b", "-", "-c", "-"]);
    assert_data_eq!(
        run.stdout,
        str![[r#"
mirror.local/manager:v1

"#]]
    );
    let json = world.run(["init", "list-images", "-b", "-", "-c", "-", "-o", "json"]);
    let list: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(list["images"][0]["usedBy"].to_string(), r#"["cert-manager","cluster-api"]"#);
}

#[test]
fn the_core_provider_cannot_be_left_out() {
    let run = with_repository().run(["init", "list-images", "--core", "-"]);
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("the core provider cannot be left out"), "{run}");
}

#[test]
fn flags_of_a_management_cluster_are_taken_and_change_nothing() {
    let world = with_repository();
    let plain = world.run(["init", "list-images"]);
    let named = world.run(["init", "list-images", "--kubeconfig", "gone", "--kubeconfig-context", "x"]);
    assert_eq!((named.status, &named), (0, &plain));
}
