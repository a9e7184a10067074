//! Tests of `controller` as a process on a sandbox.
#![cfg(unix)]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};

use serde_json::Value;
use support::fixture::Fixture;

use crate::testing::Management;

pub(crate) const WEB: &str = "
apiVersion: core.cs.sap.com/v1alpha1
kind: Blueprint
metadata: {name: maps, namespace: shop}
spec:
  files:
    map.yaml: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: '{{ name }}'}
      data: {colour: '{{ .colour }}', version: '{{ kubernetesVersion.Major }}'}
---
apiVersion: core.cs.sap.com/v1alpha1
kind: Component
metadata: {name: web, namespace: shop}
spec:
  sourceRef: {blueprint: {name: maps}}
  values: {colour: blue}
";

/// A controller as a process, killed on drop.
pub(crate) struct Controller {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStderr>>,
    probes: u16,
    metrics: u16,
}

impl Controller {
    pub(crate) fn start(lab: &Management, flags: &str) -> Self {
        let port = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (probes, metrics) = (port(), port());
        let line = format!(
            "controller --health-probe-bind-address 127.0.0.1:{probes} --metrics-bind-address 127.0.0.1:{metrics} {flags}"
        );
        let mut child = lab.spawn(&line);
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, lines, probes, metrics }
    }

    /// Returns the next line of the log with a message.
    pub(crate) fn wait_for(&mut self, message: &str, reason: &str) -> Value {
        for line in &mut self.lines {
            let line = line.unwrap();
            let value: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
            if value["msg"] == message && (reason.is_empty() || value["reason"] == reason) {
                return value;
            }
        }
        panic!("the log ends without `{message}`")
    }

    /// Sends a signal such as `STOP`.
    pub(crate) fn signal(&self, name: &str) {
        Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status().unwrap();
    }

    /// Waits for the end of the process. Returns its exit code.
    pub(crate) fn wait(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    fn terminate(self) -> Option<i32> {
        self.signal("TERM");
        self.wait()
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn get(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

// Row: CMP-02, ENG-82, ENG-83, D-461
#[tokio::test(flavor = "multi_thread")]
async fn a_controller_reconciles_until_it_is_stopped() {
    let lab = Management::start(Fixture::builder()).await;
    lab.fixture.apply(&lab.run("component definition").stdout).await;
    lab.fixture.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}").await;
    lab.fixture.wait_until_idle().await;
    lab.fixture.apply(WEB).await;
    let mut controller = Controller::start(&lab, "--leader-elect --namespace kube-system");
    let line = controller.wait_for("reconciled", "Ready");
    assert_eq!((&line["component"], &line["state"]), (&"shop/web".into(), &"Ready".into()));
    let map = lab.fixture.get(support::kind::CONFIG_MAP, "shop/web").await.unwrap();
    assert_eq!((&map["data"]["colour"], &map["data"]["version"]), (&"blue".into(), &"1".into()));
    for probe in ["/healthz", "/readyz"] {
        assert!(get(controller.probes, probe).starts_with("HTTP/1.1 200"), "{probe}");
    }
    let metrics = get(controller.metrics, "/metrics");
    assert!(metrics.contains("component_operator_runtime_component_state{state=\"Ready\"} 1\n"), "{metrics}");
    assert_eq!(controller.terminate(), Some(0));
    let list: Value = serde_json::from_str(&lab.run("component list -o json").stdout).unwrap();
    assert_eq!(list["components"][0]["ready"], true);
}

// Row: ENG-83
#[tokio::test(flavor = "multi_thread")]
async fn a_second_controller_waits_for_the_first() {
    let lab = Management::start(Fixture::builder()).await;
    lab.fixture.apply(&lab.run("component definition").stdout).await;
    lab.fixture.wait_until_idle().await;
    let flags = "--leader-elect --namespace kube-system";
    let mut first = Controller::start(&lab, flags);
    first.wait_for("started", "");
    let mut second = Controller::start(&lab, flags);
    while TcpStream::connect(("127.0.0.1", second.probes)).is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(get(second.probes, "/readyz").starts_with("HTTP/1.1 200"));
    assert_eq!(first.terminate(), Some(0));
    second.wait_for("started", "");
    second.signal("INT");
    assert_eq!(second.wait(), Some(0));
}

// Row: CMP-77
#[test]
fn manifests_name_the_image_and_the_namespace() {
    let world = crate::world();
    let printed =
        world.run(["controller", "manifests", "--image", "registry.example/capstan:v1", "-n", "operators"]);
    assert_eq!(printed.status, 0, "{printed}");
    let objects = manifest::read_stream(printed.stdout.as_bytes(), &manifest::YamlLimits::default());
    let objects = objects.unwrap().objects;
    let kinds: Vec<&str> = objects.iter().map(manifest::Object::kind).collect();
    assert_eq!(
        kinds,
        [
            "CustomResourceDefinition",
            "CustomResourceDefinition",
            "Namespace",
            "ServiceAccount",
            "ClusterRole",
            "ClusterRoleBinding",
            "Role",
            "RoleBinding",
            "Service",
            "PodDisruptionBudget",
            "NetworkPolicy",
            "Deployment"
        ]
    );
    assert_eq!(objects[2].name(), "operators");
    assert!(printed.stdout.contains("image: registry.example/capstan:v1\n"), "{printed}");
    let refused = world.run(["controller", "manifests", "--image", "i", "-n", "No_Namespace"]);
    assert_eq!(refused.status, 1, "{refused}");
}
