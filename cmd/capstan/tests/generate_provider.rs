use snapbox::{assert_data_eq, str};

use crate::repository::with_repository;

// Row: PRV-15
// Row: PRV-17
#[test]
fn the_newest_release_of_a_local_repository_is_printed() {
    let world = with_repository().env("TOKEN", "s3cret");
    let run = world.run(["generate", "provider", "--infrastructure", "own", "--describe"]);
    assert_data_eq!(
        run.stdout,
        str![[r#"
Name:               own
Type:               InfrastructureProvider
URL:                [HOME]/.config/repository/infrastructure-own/
Version:            v1.1.0
File:               infrastructure-components.yaml
TargetNamespace:    infrastructure-own-system
Variables:
  - FLAG
  - TOKEN
Images:
  - registry.example.com/infrastructure-own/manager:v1


"#]]
    );
}

#[test]
fn a_description_in_json_is_refused_with_the_verb_that_has_one() {
    let world = with_repository();
    let run = world.run(["generate", "provider", "-i", "own", "--describe", "-o", "json"]);
    assert_eq!(run.status, 1);
    assert_eq!(run.stdout, "");
    assert_data_eq!(
        run.stderr,
        str![[r#"
{"kind":"user","exitCode":1,"message":"`--describe` prints text only","causes":[],"hints":["run `capstan provider show` for a description in JSON or YAML"]}

"#]]
    );
}

// Row: PRV-28
// Row: PRV-30
#[test]
fn values_defaults_namespace_and_labels_are_applied() {
    let world = with_repository().env("TOKEN", "s3cret");
    let run = world.run(["generate", "provider", "-i", "own:v1.0.0", "-n", "elsewhere"]);
    assert_data_eq!(
        run.stdout,
        str![[r#"
apiVersion: v1
kind: Namespace
metadata:
  labels:
    cluster.x-k8s.io/provider: infrastructure-own
    clusterctl.cluster.x-k8s.io: ""
  name: elsewhere
---
apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    cluster.x-k8s.io/provider: infrastructure-own
    clusterctl.cluster.x-k8s.io: ""
  name: infrastructure-own
  namespace: elsewhere
spec:
  selector:
    matchLabels:
      a: b
  strategy: {}
  template:
    metadata:
      labels:
        a: b
    spec:
      containers:
      - args:
        - --x=off
        image: registry.example.com/infrastructure-own/manager:v1
        name: manager
        resources: {}
status: {}
---
apiVersion: v1
kind: Secret
metadata:
  labels:
    cluster.x-k8s.io/provider: infrastructure-own
    clusterctl.cluster.x-k8s.io: ""
  name: infrastructure-own
  namespace: elsewhere
stringData:
  token: s3cret

"#]]
    );
}

// Row: PRV-29
#[test]
fn a_missing_variable_prevents_all_output() {
    let run = with_repository().run(["generate", "provider", "-i", "own:v1.1.0"]);
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot generate `infrastructure-own` v1.1.0
  cause: a variable has no value
  cause: `TOKEN` at [HOME]/.config/repository/infrastructure-own/v1.1.0/infrastructure-components.yaml:17
hint: set the missing variables with `export TOKEN=VALUE`, or in clusterctl.yaml: `TOKEN: VALUE`
hint: list all variables with their defaults: `capstan generate cluster NAME --list-variables`, or for a provider `capstan generate provider --describe`

"#]]
    );
}

// Row: PRV-19
// Row: PRV-20
#[test]
fn a_release_of_an_old_contract_is_refused_with_a_compatible_one() {
    let run = with_repository().env("TOKEN", "x").run(["generate", "provider", "-i", "own:v0.9.0"]);
    assert_eq!(run.status, 1);
    assert_data_eq!(
        run.stderr,
        str![[r#"
error: cannot generate `infrastructure-own` v0.9.0
  cause: cannot use `infrastructure-own` v0.9.0
  cause: `infrastructure-own` v0.9.0 implements contract v1alpha4; this version of capstan supports v1beta2, v1beta1
hint: use a release of the compatible series 1.1, such as `--infrastructure own:v1.1.0`

"#]]
    );
}

#[test]
fn generate_provider_requires_exactly_one_provider() {
    let world = with_repository();
    assert_data_eq!(
        world.screens(["generate provider", "generate provider -i own --core cluster-api"]),
        str![[r#"
$ capstan generate provider
exit 1
--- stderr
error: the provider is missing
hint: use one of `--core`, `--bootstrap`, `--control-plane`, `--infrastructure`, `--ipam`, `--runtime-extension`, `--addon`

$ capstan generate provider -i own --core cluster-api
exit 1
--- stderr
error: `--core` cannot be combined with `--infrastructure`: the command requires exactly one provider

"#]]
    );
}

#[test]
fn an_override_wins_over_the_release() {
    let world = with_repository().env("TOKEN", "x");
    let path =
        "../home/.config/cluster-api/overrides/infrastructure-own/v1.1.0/infrastructure-components.yaml";
    world.write(path, "apiVersion: v1\nkind: Namespace\nmetadata: {name: overridden}\n");
    let run = world.run(["generate", "provider", "-i", "own:v1.1.0"]);
    assert!(run.stdout.contains("name: overridden\n"), "{run}");
}

#[test]
fn raw_keeps_the_variables() {
    let run = with_repository().run(["generate", "provider", "-i", "own:v1.1.0", "--raw"]);
    assert!(run.stdout.contains("- --x=${FLAG:=off}\n") && run.stdout.contains("token: ${TOKEN}\n"), "{run}");
}

// Row: PRV-32, D-71
#[test]
fn variables_of_components_can_be_listed() {
    let world = with_repository();
    let text = world.run(["generate", "provider", "-i", "own:v1.1.0", "--list-variables"]);
    assert_data_eq!(
        text.stdout,
        str![[r#"
Variables:
  - FLAG
  - TOKEN

"#]]
    );
    let json = world.run(["generate", "provider", "-i", "own:v1.1.0", "--list-variables", "-o", "json"]);
    let list: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(list["variables"][0]["default"], "off");
    assert_eq!(list["variables"][1]["required"], true);
}
