//! A real Kubernetes API server, if this machine has one.
//!
//! The server is the binary of `e2e/apiserver`, built by `cargo xtask apiserver`, or `etcd` and `kube-apiserver` in the
//! folder named by `KUBEBUILDER_ASSETS`. Both listen on loopback and keep their data in a temporary folder. Dropping
//! [`ApiServer`] stops the processes.

mod assets;

use std::{
    fmt,
    io::{self, BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
};

use tempfile::TempDir;

use crate::skip::{TestRequirement, built_programs};

/// The variable with the path of the server binary. If unset, the output of `cargo xtask apiserver` is used.
pub const SERVER_VARIABLE: &str = "CAPSTAN_TEST_APISERVER";
/// The variable with a folder that contains `etcd` and `kube-apiserver`, as used by the Kubernetes controller tools.
/// Takes precedence over [`SERVER_VARIABLE`].
pub const ASSETS_VARIABLE: &str = "KUBEBUILDER_ASSETS";

/// Compacts old revisions quickly, so that tests can request revisions that no longer exist.
const COMPACTION: &str = "--etcd-compaction-interval=4s";

/// The programs of a real API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiServerSource {
    /// One binary that contains all parts.
    Bundle(PathBuf),
    /// A folder with `etcd` and `kube-apiserver`.
    Assets(PathBuf),
}

/// A running API server.
#[derive(Debug)]
pub struct ApiServer {
    source: ApiServerSource,
    flags: Vec<String>,
    kubeconfig: PathBuf,
    /// The processes, in shutdown order.
    processes: Vec<Process>,
    // Dropped last, because the processes write to the folder.
    folder: TempDir,
}

/// A child process, killed on drop.
#[derive(Debug)]
struct Process {
    child: Child,
    /// Closing stdin stops the bundle, even if the test is killed.
    _stdin: Option<ChildStdin>,
}

impl ApiServerSource {
    /// Finds the server like [`ApiServerSource::find`]. If there is none, marks the running test as skipped.
    pub fn find_or_skip() -> Option<Self> {
        let source = Self::find();
        if source.is_none() {
            TestRequirement::ApiServer.skip();
        }
        source
    }

    /// Finds the server through the environment or the build folder. `None` if this machine has no server.
    #[expect(clippy::disallowed_methods, reason = "a test finds its server through the environment")]
    pub fn find() -> Option<Self> {
        let path = |variable| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(assets) = path(ASSETS_VARIABLE) {
            return Some(Self::Assets(assets));
        }
        let built = || Some(built_programs().join("apiserver")).filter(|binary| binary.exists());
        path(SERVER_VARIABLE).or_else(built).map(Self::Bundle)
    }
}

impl ApiServer {
    /// Starts the server of this machine. If there is none, marks the running test as skipped.
    ///
    /// # Panics
    /// Panics if the server does not start.
    pub fn start_or_skip() -> Option<Self> {
        let source = ApiServerSource::find_or_skip()?;
        Some(Self::start(&source).unwrap_or_else(|error| panic!("{source}: {error}")))
    }

    /// Starts a server that compacts revisions quickly, and waits until the server is ready.
    ///
    /// # Errors
    /// Any error of the operating system or the server. Fails if the server is not ready after a minute.
    pub fn start(source: &ApiServerSource) -> io::Result<Self> {
        Self::start_with(source, &[COMPACTION.to_owned()])
    }

    /// Starts a server with flags of kube-apiserver. All other settings are those of production.
    ///
    /// # Errors
    /// The errors of [`ApiServer::start`].
    pub fn start_with(source: &ApiServerSource, flags: &[String]) -> io::Result<Self> {
        let folder = TempDir::new()?;
        let (kubeconfig, processes) = source.start_processes(folder.path(), flags)?;
        Ok(Self { source: source.clone(), flags: flags.to_vec(), kubeconfig, processes, folder })
    }

    /// Kills the server and starts it again with its data. The kubeconfig has another address and another token then.
    ///
    /// # Errors
    /// The errors of [`ApiServer::start`].
    pub fn restart(&mut self) -> io::Result<()> {
        self.processes.clear();
        (self.kubeconfig, self.processes) = self.source.start_processes(self.folder.path(), &self.flags)?;
        Ok(())
    }

    /// The kubeconfig of an administrator, with a token.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// True if garbage collection and namespace deletion are running.
    pub fn has_controllers(&self) -> bool {
        matches!(self.source, ApiServerSource::Bundle(_))
    }
}

impl ApiServerSource {
    /// Starts the processes of a server that keeps its data in a folder. Returns its kubeconfig as well.
    fn start_processes(&self, folder: &Path, flags: &[String]) -> io::Result<(PathBuf, Vec<Process>)> {
        let binary = match self {
            Self::Bundle(binary) => binary,
            Self::Assets(assets) => return assets::start(assets, folder, flags),
        };
        let mut child = Command::new(binary)
            .arg("--dir")
            .arg(folder)
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
        // If the server does not become ready, it exits and the line ends.
        stdout.ok_or_else(|| io::Error::other("stdout is not piped"))?.read_line(&mut line)?;
        let answer: serde_json::Value = serde_json::from_str(&line)
            .map_err(|_| io::Error::other(format!("{} does not start: {line:?}", binary.display())))?;
        let kubeconfig = answer["kubeconfig"].as_str().map(PathBuf::from);
        let kubeconfig = kubeconfig.ok_or_else(|| io::Error::other("the server names no kubeconfig"))?;
        Ok((kubeconfig, vec![process]))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Further output of the process is not read.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl fmt::Display for ApiServerSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bundle(path) | Self::Assets(path) => path.display().fmt(f),
        }
    }
}
