use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use api::output::{ProgressEvent, ProgressStep};
use apply::Blocker;

use super::{
    ApiWarnings, Writes, event_text, json,
    wait_log::{LOG_AFTER, WaitLog, wait_lines},
};
use crate::ui::{Messages, closing_line};

/// The time after which retries with the same reason are shown again. Many requests fail at once when a server does not
/// answer.
const SHOW_AGAIN_AFTER: Duration = Duration::from_secs(30);

/// `--progress`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ProgressFormat {
    /// Live lines on a terminal, plain lines elsewhere.
    #[default]
    Auto,
    /// Plain lines.
    Plain,
    /// One JSON object per line.
    Json,
}

/// Shows events. Clones share their state.
#[derive(Clone)]
pub(crate) struct ClusterEvents {
    messages: Messages,
    format: ProgressFormat,
    writes: Writes,
    wait_log: WaitLog,
    hidden_warnings: ApiWarnings,
    step: Arc<Mutex<CountedStep>>,
    /// The reasons of shown retries, each with the time.
    shown_retries: Arc<Mutex<HashMap<String, Instant>>>,
}

#[derive(Default)]
struct CountedStep {
    /// The live line. Empty for a step without a count.
    text: String,
    written: usize,
    total: Option<usize>,
}

impl ClusterEvents {
    pub(crate) fn new(messages: Messages, format: ProgressFormat, writes: Writes) -> Self {
        Self {
            messages,
            format,
            writes,
            wait_log: WaitLog::default(),
            hidden_warnings: ApiWarnings::default(),
            step: Arc::default(),
            shown_retries: Arc::default(),
        }
    }

    /// Hides some warnings of servers.
    pub(crate) fn with_hidden_warnings(self, hidden: ApiWarnings) -> Self {
        Self { hidden_warnings: hidden, ..self }
    }

    pub(crate) fn server_sink(&self) -> apply::EventSink<apply::Event> {
        let this = self.clone();
        apply::EventSink::new(move |event| this.server_event(event))
    }

    /// Returns an event sink that logs only requests, for verbs that show the state of their server themselves.
    pub(crate) fn request_sink(&self) -> apply::EventSink<apply::Event> {
        let this = self.clone();
        apply::EventSink::new(move |event| {
            if matches!(event, apply::Event::Requested { .. }) {
                this.server_event(event);
            }
        })
    }

    /// Returns the event sink of a management cluster.
    pub(crate) fn cluster_sink(&self) -> apply::EventSink<ProgressEvent> {
        let this = self.clone();
        apply::EventSink::new(move |event| this.cluster_event(event))
    }

    pub(crate) fn warning(&self, text: impl Into<String>) {
        self.cluster_event(&ProgressEvent::Warning { text: text.into() });
    }

    /// Shows the end of a run. With JSON lines, the exit status reports the end.
    pub(crate) fn show_closing_text(&self, text: impl AsRef<str>) {
        if self.format != ProgressFormat::Json {
            self.messages.status(text);
        }
    }

    /// Shows the last line of a successful verb: the result and the duration.
    pub(crate) fn show_result(&self, result: &str, took: Duration) {
        if self.format == ProgressFormat::Json {
            self.line(&json::result_event(result, took));
        } else {
            self.messages.status(closing_line(result, took));
        }
    }

    /// True if no retry with this reason was shown for a while.
    fn is_news(&self, reason: &str) -> bool {
        let mut shown = self.shown_retries.lock().unwrap_or_else(PoisonError::into_inner);
        shown.retain(|_, at| at.elapsed() < SHOW_AGAIN_AFTER);
        let is_news = !shown.contains_key(reason);
        if is_news {
            shown.insert(reason.to_owned(), Instant::now());
        }
        is_news
    }

    fn server_event(&self, event: &apply::Event) {
        use apply::Event;
        self.writes.record(event);
        if matches!(event, Event::Warning { text, .. } if self.hidden_warnings.hides(text)) {
            return;
        }
        if self.format == ProgressFormat::Json
            && let Some(line) = json::progress_event(event)
        {
            return self.line(&line);
        }
        match event {
            Event::Requested { request, .. } => self.messages.log(5, format!("requesting {request}")),
            Event::Retrying { action, reason: why, since, after } => {
                self.messages.progress().begin(&format!("retrying: {action}"));
                let text = event_text::retry_line(action, why, *since, *after);
                if *since >= LOG_AFTER && self.is_news(why) {
                    self.messages.status(text);
                } else {
                    self.messages.log(1, text);
                }
            }
            // A quiet run also hides the known warnings, which Cluster API itself causes.
            Event::Warning { text, .. } if self.messages.is_quiet() && ApiWarnings::Known.hides(text) => {}
            Event::Warning { text, action } => self.messages.warning(event_text::warning_line(text, action)),
            Event::Wrote { object, how } => {
                self.count_object();
                self.messages.log(5, event_text::write_line(object, *how));
            }
            Event::Deleted { object } => self.messages.log(5, format!("deleted {object}")),
            Event::WaitingForLease { .. } | Event::TookOverLease { .. } => {
                self.messages.progress().begin_unnamed();
                self.messages.status(event_text::lease_line(event));
            }
            Event::Waiting { blockers } => self.waiting(blockers),
            Event::Migrating { definition, done, total: of } => {
                let text = event_text::migration_line(definition, *done, *of);
                self.messages.progress().begin(&text);
                self.messages.log(1, text);
            }
        }
    }

    fn cluster_event(&self, event: &ProgressEvent) {
        self.wait_log.clear();
        self.begin_step(event);
        if self.format == ProgressFormat::Json {
            return self.line(event);
        }
        match event_text::event_text(event) {
            Some(event_text::EventText::Status(text)) => {
                match event_text::live_line(event) {
                    Some(live) => self.messages.progress().begin(&live),
                    None => self.messages.progress().begin_unnamed(),
                }
                self.messages.status(text);
            }
            Some(event_text::EventText::Progress(text)) => {
                self.messages.progress().begin(&text);
                self.messages.log(1, text);
            }
            Some(event_text::EventText::Warning(text)) => self.messages.warning(text),
            None => {}
        }
    }

    fn begin_step(&self, event: &ProgressEvent) {
        let of = match event {
            ProgressEvent::Step { step: ProgressStep::Installing, counts, .. } => {
                counts.map(|counts| counts.objects)
            }
            _ => None,
        };
        let text = event_text::live_line(event).unwrap_or_default();
        *self.step.lock().unwrap_or_else(PoisonError::into_inner) =
            CountedStep { text, written: 0, total: of };
    }

    fn count_object(&self) {
        let mut step = self.step.lock().unwrap_or_else(PoisonError::into_inner);
        if !step.text.is_empty() {
            step.written += 1;
            self.messages.progress().begin(&event_text::counted_line(&step.text, step.written, step.total));
        }
    }

    fn waiting(&self, blockers: &[Blocker]) {
        let progress = self.messages.progress();
        if self.format == ProgressFormat::Auto && progress.is_live() {
            progress.wait_for(wait_lines(blockers));
        } else if let Some(runtime) = self.wait_log.update(blockers) {
            let (patient, messages) = (self.wait_log.clone(), self.messages.clone());
            runtime.spawn(async move { patient.log_waits(|line| messages.status(line)).await });
        }
    }

    fn line(&self, line: &ProgressEvent) {
        let completed = match line {
            ProgressEvent::Warning { text } => {
                Some(ProgressEvent::Warning { text: self.messages.complete_commands(text) })
            }
            _ => None,
        };
        // Plain data always serializes.
        let text = serde_json::to_string(completed.as_ref().unwrap_or(line)).unwrap_or_default();
        self.messages.write_plain(&format!("{text}\n"));
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use snapbox::{assert_data_eq, str};

    use api::output::StepCounts;
    use apply::ObjectKey;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn output_of(format: ProgressFormat, event: &ProgressEvent) -> String {
        let written = Written::default();
        let messages = Messages::new(Box::new(written.clone()), false);
        ClusterEvents::new(messages, format, Writes::default()).cluster_event(event);
        let bytes = written.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_step_is_shown_as_by_clusterctl_or_as_json() {
        let label = "infrastructure-aws".to_owned();
        let event = ProgressEvent::provider(ProgressStep::Installing, label, "v2.11.1", "capa-system")
            .with_counts(StepCounts { number: 2, of: 4, objects: 28 }, Duration::ZERO);
        assert_eq!(
            output_of(ProgressFormat::Auto, &event),
            "Installing provider=\"infrastructure-aws\" version=\"v2.11.1\" targetNamespace=\"capa-system\"\n"
        );
        assert_eq!(
            output_of(ProgressFormat::Json, &event),
            "{\"event\":\"step\",\"step\":\"installing\",\"provider\":\"infrastructure-aws\",\
             \"version\":\"v2.11.1\",\"namespace\":\"capa-system\",\"counts\":{\"number\":2,\"of\":4,\"objects\":28}}\n"
        );
    }

    #[test]
    fn the_live_line_counts_providers_and_objects() {
        let label = "cluster-api".to_owned();
        let event = ProgressEvent::provider(ProgressStep::Installing, label, "v1.14.0", "capi-system")
            .with_counts(StepCounts { number: 1, of: 4, objects: 28 }, Duration::ZERO);
        let live = event_text::live_line(&event).unwrap();
        assert_data_eq!(
            event_text::counted_line(&live, 12, Some(28)),
            str!["applying cluster-api v1.14.0 (provider 1 of 4): object 12 of 28"]
        );
        let step = ProgressStep::InstallingCertManager;
        let cert_manager = ProgressEvent::cert_manager(step, None, "v1.21.1");
        let live = event_text::live_line(&cert_manager).unwrap();
        assert_data_eq!(
            event_text::counted_line(&live, 3, None),
            str!["applying cert-manager v1.21.1: 3 objects"]
        );
    }

    #[test]
    fn a_retry_is_shown_after_a_while_or_with_verbosity() {
        let shown = |verbosity, since| {
            let written = Written::default();
            let messages = Messages::new(Box::new(written.clone()), false);
            messages.raise_verbosity(verbosity);
            let events = ClusterEvents::new(messages, ProgressFormat::Auto, Writes::default());
            let (action, why) = ("list Secrets".to_owned(), "storage is (re)initializing".to_owned());
            let after = Duration::from_secs(1);
            events.server_event(&apply::Event::Retrying { action, reason: why, since, after });
            let bytes = written.0.lock().unwrap().clone();
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!(shown(0, Duration::from_secs(2)), "");
        assert_data_eq!(
            shown(0, Duration::from_secs(3)),
            str![[r#"
cannot list Secrets (for 3s): storage is (re)initializing; retrying in 1s

"#]]
        );
        assert_data_eq!(
            shown(1, Duration::ZERO),
            str![[r#"
cannot list Secrets: storage is (re)initializing; retrying in 1s

"#]]
        );
    }

    #[test]
    fn retries_with_one_reason_are_shown_once() {
        let written = Written::default();
        let messages = Messages::new(Box::new(written.clone()), false);
        let events = ClusterEvents::new(messages, ProgressFormat::Auto, Writes::default());
        for (action, reason) in
            [("list Secrets", "no answer"), ("list Pods", "no answer"), ("list Pods", "busy")]
        {
            let (action, reason) = (action.to_owned(), reason.to_owned());
            let (since, after) = (Duration::from_secs(3), Duration::from_secs(1));
            events.server_event(&apply::Event::Retrying { action, reason, since, after });
        }
        let bytes = written.0.lock().unwrap().clone();
        assert_data_eq!(
            String::from_utf8(bytes).unwrap(),
            str![[r#"
cannot list Secrets (for 3s): no answer; retrying in 1s
cannot list Pods (for 3s): busy; retrying in 1s

"#]]
        );
    }

    #[test]
    fn only_changes_count_as_writes() {
        let writes = Writes::default();
        let messages = Messages::new(Box::new(io::sink()), false);
        let events = ClusterEvents::new(messages, ProgressFormat::Plain, writes.clone());
        let object = ObjectKey { kind: "Namespace".to_owned(), name: "a".to_owned(), ..ObjectKey::default() };
        for how in [apply::Written::Created, apply::Written::Changed, apply::Written::Unchanged] {
            events.server_event(&apply::Event::Wrote { object: object.clone(), how });
        }
        events.server_event(&apply::Event::Deleted { object });
        assert_eq!(writes.count(), 3);
    }
}
