//! Runs the `git` program: in an environment of its own, without prompts, within limits, and not longer than it is
//! waited for.

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

use super::failure::{GitFailure, classify};

/// Set for every run: no hook and no monitor of the user runs for a repository of somebody else, no module is fetched
/// unasked, nothing goes on in the background, and names that other systems read differently are refused.
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

/// Variables of Git that say how to reach somebody; all others say what to work on, which is not theirs to say here.
const KEPT: [&str; 14] = [
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

/// The most that is kept of what Git complains about.
const MOST_COMPLAINTS: usize = 64 << 10;

/// The `git` program and what it is told of the world. Nothing is read from the environment of this process.
#[derive(Clone)]
pub struct GitSettings {
    /// Name or path of the program; a name is looked up in `PATH` of the variables.
    pub program: PathBuf,
    /// The variables of the user: where Git, ssh and their helpers find programs, keys and configuration.
    ///
    /// Shape: those of Git that say how to reach a host go on (`GIT_SSH_COMMAND`, `GIT_CONFIG_GLOBAL`, …), those that
    /// say what to work on (`GIT_DIR`, …) do not; proxies are chosen by [`transport::ProxySettings`] alone.
    pub variables: Vec<(OsString, OsString)>,
}

impl Default for GitSettings {
    fn default() -> Self {
        Self { program: PathBuf::from("git"), variables: Vec::new() }
    }
}

impl fmt::Debug for GitSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The variables may hold passwords.
        f.debug_struct("GitSettings").field("program", &self.program).finish_non_exhaustive()
    }
}

/// One run of Git.
pub(super) struct Run {
    command: Command,
    input: Vec<u8>,
    /// The longest time without a byte; none where Git works on this machine alone.
    idle: Option<Duration>,
    limit_bytes: u64,
}

impl Run {
    /// A run of `git {arguments}` with the settings' environment.
    pub(super) fn new<A: AsRef<OsStr>>(
        settings: &GitSettings,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let mut command = Command::new(&settings.program);
        command.env_clear().envs(settings.variables.iter().filter(|(name, _)| is_kept(name)).cloned());
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GCM_INTERACTIVE", "never");
        // Replaced objects and grafts would show other content than the hash names.
        command.env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_OPTIONAL_LOCKS", "0");
        for setting in CONFIG {
            command.args(["-c", setting]);
        }
        command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        Self { command, input: Vec::new(), idle: None, limit_bytes: 256 << 20 }
    }

    /// A run on a clone.
    pub(super) fn on<A: AsRef<OsStr>>(
        settings: &GitSettings,
        clone: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let mut folder = OsString::from("--git-dir=");
        folder.push(clone);
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned());
        Self::new(settings, std::iter::once(folder).chain(arguments))
    }

    /// Sets a variable.
    pub(super) fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Shows a secret to the run alone.
    pub(super) fn secret(self, name: &str, secret: &Secret) -> Self {
        self.variable(name, secret.expose())
    }

    /// Feeds its standard input.
    pub(super) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Gives up when nothing comes for so long.
    pub(super) fn idle(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self
    }

    /// Takes no more output than this.
    pub(super) fn limit(mut self, limit_bytes: u64) -> Self {
        self.limit_bytes = limit_bytes;
        self
    }

    /// Runs it to its end. Dropping the future ends Git and all it has started.
    /// # Errors
    /// What Git complains about, read; [`GitFailure::TooMuch`] beyond the limit.
    pub(super) fn output(self) -> BoxFuture<'static, Result<Bytes, GitFailure>> {
        // Boxed once here: it is part of many futures.
        self.run_to_end().boxed()
    }

    async fn run_to_end(mut self) -> Result<Bytes, GitFailure> {
        let program = self.command.as_std().get_program().to_string_lossy().into_owned();
        let child = self.command.spawn().map_err(|source| GitFailure::Program { program, source })?;
        let mut child = Group(child);
        let mut stdin = child.0.stdin.take().expect("stdin is a pipe");
        let stdout = child.0.stdout.take().expect("stdout is a pipe");
        let stderr = child.0.stderr.take().expect("stderr is a pipe");
        let feed = async move {
            // One that does not read on says why by its complaint.
            let _ = stdin.write_all(&self.input).await;
        };
        let (heard, limit_bytes) = (Heard::default(), self.limit_bytes);
        let read = async {
            tokio::join!(
                feed,
                read(stdout, &heard, |all, piece| {
                    all.extend_from_slice(piece);
                    all.len() as u64 <= limit_bytes
                }),
                read(stderr, &heard, |all, piece| {
                    // Progress may be long; the complaint is at its end.
                    all.extend_from_slice(piece);
                    let surplus = all.len().saturating_sub(MOST_COMPLAINTS);
                    all.drain(..surplus);
                    true
                }),
            )
        };
        let ((), output, complaints) = match self.idle {
            Some(idle) => heard.watch(idle, read).await?,
            None => read.await,
        };
        let output = output.ok_or(GitFailure::TooMuch { limit_bytes })?;
        let status = child.0.wait().await.map_err(|source| GitFailure::Pipe { source })?;
        if status.success() {
            return Ok(output.into());
        }
        Err(classify(&complaints.unwrap_or_default(), status.code()))
    }
}

/// Reads a stream to its end; none when `take` has enough.
async fn read(
    mut stream: impl AsyncRead + Unpin,
    heard: &Heard,
    take: impl Fn(&mut Vec<u8>, &[u8]) -> bool,
) -> Option<Vec<u8>> {
    let (mut all, mut piece) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return Some(all),
            Ok(bytes) if take(&mut all, &piece[..bytes]) => heard.0.notify_one(),
            Ok(_) => return None,
        }
    }
}

/// Tells of every byte that comes.
#[derive(Default)]
struct Heard(tokio::sync::Notify);

impl Heard {
    async fn watch<T>(&self, idle: Duration, work: impl Future<Output = T>) -> Result<T, GitFailure> {
        let silence = async { while timeout(idle, self.0.notified()).await.is_ok() {} };
        tokio::select! {
            done = work => Ok(done),
            () = silence => Err(GitFailure::TimedOut { waited: idle }),
        }
    }
}

/// A child with its children: Git starts programs that fetch, and they would outlive it.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) =
            self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw)
        {
            // They may be gone already.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

/// Whether a variable of the user is handed on; proxies are not, as they are chosen by address.
fn is_kept(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let is_proxy = name.to_ascii_lowercase().ends_with("_proxy");
    !is_proxy && (!name.starts_with("GIT_") || KEPT.contains(&&*name))
}
