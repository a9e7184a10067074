//! A management cluster for tests with small providers.
#![cfg(unix)]

use std::{
    path::{Path, PathBuf},
    process::{Child, Output, Stdio},
};

use support::binary::{RunOutput, TestEnvironment};

use crate::testing::{Sandboxes, send, with_small_providers};

/// Small providers and a running sandbox named `lab`.
pub(crate) struct Lab(Sandboxes);

impl Lab {
    /// Starts the sandbox with the given flags of `sandbox start`.
    pub(crate) fn start(flags: &[&str]) -> Self {
        let lab = Sandboxes::of(with_small_providers());
        let started = lab.run(&[&["start", "lab", "--in-memory"], flags].concat());
        assert_eq!(started.status, 0, "{started}");
        Self(lab)
    }

    pub(crate) fn run(&self, arguments: &str) -> RunOutput {
        let kubeconfig = self.kubeconfig().display().to_string();
        self.0.world().run(arguments.split_whitespace().chain(["--kubeconfig", &kubeconfig]))
    }

    /// Runs a command line that must succeed.
    pub(crate) fn done(&self, arguments: &str) -> RunOutput {
        let run = self.run(arguments);
        assert_eq!(run.status, 0, "{arguments}\n{run}");
        run
    }

    /// Returns the output of a run without lines about waiting, whose number varies.
    pub(crate) fn screen(&self, arguments: &str) -> String {
        let screen = self.run(arguments).to_string();
        screen.split_inclusive('\n').filter(|line| !line.starts_with("waiting for ")).collect()
    }

    pub(crate) fn run_in(&self, folder: &Path, arguments: &str) -> Output {
        let kubeconfig = self.kubeconfig().display().to_string();
        let all = arguments.split_whitespace().chain(["--kubeconfig", &kubeconfig]);
        self.world().command(all).current_dir(folder).stdin(Stdio::null()).output().unwrap()
    }

    pub(crate) fn world(&self) -> &TestEnvironment {
        self.0.world()
    }

    /// Spawns a command line with piped stderr.
    pub(crate) fn spawn(&self, arguments: &str) -> Child {
        let kubeconfig = self.kubeconfig().display().to_string();
        let mut command =
            self.0.world().command(arguments.split_whitespace().chain(["--kubeconfig", &kubeconfig]));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Returns the verb and path of each successful request to the server that may have changed an object.
    pub(crate) fn writes(&self) -> Vec<String> {
        let log = self.0.run(&["logs", "lab", "--requests"]).stdout;
        let verb_and_path = |line: &str| {
            let fields: Vec<&str> = line.split('\t').collect();
            format!("{} {}", fields[2], fields[3])
        };
        let is_write = |text: &String| {
            let is_read = ["get ", "list ", "watch "].iter().any(|verb| text.starts_with(verb));
            !is_read && !text.contains("dryRun=All") && !text.contains("/selfsubject")
        };
        log.lines().map(verb_and_path).filter(is_write).collect()
    }

    /// Sends a request to the server. Returns the status code.
    pub(crate) fn send(&self, method: &str, path: &str, body: &'static str) -> u16 {
        send(&self.kubeconfig(), method, path, body)
    }

    fn kubeconfig(&self) -> PathBuf {
        self.0.file("lab", "kubeconfig")
    }
}
