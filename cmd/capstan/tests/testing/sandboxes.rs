//! Sandboxes that run the binary.
#![cfg(unix)]

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

use bytes::Bytes;
use conformance::api::{Https, Server as _};
use http::Request;
use http_body_util::{BodyExt as _, Full};
use support::binary::{RunOutput, TestEnvironment};

/// A world that stops its sandboxes when dropped.
pub(crate) struct Sandboxes(TestEnvironment);

impl Sandboxes {
    pub(crate) fn new() -> Self {
        Self::of(crate::world())
    }

    /// Adds sandboxes to an existing world.
    pub(crate) fn of(world: TestEnvironment) -> Self {
        let state = world.home().join("state");
        Self(world.env("XDG_STATE_HOME", state))
    }

    pub(crate) fn world(&self) -> &TestEnvironment {
        &self.0
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> RunOutput {
        self.0.run(["sandbox"].iter().chain(arguments))
    }

    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.0.command(["sandbox"].iter().chain(arguments));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Starts a sandbox in the foreground, and waits until it prints the path of its kubeconfig.
    pub(crate) fn serve(&self, arguments: &[&str]) -> (Child, BufReader<ChildStdout>, String) {
        let mut child = self.spawn(&[&["start", "--foreground"], arguments].concat());
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut path = String::new();
        stdout.read_line(&mut path).unwrap();
        (child, stdout, path)
    }

    pub(crate) fn file(&self, name: &str, file: &str) -> PathBuf {
        self.0.home().join("state/capstan/sandboxes").join(name).join(file)
    }

    /// Sends a request to a running sandbox, with a ConfigMap as the body. Returns the status code.
    pub(crate) fn ask(&self, name: &str, method: &str, path: &str) -> u16 {
        ask(&self.file(name, "kubeconfig"), method, path)
    }

    pub(crate) fn pid(&self, name: &str) -> Option<u64> {
        let list: serde_json::Value =
            serde_json::from_str(&self.run(&["list", "-o", "json"]).stdout).unwrap();
        let entries = list["sandboxes"].as_array().unwrap();
        entries.iter().find(|entry| entry["name"] == name).and_then(|entry| entry["pid"].as_u64())
    }

    pub(crate) fn kill(&self, name: &str) {
        signal("KILL", self.pid(name).unwrap());
        // The system needs some time to release the resources of the process.
        while self.pid(name).is_some() {}
    }
}

impl Drop for Sandboxes {
    fn drop(&mut self) {
        for entry in fs::read_dir(self.file("", "")).into_iter().flatten().flatten() {
            self.run(&["stop", entry.file_name().to_str().unwrap()]);
        }
    }
}

pub(crate) fn signal(name: &str, pid: u64) {
    assert!(Command::new("kill").args([format!("-{name}"), pid.to_string()]).status().unwrap().success());
}

pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub(crate) const CONFIG_MAP: &str = "/api/v1/namespaces/default/configmaps/kept";

fn ask(kubeconfig: &Path, method: &str, path: &str) -> u16 {
    let body = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kept"}}"#;
    send(kubeconfig, method, path, if method == "POST" { body } else { "" })
}

/// Sends a request with this body to the server of a kubeconfig. Returns the status code.
pub(crate) fn send(kubeconfig: &Path, method: &str, path: &str, body: &'static str) -> u16 {
    let body = Bytes::from(body);
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    let server = Https::from_kubeconfig(kubeconfig).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let Ok(reply) = server.send(request.body(Full::new(body)).unwrap()).await else { return 0 };
        let status = reply.status().as_u16();
        reply.into_body().collect().await.unwrap();
        status
    })
}
