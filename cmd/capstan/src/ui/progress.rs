use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{format_bytes, format_duration, sanitize};

/// The minimum duration of a drawn step, which avoids flicker.
const DRAW_AFTER: Duration = Duration::from_millis(300);

pub(crate) const TICK: Duration = Duration::from_millis(100);

/// The live line of the current wait. `None` unless stderr is a terminal.
#[derive(Clone)]
pub(crate) struct Progress(Option<Arc<Mutex<Step>>>);

/// A blocker of the current wait, below the live line.
#[derive(Clone, Debug)]
pub(crate) struct WaitLine {
    pub(crate) text: String,
    pub(crate) since: Option<Instant>,
}

#[derive(Default)]
struct Step {
    text: String,
    since: Option<Instant>,
    started_at: Option<Instant>,
    bytes: u64,
    total: Option<u64>,
    wait_lines: Vec<WaitLine>,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(is_terminal: bool) -> Self {
        Self(is_terminal.then(Arc::default))
    }

    /// True if stderr shows a live line.
    pub(crate) fn is_live(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn begin(&self, what: &str) {
        self.with(|step| {
            let since = step.since.or_else(|| Some(Instant::now()));
            let drawn = step.bar.take();
            let begun = Some(Instant::now());
            *step = Step {
                text: sanitize(what).into_owned(),
                since,
                started_at: begun,
                bar: drawn,
                ..Step::default()
            };
        });
    }

    /// Begins a step that the previous line already names. Only its time is drawn.
    pub(crate) fn begin_unnamed(&self) {
        self.begin("");
    }

    /// Shows the blockers of the step line by line, until the next step.
    pub(crate) fn wait_for(&self, lines: Vec<WaitLine>) {
        self.with(|step| {
            step.since.get_or_insert_with(Instant::now);
            step.wait_lines = lines;
        });
    }

    pub(crate) fn advance(&self, bytes: u64, total: Option<u64>) {
        self.with(|step| {
            step.bytes = bytes;
            step.total = total;
        });
    }

    pub(crate) fn end(&self) {
        self.with(|step| {
            if let Some(bar) = step.bar.take() {
                bar.finish_and_clear();
            }
            *step = Step::default();
        });
    }

    /// Removes the line from the terminal for other output. The next tick draws the line again.
    pub(crate) fn clear(&self) {
        self.with(|step| {
            if let Some(bar) = step.bar.take() {
                bar.finish_and_clear();
            }
        });
    }

    /// Draws the line after a minimum wait.
    pub(crate) fn tick(&self) {
        self.with(|step| {
            if let Some(elapsed) = step.since.map(|since| since.elapsed()).filter(|span| *span >= DRAW_AFTER)
            {
                let bar = step.bar.get_or_insert_with(spinner);
                let spent = step.started_at.map_or(elapsed, |begun| begun.elapsed());
                bar.set_message(with_time(&text(&step.text, step.bytes, step.total), spent));
                bar.set_prefix(step.wait_lines.iter().map(wait_line_text).collect::<String>());
                bar.tick();
            }
        });
    }

    fn with(&self, change: impl FnOnce(&mut Step)) {
        if let Some(step) = &self.0 {
            change(&mut step.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

fn spinner() -> ProgressBar {
    let width = message_width(console::Term::stderr().size().1);
    let template = format!("{{spinner}} {{msg:{width}!}}{{prefix}}");
    let style = ProgressStyle::with_template(&template).expect("the template has known keys only");
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
}

/// Returns the columns of a message. Leaves room for the `^C` of the terminal, which would otherwise wrap and keep
/// the message.
fn message_width(columns: u16) -> usize {
    const SPINNER: usize = 2;
    const CTRL_C: usize = 2;
    usize::from(columns).saturating_sub(SPINNER + CTRL_C + 1).max(1)
}

fn text(what: &str, bytes: u64, total: Option<u64>) -> String {
    match total {
        Some(total) => format!("{what} ({} of {})", format_bytes(bytes), format_bytes(total)),
        None if bytes > 0 => format!("{what} ({})", format_bytes(bytes)),
        None => what.to_owned(),
    }
}

/// Returns a message with the elapsed time, or only the time if the previous line names the step.
fn with_time(text: &str, spent: Duration) -> String {
    let spent = format_duration(spent);
    if text.is_empty() { spent } else { format!("{text} ({spent})") }
}

fn wait_line_text(line: &WaitLine) -> String {
    let since =
        line.since.map(|since| format!(" ({})", format_duration(since.elapsed()))).unwrap_or_default();
    format!("\n  {}{since}", sanitize(&line.text))
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn a_download_shows_its_progress() {
        let lines = [(0, None), (2048, None), (1024, Some(4096))];
        let lines = lines.map(|(received, total)| text("reading x", received, total));
        assert_data_eq!(
            lines.join("\n"),
            str![[r#"
reading x
reading x (2.00 KiB)
reading x (1.00 KiB of 4.00 KiB)
"#]]
        );
    }

    #[test]
    fn ctrl_c_fits_behind_the_message() {
        assert!("x ".len() + message_width(80) + "^C".len() < 80);
        assert_eq!(message_width(0), 1);
    }

    #[test]
    fn an_unnamed_step_shows_only_its_time() {
        assert_eq!(with_time("", Duration::from_secs(8)), "8s");
        assert_eq!(with_time("reading x", Duration::from_secs(8)), "reading x (8s)");
    }

    #[test]
    fn a_wait_line_is_indented_and_sanitized() {
        let line = WaitLine { text: "Deployment a: \u{1b}x".to_owned(), since: None };
        assert_eq!(wait_line_text(&line), "\n  Deployment a: \\u{1b}x");
    }

    #[test]
    fn nothing_is_drawn_without_a_terminal() {
        let progress = Progress::new(false);
        progress.begin("reading");
        progress.tick();
        assert!(!progress.is_live());
    }
}
