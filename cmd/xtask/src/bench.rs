mod cases;
mod catalogs;
mod charts;
mod components;
mod controller;
mod figures;
mod kustomization;
mod population;
mod releases;
mod servers;
mod steps;
mod table;
mod target;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum as _;
use tempfile::TempDir;

use self::{
    figures::{Programs, build_measure, clean_command, measure_once},
    servers::SandboxServer,
};
use crate::{golden, print::print_line, workspace};

/// Measure a built binary, and clusterctl for comparison if available. The results are not enforced.
#[derive(clap::Args)]
pub(crate) struct Bench {
    /// The binary to measure. Default: the release build.
    binary: Option<PathBuf>,
    /// The clusterctl to compare with. Default: `clusterctl` on the PATH.
    #[arg(long)]
    peer: Option<PathBuf>,
    /// The number of runs of each command. The median is reported.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Measure only this part. Catalogs, the fleet, Components and their controller are measured only if named here.
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
    /// Catalogs of clusters, beside `commodore` if it is on the PATH.
    Catalogs,
    /// Helm charts, beside `helm` if it is on the PATH.
    Charts,
    Commands,
    /// Many Components on a real API server.
    Components,
    /// The controller of Components on a real API server, beside `component-operator` if it is on the PATH.
    Controller,
    Kustomize,
    Lifecycle,
    Moves,
    Supply,
    /// One move of a thousand clusters.
    Fleet,
}

impl Bench {
    fn is_selected(&self, part: Part) -> bool {
        self.only.map_or(
            !matches!(part, Part::Catalogs | Part::Fleet | Part::Components | Part::Controller),
            |only| only == part,
        )
    }

    fn check(&self) -> Result<()> {
        let of_fleet = [("--real", self.real), ("--clusters", self.clusters.is_some())];
        match of_fleet.iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) if self.only != Some(Part::Fleet) => {
                bail!("`{flag}` requires `--only fleet`")
            }
            _ => Ok(()),
        }
    }
}

/// The maximum size of the binary, in bytes.
const MAX_BINARY_BYTES: u64 = 20_000_000;

/// Measures every selected part, and prints tables.
pub(crate) fn run(args: &Bench) -> Result<bool> {
    args.check()?;
    let programs = programs(args)?;
    build_measure()?;
    let folder = TempDir::new().context("cannot create a temporary folder")?;
    let folder = folder.path();
    print_line(&format!(
        "capstan:    {} {}",
        version(&programs.capstan, folder)?,
        programs.capstan.display()
    ));
    print_line(&match &programs.reference {
        Some(peer) => format!("clusterctl: {} {}", version(peer, folder)?, peer.display()),
        None => "clusterctl: not found; name one with --peer".to_owned(),
    });
    for part in Part::value_variants().iter().filter(|part| args.is_selected(**part)) {
        let measure = match part {
            Part::Catalogs => catalogs::catalogs,
            Part::Charts => charts::charts,
            Part::Commands => commands,
            Part::Components => components::components,
            Part::Controller => controller::controller,
            Part::Kustomize => cases::kustomize,
            Part::Lifecycle => cases::lifecycle,
            Part::Moves => cases::moves,
            Part::Supply => cases::supply,
            Part::Fleet => cases::fleet,
        };
        measure(args, &programs, folder)?;
    }
    Ok(true)
}

/// Measures commands that use no server, the size of the binary, and the start of a sandbox.
fn commands(args: &Bench, programs: &Programs, folder: &Path) -> Result<()> {
    cases::commands(args, programs, folder)?;
    let size = programs.capstan.metadata()?.len();
    let verdict = if size <= MAX_BINARY_BYTES { "met" } else { "not met" };
    print_line(&format!("the binary has {} KB; {} KB: {verdict}", size / 1000, MAX_BINARY_BYTES / 1000));
    let floor = measure_once(Path::new("true"), &[], folder)?.memory;
    print_line(&format!(
        "capstan first, then clusterctl; median of {} runs; processor time is user plus system;\n\
         memory is the peak; values below {} cannot be distinguished",
        args.runs,
        table::mib_text(floor)
    ));
    let (ready_after, memory) = SandboxServer::median_start(&programs.capstan, folder, args.runs)?;
    print_line(&format!(
        "a sandbox answers {} after its process starts and uses {}",
        table::duration_text(ready_after),
        memory.map_or_else(|| "an unknown amount".to_owned(), table::mib_text)
    ));
    Ok(())
}

fn programs(args: &Bench) -> Result<Programs> {
    let Some(binary) = args.binary.clone().or_else(golden::built_binary) else {
        bail!("no binary is built; run `cargo build --release --bin capstan`");
    };
    let theirs = args.peer.clone().or_else(|| find_on_path("clusterctl"));
    Ok(Programs {
        capstan: absolute_path(&binary)?,
        reference: theirs.as_deref().map(absolute_path).transpose()?,
    })
}

/// The absolute path. Needed because each run has its own working folder.
fn absolute_path(path: &Path) -> Result<PathBuf> {
    path.canonicalize().with_context(|| format!("`{}` does not exist", path.display()))
}

/// The version that a program reports. For capstan, the capstan version, not the version of the matching clusterctl.
fn version(program: &Path, folder: &Path) -> Result<String> {
    let output = clean_command(program, folder).args(["version", "--output", "json"]).output()?;
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("`{}` does not report its version", program.display()))?;
    let field = |name: &str| report["clusterctl"][name].as_str();
    let version = field("capstan").or_else(|| field("gitVersion"));
    Ok(version.context("a version is text")?.to_owned())
}

/// The absolute path of a program on the PATH.
fn find_on_path(name: &str) -> Option<PathBuf> {
    let path = workspace::variable("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())?;
    found.canonicalize().ok()
}
