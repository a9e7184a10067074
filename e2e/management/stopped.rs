//! An upgrade or init that is stopped by a signal, while other runs start.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, Stdio},
};

use serde_json::Value;
use support::object_snapshot::ObjectSnapshot;

use super::peer::{FIRST, Management, SECOND};
use crate::{
    line::{Meter, resume},
    server::{Server, differences},
};

/// The number of stop points, evenly spaced over the bytes that a run sends. Each point takes 15 seconds, in which the
/// other run waits. Raise to 50 for a thorough run.
const POINTS: u64 = 4;
/// The server has no kubelet, so nothing becomes ready.
const NO_WAIT: &[&str] = &["--no-wait"];
const ROLLBACK: &[&str] = &["upgrade", "rollback", "--no-wait"];
/// Namespaces stay, because a bare API server has no controller to delete them.
const DELETE: &[&str] = &["delete", "--all", "--include-crd"];
const TAKE_OVER: &[&str] = &["--take-over", "--yes"];
const LAST_PROVIDER: &[&str] = &["init", "-i", "sandbox:v1.1.0", "--no-wait"];

/// A cluster, and a run whose size in bytes is known.
struct Metered {
    server: Server,
    cluster: Management,
    /// The same cluster, through the meter.
    line: Management,
    meter: Meter,
    run: &'static [&'static str],
    /// The number of bytes that the run sends.
    bytes: u64,
}

impl Metered {
    /// Prepares a cluster for the run, counts the bytes of one run, and undoes that run.
    fn start(server: Server, before: &[&[&str]], run: &'static [&'static str], undo: &[&str]) -> Self {
        let cluster = Management::new(server.kubeconfig());
        let meter = Meter::default();
        let line = Management::new(&cluster.world().write("line.yaml", server.through(&meter)));
        for arguments in before {
            cluster.capstan(arguments);
        }
        meter.restart();
        line.capstan(&[run, NO_WAIT].concat());
        let bytes = meter.bytes();
        cluster.capstan(undo);
        Self { server, cluster, line, meter, run, bytes }
    }

    /// Prepares providers that can be upgraded.
    fn upgrades(server: Server, first: &[&str]) -> Self {
        Self::start(server, &[&[first, NO_WAIT].concat()], SECOND, ROLLBACK)
    }

    /// Prepares a cluster without providers. cert-manager stays after their deletion.
    fn inits(server: Server) -> Self {
        Self::start(server, &[&[FIRST, NO_WAIT].concat(), DELETE], FIRST, DELETE)
    }

    /// Starts the run and stops it at the last of this many bytes.
    fn stop_at(&self, bytes: u64) -> Child {
        self.meter.restart();
        let mut command = self.line.command(&[self.run, NO_WAIT].concat());
        let run = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.meter.stop_at(bytes, run)
    }

    fn status(&self) -> Value {
        serde_json::from_str(&self.cluster.capstan(&["status", "-o", "json"])).unwrap()
    }
}

/// Stops an upgrade, rolls it back, and resumes it. True if the upgrade was stopped before its end.
async fn superseded(upgrades: &Metered, point: u64, installed: &ObjectSnapshot) -> bool {
    let upgrade = upgrades.stop_at(upgrades.bytes * point / (POINTS + 1));
    let is_unfinished = upgrades.status()["unfinishedUpgrade"].is_object();
    if !is_unfinished {
        // Before the journal exists, there is nothing to roll back. After its end, the upgrade cannot be superseded.
        resume(upgrade);
        upgrades.cluster.capstan(ROLLBACK);
        return false;
    }
    upgrades.cluster.capstan(&[ROLLBACK, TAKE_OVER].concat());
    let before = upgrades.server.everything().await;
    assert_eq!(before.since(installed).to_string(), "", "point {point}");
    assert_eq!(installed.since(&before).to_string(), "", "point {point}");
    let core = before.get("Provider capi-system/cluster-api").unwrap();
    assert_eq!(core["version"], "v1.0.0", "point {point}");

    assert_eq!(resume(upgrade), Some(1), "point {point}");
    let after = upgrades.server.everything().await;
    assert_eq!(differences(&before, &after), Vec::<String>::new(), "point {point}");
    true
}

async fn superseded_at_every_point(server: Server) {
    let upgrades = Metered::upgrades(server, FIRST);
    let installed = upgrades.server.everything().await;
    let mut stopped = 0;
    for point in 1..=POINTS {
        stopped += u64::from(superseded(&upgrades, point, &installed).await);
    }
    assert!(stopped * 2 >= POINTS, "only {stopped} were stopped while their journal was there");
}

#[tokio::test(flavor = "multi_thread")]
async fn superseded_upgrade_changes_nothing_on_a_sandbox() {
    superseded_at_every_point(Server::sandbox().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn superseded_upgrade_changes_nothing_on_a_real_api_server() {
    let Some(server) = Server::real() else { return };
    superseded_at_every_point(server).await;
}

/// Stops an init, completes it with another init, and resumes it. True if the first init held the lease when stopped.
async fn superseded_init(inits: &Metered, point: u64) -> bool {
    let Metered { server, cluster, .. } = inits;
    let init = inits.stop_at(inits.bytes * point / (POINTS + 1));
    let status = inits.status();
    let is_held = status["lease"]["holder"]["command"] == "init";
    if is_held {
        cluster.capstan(&[FIRST, NO_WAIT, TAKE_OVER].concat());
    }
    let before = server.everything().await;
    let ended = resume(init);
    if is_held {
        assert_eq!(ended, Some(1), "point {point}");
        let after = server.everything().await;
        assert_eq!(differences(&before, &after), Vec::<String>::new(), "point {point}");
        let core = after.get("Provider capi-system/cluster-api").unwrap();
        assert_eq!(core["version"], "v1.0.0", "point {point}");
    }
    cluster.capstan(DELETE);
    is_held
}

async fn superseded_init_at_every_point(server: Server) {
    let inits = Metered::inits(server);
    let mut stopped = 0;
    for point in 1..=POINTS {
        stopped += u64::from(superseded_init(&inits, point).await);
    }
    assert!(stopped * 2 >= POINTS, "only {stopped} were stopped while they held the lease");
}

#[tokio::test(flavor = "multi_thread")]
async fn superseded_init_changes_nothing_on_a_sandbox() {
    superseded_init_at_every_point(Server::sandbox().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn superseded_init_changes_nothing_on_a_real_api_server() {
    let Some(server) = Server::real() else { return };
    superseded_init_at_every_point(server).await;
}

/// Starts other runs while a stopped upgrade holds the lease.
async fn others_wait(server: Server) {
    // The arguments without the provider that the other run installs.
    let upgrades = Metered::upgrades(server, &FIRST[..7]);
    let upgrade = upgrades.stop_at(upgrades.bytes / 2);
    let lease = &upgrades.status()["lease"];
    assert_eq!(lease["holder"]["command"], "upgrade apply", "{lease}");
    assert_eq!(lease["expired"], false, "{lease}");

    let before = upgrades.server.everything().await;
    let refused = [LAST_PROVIDER, &["--no-wait-lock"]].concat();
    let refused = upgrades.cluster.command(&refused).output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert_eq!(differences(&before, &upgrades.server.everything().await), Vec::<String>::new());

    let mut other = upgrades.cluster.command(&[LAST_PROVIDER, &["--progress", "json"]].concat());
    let mut other = other.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reported = BufReader::new(other.stderr.take().unwrap());
    let waits = reported.by_ref().lines().any(|line| {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        event["event"] == "waitingForLease" && event["holder"]["command"] == "upgrade apply"
    });
    assert!(waits, "it did not wait");
    assert_eq!(resume(upgrade), Some(0));
    let mut rest = String::new();
    reported.read_to_string(&mut rest).unwrap();
    assert_eq!(other.wait().unwrap().code(), Some(0), "{rest}");

    let all = upgrades.server.everything().await;
    for provider in ["capi-system/cluster-api", "sandbox-system/infrastructure-sandbox"] {
        let entry = all.get(&format!("Provider {provider}"));
        assert_eq!(entry.map(|entry| &entry["version"]), Some(&Value::from("v1.1.0")), "{provider}");
    }
    assert_eq!(upgrades.status().get("lease"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn second_run_waits_for_the_first_on_a_sandbox() {
    others_wait(Server::sandbox().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn second_run_waits_for_the_first_on_a_real_api_server() {
    let Some(server) = Server::real() else { return };
    others_wait(server).await;
}
