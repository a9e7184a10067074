//! The figures of a run, and how a command is run to get them.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

use crate::print::print_line;

/// The measured programs.
pub(super) struct Programs {
    pub(super) capstan: PathBuf,
    pub(super) reference: Option<PathBuf>,
}

/// The figures of a run, or the medians of several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Measurement {
    pub(super) wall: Duration,
    /// The sum of user and system time.
    pub(super) cpu: Duration,
    /// The peak, in KiB.
    pub(super) memory: u64,
    /// Requests to the servers; none if there is no server.
    pub(super) requests: Option<usize>,
}

impl Measurement {
    /// The median of each figure separately.
    pub(super) fn median(of: &[Self]) -> Self {
        Self {
            wall: median(of.iter().map(|figures| figures.wall)),
            cpu: median(of.iter().map(|figures| figures.cpu)),
            memory: median(of.iter().map(|figures| figures.memory)),
            requests: median(of.iter().map(|figures| figures.requests)),
        }
    }
}

pub(super) fn median<T: Ord + Copy + Default>(values: impl Iterator<Item = T>) -> T {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Used by `bench`: run a command and print its figures.
///
/// The system reports the peak memory of all children of a process together, so each run gets a process of its own.
#[derive(clap::Args)]
pub(crate) struct Measure {
    #[arg(trailing_var_arg = true, required = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Prints microseconds of wall time, microseconds of processor time, and KiB.
pub(crate) fn measure(args: &Measure) -> Result<bool> {
    let (program, arguments) = args.command.split_first().context("no command")?;
    let start = Instant::now();
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    let wall = start.elapsed();
    let (cpu, memory) = used_by_children()?;
    print_line(&format!("{} {} {memory}", wall.as_micros(), cpu.as_micros()));
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
    // Linux counts KiB, macOS bytes.
    let unit = if cfg!(target_os = "macos") { 1024 } else { 1 };
    Ok((Duration::from_micros(u64::try_from(micros)?), u64::try_from(usage.max_rss())? / unit))
}

#[cfg(not(unix))]
fn used_by_children() -> Result<(Duration, u64)> {
    bail!("this system does not report the figures of a child process")
}

/// Runs a command once.
///
/// # Errors
/// If the command fails, its standard error.
pub(super) fn measure_once(program: &Path, arguments: &[String], home: &Path) -> Result<Measurement> {
    let own = std::env::current_exe().context("cannot find the path of this program")?;
    let output = clean_command(&own, home).args(["measure", "--"]).arg(program).args(arguments).output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    parse(&String::from_utf8_lossy(&output.stdout)).context("a run printed no figures")
}

fn parse(line: &str) -> Option<Measurement> {
    let mut numbers = line.split_whitespace().map(str::parse::<u64>);
    let mut next = || numbers.next()?.ok();
    let (wall, cpu) = (Duration::from_micros(next()?), Duration::from_micros(next()?));
    Some(Measurement { wall, cpu, memory: next()?, requests: None })
}

/// A command with an empty home folder and without the environment of this process.
pub(super) fn clean_command(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin").current_dir(home);
    command.env("CLUSTERCTL_DISABLE_VERSIONCHECK", "true").env("KUBECONFIG", home.join("none"));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_not_moved_by_one_slow_run() {
        assert_eq!(median([3, 1, 900].into_iter()), 3);
        assert_eq!(median(std::iter::empty::<u64>()), 0);
    }

    #[test]
    fn each_figure_has_its_own_median() {
        let run = |millis, memory| Measurement {
            wall: Duration::from_millis(millis),
            memory,
            requests: Some(9),
            ..Measurement::default()
        };
        let median = Measurement::median(&[run(1, 30), run(2, 10), run(3, 20)]);
        assert_eq!(median, run(2, 20));
    }

    #[test]
    fn printed_figures_are_parsed_back() {
        let (wall, cpu) = (Duration::from_micros(1500), Duration::from_micros(900));
        let figures = Measurement { wall, cpu, memory: 4096, requests: None };
        assert_eq!(parse("1500 900 4096\n"), Some(figures));
        assert_eq!(parse("1500\n"), None);
    }
}
