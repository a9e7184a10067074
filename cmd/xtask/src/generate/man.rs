use std::{fs, path::PathBuf};

use anyhow::{Context as _, Result};

use crate::workspace;

/// Writes a man page for every command into `target/man`; the folder.
pub(super) fn write() -> Result<PathBuf> {
    let folder = workspace::root().join("target/man");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    clap_mangen::generate_to(capstan::command(), &folder)
        .with_context(|| format!("cannot write man pages into `{}`", folder.display()))?;
    Ok(folder)
}
