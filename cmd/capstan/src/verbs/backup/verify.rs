use std::path::PathBuf;

use management::BackupManifest;

use super::sealing::OpenFlags;
use crate::{Failure, session::Session, ui::clean_line, verbs::r#move::saving};

/// Read a backup whole and check every sum, without a cluster
///
/// It says of what and when the backup was made, and what was left out of it. The exit status is 0 when a restore would read
/// all of it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} backup verify clusters.tar.gz
  {bin} backup verify clusters.tar.gz.age --identity key.txt")]
pub(super) struct Verify {
    /// File to read, as `backup` wrote it
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    opening: OpenFlags,
}

pub(super) fn run(args: &Verify, session: &mut Session) -> Result<(), Failure> {
    let backup = args.opening.read(&args.file, "take another backup", session)?;
    tell(&backup.manifest, session);
    let count = saving::objects(backup.objects.len());
    session.messages().status(format!("`{}` is whole: {count}", args.file.display()));
    Ok(())
}

/// Says of what a backup was made, and what is not in it.
pub(in crate::verbs) fn tell(manifest: &BackupManifest, session: &Session) {
    let about = &manifest.about;
    session.messages().status(format!(
        "a backup of {} at {}, {}",
        clean_line(&about.source.address),
        clean_line(&about.created),
        if about.at_rest { "made at rest" } else { "made without a pause" }
    ));
    for note in &about.notes {
        session.messages().warning(format!("when it was made: {}", clean_line(note)));
    }
    for left in &manifest.left_out {
        let (object, why) = (left.object.to_string(), clean_line(&left.why));
        session.messages().warning(format!("{} is not in it: {why}", clean_line(&object)));
    }
}
