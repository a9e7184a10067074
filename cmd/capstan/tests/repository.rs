//! A small provider repository for verbs that read repositories.

use support::binary::TestEnvironment;

use crate::{
    testing::releases::{self, CONFIG, ROOT},
    world,
};

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 0, minor: 9, contract: v1alpha4}
- {major: 1, minor: 0, contract: v1beta2}
- {major: 1, minor: 1, contract: v1beta2}
";

const TEMPLATE: &str = "apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: ${CLUSTER_NAME}
spec:
  topology:
    classRef: {name: small}
    version: ${KUBERNETES_VERSION}
    controlPlane: {replicas: ${CONTROL_PLANE_MACHINE_COUNT}}
    variables: [{name: region, value: \"${REGION:=eu}\"}]
";

const CLASS: &str = "apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: small}
";

fn components(name: &str) -> String {
    format!(
        "apiVersion: v1
kind: Namespace
metadata: {{name: {name}-system}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: {name}-system}}
spec:
  selector: {{matchLabels: {{a: b}}}}
  template:
    metadata: {{labels: {{a: b}}}}
    spec: {{containers: [{{name: manager, image: \"registry.example.com/{name}/manager:v1\", args: [\"--x=${{FLAG:=off}}\"]}}]}}
---
apiVersion: v1
kind: Secret
metadata: {{name: {name}, namespace: {name}-system}}
stringData: {{token: \"${{TOKEN}}\"}}
"
    )
}

/// Returns a world with releases of four providers and cert-manager, and a configuration for them.
pub(crate) fn with_repository() -> TestEnvironment {
    let world = world();
    releases::write(&world, &["v0.9.0", "v1.0.0", "v1.1.0"], METADATA, |label, _| components(label));
    for version in ["v1.0.0", "v1.1.0"] {
        let folder = format!("{ROOT}/infrastructure-own/{version}");
        world.write(format!("{folder}/cluster-template.yaml"), TEMPLATE);
        world.write(format!("{folder}/cluster-template-big.yaml"), TEMPLATE.replace("eu", "us"));
        world.write(format!("{folder}/clusterclass-small.yaml"), CLASS);
    }
    world.write(
        format!("{ROOT}/cert-manager/v1.0.0/cert-manager.yaml"),
        components("cert-manager").replace("${TOKEN}", "none"),
    );
    world.configure(format!("{CONFIG}FROM_CONFIG: configured\n"));
    world
}
