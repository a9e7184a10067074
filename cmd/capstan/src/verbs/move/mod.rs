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
pub(crate) use status::{add_restore, add_save, interrupted_runs, open_save, unfinished_move};

use flags::MoveFlags;

/// Move Clusters and their objects to another management cluster
///
/// The command pauses the Clusters, creates their objects on the target, verifies them there, and then deletes them on the
/// source. Re-run the same command to resume an interrupted move. Until the first deletion, `--abort` undoes the move.
#[derive(clap::Args)]
#[command(
    subcommand_value_name = "COMMAND",
    after_help = "Examples:
  # Preview the move: every object, its action, and the reason
  {bin} move --to-kubeconfig target.yaml --dry-run
  {bin} move --to-kubeconfig target.yaml --cluster blue,green

  # After an interruption: resume with the same command, or undo
  {bin} move --to-kubeconfig target.yaml --abort"
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
        None => match args.flags.scope.directories() {
            (Some(folder), _) => directory::save(folder, &args.flags, session),
            (None, Some(folder)) => directory::restore(folder, &args.flags, session),
            (None, None) => execute::run(&args.flags, session),
        },
    }
}
