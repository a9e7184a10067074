use super::store::store;
use crate::{Failure, Within as _, failure::Kind, session::Session, ui::in_bytes};

/// Read all that is kept, and remove what is damaged
///
/// Ends with status 1 when something was. What is read is checked at every other time too.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} cache verify")]
pub(crate) struct Verify {}

pub(crate) fn run(_: &Verify, session: &mut Session) -> Result<(), Failure> {
    let store = store(session)?;
    let verified = store.verify().within(|| "cannot verify the cache".to_owned())?;
    for broken in &verified.broken {
        session.messages().warning(format!("removed {}: {}", broken.kept_for.join(", "), broken.why));
    }
    let whole = format!("{} files are whole ({})", verified.whole, in_bytes(verified.read_bytes));
    session.messages().status(whole);
    match verified.broken.len() {
        0 => Ok(()),
        1 => Err(damaged("one file of the cache was damaged and is removed")),
        several => Err(damaged(&format!("{several} files of the cache were damaged and are removed"))),
    }
}

fn damaged(message: &str) -> Failure {
    Failure::new(Kind::Environment, message).hint("they are fetched again when they are needed")
}
