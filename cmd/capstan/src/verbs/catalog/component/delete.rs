use catalog::WorkingFolder;
use catalog::scaffold::{ScaffoldRun, find_component};

use crate::verbs::catalog::{
    compilation::{WORKING_FOLDER, WorkingDirFlag},
    compile::Lines,
    tools::temporary_folder,
};
use crate::{Failure, failure::Kind, session::Session, verbs::path_lock::take_turn};

/// Delete the checkout of a component
///
/// Deletes the worktree of the component in `dependencies`, and its clone if no other worktree uses the clone. Asks first.
/// The remote repository stays.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog component delete cert-manager
  {bin} catalog component delete cert-manager -d work --force")]
pub(crate) struct Delete {
    /// Name of the component
    #[arg(value_name = "SLUG")]
    slug: String,

    #[command(flatten)]
    working_dir: WorkingDirFlag,

    /// Delete without a question
    #[arg(long, overrides_with = "no_force")]
    force: bool,

    #[arg(long, hide = true, overrides_with = "force")]
    no_force: bool,
}

pub(super) fn run(args: &Delete, session: &mut Session) -> Result<(), Failure> {
    let folder = args.working_dir.folder(session.environment());
    let temporary = temporary_folder(session)?;
    let temporary = WorkingFolder::new(temporary.path());
    let context = session.repositories()?;
    let lines = Lines::default();
    let report = |step| lines.add(&step);
    let run = ScaffoldRun {
        folder: &folder,
        temporary: &temporary,
        context: &context,
        report: &report,
        hooks: None,
    };
    let component = session.block_on(find_component(&args.slug, run))?;
    let _turn = take_turn(folder.root(), WORKING_FOLDER, &context, session)?;
    if !args.force {
        let has_local_work =
            || session.block_on(async { Ok::<_, Failure>(component.has_local_work().await) });
        let has_known_work = has_local_work()?;
        if has_known_work {
            session.messages().warning(format!("component {} has work that is not on its remote", args.slug));
        }
        let question =
            format!("Are you sure you want to delete component {}? This action cannot be undone", args.slug);
        let unanswerable = Failure::user(format!("cannot ask whether to delete component {}", args.slug))
            .hint("run the command in a terminal, or with `--force`");
        if !session.confirm(&question, unanswerable)? {
            return Err(Failure::user("Aborted!"));
        }
        if !has_known_work && has_local_work()? {
            let changed = format!("component {} has been changed since the question", args.slug);
            return Err(Failure::new(Kind::Conflict, changed).hint("re-run the command"));
        }
    }
    session.block_on(component.delete())?;
    lines.print(session)
}
