//! Tests of `controller install`, `controller uninstall` and the Helm chart of the controller.
#![cfg(unix)]

use manifest::{Object, YamlLimits, read_stream};
use sandbox::ControllerSwitches;
use snapbox::{assert_data_eq, str};
use support::fixture::Fixture;

use crate::testing::Management;

fn objects(text: &str) -> Vec<Object> {
    let mut objects = read_stream(text.as_bytes(), &YamlLimits::default()).unwrap().objects;
    objects.sort_by_key(|object| (object.kind().to_owned(), object.name().to_owned()));
    objects
}

/// Returns the objects of a rendered chart, without the annotation that only Helm reads.
fn rendered(text: &str) -> Vec<Object> {
    let mut objects = objects(text);
    for definition in objects.iter_mut().filter(|object| object.kind() == "CustomResourceDefinition") {
        let annotations = definition.get_mut(&["metadata", "annotations"]).unwrap().as_object_mut().unwrap();
        assert_eq!(annotations.remove("helm.sh/resource-policy").unwrap(), "keep");
        if annotations.is_empty() {
            definition.get_mut(&["metadata"]).unwrap().as_object_mut().unwrap().remove("annotations");
        }
    }
    objects
}

// Row: CMP-77
#[test]
fn the_chart_renders_the_same_objects_as_the_manifests() {
    let world = crate::world();
    world.run_expecting_success("controller manifests --chart chart");
    for (flags, values) in [
        ("", ""),
        ("--replicas 3 --cluster-admin", " --set replicas=3,clusterAdmin=true"),
        ("--shards 3", " --set shards=3"),
        ("--shards 2 --cluster-admin", " --set shards=2 --set clusterAdmin=true"),
    ] {
        let image = "registry.example/capstan:v1";
        let printed = world
            .run_expecting_success(&format!(
                "controller manifests --image {image} --namespace operators {flags}"
            ))
            .stdout;
        let mut printed = objects(&printed);
        printed.retain(|object| object.kind() != "Namespace");
        let chart = world
            .run_expecting_success(&format!(
                "chart template controller chart --namespace operators --set image={image}{values}"
            ))
            .stdout;
        assert_eq!(rendered(&chart), printed, "{flags}");
    }
    assert_data_eq!(
        world.run_line("chart template controller chart").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot render chart `chart`
  cause: execution error at (component-operator/templates/deployment.yaml:32:18): set the image, whose entry point is capstan

"#]]
    );
    for value in ["shards=0", "shards=257", "shards=two", "replicas=-1", "image=7"] {
        let refused = world
            .run_expecting_failure(&format!("chart template controller chart --set image=a --set {value}"));
        let (name, _) = value.split_once('=').unwrap();
        assert!(refused.contains(&format!("at '/{name}'")), "{value}: {refused}");
    }
    let refused = world.run_expecting_failure(
        "chart template controller chart --set image=a --set-string clusterAdmin=false",
    );
    assert!(refused.contains("at '/clusterAdmin': got string, want boolean"), "{refused}");
    assert_data_eq!(
        world.run_line("chart lint chart --set image=capstan").to_string(),
        str![[r#"
exit 0
--- stdout
==> Linting chart
[INFO] Chart.yaml: icon is recommended

1 chart(s) linted, 0 chart(s) failed

"#]]
    );
}

#[test]
fn flags_of_a_deployment_are_checked() {
    let world = crate::world();
    assert_data_eq!(
        world.screens([
            "controller manifests",
            "controller manifests --image i --shards 0",
            "controller install --image capstan:V1:2 --dry-run",
            "controller manifests --chart chart --image i",
            "controller --shard 2/2",
            "controller --zap-log-level loud",
            "controller --events-address flux",
        ]),
        str![[r#"
$ capstan controller manifests
exit 1
--- stderr
error: missing flag `--image`
hint: name an image whose entry point is capstan, such as `--image registry.example/capstan:v1`

$ capstan controller manifests --image i --shards 0
exit 1
--- stderr
error: invalid value `0` for `--shards`
  cause: expected a number from 1 to 256

$ capstan controller install --image capstan:V1:2 --dry-run
exit 1
--- stderr
error: invalid value `capstan:V1:2` for `--image`
  cause: `V1:2` is not a valid tag

$ capstan controller manifests --chart chart --image i
exit 1
--- stderr
error: `--chart` cannot be combined with `--image`

$ capstan controller --shard 2/2
exit 1
--- stderr
error: invalid value `2/2` for `--shard`
  cause: expected INDEX/COUNT such as `0/3`, with an index below the count, and a count of at most 256

$ capstan controller --zap-log-level loud
exit 1
--- stderr
error: invalid value `loud` for `--zap-log-level`
  cause: expected debug, info, error, panic, or a number above 0

$ capstan controller --events-address flux
exit 1
--- stderr
error: invalid value for `--events-address`
  cause: cannot fetch from `flux`: it is not a valid URL

"#]]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_installation_is_planned_upgraded_pruned_and_deleted() {
    let controllers =
        ControllerSwitches { workloads: true, garbage_collection: true, ..ControllerSwitches::none() };
    let lab = Management::start(Fixture::builder().controllers(controllers)).await;
    let world = lab.world();
    assert_data_eq!(
        world.screens([
            "controller uninstall",
            "controller install --image registry.example/capstan:v1 --dry-run",
            "controller install --image registry.example/capstan:v1 --shards 2",
            "controller install --image registry.example/capstan:v1 --shards 2",
            "controller install --image registry.example/capstan:v2 --cluster-admin --diff",
            "controller install --image registry.example/capstan:v2 --cluster-admin -o json",
        ]),
        str![[r#"
$ capstan controller uninstall
exit 1
--- stderr
error: no controller is installed in namespace `component-operator-system`
hint: name its namespace with `--namespace`; only objects of `controller install` are deleted

$ capstan controller install --image registry.example/capstan:v1 --dry-run
exit 0
--- stdout
  ACTION    KIND                       OBJECT
  create    Namespace                  component-operator-system
  create    CustomResourceDefinition   components.core.cs.sap.com
  create    CustomResourceDefinition   blueprints.core.cs.sap.com
  create    ClusterRole                component-operator
  create    Role                       component-operator-system/component-operator
  create    ClusterRoleBinding         component-operator
  create    RoleBinding                component-operator-system/component-operator
  create    ServiceAccount             component-operator-system/component-operator
  create    Service                    component-operator-system/component-operator
  create    PodDisruptionBudget        component-operator-system/component-operator
  create    NetworkPolicy              component-operator-system/component-operator
  create    Deployment                 component-operator-system/component-operator

$ capstan controller install --image registry.example/capstan:v1 --shards 2
exit 0
--- stderr
done in [..]: installed the controller; 13 objects created

$ capstan controller install --image registry.example/capstan:v1 --shards 2
exit 0
--- stderr
done in [..]: nothing to change

$ capstan controller install --image registry.example/capstan:v2 --cluster-admin --diff
exit 0
--- stdout
  create Deployment component-operator-system/component-operator
    + image of controller: registry.example/capstan:v2
    + argument of controller: --leader-elect
    + argument of controller: --namespace=$(NAMESPACE)
    + argument of controller: controller
    + environment CAPSTAN_CACHE_DIR of controller: /cache
    + environment NAMESPACE of controller: {"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespa…
  delete Deployment component-operator-system/component-operator-0
    - image of controller: registry.example/capstan:v1
    - argument of controller: --default-service-account=default
    - argument of controller: --leader-elect
    - argument of controller: --namespace=$(NAMESPACE)
    - argument of controller: --shard=0/2
    - argument of controller: controller
    - environment CAPSTAN_CACHE_DIR of controller: /cache
    - environment NAMESPACE of controller: {"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespa…
  delete Deployment component-operator-system/component-operator-1
    - image of controller: registry.example/capstan:v1
    - argument of controller: --default-service-account=default
    - argument of controller: --leader-elect
    - argument of controller: --namespace=$(NAMESPACE)
    - argument of controller: --shard=1/2
    - argument of controller: controller
    - environment CAPSTAN_CACHE_DIR of controller: /cache
    - environment NAMESPACE of controller: {"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespa…
  delete ClusterRole component-operator
    - permission to create events
    - permission to delete, get leases.coordination.k8s.io named capstan
    - permission to get namespaces
    - permission to get, list secrets
    - permission to get, list, patch, watch components.core.cs.sap.com
    - permission to get, list, watch blueprints.core.cs.sap.com
    - permission to get, list, watch buckets.source.toolkit.fluxcd.io
    - permission to get, list, watch gitrepositories.source.toolkit.fluxcd.io
    - permission to get, list, watch helmcharts.source.toolkit.fluxcd.io
    - permission to get, list, watch ocirepositories.source.toolkit.fluxcd.io
    - permission to impersonate serviceaccounts
    - permission to patch components/status.core.cs.sap.com
  create ClusterRoleBinding component-operator-admin
  delete ClusterRoleBinding component-operator
  9 unchanged

$ capstan controller install --image registry.example/capstan:v2 --cluster-admin -o json
exit 0
--- stdout
{
  "command": "controller install",
  "carriedOut": true,
  "changes": true,
  "steps": [
    {
      "action": "keep",
      "object": {
        "group": "",
        "kind": "Namespace",
        "name": "component-operator-system"
      }
    },
    {
      "action": "keep",
      "object": {
        "group": "apiextensions.k8s.io",
        "kind": "CustomResourceDefinition",
        "name": "components.core.cs.sap.com"
      }
    },
    {
      "action": "keep",
      "object": {
        "group": "apiextensions.k8s.io",
        "kind": "CustomResourceDefinition",
        "name": "blueprints.core.cs.sap.com"
      }
    },
    {
      "action": "keep",
      "object": {
        "group": "rbac.authorization.k8s.io",
        "kind": "Role",
        "namespace": "component-operator-system",
        "name": "component-operator"
      }
    },
    {
      "action": "create",
      "object": {
        "group": "rbac.authorization.k8s.io",
        "kind": "ClusterRoleBinding",
        "name": "component-operator-admin"
      }
    },
    {
      "action": "keep",
      "object": {
        "group": "rbac.authorization.k8s.io",
        "kind": "RoleBinding",
        "namespace": "component-operator-system",
        "name": "component-operator"
      }
    },
    {
      "action": "keep",
      "object": {
        "group": "",
        "kind": "ServiceAccount",
        "namespace": "component-operator-system",
        "name": "component-operator"
      }
    },
    {
      "action": "keep",
      "object": {
        "group": "",
        "kind": "Service",
        "namespace": "component-operator-system",
        "name": "component-operator"
      }
    },
    {
      "action": "keep",
      "object": {
        "group": "policy",
        "kind": "PodDisruptionBudget",
        "namespace": "component-operator-system",
        "name": "component-operator"
      }
    },
    {
      "action": "keep",
      "object": {
        "group": "networking.k8s.io",
        "kind": "NetworkPolicy",
        "namespace": "component-operator-system",
        "name": "component-operator"
      }
    },
    {
      "action": "create",
      "object": {
        "group": "apps",
        "kind": "Deployment",
        "namespace": "component-operator-system",
        "name": "component-operator"
      }
    },
    {
      "action": "delete",
      "object": {
        "group": "apps",
        "kind": "Deployment",
        "namespace": "component-operator-system",
        "name": "component-operator-0"
      }
    },
    {
      "action": "delete",
      "object": {
        "group": "apps",
        "kind": "Deployment",
        "namespace": "component-operator-system",
        "name": "component-operator-1"
      }
    },
    {
      "action": "delete",
      "object": {
        "group": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "component-operator"
      }
    },
    {
      "action": "delete",
      "object": {
        "group": "rbac.authorization.k8s.io",
        "kind": "ClusterRoleBinding",
        "name": "component-operator"
      }
    }
  ]
}
--- stderr
done in [..]: installed the controller; 2 objects created, 4 deleted

"#]]
    );
    lab.fixture.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}").await;
    lab.fixture
        .apply("{apiVersion: core.cs.sap.com/v1alpha1, kind: Component, metadata: {name: web, namespace: shop}, spec: {sourceRef: {blueprint: {name: web}}}}")
        .await;
    assert_data_eq!(
        world.screens(["controller uninstall --dry-run", "controller uninstall"]),
        str![[r#"
$ capstan controller uninstall --dry-run
exit 1
--- stderr
error: cannot remove the controller from namespace `component-operator-system`
  cause: cannot delete definitions: objects of other owners use them
  cause: CustomResourceDefinition components.core.cs.sap.com is still in use: Component shop/web
hint: delete the objects first; list them with `kubectl get components.core.cs.sap.com -A`

$ capstan controller uninstall
exit 1
--- stderr
error: cannot remove the controller from namespace `component-operator-system`
  cause: cannot delete definitions: objects of other owners use them
  cause: CustomResourceDefinition components.core.cs.sap.com is still in use: Component shop/web
hint: delete the objects first; list them with `kubectl get components.core.cs.sap.com -A`

"#]]
    );
    let component = crate::component_turns::COMPONENT;
    lab.fixture.delete(component, "shop/web").await;
    assert_data_eq!(
        world.screens(["controller uninstall --dry-run", "controller uninstall", "controller uninstall"]),
        str![[r#"
$ capstan controller uninstall --dry-run
exit 0
--- stdout
  ACTION    KIND                       OBJECT
  delete    CustomResourceDefinition   blueprints.core.cs.sap.com
  delete    CustomResourceDefinition   components.core.cs.sap.com
  delete    ServiceAccount             component-operator-system/component-operator
  delete    Deployment                 component-operator-system/component-operator
  delete    NetworkPolicy              component-operator-system/component-operator
  delete    PodDisruptionBudget        component-operator-system/component-operator
  delete    ClusterRoleBinding         component-operator-admin
  delete    Role                       component-operator-system/component-operator
  delete    RoleBinding                component-operator-system/component-operator
  delete    Service                    component-operator-system/component-operator
  orphan    Namespace                  component-operator-system

$ capstan controller uninstall
exit 0
--- stderr
done in [..]: uninstalled the controller; 10 objects deleted

$ capstan controller uninstall
exit 1
--- stderr
error: no controller is installed in namespace `component-operator-system`
hint: name its namespace with `--namespace`; only objects of `controller install` are deleted

"#]]
    );
    let namespace = lab.fixture.get(support::kind::NAMESPACE, "component-operator-system").await.unwrap();
    assert_eq!(namespace["status"]["phase"], "Active");
}
