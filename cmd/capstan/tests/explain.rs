use snapbox::{assert_data_eq, str};

use crate::repository::with_repository;

#[test]
fn a_variable_is_explained_without_its_value() {
    let run = with_repository().env("FROM_CONFIG", "s3cret").run(["explain", "variable", "FROM_CONFIG"]);
    assert_data_eq!(
        run.stdout,
        str![[r#"
variable FROM_CONFIG
  used        environment variable FROM_CONFIG
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
  used        [HOME]/.config/repository/infrastructure-own/v1.1.0/metadata.yaml

"#]]
    );
    world.write("../home/.config/cluster-api/overrides/infrastructure-own/v1.1.0/metadata.yaml", "x");
    let run = world.run(["explain", "file", "metadata.yaml", "-i", "own:v1.1.0", "-o", "json"]);
    let explanation: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(explanation["places"][0]["state"], "taken");
    assert_eq!(explanation["places"][1]["state"], "notAsked");
}

#[test]
fn the_configuration_file_is_explained_with_every_searched_path() {
    let world = with_repository();
    assert_data_eq!(
        world.run(["explain", "config"]).stdout,
        str![[r#"
configuration file
  absent      [HOME]/.config/cluster-api/clusterctl.json
  absent      [HOME]/.config/cluster-api/clusterctl.toml
  used        [HOME]/.config/cluster-api/clusterctl.yaml
  absent      [HOME]/.config/cluster-api/clusterctl.yml
  absent      [HOME]/.config/cluster-api/clusterctl.properties
  absent      [HOME]/.config/cluster-api/clusterctl.props
  absent      [HOME]/.config/cluster-api/clusterctl.prop
  absent      [HOME]/.config/cluster-api/clusterctl.hcl
  absent      [HOME]/.config/cluster-api/clusterctl.tfvars
  absent      [HOME]/.config/cluster-api/clusterctl.dotenv
  absent      [HOME]/.config/cluster-api/clusterctl.env
  absent      [HOME]/.config/cluster-api/clusterctl.ini
  absent      [HOME]/.cluster-api/clusterctl.json
  absent      [HOME]/.cluster-api/clusterctl.toml
  absent      [HOME]/.cluster-api/clusterctl.yaml
  absent      [HOME]/.cluster-api/clusterctl.yml
  absent      [HOME]/.cluster-api/clusterctl.properties
  absent      [HOME]/.cluster-api/clusterctl.props
  absent      [HOME]/.cluster-api/clusterctl.prop
  absent      [HOME]/.cluster-api/clusterctl.hcl
  absent      [HOME]/.cluster-api/clusterctl.tfvars
  absent      [HOME]/.cluster-api/clusterctl.dotenv
  absent      [HOME]/.cluster-api/clusterctl.env
  absent      [HOME]/.cluster-api/clusterctl.ini

"#]]
    );
    let run = world.run(["explain", "config", "--config", "other.yaml"]);
    assert_data_eq!(
        run.stdout,
        str![[r#"
configuration file
  absent      [CWD]/other.yaml (set by `--config`, so no other location is searched)

"#]]
    );
    world.write("other.yaml", "");
    assert_data_eq!(
        world.screens([
            "explain config --config other.yaml",
            "explain config --config https://me:pw@example.com/c.yaml?token=t",
        ]),
        str![[r#"
$ capstan explain config --config other.yaml
exit 0
--- stdout
configuration file
  used        [CWD]/other.yaml (set by `--config`, so no other location is searched)

$ capstan explain config --config https://me:pw@example.com/c.yaml?token=t
exit 0
--- stdout
configuration file
  used        https://example.com/c.yaml?token=*** (set by `--config`, so no other location is searched)

"#]]
    );
}
