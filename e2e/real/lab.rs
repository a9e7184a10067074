//! Two real API servers with real providers.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader},
    process::Stdio,
    thread,
};

use kube::Client;
use serde_json::{Value, json};
use support::{
    api_server::{ApiServer, ApiServerSource},
    binary::TestEnvironment,
    cluster_api::wait_until_served,
    fixture::{apply, merge, reconcile},
    kind::CLUSTER,
    object_snapshot::{ObjectSnapshot, client_from_kubeconfig},
    skip::corpus,
};

use super::clusters::{SAMPLES, Sample, VARIABLES};
use crate::{corpus::config_without_webhooks, moves::Picture, world};

/// Does not wait, because the servers have no kubelet and nothing becomes ready.
const INIT: [&str; 10] = [
    "init",
    "--core",
    "cluster-api:v1.14.0",
    "--bootstrap",
    "kubeadm:v1.14.0",
    "--control-plane",
    "kubeadm:v1.14.0",
    "--infrastructure",
    "docker:v1.14.0,aws:v2.11.1",
    "--no-wait",
];

/// Both servers, and the environment of capstan.
pub(super) struct Lab {
    world: TestEnvironment,
    pub(super) here: Side,
    pub(super) there: Side,
}

/// One of the servers.
pub(super) struct Side(ApiServer);

impl Lab {
    /// `None` if providers or servers are missing.
    pub(super) async fn start() -> Option<Self> {
        let (root, source) = (corpus()?, ApiServerSource::find_or_skip()?);
        let world = world();
        world.configure(config_without_webhooks(&root, &world) + VARIABLES);
        // Servers start in parallel, because starting is mostly waiting.
        let (here, there) = thread::scope(|scope| {
            let here = scope.spawn(|| Side::start(&source, &world));
            (Side::start(&source, &world), here.join().unwrap())
        });
        let lab = Self { world, here, there };
        for side in [&lab.here, &lab.there] {
            side.remove_webhooks().await;
            let objects = SAMPLES.into_iter().flat_map(|sample| sample.objects());
            wait_until_served(&side.client().await, objects.map(|object| object.kind())).await;
        }
        Some(lab)
    }

    /// Runs capstan, which must succeed. Returns its output.
    pub(super) fn capstan(&self, cluster: [&str; 2], arguments: &[&str]) -> String {
        run(&self.world, cluster, arguments)
    }

    /// Kills capstan after this many lines of output.
    pub(super) fn kill_after(&self, lines: usize, cluster: [&str; 2], arguments: &[&str]) {
        let mut command = self.world.command(arguments.iter().copied().chain(cluster));
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let reported = BufReader::new(child.stderr.take().unwrap());
        assert!(reported.lines().take(lines).all(|line| line.is_ok()));
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success(), "it had ended before it was killed");
    }

    /// Performs on the first server the steps of the user and the controllers until two Clusters are provisioned.
    pub(super) async fn create_clusters(&self) {
        let client = self.here.client().await;
        for sample in SAMPLES {
            let generated = self.capstan(self.here.cluster(), &sample.command());
            // Without Pods, the server has no conversion webhook for other versions than the stored one.
            let converted = self.world.run_with_stdin(["convert"], generated);
            assert_eq!(converted.status, 0, "{converted}");
            let namespace = sample.namespace;
            apply(&client, &format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {namespace}}}}}"))
                .await;
            apply(&client, &converted.stdout).await;
        }
        self.here.reconcile().await;
    }

    /// The trees of all Clusters, without ages.
    pub(super) fn describe(&self, side: &Side) -> String {
        let trees = SAMPLES.map(|Sample { name, namespace, .. }| {
            self.capstan(
                side.cluster(),
                &["describe", "cluster", name, "-n", namespace, "--show-conditions", "all"],
            )
        });
        let ageless = |line: &str| -> Vec<String> {
            line.split_whitespace().filter(|word| !is_age(word)).map(str::to_owned).collect()
        };
        trees.iter().flat_map(|tree| tree.lines().map(ageless)).map(|line| line.join(" ") + "\n").collect()
    }
}

impl Side {
    fn start(source: &ApiServerSource, world: &TestEnvironment) -> Self {
        let side = Self(ApiServer::start(source).unwrap());
        run(world, side.cluster(), &INIT);
        side
    }

    /// The flag that selects this server.
    pub(super) fn cluster(&self) -> [&str; 2] {
        ["--kubeconfig", self.kubeconfig()]
    }

    /// The flag that selects this server as the target of a move.
    pub(super) fn target(&self) -> [&str; 2] {
        ["--to-kubeconfig", self.kubeconfig()]
    }

    fn kubeconfig(&self) -> &str {
        self.0.kubeconfig().to_str().expect("temporary folders have plain names")
    }

    async fn client(&self) -> Client {
        client_from_kubeconfig(self.0.kubeconfig()).await
    }

    /// Imitates the controllers: owners, statuses, and objects that a user does not create.
    pub(super) async fn reconcile(&self) {
        let client = self.client().await;
        for sample in SAMPLES {
            reconcile(&client, sample.objects()).await;
        }
    }

    /// Pauses every sample Cluster.
    pub(super) async fn pause_clusters(&self) {
        let client = self.client().await;
        for place in ["web/shop", "money/bank"] {
            merge(&client, CLUSTER, place, &json!({"spec": {"paused": true}})).await;
        }
    }

    /// The objects in the namespaces of the Clusters, whose names end with this suffix.
    pub(super) async fn pictures(&self, suffix: &str) -> [Picture; 2] {
        let client = self.client().await;
        let look = async |sample: &Sample| {
            let namespace = format!("{}{suffix}", sample.namespace);
            Picture::of(&nameless(&ObjectSnapshot::read_namespace(&client, &namespace).await))
        };
        let [first, second] = &SAMPLES;
        [look(first).await, look(second).await]
    }

    /// Deletes the webhooks, because no Pod can serve them.
    async fn remove_webhooks(&self) {
        let client = self.client().await;
        for plural in ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"] {
            let path = format!("/apis/admissionregistration.k8s.io/v1/{plural}");
            let request = http::Request::delete(path).body(Vec::new()).unwrap();
            client.request::<Value>(request).await.unwrap();
        }
    }
}

fn run(world: &TestEnvironment, cluster: [&str; 2], arguments: &[&str]) -> String {
    let outcome = world.run(arguments.iter().copied().chain(cluster));
    assert_eq!(outcome.status, 0, "{arguments:?}: {outcome}");
    outcome.stdout
}

/// True if a word is an age such as `3d` or `5m12s`.
fn is_age(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit()) && word.ends_with(['s', 'm', 'h', 'd', 'y'])
}

/// The objects of a namespace by kind and name, without the namespace.
fn nameless(all: &ObjectSnapshot) -> BTreeMap<String, Value> {
    let of_namespace = |(name, object): (&str, &Value)| {
        let (kind, place) = name.split_once(' ')?;
        let mut object = object.clone();
        object["metadata"]["namespace"].take();
        Some((format!("{kind} {}", place.split_once('/')?.1), object))
    };
    all.iter().filter_map(of_namespace).collect()
}
