use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::workspace;

/// Runs cargo in the workspace and reads the JSON it prints.
pub(crate) fn of_cargo(arguments: &[&str]) -> Result<Value> {
    Ok(serde_json::from_slice(&cargo(arguments)?)?)
}

/// Runs cargo in the workspace; what it prints.
pub(crate) fn cargo(arguments: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new("cargo")
        .args(arguments)
        .current_dir(workspace::root())
        .output()
        .context("cannot start `cargo`")?;
    if !output.status.success() {
        bail!("`cargo {}` failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}
