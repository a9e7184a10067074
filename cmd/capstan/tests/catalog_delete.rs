//! Tests of `catalog delete` on a sandbox, with the example of the guide.
#![cfg(unix)]

use std::time::Duration;

use snapbox::{assert_data_eq, str};
use support::kind;

use crate::{
    catalog_apply::{STORAGE_CLASS, lab},
    catalog_cluster::GREEN,
    testing::signal,
};

#[tokio::test(flavor = "multi_thread")]
async fn an_applied_catalog_is_deleted_and_its_namespaces_stay() {
    let lab = lab().await;
    lab.world().write("other/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n");
    assert_eq!(lab.run(&format!("catalog apply {GREEN} --skip-references")).status, 0);
    assert_eq!(lab.run("catalog apply --manifests other -n web").status, 0);
    assert_data_eq!(
        [
            "catalog list --applied",
            "catalog list --applied -o json",
            "catalog delete c-blue --dry-run",
            "catalog delete c-green --dry-run",
            "catalog delete c-green",
            "catalog delete c-green --yes -o json",
            "catalog delete c-green --yes",
            "catalog list --applied",
            "catalog list --sandbox lab",
        ]
        .map(|line| lab.run(line).to_string())
        .join("\n"),
        str![[r#"
exit 0
--- stdout
CATALOG   OBJECTS
c-green   8
catalog   1

exit 0
--- stdout
{
  "catalogs": [
    {
      "name": "c-green",
      "objects": 8
    },
    {
      "name": "catalog",
      "objects": 1
    }
  ]
}

exit 1
--- stderr
error: cannot delete catalog `c-blue`: it is not on the cluster
hint: the cluster has `c-green` or `catalog`

exit 0
--- stdout
  ACTION    KIND           OBJECT
  delete    Deployment     web/web
  delete    ConfigMap      monitoring/monitoring
  delete    ConfigMap      web/web-alerts
  orphan    Namespace      monitoring
  orphan    Namespace      storage
  orphan    Namespace      web
  delete    StorageClass   storage
  delete    StorageClass   storage-fast

exit 1
--- stderr
error: cannot ask whether to delete catalog `c-green`
  cause: there is no terminal
hint: show the plan with `--dry-run`, and delete without a question with `--yes`

exit 0
--- stdout
{
  "command": "catalog delete",
  "carriedOut": true,
  "changes": true,
  "name": "c-green",
  "steps": [
    {
      "action": "delete",
      "object": {
        "group": "apps",
        "kind": "Deployment",
        "namespace": "web",
        "name": "web"
      }
    },
    {
      "action": "delete",
      "object": {
        "group": "",
        "kind": "ConfigMap",
        "namespace": "monitoring",
        "name": "monitoring"
      }
    },
    {
      "action": "delete",
      "object": {
        "group": "",
        "kind": "ConfigMap",
        "namespace": "web",
        "name": "web-alerts"
      }
    },
    {
      "action": "orphan",
      "object": {
        "group": "",
        "kind": "Namespace",
        "name": "monitoring"
      }
    },
    {
      "action": "orphan",
      "object": {
        "group": "",
        "kind": "Namespace",
        "name": "storage"
      }
    },
    {
      "action": "orphan",
      "object": {
        "group": "",
        "kind": "Namespace",
        "name": "web"
      }
    },
    {
      "action": "delete",
      "object": {
        "group": "storage.k8s.io",
        "kind": "StorageClass",
        "name": "storage"
      }
    },
    {
      "action": "delete",
      "object": {
        "group": "storage.k8s.io",
        "kind": "StorageClass",
        "name": "storage-fast"
      }
    }
  ],
  "leftOut": []
}
--- stderr
done in [..]: deleted catalog `c-green`; 5 objects deleted

exit 1
--- stderr
error: cannot delete catalog `c-green`: it is not on the cluster
hint: the cluster has `catalog`

exit 0
--- stdout
CATALOG   OBJECTS
catalog   1

exit 1
--- stderr
error: `--applied` is required

"#]]
    );
    assert!(lab.fixture.get(kind::DEPLOYMENT, "web/web").await.is_none());
    assert!(lab.fixture.list(STORAGE_CLASS).await.is_empty());
    assert!(lab.fixture.get(kind::CONFIG_MAP, "kube-system/capstan.catalog.c-green").await.is_none());
    // The other catalog is as it was.
    assert!(lab.fixture.get(kind::CONFIG_MAP, "web/other").await.is_some());
    assert_eq!(lab.run("catalog delete catalog --yes").status, 0);
    assert!(lab.fixture.get(kind::CONFIG_MAP, "web/other").await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_deletion_is_completed_by_the_same_command() {
    let apply = format!("catalog apply {GREEN} --skip-references --no-wait");
    for skip in [0, 1, 3] {
        let lab = lab().await;
        assert_eq!(lab.run(&apply).status, 0);
        let faults = lab.fixture.sandbox().faults();
        let fault = format!("403,verb=write,skip={skip},times=2");
        faults.replace([sandbox::Fault::parse(&fault).unwrap()]);
        assert_ne!(lab.run("catalog delete c-green --yes").status, 0, "{skip}");
        faults.replace([]);
        assert_eq!(lab.run("catalog delete c-green --yes").status, 0, "{skip}");
        assert!(lab.fixture.list(STORAGE_CLASS).await.is_empty(), "{skip}");
    }
    let lab = lab().await;
    assert_eq!(lab.run(&apply).status, 0);
    let faults = lab.fixture.sandbox().faults();
    faults.replace([
        sandbox::Fault::parse("latency:300s,verb=write,resource=storage.k8s.io/storageclasses").unwrap()
    ]);
    let child = lab.spawn("catalog delete c-green --yes");
    while lab.fixture.get(kind::DEPLOYMENT, "web/web").await.is_some() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    signal("INT", child.id().into());
    let output = lab.world().to_output(&child.wait_with_output().unwrap());
    assert_eq!(output.status, 130, "{output}");
    let last = output.stderr.lines().next_back().unwrap_or_default();
    assert_eq!(last, "hint: re-run the same command to resume", "{output}");
    faults.replace([]);
    assert_eq!(lab.run("catalog delete c-green --yes").status, 0);
    assert!(lab.fixture.list(STORAGE_CLASS).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn namespaces_of_a_deleted_catalog_belong_to_nobody() {
    let lab = lab().await;
    assert_eq!(lab.run(&format!("catalog apply {GREEN} --skip-references --no-wait")).status, 0);
    assert_eq!(lab.run("catalog delete c-green --yes").status, 0);
    let namespace = lab.fixture.get(kind::NAMESPACE, "web").await.unwrap();
    assert!(!namespace.to_string().contains("capstan.dev/"), "{namespace}");
    lab.world().write("blue/web.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n");
    lab.world()
        .write("blue/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: blue, namespace: web, annotations: {capstan.dev/delete-policy: orphan}}\n");
    let apply = lab.run("catalog apply c-blue --manifests blue");
    assert_eq!(apply.status, 0, "{apply}");
    let namespace = lab.fixture.get(kind::NAMESPACE, "web").await.unwrap();
    assert_eq!(namespace["metadata"]["annotations"]["capstan.dev/owner-id"], "catalog/c-blue");
    // An object that leaves a catalog and stays is free, too.
    lab.world().write("blue/map.yaml", "");
    let apply = lab.run("catalog apply c-blue --manifests blue");
    assert_eq!(apply.status, 0, "{apply}");
    let map = lab.fixture.get(kind::CONFIG_MAP, "web/blue").await.unwrap();
    assert!(!map["metadata"].to_string().contains("capstan.dev/owner-id"), "{map}");
}
