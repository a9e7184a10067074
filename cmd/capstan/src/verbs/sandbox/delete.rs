use super::stop::stop;
use crate::{Failure, failure::Kind, sandboxes::Home, session::Session, settings::unmerge_kubeconfig};

/// Stop a sandbox and remove all it kept; a data folder of your own choice stays
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} sandbox delete lab")]
pub(crate) struct Delete {
    /// Name of the sandbox
    #[arg(default_value = "capstan")]
    name: String,
}

pub(crate) fn run(args: &Delete, session: &mut Session) -> Result<(), Failure> {
    let folder = Home::of(session.environment())?.existing(&args.name)?;
    stop(&folder, session)?;
    // A damaged file, which tells where the data is, keeps nothing from going.
    let elsewhere = folder.settings().ok().flatten().and_then(|settings| settings.data_dir);
    let elsewhere = elsewhere.filter(|dir| !dir.starts_with(folder.path()));
    let Some(lock) = folder.lock()? else {
        let message = format!("sandbox `{}` was started again while it was to be deleted", folder.name());
        return Err(Failure::new(Kind::Conflict, message));
    };
    // It reads a file that is about to go. A kubeconfig that cannot be changed keeps nothing else from going.
    let unmerged = unmerge_kubeconfig(&folder.kubeconfig(), session.environment());
    folder.remove(&lock)?;
    if let Some(dir) = elsewhere {
        session.messages().status(format!("its data is still in `{}`", dir.display()));
    }
    if let Some(path) = unmerged? {
        session.messages().status(format!("removed context `{}` from `{}`", folder.name(), path.display()));
    }
    session.done(format!("deleted sandbox `{}`", folder.name()));
    Ok(())
}
