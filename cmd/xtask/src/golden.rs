use std::{path::PathBuf, process::Command};

use anyhow::{Context as _, Result, bail};

use crate::{
    print::print_line,
    workspace::{self, shared_folder},
};

/// Compare the output of a built binary with that of the reference release.
#[derive(clap::Args)]
pub(crate) struct Golden {
    /// The binary to check. Default: the release build.
    binary: Option<PathBuf>,
    /// Run only cases whose name contains this text.
    #[arg(long)]
    only: Option<String>,
}

/// Runs the check of the golden data. If data or binary are missing, prints a message and returns true.
pub(crate) fn run(args: &Golden) -> Result<bool> {
    let check = shared_folder("CAPSTAN_GOLDEN", "golden").join("check");
    if !check.is_file() {
        print_line(&format!("golden: skipped, `{}` does not exist", check.display()));
        return Ok(true);
    }
    let Some(binary) = args.binary.clone().or_else(built_binary) else {
        print_line("golden: skipped, no binary is built; run `cargo build --release --bin capstan`");
        return Ok(true);
    };
    if !binary.is_file() {
        bail!("the binary `{}` does not exist", binary.display());
    }
    let mut command = Command::new(&check);
    command.arg(&binary);
    let departures = workspace::root().join(DEPARTURES_FILE);
    if departures.is_file() {
        command.arg("--departures").arg(&departures);
    }
    if let Some(only) = &args.only {
        command.args(["--only", only]);
    }
    let status = command.status().with_context(|| format!("cannot start `{}`", check.display()))?;
    Ok(status.success())
}

/// The list of golden cases with intended differences.
pub(crate) const DEPARTURES_FILE: &str = "test/conformance/departures.txt";

/// The binary of the last release build.
pub(crate) fn built_binary() -> Option<PathBuf> {
    let name = format!("capstan{}", std::env::consts::EXE_SUFFIX);
    Some(workspace::target().join("release").join(name)).filter(|path| path.is_file())
}
