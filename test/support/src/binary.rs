//! The built binary in an isolated environment.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use tempfile::TempDir;

use crate::screen::without_varying_parts;

/// An isolated environment for the binary: an empty home folder, a working folder, and no inherited environment
/// variables.
#[derive(Debug)]
pub struct TestEnvironment {
    binary: PathBuf,
    root: TempDir,
    variables: BTreeMap<OsString, OsString>,
}

/// A run of the binary that goes on, killed on drop.
#[derive(Debug)]
pub struct RunningBinary(Child);

impl RunningBinary {
    /// Waits for the end of the binary. True if it succeeded.
    ///
    /// # Panics
    /// Panics if the process cannot be waited for.
    pub fn wait(&mut self) -> bool {
        self.0.wait().expect("the binary under test can be waited for").success()
    }
}

impl Drop for RunningBinary {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The result of a run, with paths replaced by names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutput {
    /// The exit status. At least 128 if a signal killed the process.
    pub status: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl TestEnvironment {
    /// Takes the path of the binary. Only the tests of its own crate know the path: `env!("CARGO_BIN_EXE_capstan")`.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let root = TempDir::new().expect("a temporary folder can be created");
        let world = Self { binary: binary.into(), root, variables: BTreeMap::new() };
        for folder in [world.home(), world.current_dir(), world.bin()] {
            fs::create_dir_all(folder).expect("a folder in a fresh folder can be created");
        }
        world
    }

    /// `$HOME`.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The working folder.
    pub fn current_dir(&self) -> PathBuf {
        self.root.path().join("cwd")
    }

    /// The only folder on `PATH`.
    pub fn bin(&self) -> PathBuf {
        self.root.path().join("bin")
    }

    /// The first default path of the configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.home().join(".config/cluster-api/clusterctl.yaml")
    }

    /// Writes a file. A relative path starts at the working folder.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.current_dir().join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("a folder of this world can be created");
        }
        fs::write(&path, content).expect("a file of this world can be written");
        path
    }

    /// Writes the user's configuration file.
    pub fn configure(&self, content: impl AsRef<[u8]>) -> PathBuf {
        self.write(self.config_file(), content)
    }

    /// Adds an executable shell script to `PATH`.
    #[cfg(unix)]
    pub fn script(&self, name: &str, body: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.write(self.bin().join(name), format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .expect("our own file can be made executable");
        path
    }

    /// Reads a file. A relative path starts at the working folder.
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.current_dir().join(path);
        let text = fs::read_to_string(&path);
        self.replace_paths(&text.unwrap_or_else(|error| format!("cannot read {}: {error}", path.display())))
    }

    /// Sets an environment variable for all following runs.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// The paths of all files in this environment, for tests of leftover files.
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    _ => files.push(self.replace_paths(&entry.path().display().to_string())),
                }
            }
        }
        files.sort();
        files
    }

    /// Creates the command without running it, for tests that need their own streams.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .current_dir(self.current_dir())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", self.bin())
            .envs(&self.variables);
        // On Windows, a process needs this variable to resolve host names.
        if let Some(root) = option_env!("SystemRoot") {
            command.env("SystemRoot", root);
        }
        command
    }

    /// Runs the binary with empty standard input.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> RunOutput {
        self.finish(self.command(arguments), b"")
    }

    /// Runs the binary with arguments split at whitespace.
    pub fn run_line(&self, line: &str) -> RunOutput {
        self.run(line.split_whitespace())
    }

    /// Runs the binary like [`TestEnvironment::run_line`] and expects success.
    ///
    /// # Panics
    /// Panics if the run fails.
    #[track_caller]
    pub fn run_expecting_success(&self, line: &str) -> RunOutput {
        let run = self.run_line(line);
        assert_eq!(run.status, 0, "{line}\n{run}");
        run
    }

    /// Runs the binary like [`TestEnvironment::run_line`] and expects failure without output. Returns standard error.
    ///
    /// # Panics
    /// Panics if the status is not 1 or standard output is not empty.
    #[track_caller]
    pub fn run_expecting_failure(&self, line: &str) -> String {
        let run = self.run_line(line);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{line}\n{run}");
        run.stderr
    }

    /// Runs the binary like [`Self::run_line`] with each line. Returns all screens as one text.
    pub fn screens<L: AsRef<str>>(&self, lines: impl IntoIterator<Item = L>) -> String {
        let screen = |line: L| format!("$ capstan {}\n{}", line.as_ref(), self.run_line(line.as_ref()));
        lines.into_iter().map(screen).collect::<Vec<_>>().join("\n")
    }

    /// Starts the binary with the words of a line, without its output.
    ///
    /// # Panics
    /// Panics if the binary does not start.
    pub fn start(&self, line: &str) -> RunningBinary {
        let mut command = self.command(line.split_whitespace());
        let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        RunningBinary(silent.spawn().expect("the binary starts"))
    }

    /// Runs the binary with this standard input.
    pub fn run_with_stdin<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        stdin: impl AsRef<[u8]>,
    ) -> RunOutput {
        self.finish(self.command(arguments), stdin.as_ref())
    }

    /// Runs the binary under another program name.
    #[cfg(unix)]
    pub fn run_as<A: AsRef<OsStr>>(&self, name: &str, arguments: impl IntoIterator<Item = A>) -> RunOutput {
        use std::os::unix::process::CommandExt as _;
        let mut command = self.command(arguments);
        command.arg0(name);
        self.finish(command, b"")
    }

    /// Runs the binary with a limit on writable memory. A signal kills a run that exceeds the limit.
    #[cfg(target_os = "linux")]
    pub fn run_in_memory(&self, line: &str, mebibytes: usize) -> RunOutput {
        let command = self.command(line.split_whitespace());
        let mut limited = Command::new("/bin/sh");
        limited
            .args(["-c", &format!("ulimit -d {}; exec \"$0\" \"$@\"", mebibytes * 1024)])
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(self.current_dir())
            .env_clear()
            .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        self.finish(limited, b"")
    }

    /// Runs a suggested command in a shell of this environment. Commands of capstan only print their help, and
    /// `kubectl` only prints its arguments.
    ///
    /// # Panics
    /// Panics if there is no shell.
    #[cfg(unix)]
    pub fn run_suggestion(&self, command: &str) -> RunOutput {
        for name in ["capstan", "clusterctl"] {
            let link = self.bin().join(name);
            if !link.exists() {
                std::os::unix::fs::symlink(&self.binary, link)
                    .expect("a link into a fresh folder can be created");
            }
        }
        self.script("kubectl", "echo \"kubectl $*\"");
        let parts = command.split(" | ").map(|part| match part.split_once(' ') {
            Some(("capstan" | "clusterctl", _)) => format!("{part} --help"),
            _ => part.to_owned(),
        });
        let line = self.restore_paths(&parts.collect::<Vec<_>>().join(" | "));
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", &line])
            .current_dir(self.current_dir())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", self.bin())
            .envs(&self.variables);
        self.finish(shell, b"")
    }

    fn finish(&self, mut command: Command, stdin: &[u8]) -> RunOutput {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary under test can be started");
        // A run may exit without reading its input, which closes the pipe.
        let _ = child.stdin.take().expect("stdin is piped").write_all(stdin);
        self.to_output(&child.wait_with_output().expect("the binary under test can be waited for"))
    }

    /// Converts the output of a command that was started separately.
    pub fn to_output(&self, output: &Output) -> RunOutput {
        RunOutput {
            status: code(output.status),
            stdout: self.replace_paths(&String::from_utf8_lossy(&output.stdout)),
            stderr: self.replace_paths(&String::from_utf8_lossy(&output.stderr)),
        }
    }

    /// Replaces paths of this environment by names.
    fn replace_paths(&self, text: &str) -> String {
        let named = self.named_paths();
        named
            .iter()
            .fold(text.to_owned(), |text, (path, name)| text.replace(&path.display().to_string(), name))
    }

    /// Replaces names by paths of this environment.
    fn restore_paths(&self, text: &str) -> String {
        let named = self.named_paths();
        named
            .iter()
            .fold(text.to_owned(), |text, (path, name)| text.replace(name, &path.display().to_string()))
    }

    fn named_paths(&self) -> [(PathBuf, &'static str); 3] {
        [(self.home(), "[HOME]"), (self.current_dir(), "[CWD]"), (self.bin(), "[BIN]")]
    }
}

impl RunOutput {
    /// The exit status and standard error. Of a failed run, only the error, because progress before it varies.
    pub fn messages(&self) -> String {
        let at = self.stderr.find("error: ").unwrap_or_default();
        let messages = Self { stderr: self.stderr[at..].to_owned(), stdout: String::new(), ..*self };
        messages.to_string()
    }

    /// The suggested commands in both streams, enclosed in backticks or on a separate line.
    pub fn suggested_commands(&self) -> Vec<String> {
        let is_command = |text: &str| {
            let program = text.split_once(' ').map(|(program, _)| program);
            matches!(program, Some("capstan" | "clusterctl" | "kubectl"))
        };
        let streams = [&self.stdout, &self.stderr];
        let lines = streams.into_iter().flat_map(|stream| stream.lines());
        let candidates = lines.flat_map(|line| {
            let spans = line.split('`').enumerate().filter(|(at, _)| at % 2 == 1).map(|(_, span)| span);
            spans.chain([line.trim()]).map(str::to_owned).collect::<Vec<_>>()
        });
        candidates.filter(|text| is_command(text)).collect()
    }
}

#[cfg(unix)]
fn code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

#[cfg(not(unix))]
fn code(status: std::process::ExitStatus) -> i32 {
    status.code().unwrap_or(-1)
}

/// Writes both streams, with parts that vary from run to run as `[..]`.
impl fmt::Display for RunOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "exit {}", self.status)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(f, "--- {name}")?;
                f.write_str(&without_varying_parts(text))?;
                if !text.ends_with('\n') {
                    writeln!(f, "[no line end]")?;
                }
            }
        }
        Ok(())
    }
}
