use std::time::Duration;

use sandbox::control;

use crate::{
    Failure,
    failure::Kind,
    sandboxes::{Folder, Home},
    session::Session,
};

/// How long a sandbox may take to end, and how often that is looked at.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Stop a sandbox; what it keeps in its data folder is there at the next start
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} sandbox stop lab")]
pub(crate) struct Stop {
    /// Name of the sandbox
    #[arg(default_value = "capstan")]
    name: String,
}

pub(crate) fn run(args: &Stop, session: &mut Session) -> Result<(), Failure> {
    let folder = Home::of(session.environment())?.existing(&args.name)?;
    let stopped = stop(&folder, session)?;
    let name = folder.name();
    session.done(if stopped {
        format!("stopped sandbox `{name}`")
    } else {
        format!("nothing to stop: sandbox `{name}` was not running")
    });
    Ok(())
}

/// Tells a sandbox to stop and waits until it has; `false` when it did not run.
/// # Errors
/// When it does not answer, with the way to end it all the same.
pub(super) fn stop(folder: &Folder, session: &Session) -> Result<bool, Failure> {
    if !folder.is_running()? {
        return Ok(false);
    }
    let Some(process) = folder.process()? else {
        return Err(Failure::new(Kind::Conflict, format!("sandbox `{}` is just starting", folder.name()))
            .hint("try again in a moment"));
    };
    let does_not_stop = || {
        Failure::new(Kind::Environment, format!("sandbox `{}` does not stop", folder.name()))
            .hint(format!("end its process with `kill -9 {}`; what it keeps is not lost", process.pid))
    };
    let identity = folder
        .identity()?
        .ok_or_else(|| does_not_stop().cause("the identity it was started with is gone"))?;
    session.block_on(async {
        let mut unheard = None;
        let stopped = async {
            // One that stops already answers nobody.
            unheard = control::stop(&process.server, &identity).await.err();
            while folder.is_running()? {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            Ok(())
        };
        tokio::time::timeout(PATIENCE, stopped).await.unwrap_or_else(|_| {
            Err(match unheard {
                Some(error) => does_not_stop().because(&error),
                None => does_not_stop()
                    .cause(format!("it still runs {} seconds after it was told to", PATIENCE.as_secs())),
            })
        })
    })?;
    Ok(true)
}
