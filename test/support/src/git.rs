//! Git repositories made for tests, and a host that serves them by `git http-backend` over TLS.

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

/// A request as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitRequest {
    /// Method, path and query.
    pub line: String,
    /// The `Authorization` header.
    pub authorization: Option<String>,
}

/// Repositories on disk that tests commit to.
#[derive(Debug)]
pub struct GitForge {
    folder: TempDir,
    /// One for all hosts: two authorities of one name would be taken for each other.
    tls: tls::Tls,
}

/// A user and a password.
pub type Login = (&'static str, &'static str);

/// A forge behind TLS, with a certificate for `localhost`. It ends with this value.
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
    /// A forge without repositories.
    ///
    /// # Panics
    /// When no folder can be made.
    pub fn new() -> Self {
        Self::with_manner(tls::Manner::Good)
    }

    /// The same, and its hosts are for clients alone that show [`GitForge::client_identity`].
    ///
    /// # Panics
    /// When no folder can be made.
    pub fn for_known_clients() -> Self {
        Self::with_manner(tls::Manner::ForKnownClients)
    }

    fn with_manner(manner: tls::Manner) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        fs::create_dir(folder.path().join("home")).expect("a folder can be made");
        let tls = tls::make(&[], manner);
        fs::write(folder.path().join("ca.pem"), &tls.ca_pem).expect("a file can be written");
        Self { folder, tls }
    }

    /// A repository of this name, made when it is not there, and where it is.
    pub fn repository(&self, name: &str) -> PathBuf {
        let folder = self.root().join(name);
        if !folder.exists() {
            fs::create_dir_all(&folder).expect("a folder can be made");
            self.git(name, &["init", "-q", "-b", "main"]);
            self.git(name, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
        }
        folder
    }

    /// Commits files on the branch that is checked out; gives the hash.
    pub fn commit(&self, name: &str, files: &[(&str, &str)]) -> String {
        let folder = self.repository(name);
        for (path, content) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder can be made");
            fs::write(path, content).expect("a file can be written");
        }
        self.git(name, &["add", "--all", "--force"]);
        self.git(name, &["commit", "-q", "--allow-empty", "-m", "change"]);
        self.git(name, &["rev-parse", "HEAD"])
    }

    /// Runs Git in a repository; gives what it prints.
    ///
    /// # Panics
    /// When it fails.
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

    /// The variables of a user who has configured nothing.
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

    /// The home of that user.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A certificate of the same authority for a client.
    pub fn client_identity(&self) -> &tls::Identity {
        &self.tls.client
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("repositories")
    }

    /// Serves all repositories, to everybody or to who has the login.
    ///
    /// # Panics
    /// When loopback cannot be listened on.
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
    /// The address of a repository. A name of `moved/HOST:PORT/NAME` is redirected there.
    pub fn url(&self, name: &str) -> String {
        format!("https://localhost:{}/{name}", self.listener.address().port())
    }

    /// Host and port, as urls have it.
    pub fn authority(&self) -> String {
        format!("localhost:{}", self.listener.address().port())
    }

    /// The certificate that its own is signed with.
    pub fn ca_file(&self) -> &Path {
        &self.ca_file
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<GitRequest> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often a client has begun to fetch, a clone among it.
    pub fn fetches(&self) -> usize {
        let is_first = |request: &GitRequest| request.line.contains("/info/refs?");
        // What is refused is asked again with a credential.
        self.requests().iter().filter(|request| is_first(request) && !request.line.starts_with("401")).count()
    }
}
