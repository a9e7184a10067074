use std::{
    fmt::Write as _,
    io::Write,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
};

use api::output::ProgressEvent;

use super::{Label, Progress, sanitize};
use crate::{failure::Failure, suggested_commands::SuggestedCommands};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorFormat {
    Text,
    Json,
    /// JSON as the last line of `--progress json`.
    ProgressLine,
    Yaml,
}

/// The output on stderr. Clones are cheap, so futures of libraries can show events. Completes the suggested commands
/// in each text.
#[derive(Clone)]
pub(crate) struct Messages {
    stderr: Arc<Mutex<Box<dyn Write + Send>>>,
    progress: Progress,
    colour: bool,
    quiet: bool,
    verbosity: Arc<AtomicU8>,
    commands: Arc<Mutex<SuggestedCommands>>,
}

impl Messages {
    pub(crate) fn new(stderr: Box<dyn Write + Send>, is_terminal: bool) -> Self {
        Self {
            stderr: Arc::new(Mutex::new(stderr)),
            progress: Progress::new(is_terminal),
            colour: false,
            quiet: false,
            verbosity: Arc::default(),
            commands: Arc::default(),
        }
    }

    /// Applies the parsed flags.
    pub(crate) fn configure(&mut self, colour: bool, quiet: bool, commands: SuggestedCommands) {
        self.replace_commands(commands);
        self.colour = colour;
        self.quiet = quiet;
        if quiet {
            self.progress = Progress::new(false);
        }
    }

    /// Replaces the completion of suggested commands. Returns the previous one.
    pub(crate) fn replace_commands(&self, commands: SuggestedCommands) -> SuggestedCommands {
        let mut current = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut current, commands)
    }

    pub(crate) fn complete_commands(&self, text: &str) -> String {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).complete(text).into_owned()
    }

    pub(crate) fn commands(&self) -> SuggestedCommands {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Raises the verbosity to at least this level.
    pub(crate) fn raise_verbosity(&self, level: u8) {
        self.verbosity.fetch_max(level, Ordering::Relaxed);
    }

    pub(crate) fn status(&self, text: impl AsRef<str>) {
        if !self.quiet {
            self.write(&format!("{}\n", sanitize(&self.complete_commands(text.as_ref()))));
        }
    }

    /// Shows the wait for another run, with its process if known.
    pub(crate) fn waiting_for_run(&self, what: &str, process: Option<u32>) {
        let process = process.map(|process| format!(", process {process}")).unwrap_or_default();
        self.status(format!("waiting for another run {what}{process}"));
        self.progress().begin_unnamed();
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Shows a warning: no error now, but a possible surprise later.
    pub(crate) fn warning(&self, text: impl AsRef<str>) {
        self.labelled(Label::Warning, "warning:", text.as_ref());
    }

    /// Shows a log line from the given verbosity on: 1 for decisions, 5 for the configuration and every request.
    /// Source: clusterctl v1.14 logs at 0, 1, 2 and 5, to stderr, without time and level.
    pub(crate) fn log(&self, level: u8, text: impl AsRef<str>) {
        if self.is_logged(level) {
            let line = Label::Log.paint(sanitize(text.as_ref()), self.colour);
            self.write(&format!("{line}\n"));
        }
    }

    pub(crate) fn is_logged(&self, level: u8) -> bool {
        level <= self.verbosity.load(Ordering::Relaxed)
    }

    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Shows text unchanged, such as help for an error.
    pub(crate) fn write_plain(&self, text: &str) {
        self.write(text);
    }

    pub(crate) fn failure(&self, failure: &Failure, format: ErrorFormat) {
        let report = || failure.report(|text| self.complete_commands(text));
        let text = match format {
            ErrorFormat::Text => return self.failure_text(failure),
            ErrorFormat::Json => serde_json::to_string(&report()).map(|line| line + "\n"),
            ErrorFormat::ProgressLine => {
                serde_json::to_string(&ProgressEvent::Error(report())).map(|line| line + "\n")
            }
            ErrorFormat::Yaml => serde_json::to_value(report()).map(|value| manifest::yaml::write(&value)),
        };
        // Plain data always serializes.
        self.write(&text.unwrap_or_default());
    }

    /// Shows `error:`, then a `cause:` per level, then the usage, then each hint once.
    fn failure_text(&self, failure: &Failure) {
        let mut text = self.line(Label::Error, "error:", failure.message());
        for cause in failure.causes() {
            text.push_str("  ");
            text.push_str(&self.line(Label::Cause, "cause:", cause));
        }
        if let Some(usage) = failure.usage() {
            text.push_str(&self.line(Label::Usage, "usage:", usage));
        }
        for hint in failure.distinct_hints() {
            text.push_str(&self.line(Label::Hint, "hint:", hint));
        }
        self.write(&text);
    }

    fn labelled(&self, label: Label, word: &str, text: &str) {
        self.write(&self.line(label, word, text));
    }

    /// Formats a message. Continuation lines are indented, so that a label always starts a message.
    fn line(&self, label: Label, word: &str, text: &str) -> String {
        let mut line = String::with_capacity(text.len() + 16);
        let text = self.complete_commands(text.trim_end());
        let cleaned = sanitize(&text);
        let mut lines = cleaned.lines();
        let first = lines.next().unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(line, "{} {first}", label.paint(word, self.colour));
        for rest in lines {
            let _ = writeln!(line, "    {rest}");
        }
        line
    }

    /// Ignores errors, because a closed stderr cannot show them.
    fn write(&self, text: &str) {
        self.progress.clear();
        let mut stderr = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }
}
