//! Tests of `provider remove` on typical configuration files.

use snapbox::{assert_data_eq, str};

use crate::world;

const FILE: &str = "# the team's
A: 1
providers:
  # ours
  - name: mine
    type: InfrastructureProvider
    url: /srv/infrastructure-mine/v1.0.0/components.yaml # moved in May
  # also ours
  - name: aws
    type: InfrastructureProvider
    url: /srv/infrastructure-aws/v1.0.0/infrastructure-components.yaml
  - {name: both, type: BootstrapProvider, url: /srv/bootstrap-both/v1.0.0/c.yaml}
  - {name: both, type: ControlPlaneProvider, url: /srv/control-plane-both/v1.0.0/c.yaml}
B: 2 # last
";

#[test]
fn removing_an_entry_keeps_the_rest_of_the_file() {
    let world = world();
    let path = world.configure(FILE);
    assert_data_eq!(
        world.run_expecting_success("provider remove mine").stderr,
        str![[r#"
removed `infrastructure-mine` from `[HOME]/.config/cluster-api/clusterctl.yaml`

"#]]
    );
    let entry = FILE.split_once("  - name: mine").unwrap().1.split_once("  # also").unwrap().0;
    assert_eq!(world.read(&path), FILE.replace(&format!("  - name: mine{entry}"), ""));
    assert!(!world.run_expecting_success("provider list").stdout.contains("mine "));
    assert_data_eq!(
        world.run_expecting_success("provider remove aws --type infrastructure").stderr,
        str![[r#"
removed `infrastructure-aws` from `[HOME]/.config/cluster-api/clusterctl.yaml`; the built-in provider is effective again

"#]]
    );
}

#[test]
fn a_missing_entry_is_reported_with_similar_names() {
    let world = world();
    let path = world.configure(FILE);
    assert_data_eq!(
        world.screens([
            "provider remove mnie",
            "provider remove docker",
            "provider remove both",
            "provider remove aws --type bootstrap",
            "provider remove aws --type bootstarp",
        ]),
        str![[r#"
$ capstan provider remove mnie
exit 1
--- stderr
error: cannot remove the provider `mnie` from `[HOME]/.config/cluster-api/clusterctl.yaml`
  cause: the file has no such entry
hint: did you mean `mine`?

$ capstan provider remove docker
exit 1
--- stderr
error: cannot remove the provider `docker` from `[HOME]/.config/cluster-api/clusterctl.yaml`
  cause: the file has no such entry
hint: run `capstan provider list` to list providers; built-in ones cannot be removed

$ capstan provider remove both
exit 1
--- stderr
error: cannot remove the provider `both` from `[HOME]/.config/cluster-api/clusterctl.yaml`
  cause: several entries have this name
hint: add `--type bootstrap` or `--type control-plane`

$ capstan provider remove aws --type bootstrap
exit 1
--- stderr
error: cannot remove the provider `aws` from `[HOME]/.config/cluster-api/clusterctl.yaml`
  cause: the file has no such entry
hint: use `--type infrastructure`

$ capstan provider remove aws --type bootstarp
exit 1
--- stderr
error: unknown provider type `bootstarp`
hint: did you mean `--type bootstrap`?

"#]]
    );
    assert_eq!(world.read(&path), FILE);
    std::fs::remove_file(path).unwrap();
    world.run_expecting_failure("provider remove mine");
    assert!(world.files().is_empty());
}
