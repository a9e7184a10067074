//! The main use case with real providers on real API servers. Clusters from provider templates are moved to another
//! management cluster and restored from files.

mod clusters;
mod lab;

use std::collections::BTreeMap;

use crate::moves::Picture;
use lab::{Lab, Side};

/// Both namespaces of the Clusters.
const BOTH: [&str; 4] = ["-n", "web", "-n", "money"];
/// Kinds whose statuses are written by controllers.
const STATUSES: &str = "cluster,clusterclass,machine,machinedeployment,machineset,kubeadmcontrolplane,kubeadmconfig,\
                        devcluster,devmachine,awsmanagedcluster,awsmanagedcontrolplane,awsmachine,eksconfig";

/// Moves to the other server, is killed while it creates objects, and moves again.
fn move_with_a_break(lab: &Lab) {
    let words = [&["move"][..], &lab.there.target(), &BOTH].concat();
    lab.kill_after(5, lab.here.cluster(), &[&words[..], &["--progress", "json"]].concat());
    let status = lab.capstan(lab.here.cluster(), &[&["move", "status"][..], &lab.there.target()].concat());
    assert!(status.contains("add `--abort` to undo it; nothing is deleted yet"), "{status}");
    lab.capstan(lab.here.cluster(), &words);
}

async fn assert_there(side: &Side, suffix: &str, before: &[Picture; 2], when: &str) {
    for (found, expected) in side.pictures(suffix).await.iter().zip(before) {
        found.check(when);
        expected.assert_same(found, when);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn real_provider_clusters_move_and_are_restored_from_files() {
    let Some(lab) = Lab::start().await else { return };
    lab.create_clusters().await;
    let before = lab.here.pictures("").await;
    let none = [(); 2].map(|()| Picture::of(&BTreeMap::new()));
    let trees = lab.describe(&lab.here);

    let dry_run = [&["move", "--dry-run"][..], &lab.there.target(), &BOTH].concat();
    let plan = lab.capstan(lab.here.cluster(), &dry_run);
    assert!(plan.ends_with("objects: 49 to move; 0 stay\n"), "{plan}");
    assert_there(&lab.here, "", &before, "planned").await;
    assert_there(&lab.there, "", &none, "planned").await;

    move_with_a_break(&lab);
    assert_there(&lab.here, "", &none, "moved away").await;
    lab.there.reconcile().await;
    assert_there(&lab.there, "", &before, "moved").await;
    assert_eq!(lab.describe(&lab.there), trees);

    lab.capstan(lab.there.cluster(), &[&["move", "--to-directory", "saved"][..], &BOTH].concat());
    assert_there(&lab.there, "", &before, "saved").await;
    lab.capstan(lab.here.target(), &["move", "--from-directory", "saved"]);
    lab.here.reconcile().await;
    assert_there(&lab.here, "", &before, "restored from a folder").await;
    assert_eq!(lab.describe(&lab.here), trees);

    lab.capstan(lab.here.cluster(), &[&["backup", "both.tar.gz"][..], &BOTH].concat());
    let elsewhere = ["--map-namespace", "web=web-2", "--map-namespace", "money=money-2"];
    let restore = ["restore", "both.tar.gz", "--include-status", STATUSES];
    // The restored copy exists beside the original Clusters, which must be paused for this.
    lab.there.pause_clusters().await;
    lab.capstan(lab.there.cluster(), &[&restore[..], &elsewhere].concat());
    assert_there(&lab.there, "-2", &before, "restored from a backup").await;
}
