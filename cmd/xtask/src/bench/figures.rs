//! The figures of a run, and how a command is run to get them.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};

use crate::workspace::{self, cargo_output};

/// The program that runs a command and prints its figures.
const MEASURE: &str = "measure";

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

/// Builds the program that runs a command and prints its figures.
///
/// # Errors
/// If cargo fails.
pub(super) fn build_measure() -> Result<()> {
    cargo_output(&["build", "--quiet", "--locked", "--package", "xtask", "--bin", MEASURE]).map(drop)
}

/// Runs a command once.
///
/// # Errors
/// If the command fails, its standard error.
pub(super) fn measure_once(program: &Path, arguments: &[String], home: &Path) -> Result<Measurement> {
    let measure = workspace::target().join("debug").join(MEASURE);
    let output = clean_command(&measure, home).arg(program).args(arguments).output()?;
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
