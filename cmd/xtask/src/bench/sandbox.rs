use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

use super::{sample::median, scrubbed};

/// What a sandbox takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// From the start of its process until it answers.
    pub(super) ready: Duration,
    /// What its process holds then, in KiB; nothing where the system does not tell.
    pub(super) memory: Option<u64>,
}

/// Starts a sandbox again and again; each figure is the median of its own.
///
/// # Errors
/// When one does not start.
pub(super) fn median_start(program: &Path, folder: &Path, runs: usize) -> Result<Start> {
    let samples = (0..runs.max(1)).map(|_| start(program, folder)).collect::<Result<Vec<_>>>()?;
    Ok(Start {
        ready: median(samples.iter().map(|sample| sample.ready)),
        memory: median(samples.iter().map(|sample| sample.memory)),
    })
}

fn start(program: &Path, folder: &Path) -> Result<Start> {
    let mut command = scrubbed(program, folder);
    command.args(["sandbox", "start", "bench", "--foreground", "--in-memory", "--quiet"]);
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().context("stdout is piped")?;
    let mut line = String::new();
    // It is printed once connections are taken.
    let read = BufReader::new(stdout).read_line(&mut line);
    let ready = start.elapsed();
    let memory = resident(child.id());
    child.kill()?;
    child.wait()?;
    if read? == 0 {
        bail!("the sandbox did not start");
    }
    Ok(Start { ready, memory })
}

/// What a process holds in memory, in KiB.
fn resident(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok())
}
