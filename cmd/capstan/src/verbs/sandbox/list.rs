use api::output::{SandboxEntry, SandboxList, SandboxState};

use crate::{
    Failure,
    sandboxes::{Folder, Home},
    session::Session,
    settings::OutputFormat,
    ui::{Narrow, table},
};

/// List the sandboxes of this machine
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} sandbox list
  {bin} sandbox list -o json")]
pub(crate) struct List {
    /// Output format: text, yaml or json
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,
}

pub(crate) fn run(args: &List, session: &mut Session) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let home = Home::of(session.environment())?;
    let mut list = SandboxList { sandboxes: Vec::new() };
    let mut unreadable = Ok(());
    for name in home.names()? {
        // One with a damaged file hides no other.
        match home.folder(&name).and_then(|folder| entry(&folder)) {
            Ok(entry) => list.sandboxes.push(entry),
            Err(failure) => unreadable = unreadable.and(Err(failure)),
        }
    }
    session.print(format, &list, in_columns)?;
    unreadable
}

fn entry(folder: &Folder) -> Result<SandboxEntry, Failure> {
    let process = folder.process()?;
    let state = match (&process, folder.is_running()?) {
        (Some(_), _) => SandboxState::Running,
        (None, true) => SandboxState::Starting,
        (None, false) => SandboxState::Stopped,
    };
    let data_dir = folder.settings()?.and_then(|settings| settings.data_dir);
    Ok(SandboxEntry {
        name: folder.name().to_owned(),
        state,
        server: process.as_ref().map(|process| process.server.clone()),
        pid: process.map(|process| process.pid),
        data_dir: data_dir.map(|dir| dir.display().to_string()),
        kubeconfig: folder.kubeconfig().display().to_string(),
    })
}

fn in_columns(list: &SandboxList, width: Option<usize>) -> String {
    let rows: Vec<_> = list
        .sandboxes
        .iter()
        .map(|entry| {
            let state = match entry.state {
                SandboxState::Running => "running",
                SandboxState::Starting => "starting",
                SandboxState::Stopped => "stopped",
            };
            let pid = entry.pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string());
            (entry, state, pid)
        })
        .collect();
    let cells: Vec<_> = rows
        .iter()
        .map(|(entry, state, pid)| {
            let server = entry.server.as_deref().unwrap_or("-");
            let data = entry.data_dir.as_deref().unwrap_or("in memory");
            [entry.name.as_str(), *state, pid.as_str(), server, data]
        })
        .collect();
    let ways =
        [Narrow::Shorten("DATA", 16), Narrow::Drop("PID"), Narrow::Drop("DATA"), Narrow::Shorten("NAME", 16)];
    table(width, &ways, ["NAME", "STATE", "PID", "SERVER", "DATA"], &cells)
}
