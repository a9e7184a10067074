use std::{
    fs,
    path::{Path, PathBuf},
};

use super::deployment::DeploymentFlags;
use crate::{Failure, WithContext as _, session::Session, ui::write_file_atomically};

/// The mode of a new file of a chart.
const CHART_MODE: u32 = 0o644;

/// Print the objects that run the controller on a cluster
///
/// Prints the definitions of Components and Blueprints, a namespace, permissions, a Deployment and what it needs. The controller
/// acts as the service account of each Component, and may only read Components and what they refer to. With `--cluster-admin`, it
/// may write every kind. Does not contact a cluster.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} controller manifests --image example.org/capstan:v1 > all.yaml
  {bin} controller manifests --image example.org/capstan:v1 --cluster-admin

  # A Helm chart with the same objects
  {bin} controller manifests --chart charts/component-operator")]
pub(crate) struct Manifests {
    #[command(flatten)]
    deployment: DeploymentFlags,

    /// Write a Helm chart with the same objects into this folder instead; its values replace the other flags
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["image", "namespace", "replicas", "shards", "cluster_admin"]
    )]
    chart: Option<PathBuf>,
}

pub(super) fn run(args: &Manifests, session: &mut Session) -> Result<(), Failure> {
    if let Some(folder) = &args.chart {
        return write_chart(&session.environment().resolve(folder), session);
    }
    let objects = controller::manifests(&args.deployment.settings()?);
    session.printer().write(manifest::write_stream(&objects) + "\n")
}

fn write_chart(folder: &Path, session: &mut Session) -> Result<(), Failure> {
    let files = controller::chart_files(env!("CARGO_PKG_VERSION"));
    for (path, text) in &files {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot create `{}`", parent.display()))?;
        }
        write_file_atomically(&path, text.as_bytes(), CHART_MODE)?;
    }
    session.show_result(format!("wrote a chart of {} files", files.len()));
    Ok(())
}
