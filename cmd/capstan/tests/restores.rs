//! Tests of paused and repeated restores, and of restores next to running Clusters.

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::kind::{CLUSTER, SECRET};

use crate::testing::ClusterPair;

async fn backed_up() -> ClusterPair {
    let two = ClusterPair::start().await;
    let saved = two.here("backup saved.tar.gz").await;
    assert_eq!(saved.status, 0, "{saved}");
    two
}

// Row: D-303
#[tokio::test(flavor = "multi_thread")]
async fn a_restore_beside_the_running_cluster_needs_paused() {
    let two = backed_up().await;
    let before = two.source.sandbox().revision();
    let plan = two.here("restore saved.tar.gz --map-namespace default=tests --dry-run").await;
    assert_eq!(plan.status, 1, "{plan}");
    assert_eq!(two.source.sandbox().revision(), before);
    assert_data_eq!(
        two.here("restore saved.tar.gz --map-namespace default=tests").await.to_string(),
        str![[r#"
exit 1
--- stderr
backup of https://127.0.0.1:[..] at [..], without a pause
error: Cluster tests/demo would run twice: Cluster default/demo runs on this cluster with the same uid
hint: restore a paused copy with `--paused`, delete or pause the running Cluster first, or use `move`

"#]]
    );
    assert!(two.source.get(CLUSTER, "tests/demo").await.is_none());
    let paused = two.here("restore saved.tar.gz --map-namespace default=tests --paused -o json").await;
    let report: Value = serde_json::from_str(&paused.stdout).unwrap();
    assert_eq!(report["created"].as_array().map(Vec::len), Some(8), "{report}");
    assert_eq!(report["paused"][0]["namespace"], "tests");
    assert_data_eq!(
        paused.messages(),
        str![[r#"
exit 0
--- stderr
backup of https://127.0.0.1:[..] at [..], without a pause
created 8 objects on the target
verified 8 objects on the target
warning: paused: Cluster tests/demo
done in [..]: restored 8 objects from `saved.tar.gz`
resume a Cluster with `kubectl --kubeconfig [SOURCE] patch cluster demo -n tests --type merge -p '{"spec":{"paused":null}}'`

"#]]
    );
    assert_eq!(two.source.get(CLUSTER, "tests/demo").await.unwrap()["spec"]["paused"], true);
    assert!(two.works_on(&two.source).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_active_on_its_source_is_not_restored_elsewhere() {
    let two = backed_up().await;
    let [source, _] = two.kubeconfigs().await;
    let line = format!("restore saved.tar.gz --source-kubeconfig {source} --kubeconfig");
    assert_data_eq!(
        two.there(&line).await.to_string(),
        str![[r#"
exit 1
--- stderr
backup of https://127.0.0.1:[..] at [..], without a pause
error: Cluster default/demo would run twice: Cluster default/demo runs on `https://127.0.0.1:[..]` with the same uid
hint: restore a paused copy with `--paused`, delete or pause the running Cluster first, or use `move`

"#]]
    );
    assert!(two.target.get(CLUSTER, "default/demo").await.is_none());
    two.assert_restored("saved.tar.gz", "").await;
}

// Row: D-304
#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_restore_counts_what_it_creates() {
    let two = backed_up().await;
    let first = two.there("restore saved.tar.gz -o json --kubeconfig").await;
    let report: Value = serde_json::from_str(&first.stdout).unwrap();
    assert_eq!((report["created"].as_array().map(Vec::len), &report["kept"]), (Some(8), &json!([])));
    let again = two.there("restore saved.tar.gz -o json --kubeconfig").await;
    let report: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!((&report["created"], report["kept"].as_array().map(Vec::len)), (&json!([]), Some(8)));
    assert_data_eq!(
        again.messages(),
        str![[r#"
exit 0
--- stderr
backup of https://127.0.0.1:[..] at [..], without a pause
verified 8 objects on the target
done in [..]: restored no object from `saved.tar.gz`; 8 objects already existed

"#]]
    );
    two.target.merge(CLUSTER, "default/demo", &json!({"spec": {"paused": true}})).await;
    two.target.delete(SECRET, "default/demo-ca").await;
    assert_data_eq!(
        two.there("restore saved.tar.gz --kubeconfig").await.to_string(),
        str![[r#"
exit 0
--- stderr
backup of https://127.0.0.1:[..] at [..], without a pause
warning: cannot check whether the Clusters still run on the source cluster `https://127.0.0.1:[..]`
    if the source cluster may still run, set it with `--source-kubeconfig`, or restore with `--paused`
created 1 object on the target
created 1 object on the target
created 1 object on the target
verified 8 objects on the target
resumed 1 Cluster or ClusterClass
done in [..]: restored 1 object from `saved.tar.gz`; 7 objects already existed

"#]]
    );
    assert!(two.works_on(&two.target).await);
}
