//! Small providers in two versions.

use support::binary::TestEnvironment;

use crate::{
    testing::releases::{self, CONFIG, ROOT},
    world,
};

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries: [{major: 1, minor: 0, contract: v1beta2}, {major: 1, minor: 1, contract: v1beta2}]
";

const TEMPLATE: &str = "apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: \"${CLUSTER_NAME}\"}
";

/// Returns a definition with one version that accepts any object.
fn definition(group: &str, kind: &str, plural: &str, version: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.{group}, labels: {{cluster.x-k8s.io/v1beta2: v1beta2}}}}
spec:
  group: {group}
  names: {{kind: {kind}, listKind: {kind}List, plural: {plural}, singular: {singular}}}
  scope: Namespaced
  versions:
  - name: {version}
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
---
",
        singular = kind.to_lowercase()
    )
}

fn components(label: &str, version: &str) -> String {
    let namespace = format!("{label}-system");
    let deployment = format!(
        "apiVersion: v1
kind: Namespace
metadata: {{name: {namespace}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: {label}-manager}}
rules: [{{apiGroups: [\"\"], resources: [secrets], verbs: [get]}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {label}-manager, namespace: {namespace}}}
spec:
  replicas: 1
  selector: {{matchLabels: {{a: b}}}}
  template:
    metadata: {{labels: {{a: b}}}}
    spec: {{containers: [{{name: manager, image: \"registry.example.com/{label}:{version}\"}}]}}
---
apiVersion: v1
kind: Secret
metadata: {{name: {label}-credentials, namespace: {namespace}}}
stringData: {{token: \"${{TOKEN}}\"}}
"
    );
    let defined = match label {
        "cluster-api" => definition("cluster.x-k8s.io", "Cluster", "clusters", "v1beta2"),
        "infrastructure-own" => {
            definition("infrastructure.cluster.x-k8s.io", "OwnCluster", "ownclusters", "v1beta2")
        }
        _ => String::new(),
    };
    defined + &deployment
}

fn cert_manager() -> String {
    let defined = [("Issuer", "issuers"), ("Certificate", "certificates")]
        .map(|(kind, plural)| definition("cert-manager.io", kind, plural, "v1"))
        .concat();
    let objects = components("cert-manager", "v1.0.0").replace("cert-manager-system", "cert-manager");
    defined + &objects.replace("${TOKEN}", "none")
}

/// Returns a world with releases v1.0.0 and v1.1.0 of four providers, and cert-manager.
pub(crate) fn with_small_providers() -> TestEnvironment {
    let world = world();
    releases::write(&world, &["v1.0.0", "v1.1.0"], METADATA, components);
    world.write(format!("{ROOT}/infrastructure-own/v1.0.0/cluster-template.yaml"), TEMPLATE);
    world.write(format!("{ROOT}/cert-manager/v1.0.0/cert-manager.yaml"), cert_manager());
    world.configure(CONFIG);
    world.env("TOKEN", "not-to-be-shown")
}
