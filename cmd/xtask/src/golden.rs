use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use crate::{
    say::say,
    workspace::{self, beside},
};

/// Compare a built binary with what the reference release prints.
#[derive(clap::Args)]
pub(crate) struct Golden {
    /// The binary; without it the one of profile `ci`, then of `release`.
    binary: Option<PathBuf>,
    /// Only cases whose name holds this text.
    #[arg(long)]
    only: Option<String>,
}

/// Runs the check of the golden data; `true` too where there is nothing to run it with, which it says.
pub(crate) fn run(args: &Golden) -> Result<bool> {
    let check = beside("CAPSTAN_GOLDEN", "golden").join("check");
    if !check.is_file() {
        say(&format!("golden: skipped, there is no `{}`", check.display()));
        return Ok(true);
    }
    let Some(binary) = args.binary.clone().or_else(built_binary) else {
        say("golden: skipped, no binary is built; run `cargo build --profile ci --bin capstan`");
        return Ok(true);
    };
    if !binary.is_file() {
        bail!("there is no binary `{}`", binary.display());
    }
    let mut command = Command::new(&check);
    command.arg(&binary);
    let departures = workspace::root().join(DEPARTURES);
    if departures.is_file() {
        command.arg("--departures").arg(&departures);
    }
    if let Some(only) = &args.only {
        command.args(["--only", only]);
    }
    let status = command.status().with_context(|| format!("cannot start `{}`", check.display()))?;
    Ok(status.success())
}

/// Golden cases whose result differs on purpose.
pub(crate) const DEPARTURES: &str = "test/conformance/departures.txt";

/// The binary of the last optimised build.
pub(crate) fn built_binary() -> Option<PathBuf> {
    let name = format!("capstan{}", std::env::consts::EXE_SUFFIX);
    ["ci", "release"]
        .iter()
        .map(|profile| workspace::target().join(profile).join(&name))
        .find(|path: &PathBuf| Path::is_file(path))
}
