//! Tests of `describe cluster --watch` on a sandbox with a changing cluster. Other tests cover the time of each tree.
//! These tests cover the output and the end of a watch.
#![cfg(unix)]

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, ChildStdout, Command, Stdio},
};
use support::{
    binary::{RunOutput, TestEnvironment},
    cluster_api,
    fixture::Fixture,
    kind::{CLUSTER, MACHINE},
};

/// A sandbox on a port. Its runtime keeps serving while the test waits for the binary.
struct Lab {
    runtime: tokio::runtime::Runtime,
    fixture: Fixture,
    kubeconfig: String,
    world: TestEnvironment,
}

/// A running command.
struct Running {
    process: Child,
    stdout: BufReader<ChildStdout>,
}

impl Lab {
    /// Starts a sandbox with cluster `one` in namespace `team`.
    fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (fixture, kubeconfig) = runtime.block_on(async {
            let fixture = Fixture::start().await;
            cluster_api::install(&fixture).await;
            fixture.create(cluster_api::cluster("team/one").machine_deployment("md", 2)).await;
            let kubeconfig = fixture.kubeconfig().await.display().to_string();
            (fixture, kubeconfig)
        });
        Self { runtime, fixture, kubeconfig, world: crate::world() }
    }

    fn watch(&self, arguments: &str) -> Running {
        let words = "describe cluster one -n team --watch".split(' ').chain(arguments.split_whitespace());
        let mut command = self.world.command(words.chain(["--kubeconfig", &self.kubeconfig]));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        Running { process, stdout }
    }

    fn break_machine(&self, reason: &str) {
        let broken =
            json!({"status": {"conditions": [{"type": "Ready", "status": "False", "reason": reason}]}});
        self.runtime.block_on(self.fixture.merge_status(MACHINE, "team/one-md-1-0", &broken));
    }

    fn say(&self, available: &str) {
        let status =
            json!({"status": {"conditions": [{"type": "Available", "status": available, "reason": "Said"}]}});
        self.runtime.block_on(self.fixture.merge_status(CLUSTER, "team/one", &status));
    }
}

impl Running {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "it has ended");
        line
    }

    /// Reads until a line contains the text. Returns the text read.
    fn up_to(&mut self, text: &str) -> String {
        let mut all = String::new();
        while !all.lines().next_back().is_some_and(|line| line.contains(text)) {
            all += &self.line();
        }
        all
    }

    fn interrupt(&self) {
        let kill = Command::new("kill").args(["-INT", &self.process.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    /// Waits for the end. Returns the exit status, the rest of stdout, and stderr.
    fn end(mut self) -> RunOutput {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.stdout.read_to_string(&mut stdout).unwrap();
        self.process.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        RunOutput { status: self.process.wait().unwrap().code().unwrap(), stdout, stderr }
    }
}

// Row: D-170
#[test]
fn a_watch_prints_a_tree_per_change_and_ctrl_c_succeeds() {
    let lab = Lab::start();
    let mut running = lab.watch("");
    let first = running.up_to("2 Machines...");
    assert!(first.starts_with("--- 20") && first.contains("\nNAME "), "{first}");
    lab.break_machine("Broken");
    let second = running.up_to("Machine team/one-md-1-1");
    assert!(second.starts_with("--- 20") && second.contains("Broken"), "{second}");
    assert_eq!(second.matches("\nCluster team/one").count(), 1, "{second}");
    running.interrupt();
    assert_data_eq!(
        running.end().to_string(),
        str![[r#"
exit 0

"#]]
    );
}

// Row: D-170
#[test]
fn a_watch_prints_json_lines_or_yaml_documents() {
    let lab = Lab::start();
    let mut running = lab.watch("-o json");
    let first: Value = serde_json::from_str(&running.line()).unwrap();
    assert_eq!((&first["health"], &first["tree"]["role"]), (&"healthy".into(), &"cluster".into()));
    lab.say("False");
    let second: Value = serde_json::from_str(&running.line()).unwrap();
    assert_eq!(second["health"], "unhealthy");
    running.interrupt();
    assert_data_eq!(
        running.end().to_string(),
        str![[r#"
exit 0

"#]]
    );

    let mut running = lab.watch("-o yaml");
    assert_eq!((running.line(), running.line()), ("---\n".into(), "health: unhealthy\n".into()));
    lab.say("True");
    assert!(running.up_to("health: healthy").contains("\n---\n"));
    running.interrupt();
    running.up_to("role: ");
}

// Row: D-171
#[test]
fn exit_status_waits_for_health_and_reports_a_timeout() {
    let lab = Lab::start();
    lab.say("False");
    let mut running = lab.watch("--exit-status -o json");
    assert!(running.line().contains("\"health\":\"unhealthy\""));
    lab.say("True");
    assert!(running.line().contains("\"health\":\"healthy\""));
    assert_data_eq!(
        running.end().to_string(),
        str![[r#"
exit 0

"#]]
    );

    lab.say("False");
    let mut running = lab.watch("--exit-status -o json");
    running.line();
    running.interrupt();
    assert_data_eq!(
        running.end().to_string(),
        str![[r#"
exit 3
--- stderr
{"kind":"unhealthy","exitCode":3,"message":"cluster `team/one` is not available","causes":[],"hints":[]}

"#]]
    );
    let mut running = lab.watch("--exit-status -o json --timeout 3s");
    running.line();
    assert_data_eq!(
        running.end().to_string(),
        str![[r#"
exit 3
--- stderr
{"kind":"unhealthy","exitCode":3,"message":"cluster `team/one` is not available","causes":[],"hints":[]}

"#]]
    );
}

#[test]
fn a_watch_survives_an_outage_and_ends_with_the_cluster() {
    let lab = Lab::start();
    let mut running = lab.watch("");
    running.up_to("2 Machines...");
    lab.fixture.inject_fault("503,verb=get,resource=cluster.x-k8s.io/clusters,times=2");
    lab.break_machine("Broken");
    running.up_to("Broken");
    lab.runtime.block_on(async {
        lab.fixture.merge(CLUSTER, "team/one", &json!({"metadata": {"finalizers": null}})).await;
        lab.fixture.delete(CLUSTER, "team/one").await;
    });
    assert_data_eq!(
        running.end().messages(),
        str![[r#"
exit 0
--- stderr
warning: no answer since [..]: cannot get Cluster team/one: the server is currently unable to handle the request
Cluster team/one was deleted

"#]]
    );
}

#[test]
fn a_watch_counts_and_limits_requests() {
    let lab = Lab::start();
    let mut running = lab.watch("-v 5 --max-in-flight 1");
    running.up_to("2 Machines...");
    running.interrupt();
    let ended = running.end();
    assert_eq!(ended.status, 0, "{ended}");
    let request = "GET /apis/cluster.x-k8s.io/v1beta2/namespaces/team/clusters/one\n";
    assert!(ended.stderr.contains(request), "{ended}");
    assert_data_eq!(
        lab.watch("--max-in-flight 0").end().to_string(),
        str![[r#"
exit 1
--- stderr
error: invalid value `0` for `--max-in-flight`
  cause: expected a number from 1 to 256

"#]]
    );
}

#[test]
fn a_watch_ends_when_its_pipe_is_closed() {
    let lab = Lab::start();
    let mut running = lab.watch("-o json");
    running.line();
    let Running { mut process, stdout } = running;
    drop(stdout);
    lab.say("False");
    assert_eq!(process.wait().unwrap().code(), Some(0));
}
