//! A small provider repository in the working folder, for the verbs that read one.

use support::binary::World;

use crate::world;

const CONFIG: &str = "providers:
- {name: cluster-api, type: CoreProvider, url: ../repository/cluster-api/v1.0.0/core-components.yaml}
- {name: kubeadm, type: BootstrapProvider, url: ../repository/bootstrap-kubeadm/v1.0.0/bootstrap-components.yaml}
- {name: kubeadm, type: ControlPlaneProvider, url: ../repository/control-plane-kubeadm/v1.0.0/control-plane-components.yaml}
- {name: own, type: InfrastructureProvider, url: ../repository/infrastructure-own/latest/infrastructure-components.yaml}
cert-manager: {url: ../repository/cert-manager/v1.0.0/cert-manager.yaml, version: v1.0.0}
FROM_CONFIG: configured
";

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

/// A world with releases v1.0.0 and v1.1.0 of four providers and cert-manager, and a configuration that names them by
/// paths relative to itself.
pub(crate) fn with_repository() -> World {
    let world = world();
    let root = "../home/.config/repository";
    for (label, file) in [
        ("cluster-api", "core-components.yaml"),
        ("bootstrap-kubeadm", "bootstrap-components.yaml"),
        ("control-plane-kubeadm", "control-plane-components.yaml"),
        ("infrastructure-own", "infrastructure-components.yaml"),
    ] {
        for version in ["v0.9.0", "v1.0.0", "v1.1.0"] {
            world.write(format!("{root}/{label}/{version}/metadata.yaml"), METADATA);
            world.write(format!("{root}/{label}/{version}/{file}"), components(label));
        }
    }
    for version in ["v1.0.0", "v1.1.0"] {
        let folder = format!("{root}/infrastructure-own/{version}");
        world.write(format!("{folder}/cluster-template.yaml"), TEMPLATE);
        world.write(format!("{folder}/cluster-template-big.yaml"), TEMPLATE.replace("eu", "us"));
        world.write(format!("{folder}/clusterclass-small.yaml"), CLASS);
    }
    world.write(
        format!("{root}/cert-manager/v1.0.0/cert-manager.yaml"),
        components("cert-manager").replace("${TOKEN}", "none"),
    );
    world.configure(CONFIG);
    world
}
