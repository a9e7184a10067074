use api::output::{CacheVerification, DamagedFile};

use super::store::store;
use crate::{Failure, Within as _, failure::Kind, session::Session, settings::OutputFormat, ui::in_bytes};

/// Read all that is kept, and remove what is damaged
///
/// Ends with status 1 when something was. What is read is checked at every other time too.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} cache verify
  {bin} cache verify -o json")]
pub(crate) struct Verify {
    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,
}

pub(crate) fn run(args: &Verify, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let store = store(session)?;
    let verified = store.verify().within(|| "cannot verify the cache".to_owned())?;
    let damaged = |it: repository::BrokenEntry| DamagedFile { addresses: it.kept_for, reason: it.why };
    let report = CacheVerification {
        folder: store.settings().folder.display().to_string(),
        files: verified.whole,
        size_bytes: verified.read_bytes,
        removed: verified.broken.into_iter().map(damaged).collect(),
    };
    for removed in &report.removed {
        session.messages().warning(format!("removed {}: {}", removed.addresses.join(", "), removed.reason));
    }
    let whole = format!("{} files are whole ({})", report.files, in_bytes(report.size_bytes));
    session.messages().status(whole);
    session.print(format, &report, |_, _| String::new())?;
    match report.removed.len() {
        0 => Ok(()),
        1 => Err(failure("one file of the cache was damaged and is removed")),
        several => Err(failure(&format!("{several} files of the cache were damaged and are removed"))),
    }
}

fn failure(message: &str) -> Failure {
    Failure::new(Kind::Environment, message).hint("they are fetched again when they are needed")
}
