//! Tests of `component` on a sandbox.
#![cfg(unix)]

use serde_json::Value;
use snapbox::{assert_data_eq, str};
use support::{
    fixture::Fixture,
    kind::{self, Kind},
};

use crate::testing::{Management, blueprint_component};

/// Starts a sandbox with the records of two Components: `shop/web` depends on `shop/db`.
async fn lab() -> Management {
    let lab = Management::start(Fixture::builder()).await;
    lab.fixture.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}").await;
    for (name, state, reason, message, dependencies) in [
        ("db", "Ready", "Ready", "Dependent resources successfully reconciled", ""),
        ("web", "Error", "Timeout", "Reconcilation of dependent resources timed out", r#"{"name": "db"}"#),
    ] {
        let condition = if state == "Ready" { "True" } else { "False" };
        let component = format!(
            r#"{{"metadata": {{"name": "{name}", "namespace": "shop", "generation": 1}},
            "spec": {{"sourceRef": {{"fluxBucket": {{"name": "s"}}}}, "dependencies": [{dependencies}]}},
            "status": {{"observedGeneration": 1, "state": "{state}", "lastAttemptedRevision": "main@1",
              "conditions": [{{"type": "Ready", "status": "{condition}", "reason": "{reason}", "message": "{message}"}}],
              "inventory": [{{"group": "", "version": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "{name}",
                "phase": "{state}", "status": "InProgress"}}]}}}}"#
        )
        .replace(r#""phase": "Ready", "status": "InProgress""#, r#""phase": "Ready", "status": "Current""#)
        .replace(r#""phase": "Error""#, r#""phase": "Creating""#);
        let record = format!(
            "apiVersion: v1\nkind: Secret\ntype: capstan.dev/component\nmetadata: {{name: capstan.component.{name}, namespace: shop, labels: {{capstan.dev/component: {name}}}}}\nstringData:\n  component.json: {}\n",
            Value::from(component)
        );
        lab.fixture.apply(&record).await;
    }
    lab
}

#[test]
fn a_deletion_needs_names_or_files() {
    let run = crate::world().run(["component", "delete"]);
    assert_data_eq!(
        run.to_string(),
        str![[r#"
exit 1
--- stderr
error: the Components are missing: name them, or use `--filename`

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn components_are_listed_with_their_states() {
    let lab = lab().await;
    assert_data_eq!(
        lab.run("component list").to_string(),
        str![[r#"
exit 0
--- stdout
NAMESPACE   NAME      STATE     REASON    OBJECTS   REVISION
shop        db        Ready     Ready     1         main@1
shop        web       Error     Timeout   1         main@1

"#]]
    );
    let list: Value = serde_json::from_str(&lab.run("component list -n shop -o json").stdout).unwrap();
    assert_eq!(
        (&list["components"][0]["ready"], &list["components"][1]["ready"]),
        (&true.into(), &false.into())
    );
    assert_eq!(list["components"][1]["notReady"][0]["object"]["name"], "web");
    let empty: Value = serde_json::from_str(&lab.run("component list -n other -o json").stdout).unwrap();
    assert_eq!(empty["components"].as_array().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn components_that_cannot_be_read_are_shown_and_block_deletions() {
    let lab = lab().await;
    lab.fixture
        .apply("{apiVersion: v1, kind: Secret, metadata: {name: capstan.component.bad, namespace: shop, labels: {capstan.dev/component: bad}}, stringData: {component.json: '{\"spec\": 5}'}}")
        .await;
    assert_data_eq!(
        format!(
            "{}\n{}\n{}",
            lab.run("component list"),
            lab.run("component status bad -n shop"),
            lab.run("component delete web -n shop")
        ),
        str![[r#"
exit 0
--- stdout
NAMESPACE   NAME      STATE     REASON       OBJECTS   REVISION
shop        db        Ready     Ready        1         main@1
shop        web       Error     Timeout      1         main@1
shop        bad       Unknown   Unreadable   0         

exit 0
--- stdout
shop/bad: Unknown
  Unreadable: cannot read Component `shop/bad`: Secret `capstan.component.bad` is invalid: invalid type: integer `5`, expected struct ComponentSpec at line 1 column 10

exit 1
--- stderr
error: the cluster has Components that cannot be read
  cause: cannot read Component `shop/bad`: Secret `capstan.component.bad` is invalid: invalid type: integer `5`, expected struct ComponentSpec at line 1 column 10
hint: use the version of capstan that wrote it, or correct or delete the object with kubectl

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_of_a_component_names_its_objects() {
    let lab = lab().await;
    assert_data_eq!(
        lab.run("component status shop/web shop/db --exit-status").to_string(),
        str![[r#"
exit 3
--- stdout
shop/web: Error
  Timeout: Reconcilation of dependent resources timed out
  revision: main@1
  KIND        OBJECT     PHASE      STATUS
  ConfigMap   shop/web   Creating   InProgress
shop/db: Ready
  Ready: Dependent resources successfully reconciled
  revision: main@1
  KIND        OBJECT    PHASE     STATUS
  ConfigMap   shop/db   Ready     Current
--- stderr
error: not ready: 1 Component

"#]]
    );
    assert_eq!(lab.run("component status db -n shop --exit-status").status, 0);
    assert_eq!(lab.run("component status -n other --exit-status").status, 0);
    assert_eq!(lab.run("component status -n shop --exit-status").status, 3);
    assert_data_eq!(
        lab.run("component status db").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot find Component `default/db`
hint: the cluster has `shop/db` or `shop/web`

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_with_the_reason_of_each_component() {
    let lab = lab().await;
    assert_eq!(lab.run("component wait shop/db --timeout 0s").status, 0);
    assert_eq!(lab.run("component wait -n other --timeout 0s").status, 0);
    let late = lab.run("component wait --timeout 0s");
    assert_eq!(late.status, 3, "{late}");
    assert!(late.stderr.contains("shop/web: Reconcilation of dependent resources timed out"), "{late}");
}

// Row: CMP-75
#[tokio::test(flavor = "multi_thread")]
async fn components_are_deleted_after_their_dependents() {
    let lab = lab().await;
    assert_data_eq!(
        lab.run("component delete shop/db").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot delete Components that others depend on
  cause: shop/db: deletion blocked by depending component shop/web
hint: delete the depending Components with the same command

"#]]
    );
    assert_data_eq!(
        lab.run("component delete db web -n shop --dry-run").to_string(),
        str![[r#"
exit 0
--- stdout
shop/web
  ACTION    KIND        OBJECT     WHY
  delete    ConfigMap   shop/web   already deleted

shop/db
  ACTION    KIND        OBJECT    WHY
  delete    ConfigMap   shop/db   already deleted


"#]]
    );
    let report: Value =
        serde_json::from_str(&lab.run("component delete db web -n shop -o json").stdout).unwrap();
    assert_eq!(
        (&report["components"][0]["name"], &report["components"][1]["name"]),
        (&"web".into(), &"db".into())
    );
    let left: Value = serde_json::from_str(&lab.run("component list -o json").stdout).unwrap();
    assert_eq!(left["components"].as_array().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_with_files_skips_components_that_are_gone() {
    let lab = lab().await;
    let component = |name: &str, dependencies: &str| {
        format!(
            "---\napiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{sourceRef: {{fluxBucket: {{name: s}}}}, dependencies: [{dependencies}]}}\n"
        )
    };
    lab.world().write("shop.yaml", component("db", "") + &component("web", "{name: db}"));
    assert_eq!(lab.run("component delete shop/web").status, 0);
    assert_data_eq!(
        format!(
            "{}{}{}",
            lab.run("component delete -f shop.yaml"),
            lab.run("component delete -f shop.yaml"),
            lab.run("component delete shop/db"),
        ),
        str![[r#"
exit 0
--- stderr
skipped Component `shop/web`, which does not exist
done in [..]: deleted 1 Component
exit 0
--- stderr
skipped Component `shop/db`, which does not exist
skipped Component `shop/web`, which does not exist
done in [..]: deleted no Component
exit 1
--- stderr
error: cannot find Component `shop/db`
hint: the cluster has no Component

"#]]
    );
}

// Row: ENG-46
#[tokio::test(flavor = "multi_thread")]
async fn a_definition_in_use_blocks_the_deletion_of_all_components() {
    let lab = Management::start(Fixture::builder()).await;
    let definition = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: toys.x.io}, spec: {group: x.io, names: {kind: Toy, plural: toys}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}";
    let toy = |name: &str| {
        format!("{{apiVersion: x.io/v1, kind: Toy, metadata: {{name: {name}, namespace: default}}}}")
    };
    lab.world().write(
        "toys.yaml",
        blueprint_component("kind", "", definition)
            + &blueprint_component("toy", ", dependencies: [{name: kind}]", &toy("ours")),
    );
    assert_eq!(lab.run("component apply toys.yaml").status, 0);
    lab.fixture.apply(&toy("theirs")).await;
    let refused = lab.run("component delete -f toys.yaml");
    assert_data_eq!(
        refused.to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot write the objects of Component `default/kind`
  cause: cannot delete definitions: objects of other owners use them
  cause: CustomResourceDefinition toys.x.io is still in use: Toy default/theirs
hint: delete the objects first; list them with `kubectl get toys.x.io -A`

"#]]
    );
    let left: Value = serde_json::from_str(&lab.run("component list -o json").stdout).unwrap();
    assert_eq!(left["components"].as_array().unwrap().len(), 2);
    let toys = Kind::new("x.io", "v1", "Toy", "toys");
    assert!(lab.fixture.get(toys, "default/ours").await.is_some());
    lab.fixture.delete(toys, "default/theirs").await;
    assert_eq!(lab.run("component delete -f toys.yaml").status, 0);
    assert!(lab.fixture.get(kind::CUSTOM_RESOURCE_DEFINITION, "toys.x.io").await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_that_takes_too_long_names_the_next_step_once() {
    let lab = Management::start(Fixture::builder()).await;
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, finalizers: [example.org/stays]}}";
    lab.world().write("web.yaml", blueprint_component("web", "", map));
    assert_eq!(lab.run("component apply web.yaml").status, 0);
    assert_data_eq!(
        lab.run("component delete -f web.yaml --timeout 1s").to_string(),
        str![[r#"
exit 1
--- stderr
error: the objects of Component `default/web` are not deleted after 1[..]s
  cause: ConfigMap default/web: held by finalizer `example.org/stays`
hint: the run stopped after one write: re-run the same command to delete the remaining objects

"#]]
    );
}

// Row: CMP-01
#[tokio::test(flavor = "multi_thread")]
async fn the_printed_definitions_are_accepted() {
    let lab = Management::start(Fixture::builder()).await;
    let printed = lab.run("component definition");
    assert_eq!(printed.status, 0, "{printed}");
    lab.fixture.apply(&printed.stdout).await;
    lab.fixture.wait_until_idle().await;
    lab.fixture
        .apply("{apiVersion: core.cs.sap.com/v1alpha1, kind: Component, metadata: {name: web, namespace: default}, spec: {sourceRef: {fluxBucket: {name: s}}}}")
        .await;
    lab.fixture
        .apply("{apiVersion: core.cs.sap.com/v1alpha1, kind: Blueprint, metadata: {name: web, namespace: default}, spec: {files: {a.yaml: text}}}")
        .await;
    let list: Value = serde_json::from_str(&lab.run("component list -o json").stdout).unwrap();
    assert_eq!(
        (&list["components"][0]["name"], &list["components"][0]["state"]),
        (&"web".into(), &"".into())
    );
}

#[test]
fn problems_of_components_in_files_name_file_and_line() {
    let world = crate::world();
    world.write(
        "web.yaml",
        "apiVersion: core.cs.sap.com/v1alpha1
kind: Component
metadata: {name: web}
spec:
  sourceRef:
    fluxGitRepository: {name: 5}
  adoptionPolicy: never
---
apiVersion: core.cs.sap.com/v1alpha1
kind: Component
metadata: {name: db}
spec: {sourceRef: {}}
",
    );
    assert_data_eq!(
        world.run(["component", "delete", "-f", "web.yaml", "-n", "shop"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: invalid Components: 3 problems
  cause: web.yaml:7: web: spec.adoptionPolicy: Unsupported value: "never": supported values: "Never", "IfUnowned", "Always"
  cause: web.yaml:6: web: spec.sourceRef.fluxGitRepository.name: Invalid value: a number: must be of type string
  cause: web.yaml:12: db: spec.sourceRef: Invalid value: Exactly one of 'blueprint' or 'httpRepository' or 'fluxGitRepository' or 'fluxOciRepository' or 'fluxBucket' or 'fluxHelmChart' must be provided

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_component_is_shown_without_permission_for_others_and_secrets() {
    let lab = Management::start(Fixture::builder()).await;
    lab.fixture.apply(&lab.run("component definition").stdout).await;
    lab.fixture.wait_until_idle().await;
    let web = "{apiVersion: core.cs.sap.com/v1alpha1, kind: Component, metadata: {name: web, namespace: default}, spec: {sourceRef: {fluxBucket: {name: s}}}}";
    lab.fixture.apply(web).await;
    // Another failure than a missing permission may hide Components.
    let failure = lab.fixture.inject_fault("500,resource=secrets");
    assert_eq!(lab.run("component list -n default").status, 1);
    lab.fixture.sandbox().faults().remove(failure);
    for denied in ["resource=secrets", "resource=namespaces"] {
        lab.fixture.inject_fault(&format!("403,{denied}"));
    }
    assert_eq!(lab.run("component list -n default").status, 0);
    lab.fixture.inject_fault("403,verb=list,resource=core.cs.sap.com/components");
    let shown = lab.run("component status web");
    assert_eq!(shown.to_string(), "exit 0\n--- stdout\ndefault/web: not run yet\n");
    assert_data_eq!(
        lab.run("component status gone").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot find Component `default/gone`

"#]]
    );
}

#[test]
fn a_namespace_that_is_no_text_is_refused() {
    let world = crate::world();
    world.write(
        "web.yaml",
        "apiVersion: v1
kind: Secret
metadata: {name: 5}
---
apiVersion: core.cs.sap.com/v1alpha1
kind: Component
metadata:
  name: web
  namespace: 2024
spec: {sourceRef: {fluxBucket: {name: s}}}
",
    );
    assert_data_eq!(
        world.run(["component", "delete", "-f", "web.yaml", "-n", "shop"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: invalid Components: 2 problems
  cause: web.yaml:3: 5: metadata.name: Invalid value: a number: must be of type string
  cause: web.yaml:9: web: metadata.namespace: Invalid value: a number: must be of type string

"#]]
    );
}
