//! A server in a process of its own.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::client::{Protocol, Wire};

/// A child that serves until it is dropped.
pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    pub(crate) wire: Wire,
}

impl Process {
    /// Starts a server that prints where its kubeconfig is.
    pub(crate) fn start(mut command: Command, protocol: Protocol) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take();
        let mut line = String::new();
        let stdout = child.stdout.take().context("stdout is not piped")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line).context("the server does not start")?;
        let kubeconfig = said["kubeconfig"].as_str().context("the server names no kubeconfig")?;
        Ok(Self { child, stdin, wire: Wire::read(Path::new(kubeconfig), protocol)? })
    }

    /// This program as a server, with these words.
    pub(crate) fn sandbox(folder: &Path, words: &[&str]) -> Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("serve").arg(folder).args(words);
        Ok(command)
    }

    /// The memory it takes, in bytes; where the system does not tell, none.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.status("VmRSS:")
    }

    /// The most it took since [`Process::forget_peak`].
    pub(crate) fn peak(&self) -> Option<u64> {
        self.status("VmHWM:")
    }

    pub(crate) fn forget_peak(&self) {
        // Where there is no such file there is no peak either.
        let _ = fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5");
    }

    fn status(&self, name: &str) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let kib = text.lines().find_map(|line| line.strip_prefix(name))?.trim().strip_suffix(" kB")?;
        kib.parse::<u64>().ok().map(|kib| kib * 1024)
    }
}

/// The processor time a process has taken, this one for none; where the system does not tell, none.
pub(crate) fn busy(process: Option<&Process>) -> Option<Duration> {
    /// What the kernel counts in, on every platform.
    const TICK: Duration = Duration::from_millis(10);
    let id = process.map_or("self".to_owned(), |process| process.child.id().to_string());
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name, which may hold anything, ends with the last bracket; user and system time are 12th and 13th behind it.
    let mut words = text.rsplit_once(") ")?.1.split(' ').skip(11);
    let mut ticks = || words.next()?.parse::<u32>().ok();
    Some(TICK * (ticks()? + ticks()?))
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}
