mod input;
mod lifecycle;
mod sample;
mod sandbox;
mod table;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

pub(crate) use sample::{Measure, measure};

use crate::{environment, golden, say::say};

/// Measure a built binary, beside clusterctl where it is there. Nothing is asserted.
#[derive(clap::Args)]
pub(crate) struct Bench {
    /// The binary; without it the one of profile `ci`, then of `release`.
    binary: Option<PathBuf>,
    /// A clusterctl to stand beside it; without it the one on the PATH.
    #[arg(long)]
    peer: Option<PathBuf>,
    /// Runs of each command; the median counts.
    #[arg(long, default_value_t = 15)]
    runs: usize,
}

/// A command line that both programs understand, and what capstan may take of the peer's.
struct Case {
    name: &'static str,
    arguments: Vec<String>,
    target: Option<Target>,
}

/// What the design promises.
struct Target {
    /// Share of the peer's processor time, as one in so many.
    cpu: u32,
    /// Peak, in MiB.
    memory: u32,
}

/// Runs every case that its input is there for, and prints a table.
pub(crate) fn run(args: &Bench) -> Result<bool> {
    let Some(binary) = args.binary.clone().or_else(golden::built_binary) else {
        bail!("no binary is built; run `cargo build --profile ci --bin capstan`");
    };
    // Each run has a working folder of its own.
    let binary =
        binary.canonicalize().with_context(|| format!("there is no binary `{}`", binary.display()))?;
    let peer = args.peer.clone().or_else(|| on_path("clusterctl"));
    let folder = TempDir::new().context("cannot make a temporary folder")?;
    let cases = cases(folder.path())?;
    say(&format!("capstan:    {}", binary.display()));
    say(&peer.as_ref().map_or("clusterctl: not found; name one with --peer".to_owned(), |peer| {
        format!("clusterctl: {}", peer.display())
    }));
    let floor = sample::median_of(Path::new("true"), &[], folder.path(), 3)?.memory;
    let mut rows = Vec::new();
    for case in &cases {
        let measured = |program: &Path| sample::median_of(program, &case.arguments, folder.path(), args.runs);
        let ours = measured(&binary).with_context(|| format!("`{}` with capstan", case.name))?;
        let theirs = peer.as_deref().map(measured).transpose();
        rows.push(table::Row {
            case,
            ours,
            theirs: theirs.with_context(|| format!("`{}` with clusterctl", case.name))?,
        });
    }
    say(&table::render(&rows));
    say(&format!(
        "median of {} runs; cpu is user and system time; memory is the peak, and below {} MiB it cannot be told apart",
        args.runs,
        table::mib(floor)
    ));
    let start = sandbox::median_start(&binary, folder.path(), args.runs)?;
    say(&format!(
        "a sandbox answers {} ms after the start of its process, and holds {} MiB then",
        start.ready.as_millis(),
        start.memory.map_or_else(|| "?".to_owned(), table::mib)
    ));
    if let Some(text) = lifecycle::run(&binary, peer.as_deref(), folder.path())? {
        say(&text);
    }
    Ok(true)
}

/// Small, usual and large work.
fn cases(folder: &Path) -> Result<Vec<Case>> {
    let case = |name, parts: &[&[&str]], target| Case {
        name,
        arguments: parts.concat().into_iter().map(str::to_owned).collect(),
        target,
    };
    let target = |cpu, memory| Some(Target { cpu, memory });
    let mut cases = vec![case("version", &[&["version"]], target(5, 8))];
    let Some(input) = input::prepare(folder)? else {
        say("the corpus is not there; only `version` is measured");
        return Ok(cases);
    };
    let config: &[&str] = &["--config", &input.config];
    let cluster: &[&str] =
        &["generate", "cluster", "demo", "-i", "docker:v1.14.0", "-f", "development", "-n", "default"];
    let version: &[&str] = &["--kubernetes-version", "v1.35.0"];
    let core: &[&str] = &["generate", "provider", "--core"];
    cases.push(case("generate cluster, ClusterClass", &[cluster, version, config], target(6, 14)));
    cases.push(case("generate provider --core", &[core, &["cluster-api:v1.14.0"], config], target(6, 30)));
    cases.push(case("the same, 10 times as large", &[core, &["cluster-api:v9.0.0"], config], None));
    Ok(cases)
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = environment::variable("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A command in a world of its own: no home to read settings from, no network asked.
fn scrubbed(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("HOME", folder).env("PATH", "/usr/bin:/bin").current_dir(folder);
    command.env("CLUSTERCTL_DISABLE_VERSIONCHECK", "true").env("KUBECONFIG", folder.join("none"));
    command
}
