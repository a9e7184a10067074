//! `quickstart`: everything once, on two sandboxes.
//!
//! ```text
//! flags ─► Tour (steps, each a command line) ─┬─► --print
//!                                             └─► Conductor: prints each, and runs it as if it were typed
//! Stage: the folder with carried providers and the rendered cluster, the sandboxes of the tour, and their end
//! ```

mod carried;
mod closing;
mod command;
mod conductor;
mod kubectl;
mod stage;
mod tour;

use crate::{Failure, session::Session, verbs::provider_flags::SeveralProviders};

/// Show everything once, on two sandboxes: install, generate, apply, describe, move
///
/// Makes two management clusters on this machine and a workload cluster on the first, and moves it to the second. Each
/// command is printed as it would be typed, and does what it does when it is typed. Unless providers are named, small ones
/// are taken that the program carries, and no network is needed.
///
/// The sandboxes go on running, for a look around; --remove and the next tour remove them. A tour that fails removes what it
/// made.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} quickstart
  {bin} quickstart --print
  {bin} quickstart --remove

  # With other providers
  {bin} quickstart --config clusterctl.yaml --infrastructure docker \\
    --flavor development")]
pub(crate) struct Quickstart {
    /// Only print the commands, as a script; what they read is put in place
    #[arg(long)]
    print: bool,

    /// Remove what a tour left, and do nothing else
    #[arg(long, conflicts_with = "print")]
    remove: bool,

    /// Kubernetes version of the workload cluster
    #[arg(long, value_name = "VERSION", default_value = "v1.35.0")]
    kubernetes_version: String,

    /// Flavor of the cluster template [default: development of the carried providers, the plain one of others]
    #[arg(short, long, value_name = "FLAVOR")]
    flavor: Option<String>,

    #[command(flatten)]
    providers: SeveralProviders,
}

pub(crate) fn run(args: &Quickstart, session: &mut Session) -> Result<(), Failure> {
    let stage = stage::Stage::of(session.environment())?;
    if args.remove {
        return conductor::remove(&stage, session);
    }
    let tour = tour::Tour::of(args, &stage, session)?;
    if args.print {
        conductor::print(&tour, &stage, session)
    } else {
        conductor::conduct(&tour, &stage, session)
    }
}
