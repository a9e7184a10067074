use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::world;

const CONFIG: &str = "providers:
- {name: aws, type: InfrastructureProvider, url: /srv/aws/v2.9.0/c.yaml}
- {name: mine, type: InfrastructureProvider, url: /srv/mine/v1.0.0/c.yaml}
";

#[test]
fn each_provider_is_listed_with_its_source() {
    let world = world();
    world.configure(CONFIG);
    let list = world.run(["provider", "list"]).stdout;
    let lines = list
        .lines()
        .filter(|line| ["NAME", "aws ", "mine", "azur"].iter().any(|name| line.starts_with(name)));
    assert_data_eq!(
        lines.flat_map(|line| [line, "\n"]).collect::<String>(),
        str![[r#"
NAME                       TYPE                       SOURCE                                   URL
aws                        InfrastructureProvider     config, replaces the built-in provider   /srv/aws/v2.9.0/c.yaml
azure                      InfrastructureProvider     built in                                 https://github.com/kubernetes-sigs/cluster-api-provider-azure/releases/latest/infrastructure-components.yaml
mine                       InfrastructureProvider     config                                   /srv/mine/v1.0.0/c.yaml

"#]]
    );
}

// Row: D-251
#[test]
fn credentials_in_urls_are_not_listed() {
    let world = world();
    let url = |login: &str, token: &str| {
        format!("https://{login}files.lab:443/infrastructure-mine/v1.0.0/c.yaml?ref=main&token={token}")
    };
    let provider = |url: &str| {
        format!("providers:\n- {{name: mine, type: InfrastructureProvider, url: '{url}', kind: folder}}\n")
    };
    world.configure(provider(&url("ann:hunter2@", "s3cret/x")));
    for verb in ["provider list", "config repositories"] {
        for format in ["text", "json", "yaml"] {
            let list = world.run_line(&format!("{verb} -o {format}")).stdout;
            assert!(!list.contains("hunter2") && !list.contains("s3cret"), "{verb} {format}");
        }
    }
    let list: Value = serde_json::from_str(&world.run_line("provider list -o json").stdout).unwrap();
    let listed = list["providers"].as_array().unwrap().iter().find(|it| it["name"] == "mine").unwrap();
    assert_eq!(listed["url"], url("", "***"));
}

#[test]
fn provider_list_prints_json() {
    let world = world();
    world.configure(CONFIG);
    let list = world.run(["provider", "list", "-o", "json"]).stdout;
    let at = list.find("\"name\": \"mine\"").unwrap();
    assert_data_eq!(
        list[at..].lines().take(4).flat_map(|line| [line.trim(), "\n"]).collect::<String>(),
        str![[r#"
"name": "mine",
"type": "InfrastructureProvider",
"url": "/srv/mine/v1.0.0/c.yaml",
"source": "config"

"#]]
    );
    let yaml = world.run(["provider", "list", "-o", "yaml"]).stdout;
    assert!(yaml.contains("- name: mine\n  source: config\n  type: InfrastructureProvider\n"), "{yaml}");
}
