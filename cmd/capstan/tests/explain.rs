use snapbox::{assert_data_eq, str};

use crate::repository::with_repository;

#[test]
fn a_variable_is_explained_without_its_value() {
    let run = with_repository().env("FROM_CONFIG", "s3cret").run(["explain", "variable", "FROM_CONFIG"]);
    assert_data_eq!(
        run.stdout,
        str![[r#"
variable FROM_CONFIG
  taken       environment variable FROM_CONFIG
  shadowed    [HOME]/.config/cluster-api/clusterctl.yaml, key FROM_CONFIG
  shadowed    default in the template (`${NAME:=default}`; see --list-variables)

"#]]
    );
}

#[test]
fn a_file_is_explained_by_override_and_repository() {
    let world = with_repository();
    let run = world.run(["explain", "file", "metadata.yaml", "-i", "own:v1.1.0"]);
    assert_data_eq!(
        run.stdout,
        str![[r#"
metadata.yaml of infrastructure-own v1.1.0
  absent      [HOME]/.cluster-api/overrides/infrastructure-own/v1.1.0/metadata.yaml (override)
  taken       [HOME]/.config/repository/infrastructure-own/v1.1.0/metadata.yaml

"#]]
    );
    world.write("../home/.config/cluster-api/overrides/infrastructure-own/v1.1.0/metadata.yaml", "x");
    let run = world.run(["explain", "file", "metadata.yaml", "-i", "own:v1.1.0", "-o", "json"]);
    let explanation: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(explanation["places"][0]["state"], "taken");
    assert_eq!(explanation["places"][1]["state"], "notAsked");
}

#[test]
fn the_configuration_file_is_explained_by_every_place_looked_at() {
    let world = with_repository();
    let run = world.run(["explain", "config"]);
    let taken: Vec<&str> = run.stdout.lines().filter(|line| line.contains("taken")).collect();
    assert_eq!(taken, ["  taken       [HOME]/.config/cluster-api/clusterctl.yaml"]);
    assert!(run.stdout.contains("[HOME]/.cluster-api/clusterctl.yaml"), "{run}");
    let run = world.run(["explain", "config", "--config", "other.yaml"]);
    assert_data_eq!(
        run.stdout,
        str![[r#"
configuration file
  absent      [CWD]/other.yaml (named by `--config`, so no other place is looked at)

"#]]
    );
    world.write("other.yaml", "");
    let run = world.run(["explain", "config", "--config", "other.yaml"]);
    assert!(run.stdout.contains("  taken       [CWD]/other.yaml"), "{run}");
    let run = world.run(["explain", "config", "--config", "https://me:pw@example.com/c.yaml?token=t"]);
    assert!(run.stdout.contains("  taken       https://example.com/c.yaml?token=*** ("), "{run}");
}
