//! Git repositories for tests, and a host that serves them with `git http-backend` over TLS.

mod serve;

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
};

use tempfile::TempDir;

use crate::{host::tls, listener::Listener};

/// A received request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitRequest {
    /// The method, path and query.
    pub line: String,
    /// The `Authorization` header.
    pub authorization: Option<String>,
}

/// Local repositories for test commits.
#[derive(Debug)]
pub struct GitForge {
    folder: TempDir,
    /// Shared by all hosts, because two authorities with the same name would be confused.
    tls: tls::Tls,
}

/// A user name and a password.
pub type Login = (&'static str, &'static str);

/// A forge behind TLS, with a certificate for `localhost`. Dropping the value stops the host.
#[derive(Debug)]
pub struct GitHost {
    ca_file: PathBuf,
    log: Arc<Mutex<Vec<GitRequest>>>,
    listener: Listener,
}

impl Default for GitForge {
    fn default() -> Self {
        Self::new()
    }
}

impl GitForge {
    /// Creates a forge without repositories.
    ///
    /// # Panics
    /// Panics if no folder can be created.
    pub fn new() -> Self {
        Self::with_certificate(tls::HostCertificate::Valid)
    }

    /// Creates a forge whose hosts accept only clients with [`GitForge::client_identity`].
    ///
    /// # Panics
    /// Panics if no folder can be created.
    pub fn requiring_client_certificate() -> Self {
        Self::with_certificate(tls::HostCertificate::ClientCertificateRequired)
    }

    fn with_certificate(manner: tls::HostCertificate) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be created");
        fs::create_dir(folder.path().join("home")).expect("a folder can be created");
        let tls = tls::create(&[], manner);
        fs::write(folder.path().join("ca.pem"), &tls.ca_pem).expect("a file can be written");
        Self { folder, tls }
    }

    /// The folder of a repository. Creates the repository if it does not exist.
    pub fn repository(&self, name: &str) -> PathBuf {
        let folder = self.root().join(name);
        if !folder.exists() {
            fs::create_dir_all(&folder).expect("a folder can be created");
            self.git(name, &["init", "-q", "-b", "main"]);
            self.git(name, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
        }
        folder
    }

    /// Commits files on the current branch. Returns the hash.
    pub fn commit(&self, name: &str, files: &[(&str, &str)]) -> String {
        let folder = self.repository(name);
        for (path, content) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("a file is in a folder"))
                .expect("a folder can be created");
            fs::write(path, content).expect("a file can be written");
        }
        self.git(name, &["add", "--all", "--force"]);
        self.git(name, &["commit", "-q", "--allow-empty", "-m", "change"]);
        self.git(name, &["rev-parse", "HEAD"])
    }

    /// Runs Git in a repository. Returns its output.
    ///
    /// # Panics
    /// Panics if Git fails.
    pub fn git(&self, name: &str, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command
            .args(arguments)
            .current_dir(self.root().join(name))
            .envs(self.variables())
            .stdin(Stdio::null());
        let output = command.output().expect("git can be started");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// The environment variables of a user without any Git configuration.
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let home = self.folder.path().join("home").into_os_string();
        let name = |kind: &str, what: &str, value: &str| (format!("GIT_{kind}_{what}").into(), value.into());
        #[expect(clippy::disallowed_methods, reason = "git is where the developer has it")]
        let path = std::env::var_os("PATH").unwrap_or_default();
        vec![
            ("PATH".into(), path),
            ("HOME".into(), home),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            name("AUTHOR", "NAME", "Ann"),
            name("AUTHOR", "EMAIL", "ann@example.org"),
            name("COMMITTER", "NAME", "Ann"),
            name("COMMITTER", "EMAIL", "ann@example.org"),
        ]
    }

    /// The home folder of that user.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A client certificate issued by the same authority.
    pub fn client_identity(&self) -> &tls::Identity {
        &self.tls.client
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("repositories")
    }

    /// Serves all repositories, to everyone or only with the login.
    ///
    /// # Panics
    /// Panics if listening on loopback fails.
    pub fn serve(&self, login: Option<Login>) -> GitHost {
        let (acceptor, ca_file) = (self.tls.acceptor.clone(), self.folder.path().join("ca.pem"));
        let log = Arc::new(Mutex::new(Vec::new()));
        let backend =
            serve::Backend { root: self.root(), variables: self.variables(), login, log: Arc::clone(&log) };
        let listener =
            Listener::start(move |socket| serve::connection(socket, acceptor.clone(), backend.clone()));
        GitHost { ca_file, log, listener }
    }
}

impl GitHost {
    /// The url of a repository. The name `moved/HOST:PORT/NAME` redirects to that host.
    pub fn url(&self, name: &str) -> String {
        format!("https://localhost:{}/{name}", self.listener.address().port())
    }

    /// Host and port, as in urls.
    pub fn authority(&self) -> String {
        format!("localhost:{}", self.listener.address().port())
    }

    /// The certificate of the authority that issued the host's certificate.
    pub fn ca_file(&self) -> &Path {
        &self.ca_file
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<GitRequest> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of fetches and clones that clients have started.
    pub fn fetches(&self) -> usize {
        let is_first = |request: &GitRequest| request.line.contains("/info/refs?");
        // A rejected request is repeated with a credential.
        self.requests().iter().filter(|request| is_first(request) && !request.line.starts_with("401")).count()
    }
}
