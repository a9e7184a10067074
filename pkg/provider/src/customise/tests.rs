use api::{ProviderId, ProviderType};
use manifest::{Value, YamlLimits, read_stream};
use serde_json::json;

use super::*;
use crate::config::{Config, ConfigError, ConfigFile, ConfigFormat, Environment};

const OBJECTS: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: own-controller-manager, namespace: own-system}
spec:
  replicas: 1
  template:
    spec:
      containers:
      - {name: manager, image: m, args: [--leader-elect, --v=2, '--feature-gates=A=false,B=true', --sync, 10m]}
      - {name: proxy, image: p}
---
apiVersion: v1
kind: Service
metadata: {name: own-webhook, namespace: own-system}
spec: {ports: [{port: 443, targetPort: 9443}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: own}
rules: []
";

fn config(patches: &str) -> Config {
    let indented = patches.replace('\n', "\n  ");
    let text = format!(
        "providers:\n- name: own\n  type: InfrastructureProvider\n  url: https://example.com/own/v1/c.yaml\n  patches:\n  {indented}"
    );
    let file =
        ConfigFile { origin: "clusterctl.yaml".to_owned(), folder: None, format: ConfigFormat::Yaml, text };
    Config::new(Some(file), Environment::new([] as [(&str, &str); 0])).unwrap()
}

fn own() -> ProviderId {
    ProviderId::new(ProviderType::Infrastructure, "own")
}

fn customised(patches: &str) -> Result<Vec<Value>, Vec<String>> {
    let mut objects = read_stream(OBJECTS.as_bytes(), &YamlLimits::default()).unwrap().objects;
    match apply_customisations(&mut objects, &config(patches).customisations(&own()).unwrap()) {
        Ok(()) => Ok(objects.into_iter().map(Value::from).collect()),
        Err(errors) => Err(errors.iter().map(ToString::to_string).collect()),
    }
}

fn arguments(patches: &str) -> Value {
    customised(patches).unwrap()[0]["spec"]["template"]["spec"]["containers"][0]["args"].take()
}

#[test]
fn a_patch_is_a_mapping_a_list_of_operations_or_the_text_of_either() {
    let objects = customised(
        "
- target: {kind: Deployment, name: own-.*}
  patch: {spec: {template: {spec: {nodeSelector: {Zone: a}}}}}
- target: {kind: Service}
  patch: [{op: replace, path: /spec/ports/0/port, value: 8443}]
- target: {group: rbac.authorization.k8s.io}
  type: merge
  patch: 'aggregationRule: {clusterRoleSelectors: []}'
- patch: |
    kind: Service
    metadata: {name: own-webhook, annotations: {Note: Kept As It Is}}
",
    )
    .unwrap();
    assert_eq!(objects[0]["spec"]["template"]["spec"]["nodeSelector"], json!({"Zone": "a"}));
    assert_eq!(objects[1]["spec"]["ports"][0]["port"], 8443);
    assert_eq!(objects[1]["metadata"]["annotations"], json!({"Note": "Kept As It Is"}));
    assert_eq!(objects[2]["aggregationRule"], json!({"clusterRoleSelectors": []}));
}

#[test]
fn settings_reach_every_workload_with_the_container() {
    let objects = customised(
        "
- replicas: 3
  resources: {limits: {memory: 1Gi}}
  tolerations: [{key: a, operator: Exists}]
  nodeSelector: {kubernetes.io/os: linux}
- container: proxy
  resources: {requests: {cpu: 10m}}
",
    )
    .unwrap();
    assert_eq!(objects[0]["spec"]["replicas"], 3);
    let pod = &objects[0]["spec"]["template"]["spec"];
    assert_eq!(pod["tolerations"], json!([{"key": "a", "operator": "Exists"}]));
    assert_eq!(pod["nodeSelector"], json!({"kubernetes.io/os": "linux"}));
    assert_eq!(pod["containers"][0]["resources"], json!({"limits": {"memory": "1Gi"}}));
    assert_eq!(pod["containers"][1]["resources"], json!({"requests": {"cpu": "10m"}}));
}

#[test]
fn an_argument_takes_the_place_of_its_flag_and_gates_join_those_that_are_there() {
    assert_eq!(
        arguments("- {arguments: [--v=5, -sync=1m, --new=x], featureGates: {A: true, C: false}}"),
        json!(["--leader-elect", "--v=5", "--feature-gates=B=true,A=true,C=false", "-sync=1m", "--new=x"])
    );
}

#[test]
fn what_matches_nothing_or_does_not_fit_is_told_all_at_once() {
    let errors = customised(
        "
- target: {kind: Deployment, name: owm-.*}
  patch: {spec: {replicas: 2}}
- target: {kind: Deployment}
  patch: [{op: remove, path: /spec/nothing}]
- target: {kind: Service}
  patch: {metadata: {name: other}}
- {container: mannager, replicas: 2}
",
    )
    .unwrap_err();
    assert_eq!(
        errors,
        [
            "`providers[0].patches[0]` matches no object: kind Deployment, name owm-.*",
            "`providers[0].patches[1]` cannot be applied to Deployment own-system/own-controller-manager",
            "`providers[0].patches[2]` makes Service own-system/other of Service own-system/own-webhook; \
             a patch changes no kind, name or namespace",
            "`providers[0].patches[3]` matches no object: any object with a container `mannager`",
        ]
    );
}

#[test]
fn an_object_can_be_left_out() {
    let objects = customised("- {target: {kind: ClusterRole}, patch: {$patch: delete}}").unwrap();
    assert_eq!(objects.len(), 2);
}

#[test]
fn entries_that_cannot_be_read_are_told_all_at_once() {
    let refused = config(
        "
- {target: {kind: Deployment}, patch: 5}
- {patch: [{op: remove, path: /a}]}
- {target: {knid: Deployment}, patch: {}}
- {target: {name: '('}, patch: {}}
- {replica: 2}
- {target: {kind: Deployment}}
- {replicas: two}
- {featureGates: {A: 'on please'}}
- {target: {kind: X}, type: json, patch: {}}
- text
",
    )
    .customisations(&own());
    let Err(ConfigError::Patches { problems, .. }) = refused else { panic!("{refused:?}") };
    let problems: Vec<&str> =
        problems.iter().filter_map(|text| text.split_once(": ")).map(|(_, text)| text).collect();
    assert_eq!(
        problems,
        [
            "a patch is a mapping of fields or a list of operations, this is a number",
            "a list of operations needs a `target`",
            "`knid` is no field of a target; there are group, version, kind, name, namespace and labelSelector",
            "`name: (` is no regular expression",
            "`replica` is not known, did you mean `replicas`?",
            "it changes nothing; give `patch`, or one of replicas, arguments, featureGates, resources, tolerations, nodeSelector",
            "`replicas` is a whole number",
            "`featureGates.A` is true or false",
            "a patch of type json cannot be a mapping",
            "an entry has the keys target and patch, or settings such as replicas",
        ]
    );
}

// Row: D-124
#[test]
fn an_entry_that_only_patches_a_known_provider_needs_no_url() {
    let text = "providers:\n- {name: aws, type: InfrastructureProvider, patches: [{replicas: 2}]}\n- {name: mine, type: InfrastructureProvider, patches: [{replicas: 2}]}\n";
    let with = |text: &str| {
        let file = ConfigFile {
            origin: "clusterctl.yaml".to_owned(),
            folder: None,
            format: ConfigFormat::Yaml,
            text: text.to_owned(),
        };
        Config::new(Some(file), Environment::new([] as [(&str, &str); 0])).unwrap()
    };
    assert!(with(text).providers().unwrap_err().to_string().contains("url is empty"), "nobody knows `mine`");
    let known = with(text.lines().take(2).collect::<Vec<_>>().join("\n").as_str());
    let aws = ProviderId::new(ProviderType::Infrastructure, "aws");
    assert!(known.provider(&aws).unwrap().unwrap().url.contains("cluster-api-provider-aws"));
    assert_eq!(known.customisations(&aws).unwrap().len(), 1);
    assert!(known.customisations(&own()).unwrap().is_empty());
}
