use snapbox::{assert_data_eq, str};

use support::binary::TestEnvironment;

use crate::{repository::with_repository, testing::releases::ROOT};

// Row: PRV-26, D-61, D-63
#[test]
fn images_are_listed_without_a_cluster_and_without_values() {
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

// Row: D-62
#[test]
fn a_dash_omits_a_default_provider_and_overrides_apply() {
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
fn the_core_provider_cannot_be_omitted() {
    let run = with_repository().run(["init", "list-images", "--core", "-"]);
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stderr
error: `--core -` is not allowed: every installation needs the core provider
hint: use `--core cluster-api:VERSION`

"#]]
    );
}

#[test]
fn management_cluster_flags_are_accepted_and_ignored() {
    let world = with_repository();
    let plain = world.run(["init", "list-images"]);
    let named = world.run(["init", "list-images", "--kubeconfig", "gone", "--kubeconfig-context", "x"]);
    assert_eq!((named.status, &named), (0, &plain));
}

// Row: D-212, D-214
#[test]
fn referenced_images_are_reported_and_listed_in_json() {
    let world = with_repository();
    let path = format!("{ROOT}/infrastructure-own/v1.1.0/infrastructure-components.yaml");
    let text = world.read(world.current_dir().join(&path));
    world.write(path, text.replace("--x=${FLAG:=off}", "--solver-image=registry.example.com/solver:v1"));
    let run = world.run(["init", "list-images", "-i", "own"]);
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 0
--- stdout
registry.example.com/bootstrap-kubeadm/manager:v1
registry.example.com/cert-manager/manager:v1
registry.example.com/cluster-api/manager:v1
registry.example.com/control-plane-kubeadm/manager:v1
registry.example.com/infrastructure-own/manager:v1
--- stderr
warning: the list does not include `registry.example.com/solver:v1`: argument `--solver-image` of container `manager` of `Deployment default/infrastructure-own`

"#]]
    );
    let find = |world: &TestEnvironment| {
        let json = world.run(["init", "list-images", "-i", "own", "-o", "json"]).stdout;
        let list: serde_json::Value = serde_json::from_str(&json).unwrap();
        let images = list["images"].as_array().unwrap().iter();
        images.clone().find(|image| image["image"].as_str().unwrap().contains("solver")).unwrap().clone()
    };
    let solver = find(&world);
    assert_eq!(solver["places"][0]["runs"], false);
    let config = world.read(world.config_file());
    world.configure(format!(
        "{config}imagesInArguments: rewrite\nregistryMap: {{registry.example.com: lab.local}}\n"
    ));
    assert_eq!(find(&world)["image"], "lab.local/solver:v1");
}

// Row: D-213
#[test]
fn an_unmatched_image_rule_gives_one_warning() {
    let world = with_repository();
    let config = world.read(world.config_file());
    let rules = "images:\n  cluster-api/manger: {tag: v2}\n  infrastructure-cloudscale: {tag: v2}\n";
    world.configure(format!("{config}{rules}"));
    let run = world.run(["init", "list-images"]);
    assert_data_eq!(
        run.messages(),
        str![[r#"
exit 0
--- stderr
warning: `images.infrastructure-cloudscale` matches no image; did you mean `infrastructure-cloudscale-ch-cloudscale`?
warning: `images.cluster-api/manger` matches no image; did you mean `cluster-api/manager`?

"#]]
    );
}
