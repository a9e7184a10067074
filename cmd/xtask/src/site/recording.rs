use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use super::ansi::{Span, parse_line};

/// A line of output, and the time from the start of the command to the line.
pub(super) struct RecordedLine {
    pub(super) at: Duration,
    pub(super) spans: Vec<Span>,
}

/// The tour of capstan in a home folder of its own. Dropping the value removes its sandboxes.
pub(super) struct Tour {
    binary: PathBuf,
    home: TempDir,
}

impl Tour {
    /// The command line of the tour, for people.
    pub(super) const COMMAND: &str = "capstan quickstart";

    pub(super) fn new(binary: &Path) -> Result<Self> {
        let binary = binary.canonicalize().with_context(|| format!("cannot find `{}`", binary.display()))?;
        Ok(Self { binary, home: tempfile::tempdir().context("cannot make a folder")? })
    }

    /// Runs the tour and returns the lines of both streams with their times.
    pub(super) fn record(&self) -> Result<Vec<RecordedLine>> {
        let start = Instant::now();
        let (reader, writer) = std::io::pipe().context("cannot make a pipe")?;
        let mut command = self.command();
        command.args(["quickstart", "--color", "always"]);
        command.stdout(writer.try_clone()?).stderr(writer);
        let mut child =
            command.spawn().with_context(|| format!("cannot start `{}`", self.binary.display()))?;
        // The command holds the writing end, which would keep the pipe open.
        drop(command);
        let home = self.home.path().display().to_string();
        let mut lines = Vec::new();
        for line in BufReader::new(reader).lines() {
            let line = line.context("cannot read the output of the tour")?.replace(&home, "~");
            lines.push(RecordedLine { at: start.elapsed(), spans: parse_line(&line) });
        }
        let status = child.wait().context("cannot wait for the tour")?;
        if !status.success() {
            bail!("`{}` failed with {status}", Self::COMMAND);
        }
        Ok(lines)
    }

    /// Returns the page with the owner graph of the workload cluster.
    pub(super) fn graph(&self) -> Result<String> {
        let mut command = self.command();
        command.args(["graph", "--all-namespaces", "--sandbox", "tour-b", "-o", "html"]);
        let output = command.output().context("cannot draw the graph")?;
        if !output.status.success() {
            bail!("cannot draw the graph: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        String::from_utf8(output.stdout).context("the graph is not valid UTF-8")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.env_clear().env("HOME", self.home.path()).env("TERM", "xterm-256color");
        command.current_dir(self.home.path()).stdin(Stdio::null());
        command
    }
}

impl Drop for Tour {
    fn drop(&mut self) {
        // The tour may have failed before it made a sandbox.
        let _ = self.command().args(["quickstart", "--remove", "--quiet"]).output();
    }
}
