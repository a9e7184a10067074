//! Tests of paused and repeated restores, and of restores next to running Clusters.

use serde_json::{Value, json};
use support::kind::{CLUSTER, SECRET};

use crate::cluster_pair::ClusterPair;

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
    let refused = two.here("restore saved.tar.gz --map-namespace default=tests").await;
    let told = "error: Cluster tests/demo would run twice: Cluster default/demo runs on this cluster with the same uid\n";
    assert!(refused.status == 1 && refused.stderr.contains(told), "{refused}");
    assert!(two.source.get(CLUSTER, "tests/demo").await.is_none());
    let paused = two.here("restore saved.tar.gz --map-namespace default=tests --paused -o json").await;
    assert_eq!(paused.status, 0, "{paused}");
    let report: Value = serde_json::from_str(&paused.stdout).unwrap();
    assert_eq!(report["created"].as_array().map(Vec::len), Some(8), "{report}");
    assert_eq!(report["paused"][0]["namespace"], "tests");
    assert!(paused.stderr.contains(" patch cluster demo -n tests --type merge -p "), "{paused}");
    assert_eq!(two.source.get(CLUSTER, "tests/demo").await.unwrap()["spec"]["paused"], true);
    assert!(two.works_on(&two.source).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_runs_on_the_named_source_is_not_restored_elsewhere() {
    let two = backed_up().await;
    let [source, _] = two.kubeconfigs().await;
    let line = format!("restore saved.tar.gz --source-kubeconfig {source} --kubeconfig");
    let refused = two.there(&line).await;
    let told = "error: Cluster default/demo would run twice: Cluster default/demo runs on `";
    assert!(refused.status == 1 && refused.stderr.contains(told), "{refused}");
    assert!(two.target.get(CLUSTER, "default/demo").await.is_none());
    let lost = two.there("restore saved.tar.gz --kubeconfig").await;
    let told = "warning: cannot tell if the Clusters still run on the source cluster";
    assert!(lost.status == 0 && lost.stderr.contains(told), "{lost}");
    assert!(two.works_on(&two.target).await);
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
    assert!(!again.stderr.contains("created") && !again.stderr.contains("resumed"), "{again}");
    two.target.merge(CLUSTER, "default/demo", &json!({"spec": {"paused": true}})).await;
    two.target.delete(SECRET, "default/demo-ca").await;
    let mended = two.there("restore saved.tar.gz --kubeconfig").await;
    assert!(mended.stderr.contains("\ncreated 1 object on the target\n"), "{mended}");
    assert!(two.works_on(&two.target).await);
}
