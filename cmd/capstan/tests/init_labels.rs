//! Tests of `init --labels` on a sandbox.
#![cfg(unix)]

use sandbox::ControllerSwitches;
use serde_json::Value;
use snapbox::{assert_data_eq, str};
use support::{
    binary::{RunOutput, TestEnvironment},
    fixture::Fixture,
    kind::{CUSTOM_RESOURCE_DEFINITION, DEPLOYMENT, Kind, NAMESPACE, SECRET},
};

use crate::{
    lifecycle::{INIT, json},
    testing::with_small_providers,
};

const CLUSTER_ROLE: Kind =
    Kind::new("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles").cluster_scoped();

struct LabelledCluster {
    fixture: Fixture,
    world: TestEnvironment,
}

impl LabelledCluster {
    async fn start() -> Self {
        let fixture = Fixture::builder().controllers(ControllerSwitches::default()).start().await;
        let world = with_small_providers().env("KUBECONFIG", fixture.kubeconfig().await.as_os_str());
        Self { fixture, world }
    }

    fn run(&self, arguments: &str) -> RunOutput {
        tokio::task::block_in_place(|| self.world.run(arguments.split_whitespace()))
    }

    fn done(&self, arguments: &str) -> RunOutput {
        let run = self.run(arguments);
        assert_eq!(run.status, 0, "{arguments}\n{run}");
        run
    }

    /// Returns the values of a label on the objects of a provider or of cert-manager, without repetitions.
    async fn values(&self, owner: &str, label: &str) -> Vec<Option<String>> {
        let mut values = Vec::new();
        for kind in [NAMESPACE, CUSTOM_RESOURCE_DEFINITION, CLUSTER_ROLE, DEPLOYMENT, SECRET] {
            let is_owned = |object: &&Value| {
                let labels = &object["metadata"]["labels"];
                let owner_labels = ["cluster.x-k8s.io/provider", "clusterctl.cluster.x-k8s.io/core"];
                owner_labels.iter().any(|key| labels[key] == owner)
            };
            let objects = self.fixture.list(kind).await;
            values.extend(
                objects
                    .iter()
                    .filter(is_owned)
                    .map(|object| object["metadata"]["labels"][label].as_str().map(str::to_owned)),
            );
        }
        assert!(values.len() > 3, "{owner} has {} objects", values.len());
        values.dedup();
        values
    }
}

fn value(text: &str) -> Vec<Option<String>> {
    vec![Some(text.to_owned())]
}

const OWNERS: [&str; 5] =
    ["cert-manager", "cluster-api", "bootstrap-kubeadm", "control-plane-kubeadm", "infrastructure-own"];

// Row: D-496
#[tokio::test(flavor = "multi_thread")]
async fn labels_are_planned_applied_and_kept_by_upgrades() {
    let cluster = LabelledCluster::start().await;
    let init = format!("{INIT} --labels team=a,env= --labels example.org/cost=1");
    let plan = json(&cluster.done(&format!("plan {init} -o json")).stdout);
    for owner in OWNERS {
        assert_eq!(plan["labels"][owner]["team"], "a", "{owner}");
        assert_eq!(plan["labels"][owner]["env"], "", "{owner}");
        assert_eq!(plan["labels"][owner]["example.org/cost"], "1", "{owner}");
    }
    cluster.done(&init);
    for owner in OWNERS {
        for (label, expected) in [("team", "a"), ("env", ""), ("example.org/cost", "1")] {
            assert_eq!(cluster.values(owner, label).await, value(expected), "{label} of {owner}");
        }
    }
    let deployments = cluster.fixture.list(DEPLOYMENT).await;
    assert!(deployments.len() >= OWNERS.len(), "{} Deployments", deployments.len());
    for deployment in deployments {
        let Value::Object(selector) = &deployment["spec"]["selector"]["matchLabels"] else {
            panic!("no selector: {deployment}")
        };
        assert!(!selector.contains_key("team"), "{deployment}");
        assert_eq!(deployment["spec"]["template"]["metadata"]["labels"]["team"], Value::Null, "{deployment}");
    }
    assert_data_eq!(
        cluster.done("init -i own:v1.0.0").stderr,
        str![[r#"
Fetching providers
Skipping installing cert-manager as it is already installed
done in [..]: nothing to install

"#]]
    );
    cluster.done("upgrade apply --contract v1beta2");
    for owner in OWNERS {
        assert_eq!(cluster.values(owner, "team").await, value("a"), "{owner}");
    }
    cluster.done("upgrade rollback");
    assert_eq!(cluster.values("infrastructure-own", "team").await, value("a"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resumed_installation_keeps_its_labels() {
    let cluster = LabelledCluster::start().await;
    cluster.fixture.inject_fault("403,verb=write,resource=apps/deployments,name=cluster-api-manager,times=1");
    let interrupted = cluster.run(&format!("{INIT} --labels team=a"));
    assert_eq!(interrupted.status, 1, "{interrupted}");
    cluster.done("init");
    for owner in OWNERS {
        assert_eq!(cluster.values(owner, "team").await, value("a"), "{owner}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_provider_keeps_its_own_labels() {
    let cluster = LabelledCluster::start().await;
    cluster.done("init -i - -b - -c - --core cluster-api:v1.0.0 --labels team=a");
    cluster.done("init -i own:v1.0.0 --labels team=b,tier=x");
    cluster.done("upgrade apply --contract v1beta2");
    assert_eq!(cluster.values("cluster-api", "team").await, value("a"));
    assert_eq!(cluster.values("cluster-api", "tier").await, [None]);
    assert_eq!(cluster.values("infrastructure-own", "team").await, value("b"));

    cluster.done("init -i own:v1.1.0 --labels team=c");
    assert_eq!(cluster.values("infrastructure-own", "team").await, value("c"));
    assert_eq!(cluster.values("infrastructure-own", "tier").await, value("x"));

    cluster.done("delete -i own --include-namespace");
    cluster.done("init -i own:v1.1.0");
    assert_eq!(cluster.values("infrastructure-own", "team").await, [None]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_saved_plan_has_the_labels() {
    let cluster = LabelledCluster::start().await;
    cluster.done(&format!("{INIT} --labels team=a --out plan.json"));
    let with_flag = cluster.run("init --plan plan.json --labels team=b");
    assert_data_eq!(
        with_flag.to_string(),
        str![[r#"
exit 1
--- stderr
error: `--plan` cannot be combined with providers, `--target-namespace`, `--labels` or `--validate`

"#]]
    );
    cluster.done("init --plan plan.json");
    for owner in OWNERS {
        assert_eq!(cluster.values(owner, "team").await, value("a"), "{owner}");
    }
}

#[test]
fn invalid_and_reserved_labels_are_refused_before_any_request() {
    let world = with_small_providers();
    assert_data_eq!(
        world.screens([
            "init -i own --labels team",
            "init -i own --labels a=b,-c=d",
            "init -i own --labels a=b/c",
            "init -i own --labels cluster.x-k8s.io/provider=a",
        ]),
        str![[r#"
$ capstan init -i own --labels team
exit 1
--- stderr
error: invalid value `team` for `--labels`
  cause: expected KEY=VALUE

$ capstan init -i own --labels a=b,-c=d
exit 1
--- stderr
error: invalid value `-c=d` for `--labels`
  cause: the key needs at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends, and optionally a DNS subdomain with `/` before it

$ capstan init -i own --labels a=b/c
exit 1
--- stderr
error: invalid value `a=b/c` for `--labels`
  cause: the value needs at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends

$ capstan init -i own --labels cluster.x-k8s.io/provider=a
exit 1
--- stderr
error: invalid value `cluster.x-k8s.io/provider=a` for `--labels`
  cause: `cluster.x-k8s.io/provider` is a label of Cluster API, Kubernetes or capstan

"#]]
    );
}
