//! `move`: moves Clusters between management clusters, and reports moves.

mod directory;
pub(super) mod execute;
pub(super) mod flags;
mod journal_file;
pub(super) mod restore;
pub(super) mod save;
mod staging;
mod status;
mod text;
mod undo;

use crate::{Failure, session::Session};

pub(crate) use journal_file::delete_moves_between;
pub(crate) use status::unfinished_move;

use flags::MoveFlags;

/// Move Clusters and all that belongs to them to another management cluster
///
/// What moves is what belongs to a Cluster by owner references, by name, or by label. Everything is checked on both sides
/// first; then Clusters are paused, objects are created on the target, compared there with what was sent, and only then
/// deleted on the source. A move that was cut off is gone on with by the same command; before the first deletion it can be
/// undone with --abort.
#[derive(clap::Args)]
#[command(
    subcommand_value_name = "COMMAND",
    after_help = "Examples:
  # Look first: every object, what is done with it, and why
  {bin} move --to-kubeconfig target.yaml --dry-run
  {bin} move --to-kubeconfig target.yaml

  # Some Clusters alone, into another namespace
  {bin} move --to-kubeconfig target.yaml --cluster blue,green
  {bin} move --to-kubeconfig target.yaml -n team-a -l env=test \\
    --map-namespace team-a=tests

  # Into files, and back; see `{bin} backup` for one file with check sums
  {bin} move --to-directory saved
  {bin} move --from-directory saved --to-kubeconfig target.yaml

  # One that was cut off
  {bin} move status --to-kubeconfig target.yaml
  {bin} move --to-kubeconfig target.yaml --abort
  {bin} move --lost source --to-kubeconfig target.yaml"
)]
pub(crate) struct Move {
    #[command(subcommand)]
    verb: Option<MoveVerb>,

    #[command(flatten)]
    flags: MoveFlags,
}

#[derive(clap::Subcommand)]
enum MoveVerb {
    Report(text::Report),
    Status(status::Status),
}

pub(crate) fn run(args: Move, session: &mut Session) -> Result<(), Failure> {
    match args.verb {
        Some(MoveVerb::Report(args)) => text::run(&args, session),
        Some(MoveVerb::Status(args)) => status::run(&args, session),
        None => match (&args.flags.scope.to_directory, &args.flags.scope.from_directory) {
            (Some(folder), _) => directory::save(folder, &args.flags, session),
            (None, Some(folder)) => directory::restore(folder, &args.flags, session),
            (None, None) => execute::run(&args.flags, session),
        },
    }
}
