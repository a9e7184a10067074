use std::{
    fs::File,
    io::{self, Read as _},
    time::Duration,
};

use sandbox::{audit::AuditEntry, control};

use crate::{
    Failure,
    failure::Kind,
    sandboxes::{SandboxFolder, SandboxesFolder},
    session::Session,
    ui::sanitize,
};

const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Print the log or the requests of a sandbox
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} sandbox logs lab
  {bin} sandbox logs lab --requests --follow")]
pub(crate) struct Logs {
    /// Sandbox name
    #[arg(default_value = "capstan")]
    name: String,

    /// Follow until Ctrl-C, or until the sandbox stops
    #[arg(short, long)]
    follow: bool,

    /// Print answered requests instead: number, status, verb, path, client
    #[arg(long)]
    requests: bool,
}

pub(crate) fn run(args: &Logs, session: &mut Session) -> Result<(), Failure> {
    let folder = SandboxesFolder::of(session.environment())?.find(&args.name)?;
    if args.requests { requests(args, &folder, session) } else { log(args, &folder, session) }
}

fn log(args: &Logs, folder: &SandboxFolder, session: &mut Session) -> Result<(), Failure> {
    let path = folder.log();
    let mut log = match File::open(&path) {
        Ok(log) => log,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Failure::io("read", &path, &error)),
    };
    loop {
        // The check comes before the read, so that the next round reads text written in between.
        let is_running = folder.is_running()?;
        let mut text = Vec::new();
        log.read_to_end(&mut text).map_err(|error| Failure::io("read", &path, &error))?;
        session.printer().write(sanitize(&String::from_utf8_lossy(&text)).as_bytes())?;
        session.printer().flush()?;
        if !args.follow || !is_running || !pause(session)? {
            return Ok(());
        }
    }
}

fn requests(args: &Logs, folder: &SandboxFolder, session: &mut Session) -> Result<(), Failure> {
    let (Some(process), Some(identity)) = (folder.process()?, folder.identity()?) else {
        let message = format!("sandbox `{}` is not running", folder.name());
        return Err(Failure::new(Kind::Conflict, message)
            .cause("the requests are kept only in the memory of the running sandbox"));
    };
    let mut since = 0;
    loop {
        let logs = session.block_on(async {
            Ok::<_, Failure>(control::requests(&process.server, &identity, since).await)
        })?;
        let logs = match logs {
            Ok(logs) => logs,
            Err(_) if args.follow && !folder.is_running()? => return Ok(()),
            Err(error) => {
                let message = format!("cannot read the requests of sandbox `{}`", folder.name());
                return Err(Failure::new(Kind::Environment, message).because_foreign(&error));
            }
        };
        session.printer().write(sanitize(&logs.requests.iter().map(line).collect::<String>()).as_bytes())?;
        session.printer().flush()?;
        if !args.follow || !pause(session)? {
            return Ok(());
        }
        since = logs.requests.last().map_or(since, |last| last.number);
    }
}

fn line(request: &AuditEntry) -> String {
    let AuditEntry { number, verb, path, client, code, .. } = request;
    let code = if *code == 0 { "cut".to_owned() } else { code.to_string() };
    format!("{number}\t{code}\t{verb}\t{path}\t{client}\n")
}

/// Waits briefly. False after Ctrl-C, which ends `--follow`.
fn pause(session: &Session) -> Result<bool, Failure> {
    let waited = session.block_on(async {
        tokio::time::sleep(POLL_INTERVAL).await;
        Ok::<_, Failure>(true)
    });
    match waited {
        Err(failure) if failure.kind() == Kind::Interrupted => Ok(false),
        waited => waited,
    }
}
