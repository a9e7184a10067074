use std::collections::BTreeSet;

use super::stop::stop;
use crate::{
    Failure,
    failure::Kind,
    sandboxes::{Folder, Home},
    session::Session,
    settings::unmerge_kubeconfig,
};

/// Stop sandboxes and remove all they kept; data folders of your own choice stay
///
/// If one of the names is no sandbox, none is deleted.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} sandbox delete lab
  {bin} sandbox delete source target")]
pub(crate) struct Delete {
    /// Names of the sandboxes
    #[arg(id = "name", value_name = "NAME", default_value = "capstan")]
    names: Vec<String>,
}

pub(crate) fn run(args: &Delete, session: &mut Session) -> Result<(), Failure> {
    let home = Home::of(session.environment())?;
    let names: BTreeSet<&String> = args.names.iter().collect();
    let folders = names.into_iter().map(|name| home.existing(name)).collect::<Result<Vec<_>, _>>()?;
    folders.iter().try_for_each(|folder| delete(folder, session))?;
    let names: Vec<String> = folders.iter().map(|folder| format!("`{}`", folder.name())).collect();
    let sandboxes = if names.len() == 1 { "sandbox" } else { "sandboxes" };
    session.done(format!("deleted {sandboxes} {}", names.join(", ")));
    Ok(())
}

fn delete(folder: &Folder, session: &mut Session) -> Result<(), Failure> {
    stop(folder, session)?;
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
    Ok(())
}
