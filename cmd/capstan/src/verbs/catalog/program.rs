//! Programs of components and templates: with few variables, within a time limit, and ended by Ctrl-C.

use std::{
    io::{self, Read},
    process::{Child, Command, Output, Stdio},
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use catalog::compile::ToolError;

use crate::{Failure, session::Session, verbs::lifecycle::duration_of};

const VARIABLE: &str = "CAPSTAN_PROGRAM_TIMEOUT";
/// The default maximum time of one program.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(5);
/// The time between two looks at a running program.
const POLL: Duration = Duration::from_millis(2);
/// The maximum number of bytes that are kept of each stream of a program.
const MAX_OUTPUT: u64 = 1 << 20;
/// The maximum number of characters that are shown of the standard error of a program.
const MAX_ERROR: usize = 2_000;

/// Runs programs of components and templates.
pub(super) struct ProgramRunner<'a> {
    session: &'a Session,
    timeout: Duration,
}

impl<'a> ProgramRunner<'a> {
    /// Reads the time limit of programs.
    pub(super) fn new(session: &'a Session) -> Result<Self, Failure> {
        let text = session.environment().text(VARIABLE);
        let timeout = text.map(|text| duration_of(VARIABLE, text)).transpose()?;
        Ok(Self { session, timeout: timeout.unwrap_or(DEFAULT_TIMEOUT) })
    }

    /// Runs a program with the variables `HOME` and `PATH`, and others of the caller. Returns its standard output.
    ///
    /// # Errors
    /// A program that cannot be started, with a text of the caller; its standard error or status if it fails.
    pub(super) fn run(
        &self,
        command: &mut Command,
        variables: &[(String, String)],
        not_started: impl FnOnce(io::Error) -> String,
    ) -> Result<String, ToolError> {
        let fail = |reason| ToolError { reason, hints: Vec::new() };
        let environment = self.session.environment();
        let inherited =
            ["HOME", "PATH"].into_iter().filter_map(|name| Some((name, environment.get(name)?.to_owned())));
        command.env_clear().envs(inherited).envs(variables.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let child = command.spawn().map_err(|error| fail(not_started(error)))?;
        let ended = self.wait(child)?;
        if ended.status.success() {
            Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
        } else {
            Err(fail(problem_of(&ended)))
        }
    }

    /// Waits until a program and all processes with its output have ended.
    fn wait(&self, mut child: Child) -> Result<Output, ToolError> {
        let (started_at, interrupted) = (Instant::now(), self.session.defer_interrupts());
        let stdout = child.stdout.take().map(|stream| thread::spawn(|| read_start(stream)));
        let stderr = child.stderr.take().map(|stream| thread::spawn(|| read_start(stream)));
        loop {
            let is_open = [&stdout, &stderr].into_iter().flatten().any(|reader| !reader.is_finished());
            // The id of the process group is only certain until the status is read.
            let status = if is_open { Ok(None) } else { child.try_wait() };
            let reason = match status {
                Ok(Some(status)) => {
                    let bytes = |reader: Option<thread::JoinHandle<_>>| reader?.join().ok();
                    let (stdout, stderr) = (bytes(stdout), bytes(stderr));
                    return Ok(Output {
                        status,
                        stdout: stdout.unwrap_or_default(),
                        stderr: stderr.unwrap_or_default(),
                    });
                }
                Err(error) => error.to_string(),
                Ok(None) if interrupted.load(Ordering::SeqCst) => "the run was interrupted".to_owned(),
                Ok(None) if started_at.elapsed() > self.timeout => {
                    end(&mut child);
                    return Err(ToolError {
                        reason: format!("it did not end in {} s", self.timeout.as_secs_f64()),
                        hints: vec![format!("allow more time with the variable `{VARIABLE}=20m`")],
                    });
                }
                Ok(None) => {
                    thread::sleep(POLL);
                    continue;
                }
            };
            end(&mut child);
            return Err(ToolError { reason, hints: Vec::new() });
        }
    }
}

/// Ends a program and its child processes.
fn end(child: &mut Child) {
    // They may have ended already.
    #[cfg(unix)]
    let _ = rustix::process::kill_process_group(
        rustix::process::Pid::from_child(child),
        rustix::process::Signal::KILL,
    );
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads a stream to its end, and returns its start.
fn read_start(mut stream: impl Read) -> Vec<u8> {
    let mut start = Vec::new();
    // A stream that cannot be read has ended.
    let _ = stream.by_ref().take(MAX_OUTPUT).read_to_end(&mut start);
    let _ = io::copy(&mut stream, &mut io::sink());
    start
}

/// Returns the standard error of a failed program, or else its status.
fn problem_of(ended: &Output) -> String {
    let text = String::from_utf8_lossy(&ended.stderr);
    let text: String = text.trim().chars().take(MAX_ERROR).collect();
    if text.is_empty() { ended.status.to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_read_to_its_end_and_its_start_is_kept() {
        let mut stream = io::repeat(b'x').take(3 * MAX_OUTPUT);
        assert_eq!(read_start(&mut stream).len() as u64, MAX_OUTPUT);
        assert_eq!(stream.limit(), 0);
    }
}
