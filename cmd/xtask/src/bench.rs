mod figures;
mod fleet;
mod input;
mod judge;
mod kustomize;
mod lifecycle;
mod moves;
mod population;
mod providers;
mod real;
mod route;
mod sample;
mod sandbox;
mod supply;
mod table;
mod unrelated;
mod web;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

pub(crate) use sample::{Measure, measure};

use self::{
    judge::Target,
    sample::{Programs, scrubbed},
    table::Row,
};
use crate::{golden, say::say, workspace};

/// Measure a built binary, and clusterctl for comparison if available. The results are not enforced.
#[derive(clap::Args)]
pub(crate) struct Bench {
    /// The binary to measure. Default: the `ci` build, then the `release` build.
    binary: Option<PathBuf>,
    /// The clusterctl to compare with. Default: `clusterctl` on the PATH.
    #[arg(long)]
    peer: Option<PathBuf>,
    /// The number of runs of each command. The median is reported.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Measure only this part. The fleet takes minutes and is measured only if named here.
    #[arg(long, value_name = "PART")]
    only: Option<Part>,
    /// The number of clusters of the fleet [default: 1000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    clusters: Option<u16>,
    /// A kubectl for comparison of kustomization builds. Default: no comparison.
    #[arg(long, value_name = "PATH")]
    kubectl: Option<PathBuf>,
    /// A checkout of Cluster API whose kustomizations are built.
    #[arg(long, value_name = "DIR")]
    trees: Option<PathBuf>,
    /// Move the fleet between two real API servers, as built by `cargo xtask apiserver`.
    #[arg(long)]
    real: bool,
}

/// A part that can be measured separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Commands,
    Kustomize,
    Lifecycle,
    Moves,
    Supply,
    /// One move of a thousand clusters.
    Fleet,
}

impl Bench {
    fn measures(&self, part: Part) -> bool {
        self.only.map_or(part != Part::Fleet, |only| only == part)
    }

    fn check(&self) -> Result<()> {
        let of_fleet = [("--real", self.real), ("--clusters", self.clusters.is_some())];
        match of_fleet.iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) if self.only != Some(Part::Fleet) => {
                bail!("`{flag}` is for the fleet alone; give `--only fleet` with it")
            }
            _ => Ok(()),
        }
    }
}

/// The maximum size of the binary, in bytes.
const LARGEST_BINARY: u64 = 20_000_000;

/// A command line for both programs, with the performance targets of the design.
struct Case {
    name: &'static str,
    arguments: Vec<String>,
    targets: Vec<Target>,
}

/// Runs every case whose input is available, and prints tables.
pub(crate) fn run(args: &Bench) -> Result<bool> {
    args.check()?;
    let programs = programs(args)?;
    let folder = TempDir::new().context("cannot make a temporary folder")?;
    let folder = folder.path();
    say(&format!("capstan:    {} {}", version(&programs.ours, folder)?, programs.ours.display()));
    say(&match &programs.theirs {
        Some(peer) => format!("clusterctl: {} {}", version(peer, folder)?, peer.display()),
        None => "clusterctl: not found; name one with --peer".to_owned(),
    });
    if args.measures(Part::Commands) {
        run_commands(&programs, folder, args.runs)?;
    }
    if args.measures(Part::Kustomize) {
        run_kustomize(args, &programs, folder)?;
    }
    if args.measures(Part::Lifecycle)
        && let Some(text) = lifecycle::run(&programs, folder, args.runs)?
    {
        say(&text);
    }
    if args.measures(Part::Moves) {
        say(&moves::run(&programs, folder, args.runs)?);
    }
    if args.measures(Part::Supply)
        && let Some(text) = supply::run(&programs, folder, args.runs)?
    {
        say(&text);
    }
    if args.measures(Part::Fleet) {
        let clusters = args.clusters.map_or(fleet::CLUSTERS, usize::from);
        let between = if args.real { fleet::between_real_servers } else { fleet::between_sandboxes };
        say(&between(&programs, folder, clusters)?);
    }
    Ok(true)
}

fn run_kustomize(args: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    let kubectl = args.kubectl.as_deref().map(whole).transpose()?;
    let trees = args.trees.as_deref().map(whole).transpose()?;
    let (kubectl, trees) = (kubectl.as_deref(), trees.as_deref());
    let setup = kustomize::Setup { ours: &programs.ours, kubectl, trees, runs: args.runs };
    say(&kustomize::run(&setup, folder)?);
    Ok(())
}

/// Measures commands that need no server, and the start of a sandbox.
fn run_commands(programs: &Programs, folder: &Path, runs: usize) -> Result<()> {
    say(&table::render(&measure_cases(programs, folder, runs)?));
    let size = programs.ours.metadata()?.len();
    let verdict = if size <= LARGEST_BINARY { "met" } else { "not met" };
    say(&format!("the binary has {} KB; {} KB: {verdict}", size / 1000, LARGEST_BINARY / 1000));
    let floor = sample::median_of(Path::new("true"), &[], folder, 3)?.memory;
    say(&format!(
        "capstan first, then clusterctl; median of {} runs; processor time is that of user and system;\n\
         memory is the peak, and below {} it cannot be told apart",
        runs,
        table::mib(floor)
    ));
    let start = sandbox::median_start(&programs.ours, folder, runs)?;
    say(&format!(
        "a sandbox answers {} after the start of its process, and holds {} then",
        table::span(start.ready),
        start.memory.map_or_else(|| "an unknown amount".to_owned(), table::mib)
    ));
    Ok(())
}

fn programs(args: &Bench) -> Result<Programs> {
    let Some(binary) = args.binary.clone().or_else(golden::built_binary) else {
        bail!("no binary is built; run `cargo build --profile ci --bin capstan`");
    };
    let theirs = args.peer.clone().or_else(|| on_path("clusterctl"));
    Ok(Programs { ours: whole(&binary)?, theirs: theirs.as_deref().map(whole).transpose()? })
}

/// The absolute path. Needed because each run has its own working folder.
fn whole(path: &Path) -> Result<PathBuf> {
    path.canonicalize().with_context(|| format!("there is no `{}`", path.display()))
}

/// The version that a program reports. For capstan, the capstan version, not the version of the matching clusterctl.
fn version(program: &Path, folder: &Path) -> Result<String> {
    let output = scrubbed(program, folder).args(["version", "--output", "json"]).output()?;
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("`{}` does not tell its version", program.display()))?;
    let field = |name: &str| report["clusterctl"][name].as_str();
    let version = field("capstan").or_else(|| field("gitVersion"));
    Ok(version.context("a version is text")?.to_owned())
}

fn measure_cases(programs: &Programs, folder: &Path, runs: usize) -> Result<Vec<Row>> {
    let one = |case: Case| {
        let measured = |program: &Path| {
            sample::median_of(program, &case.arguments, folder, runs)
                .with_context(|| format!("`{}` with `{}`", case.name, program.display()))
        };
        let ours = measured(&programs.ours)?;
        let theirs = programs.theirs.as_deref().map(measured).transpose()?;
        Ok(Row { name: case.name.to_owned(), ours, theirs, alone: None, targets: case.targets })
    };
    cases(folder)?.into_iter().map(one).collect()
}

/// Cases of small, usual and large size.
fn cases(folder: &Path) -> Result<Vec<Case>> {
    let case = |name, parts: &[&[&str]], targets| Case {
        name,
        arguments: parts.concat().into_iter().map(str::to_owned).collect(),
        targets,
    };
    let targets = |cpu, memory| vec![Target::CpuShare(cpu), Target::Memory(memory)];
    let mut cases = vec![case("version", &[&["version"]], targets(5, 8))];
    let Some(input) = input::prepare(folder)? else {
        say("the corpus is not there; only `version` is measured");
        return Ok(cases);
    };
    let config: &[&str] = &["--config", &input.config];
    let cluster: &[&str] =
        &["generate", "cluster", "demo", "-i", "docker:v1.14.0", "-f", "development", "-n", "default"];
    let version: &[&str] = &["--kubernetes-version", "v1.35.0"];
    let core: &[&str] = &["generate", "provider", "--core"];
    let list: &[&str] = &["--list-variables"];
    cases.push(case("generate cluster --list-variables", &[cluster, list, config], targets(7, 14)));
    cases.push(case("generate cluster, ClusterClass", &[cluster, version, config], targets(6, 14)));
    cases.push(case("generate provider --core", &[core, &["cluster-api:v1.14.0"], config], targets(6, 30)));
    cases.push(case("the same, 10 times as large", &[core, &["cluster-api:v9.0.0"], config], Vec::new()));
    Ok(cases)
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = workspace::variable("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
