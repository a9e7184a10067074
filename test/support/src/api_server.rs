//! A real Kubernetes API server, where this machine has one.
//!
//! Either the binary of `e2e/apiserver`, built by `cargo xtask apiserver`, or the `etcd` and `kube-apiserver` of the
//! folder that `KUBEBUILDER_ASSETS` names. Both listen on loopback, keep their data in a temporary folder, and end with
//! the value.

mod assets;

use std::{
    fmt,
    io::{self, BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
};

use tempfile::TempDir;

use crate::skip::Need;

/// Names the server's binary; without it, the one that `cargo xtask apiserver` builds is looked for.
pub const SERVER_VARIABLE: &str = "CAPSTAN_TEST_APISERVER";
/// Names a folder with `etcd` and `kube-apiserver`, as the Kubernetes controller tools use it. It comes first.
pub const ASSETS_VARIABLE: &str = "KUBEBUILDER_ASSETS";

/// Revisions older than this are forgotten, so that a test can see what becomes of clients that ask for them.
const COMPACTION: &str = "--etcd-compaction-interval=4s";

/// Where a real API server can be started from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// One binary with everything in it.
    Bundle(PathBuf),
    /// A folder with `etcd` and `kube-apiserver`.
    Assets(PathBuf),
}

/// A running API server.
#[derive(Debug)]
pub struct ApiServer {
    kubeconfig: PathBuf,
    has_controllers: bool,
    /// In the order in which they are ended.
    _processes: Vec<Process>,
    // Dropped last: the processes write to it.
    _folder: TempDir,
}

/// A child that ends with the value.
#[derive(Debug)]
struct Process {
    child: Child,
    /// The bundle ends by itself once this is closed, should the test be killed.
    _stdin: Option<ChildStdin>,
}

impl Source {
    /// As [`Source::find`], but where there is no server, the running test is skipped.
    pub fn of_this_machine() -> Option<Self> {
        let source = Self::find();
        if source.is_none() {
            Need::ApiServer.skip();
        }
        source
    }

    /// Looks in the environment and in the build folder; none where this machine has no server.
    #[expect(clippy::disallowed_methods, reason = "a test finds its server through the environment")]
    pub fn find() -> Option<Self> {
        let path = |variable| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(assets) = path(ASSETS_VARIABLE) {
            return Some(Self::Assets(assets));
        }
        let built = || {
            let target = path("CARGO_TARGET_DIR")
                .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"));
            Some(target.join("apiserver/apiserver")).filter(|binary| binary.exists())
        };
        path(SERVER_VARIABLE).or_else(built).map(Self::Bundle)
    }
}

impl ApiServer {
    /// Starts the server of this machine; where there is none, the running test is skipped.
    ///
    /// # Panics
    /// When it does not start.
    pub fn of_this_machine() -> Option<Self> {
        let source = Source::of_this_machine()?;
        Some(Self::start(&source).unwrap_or_else(|error| panic!("{source}: {error}")))
    }

    /// Starts a server that soon forgets, and waits until it is ready.
    ///
    /// # Errors
    /// What the operating system or the server says; a server that is not ready after a minute.
    pub fn start(source: &Source) -> io::Result<Self> {
        Self::start_with(source, &[COMPACTION.to_owned()])
    }

    /// The same with flags of kube-apiserver, and as it is for users but for them.
    ///
    /// # Errors
    /// As for [`ApiServer::start`].
    pub fn start_with(source: &Source, flags: &[String]) -> io::Result<Self> {
        match source {
            Source::Bundle(binary) => Self::start_bundle(binary, flags),
            Source::Assets(folder) => assets::start(folder, flags),
        }
    }

    /// The kubeconfig of an administrator, with a token.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Whether garbage collection and the deletion of namespaces are at work.
    pub fn has_controllers(&self) -> bool {
        self.has_controllers
    }

    fn start_bundle(binary: &Path, flags: &[String]) -> io::Result<Self> {
        let folder = TempDir::new()?;
        let mut child = Command::new(binary)
            .arg("--dir")
            .arg(folder.path())
            .args(["--controllers", "--"])
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().map(BufReader::new);
        let process = Process { child, _stdin: stdin };
        let mut line = String::new();
        // The server gives up by itself when it does not become ready, and the line ends.
        stdout.ok_or_else(|| io::Error::other("stdout is not piped"))?.read_line(&mut line)?;
        let answer: serde_json::Value = serde_json::from_str(&line)
            .map_err(|_| io::Error::other(format!("{} does not start: {line:?}", binary.display())))?;
        let kubeconfig = answer["kubeconfig"].as_str().map(PathBuf::from);
        let kubeconfig = kubeconfig.ok_or_else(|| io::Error::other("the server names no kubeconfig"))?;
        Ok(Self { kubeconfig, has_controllers: true, _processes: vec![process], _folder: folder })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nobody reads what it would still write.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bundle(path) | Self::Assets(path) => path.display().fmt(f),
        }
    }
}
