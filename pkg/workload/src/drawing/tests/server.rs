//! Drawings of objects on a server.

use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api::{cluster, install, object, resource_set},
    fixture::Fixture,
    kind,
};

use super::{DrawingFormat, draw, owner_graph, page, text};
use crate::{Scope, discover::discover, testing};

#[tokio::test]
async fn drawings_contain_no_secret_data() {
    let lab = Fixture::start().await;
    install(&lab).await;
    lab.create(cluster("a/one").control_plane(1).machine_deployment("md", 1)).await;
    lab.create(cluster("b/two").machines(1)).await;
    lab.create(resource_set("a/net", &["one"])).await;
    lab.create([
        object(kind::SECRET, "a/unrelated").field("stringData", json!({"password": "hunter2"})),
        object(kind::SECRET, "a/mine")
            .owned_by(kind::CLUSTER, "one")
            .field("stringData", json!({"password": "hunter2"})),
    ])
    .await;
    let scope = Scope { namespaces: ["a".to_owned()].into() };
    let found = discover(&testing::cluster(&lab).await, &scope).await.unwrap();
    let graph = owner_graph(&found.graph, &scope, None).unwrap();
    assert_data_eq!(
        text(&graph),
        str![[r#"
Cluster a/one  [Available]
├╌ ClusterResourceSetBinding one  [soft owner, see ClusterResourceSet net]
├─ DockerCluster one
├─ DockerMachineTemplate one-control-plane
├─ DockerMachineTemplate one-md
├─ KubeadmConfigTemplate one-md
├─ KubeadmControlPlane one-control-plane  [Available]
│  ├─ Machine one-control-plane-0  [Ready]
│  │  ├─ DockerMachine one-control-plane-0
│  │  └─ KubeadmConfig one-control-plane-0
│  │     └─ Secret one-control-plane-0
│  ├─ Secret one-ca
│  ├─ Secret one-etcd
│  ├─ Secret one-kubeconfig
│  ├─ Secret one-proxy
│  └─ Secret one-sa
├─ MachineDeployment one-md
│  └─ MachineSet one-md-1
│     └─ Machine one-md-1-0  [Ready]
│        ├─ DockerMachine one-md-1-0
│        └─ KubeadmConfig one-md-1-0
│           └─ Secret one-md-1-0
└─ Secret mine
ClusterResourceSet a/net
├─ ClusterResourceSetBinding one
├─ ConfigMap net
└─ Secret net

not shown: 1 Secret or ConfigMap without links

"#]]
    );
    let only = owner_graph(&found.graph, &scope, Some("one")).unwrap();
    assert!(!text(&only).contains("two"), "{}", text(&only));
    for drawing in [draw(&graph, DrawingFormat::Dot), draw(&graph, DrawingFormat::Mermaid), page(&graph)] {
        assert!(!drawing.contains("hunter2"));
    }
}
