//! Verbs for existing sandboxes: list, stop, delete, kubeconfig.

use std::{collections::BTreeSet, time::Duration};

use api::output::{SandboxEntry, SandboxList, SandboxState};
use sandbox::control;

use crate::{
    Failure,
    failure::Kind,
    sandboxes::{SandboxFolder, SandboxesFolder},
    session::Session,
    settings::{OutputFlag, merge_kubeconfig, unmerge_kubeconfig},
    ui::{NarrowingStep, table},
};

/// List the sandboxes of this machine
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} sandbox list
  {bin} sandbox list -o json")]
pub(crate) struct List {
    #[command(flatten)]
    output: OutputFlag,
}

pub(crate) fn list(args: &List, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let home = SandboxesFolder::of(session.environment())?;
    let mut list = SandboxList { sandboxes: Vec::new() };
    let mut unreadable = Ok(());
    for name in home.names()? {
        // A sandbox with a damaged file does not hide the others.
        match home.folder(&name).and_then(|folder| entry(&folder)) {
            Ok(entry) => list.sandboxes.push(entry),
            Err(failure) => unreadable = unreadable.and(Err(failure)),
        }
    }
    session.print(format, &list, table_text)?;
    unreadable
}

fn entry(folder: &SandboxFolder) -> Result<SandboxEntry, Failure> {
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

fn table_text(list: &SandboxList, width: Option<usize>) -> String {
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
    let ways = [
        NarrowingStep::Shorten("DATA", 16),
        NarrowingStep::Drop("PID"),
        NarrowingStep::Drop("DATA"),
        NarrowingStep::Shorten("NAME", 16),
    ];
    table(width, &ways, ["NAME", "STATE", "PID", "SERVER", "DATA"], &cells)
}

const STOP_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Stop a sandbox and keep its data folder
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} sandbox stop lab")]
pub(crate) struct Stop {
    /// Sandbox name
    #[arg(default_value = "capstan")]
    name: String,
}

pub(crate) fn stop_one(args: &Stop, session: &mut Session) -> Result<(), Failure> {
    let folder = SandboxesFolder::of(session.environment())?.find(&args.name)?;
    let stopped = stop(&folder, session)?;
    let name = folder.name();
    session.show_result(if stopped {
        format!("stopped sandbox `{name}`")
    } else {
        format!("nothing to stop: sandbox `{name}` was not running")
    });
    Ok(())
}

/// Stops a sandbox and waits for its end. False if the sandbox was not running.
pub(super) fn stop(folder: &SandboxFolder, session: &Session) -> Result<bool, Failure> {
    if !folder.is_running()? {
        return Ok(false);
    }
    let Some(process) = folder.process()? else {
        return Err(Failure::new(Kind::Conflict, format!("sandbox `{}` is still starting", folder.name()))
            .hint("retry in a few seconds"));
    };
    let does_not_stop = || {
        Failure::new(Kind::Environment, format!("sandbox `{}` does not stop", folder.name()))
            .hint(format!("end its process with `kill -9 {}`; its data is kept", process.pid))
    };
    let identity = folder
        .identity()?
        .ok_or_else(|| does_not_stop().cause("the identity file of the sandbox is missing"))?;
    session.block_on(async {
        let mut unheard = None;
        let stopped = async {
            // A sandbox that is already stopping does not answer.
            unheard = control::stop(&process.server, &identity).await.err();
            while folder.is_running()? {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            Ok(())
        };
        tokio::time::timeout(STOP_TIMEOUT, stopped).await.unwrap_or_else(|_| {
            Err(match unheard {
                Some(error) => does_not_stop().because_foreign(&error),
                None => does_not_stop().cause(format!(
                    "the sandbox is still running {} seconds after the stop request",
                    STOP_TIMEOUT.as_secs()
                )),
            })
        })
    })?;
    Ok(true)
}

/// Stop and delete sandboxes, except data folders that you chose
///
/// If a sandbox does not exist, the command deletes none.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} sandbox delete lab
  {bin} sandbox delete source target")]
pub(crate) struct Delete {
    /// Names of the sandboxes
    #[arg(id = "name", value_name = "NAME", default_value = "capstan")]
    names: Vec<String>,
}

pub(crate) fn delete(args: &Delete, session: &mut Session) -> Result<(), Failure> {
    let home = SandboxesFolder::of(session.environment())?;
    let names: BTreeSet<&String> = args.names.iter().collect();
    let folders = names.into_iter().map(|name| home.find(name)).collect::<Result<Vec<_>, _>>()?;
    folders.iter().try_for_each(|folder| delete_one(folder, session))?;
    let names: Vec<String> = folders.iter().map(|folder| format!("`{}`", folder.name())).collect();
    let sandboxes = if names.len() == 1 { "sandbox" } else { "sandboxes" };
    session.show_result(format!("deleted {sandboxes} {}", names.join(", ")));
    Ok(())
}

fn delete_one(folder: &SandboxFolder, session: &mut Session) -> Result<(), Failure> {
    stop(folder, session)?;
    // A damaged settings file, which contains the data folder, does not prevent the deletion.
    let elsewhere = folder.settings().ok().flatten().and_then(|settings| settings.data_dir);
    let elsewhere = elsewhere.filter(|dir| !dir.starts_with(folder.path()));
    let Some(lock) = folder.lock()? else {
        let message = format!("sandbox `{}` was started again during the deletion", folder.name());
        return Err(Failure::new(Kind::Conflict, message));
    };
    // Unmerging reads a file of the sandbox, so it comes first. An unchangeable kubeconfig does not prevent the
    // deletion.
    let unmerged = unmerge_kubeconfig(&folder.kubeconfig(), session.environment());
    folder.remove(&lock)?;
    if let Some(dir) = elsewhere {
        session.messages().status(format!("kept the data of the sandbox in `{}`", dir.display()));
    }
    if let Some(path) = unmerged? {
        session.messages().status(format!("removed context `{}` from `{}`", folder.name(), path.display()));
    }
    Ok(())
}

/// Print the path of a sandbox's kubeconfig
#[derive(clap::Args)]
#[command(after_help = "Examples:
  export KUBECONFIG=$({bin} sandbox kubeconfig lab)
  {bin} sandbox kubeconfig lab --merge")]
pub(crate) struct Kubeconfig {
    /// Sandbox name
    #[arg(default_value = "capstan")]
    name: String,

    /// Add the sandbox to your kubeconfig as the current context, and print that path
    #[arg(long)]
    merge: bool,
}

pub(crate) fn kubeconfig(args: &Kubeconfig, session: &mut Session) -> Result<(), Failure> {
    let folder = SandboxesFolder::of(session.environment())?.find(&args.name)?;
    let own = folder.kubeconfig();
    if !own.is_file() {
        return Err(Failure::user(format!(
            "sandbox `{}` has no kubeconfig because it has never been ready",
            folder.name()
        ))
        .hint(format!("start it with `capstan sandbox start {}`", folder.name())));
    }
    let path = if args.merge { merge_kubeconfig(&own, session.environment())? } else { own };
    session.printer().write(format!("{}\n", path.display()))
}
