use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

use super::figures::Figures;
use crate::say::say;

/// The measured programs.
pub(super) struct Programs {
    pub(super) ours: PathBuf,
    pub(super) theirs: Option<PathBuf>,
}

/// Used by `bench`: run a command and print its resource usage.
///
/// The operating system reports the peak memory of all children of a process together, so each run needs its own
/// process.
#[derive(clap::Args)]
pub(crate) struct Measure {
    #[arg(trailing_var_arg = true, required = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Prints wall time and processor time in microseconds, and memory in KiB.
pub(crate) fn measure(args: &Measure) -> Result<bool> {
    let (program, arguments) = args.command.split_first().context("no command")?;
    let start = Instant::now();
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    let wall = start.elapsed();
    let (cpu, memory) = used_by_children()?;
    say(&format!("{} {} {memory}", wall.as_micros(), cpu.as_micros()));
    Ok(status.success())
}

#[cfg(unix)]
fn used_by_children() -> Result<(Duration, u64)> {
    use nix::sys::{
        resource::{UsageWho, getrusage},
        time::TimeValLike as _,
    };
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    // Linux reports KiB, macOS bytes.
    let unit = if cfg!(target_os = "macos") { 1024 } else { 1 };
    Ok((Duration::from_micros(u64::try_from(micros)?), u64::try_from(usage.max_rss())? / unit))
}

#[cfg(not(unix))]
fn used_by_children() -> Result<(Duration, u64)> {
    bail!("this system does not tell what a child process took")
}

/// Runs a command several times. Returns the median of each figure.
///
/// # Errors
/// Fails if a run fails, because figures for incomplete work would be meaningless.
pub(super) fn median_of(program: &Path, arguments: &[String], folder: &Path, runs: usize) -> Result<Figures> {
    let runs: Vec<Figures> =
        (0..runs.max(1)).map(|_| once(program, arguments, folder)).collect::<Result<_>>()?;
    Ok(Figures::median(&runs))
}

/// Runs a command once.
///
/// # Errors
/// Fails with the output of the command if the command fails.
pub(super) fn once(program: &Path, arguments: &[String], folder: &Path) -> Result<Figures> {
    let own = std::env::current_exe().context("cannot tell the path of this program")?;
    let output = scrubbed(&own, folder).args(["measure", "--"]).arg(program).args(arguments).output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    parse(&String::from_utf8_lossy(&output.stdout)).context("a run told no figures")
}

fn parse(line: &str) -> Option<Figures> {
    let mut numbers = line.split_whitespace().map(str::parse::<u64>);
    let mut next = || numbers.next()?.ok();
    let (wall, cpu, memory) = (next()?, next()?, next()?);
    Some(Figures {
        wall: Duration::from_micros(wall),
        cpu: Duration::from_micros(cpu),
        memory,
        requests: None,
    })
}

/// A command in an isolated environment: an empty home, no kubeconfig, no version check over the network.
pub(super) fn scrubbed(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("HOME", folder).env("PATH", "/usr/bin:/bin").current_dir(folder);
    command.env("CLUSTERCTL_DISABLE_VERSIONCHECK", "true").env("KUBECONFIG", folder.join("none"));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_back_as_they_are_printed() {
        let (wall, cpu) = (Duration::from_micros(1500), Duration::from_micros(900));
        let figures = Figures { wall, cpu, memory: 4096, requests: None };
        assert_eq!(parse("1500 900 4096\n"), Some(figures));
        assert_eq!(parse("1500\n"), None);
    }
}
