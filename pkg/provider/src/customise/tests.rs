use api::{ProviderId, ProviderType};
use manifest::{Value, YamlLimits, read_stream};
use serde_json::json;
use snapbox::{assert_data_eq, str};

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
fn arguments_replace_their_flag_and_feature_gates_are_merged() {
    assert_eq!(
        arguments("- {arguments: [--v=5, -sync=1m, --new=x], featureGates: {A: true, C: false}}"),
        json!(["--leader-elect", "--v=5", "--feature-gates=B=true,A=true,C=false", "-sync=1m", "--new=x"])
    );
}

#[test]
fn all_failed_patches_are_reported_at_once() {
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
    assert_data_eq!(
        errors.join("\n"),
        str![[r#"
`providers[0].patches[0]` matches no object: kind Deployment, name owm-.*
cannot apply `providers[0].patches[1]` to Deployment own-system/own-controller-manager
`providers[0].patches[2]` changes Service own-system/own-webhook to Service own-system/other; a patch cannot change kind, name or namespace
`providers[0].patches[3]` matches no object: any object with a container `mannager`
"#]]
    );
}

#[test]
fn an_object_can_be_omitted() {
    let objects = customised("- {target: {kind: ClusterRole}, patch: {$patch: delete}}").unwrap();
    assert_eq!(objects.len(), 2);
}

#[test]
fn all_invalid_entries_are_reported_at_once() {
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
    assert_data_eq!(
        problems.join("\n"),
        str![[r#"
providers[0].patches[0]: a patch must be a mapping of fields or a list of operations, not a number
providers[0].patches[1]: a list of operations requires a `target`
providers[0].patches[2]: unknown target field `knid`; known fields: group, version, kind, name, namespace, labelSelector
providers[0].patches[3]: `name: (` is not a valid regular expression
providers[0].patches[4]: unknown key `replica`; did you mean `replicas`?
providers[0].patches[5]: the entry changes nothing; add `patch` or one of replicas, arguments, featureGates, resources, tolerations, nodeSelector
providers[0].patches[6]: `replicas` must be an integer, 0 or more
providers[0].patches[7]: `featureGates.A` must be true or false
providers[0].patches[8]: a patch of type json cannot be a mapping
providers[0].patches[9]: an entry must be a mapping with `target` and `patch`, or with settings such as `replicas`
"#]]
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
    let error = with(text).providers().unwrap_err();
    let ConfigError::Providers { problems, .. } = error else { panic!("{error}") };
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    assert_data_eq!(
        problem.to_string(),
        str![[r#"providers[1] ("mine", "InfrastructureProvider"): url is empty"#]]
    );
    let known = with(text.lines().take(2).collect::<Vec<_>>().join("\n").as_str());
    let aws = ProviderId::new(ProviderType::Infrastructure, "aws");
    assert!(known.provider(&aws).unwrap().unwrap().url.contains("cluster-api-provider-aws"));
    assert_eq!(known.customisations(&aws).unwrap().len(), 1);
    assert!(known.customisations(&own()).unwrap().is_empty());
}
