//! Tests of the leases of a move: one lease per cluster, acquired in a fixed order, and the end of a run that loses
//! one.

use std::{process::Stdio, time::Duration};

use serde_json::{Value, json};
use support::{
    binary::RunOutput,
    fixture::Fixture,
    kind::{CLUSTER, Kind},
};
use tokio::time::sleep;

use crate::testing::ClusterPair;

const LEASE: Kind =
    Kind { group: "coordination.k8s.io", version: "v1", kind: "Lease", plural: "leases", namespaced: true };
const PLACE: &str = "kube-system/capstan";

/// Returns a lease of a process on another machine.
pub(crate) fn of_another_run() -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"namespace": "kube-system", "name": "capstan"},
        "spec": {"holderIdentity": "elsewhere/1/1", "leaseDurationSeconds": 45},
    })
}

fn creations_of_leases(side: &Fixture) -> usize {
    let requests = side.sandbox().audit().since(0);
    requests.iter().filter(|request| request.verb == "create" && request.resource.ends_with("leases")).count()
}

impl ClusterPair {
    /// Moves from one cluster to the other.
    async fn moved(&self, [from, to]: [&Fixture; 2], flags: &[&str]) -> RunOutput {
        let (from, to) = (from.kubeconfig().await, to.kubeconfig().await);
        let mut command = tokio::process::Command::from(self.world.command(["move"]));
        command.arg("--kubeconfig").arg(from).arg("--to-kubeconfig").arg(to).args(flags);
        self.world.to_output(&command.stdin(Stdio::null()).output().await.unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn opposite_moves_take_the_leases_in_the_same_order() {
    let two = ClusterPair::start().await;
    for held in [&two.source, &two.target] {
        held.apply(&of_another_run().to_string()).await;
    }
    for sides in [[&two.source, &two.target], [&two.target, &two.source]] {
        let refused = two.moved(sides, &["--no-wait-lock"]).await;
        assert_eq!(refused.status, 1, "{refused}");
    }
    // The second run waits for the first without holding a lease.
    let mut request = [creations_of_leases(&two.source), creations_of_leases(&two.target)];
    request.sort_unstable();
    assert_eq!(request, [0, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_that_loses_the_lease_of_either_cluster_stops_writing() {
    let loses = async |lost: usize| {
        let two = ClusterPair::start().await;
        let sides = [&two.source, &two.target];
        // The latency is longer than the validity of a lease confirmation.
        let slow = "latency:20s,verb=create,resource=cluster.x-k8s.io/clusters,times=1";
        two.target.inject_fault(slow);
        let lose = async {
            while two.source.get(CLUSTER, "default/demo").await.unwrap()["spec"]["paused"] != true {
                sleep(Duration::from_millis(50)).await;
            }
            sleep(Duration::from_secs(2)).await;
            sides[lost].delete(LEASE, PLACE).await;
        };
        let (run, ()) = tokio::join!(two.moved(sides, &["--output", "json"]), lose);
        assert_eq!(run.status, 1, "{lost}: {run}");
        let error: Value = serde_json::from_str(run.stderr.lines().last().unwrap()).unwrap();
        assert_eq!(error["kind"], "conflict", "{lost}: {run}");
        assert!(two.source.get(CLUSTER, "default/demo").await.is_some(), "{lost}");
        assert_eq!(two.target.list(CLUSTER).await.len(), 1, "{lost}: nothing came after the first Cluster");
    };
    tokio::join!(loses(0), loses(1));
}
