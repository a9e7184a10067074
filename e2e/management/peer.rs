//! One cluster managed by capstan and clusterctl in turn.
//!
//! The objects that clusterctl leaves are recorded in `e2e/fixtures/peer`. If `CAPSTAN_TEST_PEER` names a clusterctl,
//! that binary runs, and `RECORD=1` updates the records. Otherwise, requests imitate clusterctl.

mod imitation;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use support::{
    api_server::ApiServer,
    binary::TestEnvironment,
    object_snapshot::{ObjectSnapshot, client_from_kubeconfig},
    skip::TestRequirement,
};

use crate::{project, world};

/// The first installation of every journey with the providers of this repository.
pub(super) const FIRST: &[&str] = &[
    "init",
    "--core",
    "cluster-api:v1.0.0",
    "-b",
    "kubeadm:v1.0.0",
    "-c",
    "kubeadm:v1.0.0",
    "-i",
    "sandbox:v1.0.0",
];
/// The first installation of every journey with real providers.
pub(super) const FIRST_REAL: &[&str] = &[
    "init",
    "--core",
    "cluster-api:v1.13.5",
    "-b",
    "kubeadm:v1.13.5",
    "-c",
    "kubeadm:v1.13.5",
    "-i",
    "docker:v1.13.5",
];
pub(super) const SECOND: &[&str] = &["upgrade", "apply", "--contract", "v1beta2"];
pub(super) const LAST: &[&str] = &["delete", "--all", "--include-crd", "--include-namespace"];

/// A cluster, and the environment of the programs that manage it.
pub(super) struct Management {
    world: TestEnvironment,
    kubeconfig: PathBuf,
}

/// The tool that runs a part of the journey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    Capstan,
    Clusterctl,
}

impl Management {
    /// Uses the providers of this repository.
    pub(super) fn new(kubeconfig: &Path) -> Self {
        Self::over(shipped_providers(), kubeconfig)
    }

    /// Uses the providers of a configuration.
    pub(super) fn over(config: String, kubeconfig: &Path) -> Self {
        let world = world();
        world.configure(config);
        Self { world, kubeconfig: kubeconfig.to_owned() }
    }

    /// Replaces the configuration.
    pub(super) fn configure(&self, config: &str) {
        self.world.configure(config);
    }

    /// The environment of the programs.
    pub(super) fn world(&self) -> &TestEnvironment {
        &self.world
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Runs capstan, which must succeed. Returns its output.
    pub(super) fn capstan(&self, arguments: &[&str]) -> String {
        let kubeconfig = self.kubeconfig.display().to_string();
        let run = self.world.run([arguments, &["--kubeconfig", &kubeconfig]].concat());
        assert_eq!(run.status, 0, "{arguments:?}: {run}");
        run.stdout
    }

    /// Creates a capstan command without running it.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let kubeconfig = self.kubeconfig.display().to_string();
        self.world.command([arguments, &["--kubeconfig", &kubeconfig]].concat())
    }

    fn clusterctl(&self, peer: &Path, arguments: &[&str]) {
        let mut command = Command::new(peer);
        command.args(arguments).arg("--config").arg(self.world.config_file());
        command.arg("--kubeconfig").arg(&self.kubeconfig).env("CLUSTERCTL_DISABLE_VERSIONCHECK", "true");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Runs a part of the journey without waiting, because nothing becomes ready here.
    async fn play(&self, tool: Tool, arguments: &[&str]) {
        match (tool, peer()) {
            // With all arguments clusterctl would fail: it lists objects of kinds whose definitions it has just
            // deleted.
            (Clusterctl, Some(peer)) if arguments == LAST => self.clusterctl(&peer, &LAST[..2]),
            (Clusterctl, Some(peer)) => self.clusterctl(&peer, arguments),
            (Capstan, _) if arguments == LAST => drop(self.capstan(arguments)),
            (Clusterctl, None) => imitation::first_installation(self).await,
            (Capstan, _) => drop(self.capstan(&[arguments, &["--no-wait"]].concat())),
        }
    }
}

/// The configuration with the providers of this repository.
pub(crate) fn shipped_providers() -> String {
    let shipped = fs::read_to_string(project("e2e/fixtures/clusterctl.yaml")).unwrap();
    let folder = project("e2e/fixtures").canonicalize().unwrap();
    // clusterctl rejects relative paths.
    shipped.replace("url: ./", &format!("url: {}/", folder.display()))
}

#[expect(clippy::disallowed_methods, reason = "a test finds the peer through the environment")]
pub(crate) fn peer() -> Option<PathBuf> {
    std::env::var_os("CAPSTAN_TEST_PEER").map(PathBuf::from)
}

/// The clusterctl of this machine. If there is none, marks the running test as skipped.
pub(crate) fn peer_or_skip() -> Option<PathBuf> {
    let peer = peer();
    if peer.is_none() {
        TestRequirement::Clusterctl.skip();
    }
    peer
}

#[expect(clippy::disallowed_methods, reason = "records are made on demand")]
pub(crate) fn is_recording() -> bool {
    std::env::var_os("RECORD").is_some() && peer().is_some()
}

/// The objects that a tool left. Objects that only capstan creates are excluded.
pub(super) async fn left(cluster: &Management, before: &ObjectSnapshot) -> String {
    let all = ObjectSnapshot::read_after_deletions(&client_from_kubeconfig(cluster.kubeconfig()).await).await;
    let is_ours = |name: &str| name.contains("/capstan.") || name.contains("/capstan-upgrade");
    all.since(before).excluding(is_ours).to_string()
}

pub(super) fn check(record: &str, found: &str, tools: &[Tool]) {
    let path = project("e2e/fixtures/peer").join(record);
    if is_recording() && tools.iter().all(|tool| *tool == Clusterctl) {
        fs::write(&path, found).unwrap();
    }
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, recorded, "{record} by {tools:?}");
}

/// Without a clusterctl, only its first part can be imitated: the result is recorded, but later commands are unknown.
async fn journey(tools: [Tool; 3]) {
    if tools[1..].contains(&Clusterctl) && peer_or_skip().is_none() {
        return;
    }
    let Some(server) = ApiServer::start_or_skip() else { return };
    let cluster = Management::new(server.kubeconfig());
    let before = ObjectSnapshot::read(&client_from_kubeconfig(server.kubeconfig()).await).await;
    let deleted = if tools[2] == Capstan { "deleted.txt" } else { "deleted-by-clusterctl.txt" };
    let parts = [(FIRST, "installed.txt"), (SECOND, "upgraded.txt"), (LAST, deleted)];
    for (at, (arguments, record)) in parts.into_iter().enumerate() {
        cluster.play(tools[at], arguments).await;
        check(record, &left(&cluster, &before).await, &tools[..=at]);
    }
}

use Tool::{Capstan, Clusterctl};

// Row: D-126
#[tokio::test(flavor = "multi_thread")]
async fn capstan_installs_the_same_objects_as_clusterctl() {
    journey([Capstan, Capstan, Capstan]).await;
}

// Row: PRV-35
#[tokio::test(flavor = "multi_thread")]
async fn clusterctl_installations_are_upgraded_and_deleted() {
    journey([Clusterctl, Capstan, Capstan]).await;
}

// Row: D-126
#[tokio::test(flavor = "multi_thread")]
async fn clusterctl_upgrades_and_deletes_capstan_installations() {
    journey([Capstan, Clusterctl, Clusterctl]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn capstan_and_clusterctl_can_alternate() {
    journey([Capstan, Clusterctl, Capstan]).await;
    journey([Clusterctl, Capstan, Clusterctl]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_recorded_answers_match_clusterctl() {
    journey([Clusterctl, Clusterctl, Clusterctl]).await;
}
