//! Runs the `git` program in an isolated environment, without prompts and within limits. Dropping a run stops Git.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use bytes::Bytes;
use futures::{FutureExt as _, future::BoxFuture};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
    time::timeout,
};
use transport::Secret;

use super::failure::{GitFailure, classify, rejection};

/// Options of every run. No hooks or monitors of the user run for foreign repositories, no submodules are fetched, and
/// nothing runs in the background. Names that other systems interpret differently are rejected.
const CONFIG: [&str; 10] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "gc.autoDetach=false",
    "maintenance.autoDetach=false",
    "advice.detachedHead=false",
    "color.ui=false",
];

/// Git variables that control the connection to a host. All others select a repository and are not passed on.
const PASSED_VARIABLES: [&str; 14] = [
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_ASKPASS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "GIT_PROXY_SSL_CAINFO",
    "GIT_HTTP_USER_AGENT",
];

/// The limit on kept error output, in bytes.
const MAX_STDERR_BYTES: usize = 64 << 10;

/// The `git` program and its environment. Nothing is read from the environment of this process.
#[derive(Clone)]
pub struct GitSettings {
    /// Name or path of the program. A name is looked up in `PATH` of `variables`.
    pub program: PathBuf,
    /// The user's environment variables, which locate programs, keys and configuration of Git, ssh and their helpers.
    ///
    /// Git variables that control a connection are passed on (`GIT_SSH_COMMAND`, `GIT_CONFIG_GLOBAL`, …). Variables
    /// that select a repository (`GIT_DIR`, …) are not. Proxies come from [`transport::ProxySettings`] only.
    pub variables: Vec<(OsString, OsString)>,
}

impl Default for GitSettings {
    fn default() -> Self {
        Self { program: PathBuf::from("git"), variables: Vec::new() }
    }
}

impl fmt::Debug for GitSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The variables may contain passwords.
        f.debug_struct("GitSettings").field("program", &self.program).finish_non_exhaustive()
    }
}

/// One run of the `git` program.
pub(super) struct GitCommand {
    command: Command,
    input: Vec<u8>,
    /// The maximum time without output. `None` for commands without a connection.
    idle_timeout: Option<Duration>,
    limit_bytes: u64,
}

impl GitCommand {
    /// Creates a run of `git {arguments}` with the environment of the settings.
    pub(super) fn new<A: AsRef<OsStr>>(
        settings: &GitSettings,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let mut command = Command::new(&settings.program);
        command.env_clear().envs(settings.variables.iter().filter(|(name, _)| is_passed(name)).cloned());
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GCM_INTERACTIVE", "never");
        // Replacement objects and grafts would change the content behind a hash.
        command.env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_OPTIONAL_LOCKS", "0");
        for setting in CONFIG {
            command.args(["-c", setting]);
        }
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        Self { command, input: Vec::new(), idle_timeout: None, limit_bytes: 256 << 20 }
    }

    /// Creates a run on a clone.
    pub(super) fn in_clone<A: AsRef<OsStr>>(
        settings: &GitSettings,
        clone: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let mut folder = OsString::from("--git-dir=");
        folder.push(clone);
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned());
        Self::new(settings, std::iter::once(folder).chain(arguments))
    }

    pub(super) fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Sets a variable to a secret. Only this run can read it.
    pub(super) fn secret(self, name: &str, secret: &Secret) -> Self {
        self.variable(name, secret.expose())
    }

    /// Sets the standard input.
    pub(super) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Limits the time without output.
    pub(super) fn idle_timeout(mut self, idle: Duration) -> Self {
        self.idle_timeout = Some(idle);
        self
    }

    /// Limits the size of the output.
    pub(super) fn limit(mut self, limit_bytes: u64) -> Self {
        self.limit_bytes = limit_bytes;
        self
    }

    /// Runs Git until it exits and returns its output. Dropping the future kills Git and its child processes.
    /// # Errors
    /// The cause, classified from Git's error output; [`GitFailure::TooLarge`] if the output exceeds the limit.
    pub(super) fn output(self) -> BoxFuture<'static, Result<Bytes, GitFailure>> {
        // Boxed once here because many futures contain this one.
        self.wait_for_output(0).map(|ended| ended.map(|(output, _)| output)).boxed()
    }

    /// Runs Git like [`Self::output`]. A status up to a maximum is no failure, and is returned.
    /// # Errors
    /// Those of [`Self::output`].
    pub(super) async fn output_with_status(self, max_status: i32) -> Result<(Bytes, i32), GitFailure> {
        self.wait_for_output(max_status).await
    }

    async fn wait_for_output(mut self, max_status: i32) -> Result<(Bytes, i32), GitFailure> {
        let program = self.command.as_std().get_program().to_string_lossy().into_owned();
        let child = self.command.spawn().map_err(|source| GitFailure::Program { program, source })?;
        let mut child = ProcessGroup(child);
        let mut stdin = child.0.stdin.take().expect("stdin is a pipe");
        let stdout = child.0.stdout.take().expect("stdout is a pipe");
        let stderr = child.0.stderr.take().expect("stderr is a pipe");
        let feed = async move {
            // If Git stops reading its input, its error output gives the cause.
            let _ = stdin.write_all(&self.input).await;
        };
        let (activity, limit_bytes) = (Activity::default(), self.limit_bytes);
        let read = async {
            tokio::join!(
                feed,
                read(stdout, &activity, |all, piece| {
                    all.extend_from_slice(piece);
                    all.len() as u64 <= limit_bytes
                }),
                read(stderr, &activity, |all, piece| {
                    // Progress output may be long; the error is at the end.
                    all.extend_from_slice(piece);
                    let surplus = all.len().saturating_sub(MAX_STDERR_BYTES);
                    all.drain(..surplus);
                    true
                }),
            )
        };
        let ((), output, stderr_bytes) = match self.idle_timeout {
            Some(idle) => activity.watch(idle, read).await?,
            None => read.await,
        };
        let output = output.ok_or(GitFailure::TooLarge { limit_bytes })?;
        let status = child.0.wait().await.map_err(|source| GitFailure::Pipe { source })?;
        if let Some(code) = status.code().filter(|code| (0..=max_status).contains(code)) {
            return Ok((output.into(), code));
        }
        let stderr = stderr_bytes.unwrap_or_default();
        Err(rejection(&output, &stderr).unwrap_or_else(|| classify(&stderr, status.code())))
    }
}

/// Reads a stream to its end. `None` if `take` stops reading.
async fn read(
    mut stream: impl AsyncRead + Unpin,
    activity: &Activity,
    take: impl Fn(&mut Vec<u8>, &[u8]) -> bool,
) -> Option<Vec<u8>> {
    let (mut all, mut piece) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return Some(all),
            Ok(bytes) if take(&mut all, &piece[..bytes]) => activity.0.notify_one(),
            Ok(_) => return None,
        }
    }
}

/// Notifies about received output.
#[derive(Default)]
struct Activity(tokio::sync::Notify);

impl Activity {
    async fn watch<T>(&self, idle: Duration, work: impl Future<Output = T>) -> Result<T, GitFailure> {
        let silence = async { while timeout(idle, self.0.notified()).await.is_ok() {} };
        tokio::select! {
            done = work => Ok(done),
            () = silence => Err(GitFailure::TimedOut { waited: idle }),
        }
    }
}

/// A child process and its process group: Git starts child processes, which would outlive Git.
struct ProcessGroup(Child);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) =
            self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw)
        {
            // The processes may have exited already.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

/// True if Git inherits a variable of the user. Proxy variables are excluded: proxies are chosen per url.
fn is_passed(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let is_proxy = name.to_ascii_lowercase().ends_with("_proxy");
    !is_proxy && (!name.starts_with("GIT_") || PASSED_VARIABLES.contains(&&*name))
}
