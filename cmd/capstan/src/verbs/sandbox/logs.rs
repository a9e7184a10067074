use std::{
    fs::File,
    io::{self, Read as _},
    time::Duration,
};

use crate::{Failure, failure::Kind, sandboxes::Home, session::Session};

/// How often a followed log is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Print what a sandbox had to say
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} sandbox logs lab
  {bin} sandbox logs lab --follow")]
pub(crate) struct Logs {
    /// Name of the sandbox
    #[arg(default_value = "capstan")]
    name: String,

    /// Go on until Ctrl-C, or until the sandbox stops
    #[arg(short, long)]
    follow: bool,
}

pub(crate) fn run(args: &Logs, session: &mut Session) -> Result<(), Failure> {
    let folder = Home::of(session.environment())?.existing(&args.name)?;
    let path = folder.log();
    let mut log = match File::open(&path) {
        Ok(log) => log,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(cannot_read(&path, &error)),
    };
    loop {
        // Asked before the read: what is written between the two is read in the next round.
        let is_running = folder.is_running()?;
        let mut text = Vec::new();
        log.read_to_end(&mut text).map_err(|error| cannot_read(&path, &error))?;
        session.printer().data(text)?;
        session.printer().flush()?;
        if !args.follow || !is_running {
            return Ok(());
        }
        session.block_on(async {
            tokio::time::sleep(LOOK_EVERY).await;
            Ok::<_, Failure>(())
        })?;
    }
}

fn cannot_read(path: &std::path::Path, error: &io::Error) -> Failure {
    Failure::new(Kind::Environment, format!("cannot read `{}`", path.display())).because(error)
}
