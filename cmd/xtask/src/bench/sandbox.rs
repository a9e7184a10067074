use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

use super::{
    figures::median,
    route::{Side, is_program},
    sample::scrubbed,
};

/// The maximum wait until providers are ready, and the polling interval.
const PATIENCE: Duration = Duration::from_mins(2);
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The startup figures of a sandbox.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// The time from process start until the sandbox accepts connections.
    pub(super) ready: Duration,
    /// The memory of the process at this time, in KiB. `None` if the system does not report memory.
    pub(super) memory: Option<u64>,
}

/// Starts a sandbox several times. Returns the median of each figure.
///
/// # Errors
/// Fails if a sandbox does not start.
pub(super) fn median_start(program: &Path, folder: &Path, runs: usize) -> Result<Start> {
    let starts = (0..runs.max(1)).map(|_| Ok(Running::start(program, folder, &Setup::default())?.start));
    let starts = starts.collect::<Result<Vec<_>>>()?;
    Ok(Start {
        ready: median(starts.iter().map(|start| start.ready)),
        memory: median(starts.iter().map(|start| start.memory)),
    })
}

/// The options of a sandbox.
#[derive(Clone, Copy)]
pub(super) struct Setup<'a> {
    /// The name, unique among concurrent sandboxes.
    pub(super) name: &'a str,
    /// The data folder. `None` keeps objects in memory.
    pub(super) data: Option<&'a Path>,
    pub(super) flags: &'a [&'a str],
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self { name: "bench", data: None, flags: &[] }
    }
}

/// A sandbox in a separate process, started from the measured optimised binary. Dropping the value stops the sandbox.
pub(super) struct Running<'a> {
    program: &'a Path,
    folder: &'a Path,
    name: String,
    process: Child,
    pub(super) kubeconfig: PathBuf,
    pub(super) start: Start,
}

impl<'a> Running<'a> {
    /// Starts a sandbox.
    ///
    /// # Errors
    /// Fails if the sandbox does not start.
    pub(super) fn start(program: &'a Path, folder: &'a Path, setup: &Setup<'_>) -> Result<Self> {
        let mut command = scrubbed(program, folder);
        command.args(["sandbox", "start", setup.name, "--foreground", "--quiet"]).args(setup.flags);
        match setup.data {
            Some(data) => command.arg("--data-dir").arg(data),
            None => command.arg("--in-memory"),
        };
        let start = Instant::now();
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let stdout = process.stdout.take().context("stdout is piped")?;
        let mut line = String::new();
        // The sandbox prints the line once it accepts connections.
        let read = BufReader::new(stdout).read_line(&mut line);
        let start = Start { ready: start.elapsed(), memory: resident(process.id()) };
        let (name, kubeconfig) = (setup.name.to_owned(), PathBuf::from(line.trim_end()));
        let running = Self { program, folder, name, process, kubeconfig, start };
        if read? == 0 {
            bail!("the sandbox did not start");
        }
        Ok(running)
    }

    /// Waits until all providers are ready, so that remaining work of one verb does not slow down the next.
    ///
    /// # Errors
    /// Fails if the providers do not become ready.
    pub(super) fn settle(&self) -> Result<()> {
        let kubeconfig = self.kubeconfig.display().to_string();
        let started = Instant::now();
        loop {
            let status = self.said(&["status", "-o", "json", "--kubeconfig", &kubeconfig])?;
            let status: serde_json::Value = serde_json::from_str(&status)?;
            let providers = status["providers"].as_array().context("a status lists providers")?;
            if providers.iter().all(|provider| provider["ready"] == true) {
                return Ok(());
            }
            if started.elapsed() > PATIENCE {
                bail!("the providers do not become ready: {status:#}");
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    fn said(&self, arguments: &[&str]) -> Result<String> {
        let output = self.command(arguments).output()?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = scrubbed(self.program, self.folder);
        command.args(arguments);
        command
    }
}

impl Side for Running<'_> {
    fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    fn requests(&self) -> Result<usize> {
        let log = self.said(&["sandbox", "logs", &self.name, "--requests"])?;
        Ok(log.lines().filter(|line| is_measured(line)).count())
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// True if a line of the log, `number code verb path client`, is a request of a measured program.
fn is_measured(line: &str) -> bool {
    is_program(line.rsplit('\t').next().unwrap_or_default())
}

/// The resident memory of a process, in KiB.
fn resident(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_both_programs_count_and_no_others() {
        let line = |client: &str| format!("7\t200\tpatch\t/api/v1/namespaces/a?fieldManager=x\t{client}");
        for client in ["capstan", "capstan/0.1.0", "clusterctl/v1.14.0", "clusterctl"] {
            assert!(is_measured(&line(client)), "{client}");
        }
        for client in ["test", "sandbox", "capstan-controller", ""] {
            assert!(!is_measured(&line(client)), "{client}");
        }
    }
}
