//! Two management clusters, with three Clusters on the first.

use std::{path::Path, process::Command, thread};

use api::{ProviderId, ProviderType};
use serde_json::{Value, json};
use support::{
    api_server::{ApiServer, ApiServerSource},
    binary::{RunOutput, TestEnvironment},
    cluster_api::{Object, cluster, cluster_class, install_on, object, objects_in, provider, resource_set},
    fixture::{create, write_statuses},
    kind,
    object_snapshot::client_from_kubeconfig,
};

use super::picture::Picture;
use crate::{server::Server, world};

pub(super) const NAMESPACE: &str = "team";
/// The only object that belongs to no Cluster.
pub(super) const UNRELATED: &str = "Secret unrelated";
/// The flags that include the statuses written by controllers.
pub(super) const STATUSES: [&str; 2] = [
    "--include-status",
    "cluster,machine,kubeadmcontrolplane,machinedeployment,machineset,kubeadmconfig,dockercluster,dockermachine,\
     dockermachinetemplate,clusterclass,clusterresourceset",
];

/// Both servers, with the same kinds and providers.
pub(super) struct Pair {
    world: TestEnvironment,
    pub(super) here: Side,
    pub(super) there: Side,
}

/// One of the servers.
pub(super) struct Side {
    pub(super) server: Server,
}

/// Source and target of a move, by kubeconfig.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) from: &'a Path,
    pub(super) to: &'a Path,
}

impl Pair {
    /// `None` if this machine has no API server.
    pub(super) async fn start() -> Option<Self> {
        let source = ApiServerSource::find_or_skip()?;
        let start = || Server::over(ApiServer::start(&source).unwrap());
        // Servers start in parallel, because starting is mostly waiting.
        let (here, there) = thread::scope(|scope| {
            let here = scope.spawn(start);
            (start(), here.join().unwrap())
        });
        Some(Self::over(here, there).await)
    }

    /// Creates a pair of sandboxes.
    pub(super) async fn on_sandboxes() -> Self {
        Self::over(Server::sandbox().await, Server::sandbox().await).await
    }

    async fn over(here: Server, there: Server) -> Self {
        Self { world: world(), here: Side::over(here).await, there: Side::over(there).await }
    }

    pub(super) fn world(&self) -> &TestEnvironment {
        &self.world
    }

    /// Creates three Clusters and an unrelated object on the first server.
    pub(super) async fn fill(&self) -> Picture {
        create(&client_from_kubeconfig(self.here.kubeconfig()).await, three_clusters()).await;
        self.here.picture().await
    }

    pub(super) fn there(&self) -> Way<'_> {
        Way { from: self.here.kubeconfig(), to: self.there.kubeconfig() }
    }

    pub(super) fn back(&self) -> Way<'_> {
        Way { from: self.there.kubeconfig(), to: self.here.kubeconfig() }
    }

    /// Moves everything, which must succeed.
    pub(super) fn capstan(&self, way: Way<'_>, flags: &[&str]) {
        let outcome = self.run(way, flags);
        assert_eq!(outcome.status, 0, "{outcome}");
    }

    pub(super) fn run(&self, way: Way<'_>, flags: &[&str]) -> RunOutput {
        self.world.run(arguments(way, flags))
    }

    /// Creates a move command without running it.
    pub(super) fn command(&self, way: Way<'_>, flags: &[&str]) -> Command {
        self.world.command(arguments(way, flags))
    }

    /// Moves everything with clusterctl.
    pub(super) fn clusterctl(&self, peer: &Path, way: Way<'_>) {
        let mut command = Command::new(peer);
        command.args(arguments(way, &[])).env("CLUSTERCTL_DISABLE_VERSIONCHECK", "true");
        let output = command.env("HOME", self.world.home()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Runs capstan on one side.
    pub(super) fn run_on(&self, side: &Side, arguments: &[&str]) -> RunOutput {
        let kubeconfig = side.kubeconfig().display().to_string();
        self.world.run([arguments, &["--kubeconfig", &kubeconfig]].concat())
    }

    /// The status of one side, as JSON.
    pub(super) fn status(&self, side: &Side) -> Value {
        let run = self.run_on(side, &["status", "-o", "json"]);
        assert_eq!(run.status, 0, "{run}");
        serde_json::from_str(&run.stdout).unwrap()
    }
}

fn arguments(way: Way<'_>, flags: &[&str]) -> Vec<String> {
    let (from, to) = (way.from.display().to_string(), way.to.display().to_string());
    let words = ["move", "-n", NAMESPACE, "--kubeconfig", &from, "--to-kubeconfig", &to];
    words.iter().chain(flags).map(|word| (*word).to_owned()).collect()
}

impl Side {
    async fn over(server: Server) -> Self {
        let client = client_from_kubeconfig(server.kubeconfig()).await;
        install_on(&client).await;
        let id = |provider_type, name| ProviderId::new(provider_type, name);
        let core = id(ProviderType::Core, "cluster-api");
        let docker = id(ProviderType::Infrastructure, "docker");
        create(&client, [provider(&core, "v1.14.0"), provider(&docker, "v1.14.0")]).await;
        Self { server }
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        self.server.kubeconfig()
    }

    pub(super) async fn picture(&self) -> Picture {
        Picture::of(&objects_in(&client_from_kubeconfig(self.kubeconfig()).await, NAMESPACE).await)
    }

    /// Writes the statuses that controllers would report after a move.
    pub(super) async fn reconcile(&self) {
        write_statuses(&client_from_kubeconfig(self.kubeconfig()).await, three_clusters()).await;
    }
}

/// A Cluster of a class, one with a resource set, and one with only a control plane.
fn three_clusters() -> Vec<Object> {
    let mut objects = Vec::from(cluster_class("team/shared"));
    objects.extend(cluster("team/a").of_class("shared").control_plane(1).machine_deployment("md", 1));
    objects.extend(cluster("team/b").machines(1));
    objects.extend(resource_set("team/addons", &["b"]));
    objects.extend(cluster("team/c").control_plane(1));
    let labelled =
        object(kind::CONFIG_MAP, "team/labelled").label("clusterctl.cluster.x-k8s.io/move", "false");
    objects.push(labelled.annotation("example.org/note", "kept").finalizer("example.org/held"));
    objects.push(object(kind::SECRET, "team/unrelated").field("stringData", json!({"a": "b"})));
    objects
}
