//! Runs a sandbox in a background process, and parses its stderr, in the format of [`Messages`](crate::ui::Messages).

use std::{
    ffi::OsString,
    fs::{File, OpenOptions},
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom},
    process::{Child, Command, ExitStatus, Stdio},
};

use tokio::sync::oneshot;

use super::start::Start;
use crate::{
    Environment, Failure,
    failure::Kind,
    sandboxes::{SandboxFolder, SandboxProcess},
    session::Session,
};

/// Starts this binary as a background process, waits until the sandbox serves, and shows its warnings.
/// `None` if another process started the sandbox at the same time.
pub(super) fn start(
    args: &Start,
    folder: &SandboxFolder,
    session: &Session,
) -> Result<Option<SandboxProcess>, Failure> {
    let cannot_start =
        || Failure::new(Kind::Environment, format!("cannot start sandbox `{}`", folder.name()));
    let opened = OpenOptions::new().create(true).append(true).open(folder.log());
    let log = opened.map_err(|error| cannot_start().because(&error))?;
    let log_before = log.metadata().map_or(0, |found| found.len());
    let mut child = spawn(args, folder, log, session).map_err(|error| cannot_start().because(&error))?;
    let ready = wait_for_line(&mut child);
    let waited = session.block_on(async { Ok::<_, Failure>(ready.await.unwrap_or(false)) });
    let process = if let Ok(true) = waited { folder.process()? } else { None };
    let log_text = || read_log_from(folder, log_before).unwrap_or_default();
    if let Some(process) = process {
        warnings(&log_text()).for_each(|text| session.messages().warning(text));
        return Ok(Some(process));
    }
    // After an interruption, the process must not continue unnoticed. Otherwise the process has already ended.
    let ended = child.kill().and_then(|()| child.wait());
    waited?;
    if folder.is_running()? {
        return Ok(None);
    }
    Err(start_failure(cannot_start(), ended, &log_text()))
}

fn start_failure(failure: Failure, ended: io::Result<ExitStatus>, log_text: &str) -> Failure {
    let failure = add_logged_failure(failure, log_text);
    if !failure.causes().is_empty() {
        return failure;
    }
    let how = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
    failure
        .cause(format!("the process ended without an error in its log ({how})"))
        .hint("check the free disk space, or add `--foreground` to see the error")
}

fn spawn(args: &Start, folder: &SandboxFolder, log: File, session: &Session) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["sandbox", "start", "--foreground", "--color=never"])
        .args(args.background_args(session.environment()))
        // The process must not block the removal of the current folder.
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log);
    // A later Ctrl-C in the shell must not reach the process.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

/// Receives true if the process printed a first line before it ended.
fn wait_for_line(child: &mut Child) -> oneshot::Receiver<bool> {
    let (tell, reported) = oneshot::channel();
    let stdout = child.stdout.take();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = stdout.map(|stdout| BufReader::new(stdout).read_line(&mut line));
        let _ = tell.send(matches!(read, Some(Ok(count)) if count > 0));
    });
    reported
}

/// Returns the log text after the given length.
fn read_log_from(folder: &SandboxFolder, length: u64) -> io::Result<String> {
    let mut log = File::open(folder.log())?;
    log.seek(SeekFrom::Start(length))?;
    let mut text = Vec::new();
    log.read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

impl Start {
    /// Returns the flags for the new process. Merging and messages stay in this process.
    fn background_args(&self, environment: &Environment) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![self.name.clone().into()];
        if let Some(dir) = &self.data_dir {
            words.extend(["--data-dir".into(), environment.resolve(dir).into()]);
        }
        if self.in_memory {
            words.push("--in-memory".into());
        }
        if let Some(port) = self.port {
            words.extend(["--port".into(), port.to_string().into()]);
        }
        for fault in &self.fault {
            words.extend(["--fault".into(), fault.into()]);
        }
        for controller in &self.without {
            words.extend(["--without".into(), controller.into()]);
        }
        for controller in &self.with {
            words.extend(["--with".into(), controller.into()]);
        }
        words.extend(["--service-webhooks".into(), self.service_webhooks.clone().into()]);
        words
    }
}

pub(super) fn warnings(stderr: &str) -> impl Iterator<Item = String> {
    messages(stderr).into_iter().filter(|(label, _)| *label == "warning").map(|(_, text)| text)
}

/// Adds the failure of the process: its message and causes as causes, and its hints as hints.
pub(super) fn add_logged_failure(mut failure: Failure, stderr: &str) -> Failure {
    for (label, text) in messages(stderr) {
        failure = match label {
            "error" | "cause" => failure.cause(text),
            "hint" => failure.hint(text),
            _ => failure,
        };
    }
    failure
}

/// Returns each labelled message with its label, in order. Skips status lines without a label. Continuation lines are
/// indented.
fn messages(stderr: &str) -> Vec<(&'static str, String)> {
    const LABELS: [(&str, &str); 4] =
        [("error", "error: "), ("cause", "  cause: "), ("hint", "hint: "), ("warning", "warning: ")];
    let mut messages: Vec<(&str, String)> = Vec::new();
    let mut goes_on = false;
    for line in stderr.lines() {
        let labelled =
            LABELS.iter().find_map(|(label, prefix)| Some((*label, line.strip_prefix(prefix)?.to_owned())));
        match (labelled, line.strip_prefix("    "), messages.last_mut()) {
            (Some(message), ..) => {
                messages.push(message);
                goes_on = true;
            }
            (None, Some(rest), Some((_, text))) if goes_on => {
                text.push('\n');
                text.push_str(rest);
            }
            _ => goes_on = false,
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Kind;

    const STDERR: &str = "sandbox `lab` serves at https://127.0.0.1:1
warning: one
    more
a status line
    of two lines
error: cannot open the data directory
  cause: it is damaged
    at byte 3
hint: put a copy back
";

    #[test]
    fn a_failure_of_another_run_becomes_causes_and_hints() {
        let failure = add_logged_failure(Failure::new(Kind::Environment, "cannot start"), STDERR);
        assert_eq!(failure.causes(), ["cannot open the data directory", "it is damaged\nat byte 3"]);
        assert_eq!(failure.distinct_hints().collect::<Vec<_>>(), ["put a copy back"]);
    }

    #[test]
    fn warnings_are_passed_on_and_status_lines_are_not() {
        assert_eq!(warnings(STDERR).collect::<Vec<_>>(), ["one\nmore"]);
    }
}
