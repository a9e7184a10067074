use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use api::output::{ProgressEvent, ProgressStep};
use apply::Blocker;

use super::{
    ApiWarnings, Writes, json,
    waiting::{PATIENCE, Patient, lines},
    words,
};
use crate::ui::{Messages, closing_line};

/// `--progress`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ProgressFormat {
    /// Live lines on a terminal, plain lines elsewhere.
    #[default]
    Auto,
    /// Plain lines.
    Plain,
    /// One JSON object a line.
    Json,
}

/// Shows events. Clones share their state.
#[derive(Clone)]
pub(crate) struct ClusterEvents {
    messages: Messages,
    format: ProgressFormat,
    writes: Writes,
    patient: Patient,
    hidden: ApiWarnings,
    step: Arc<Mutex<CountedStep>>,
}

#[derive(Default)]
struct CountedStep {
    /// The live line. Empty for a step without a count.
    text: String,
    written: usize,
    of: Option<usize>,
}

impl ClusterEvents {
    pub(crate) fn new(messages: Messages, format: ProgressFormat, writes: Writes) -> Self {
        Self {
            messages,
            format,
            writes,
            patient: Patient::default(),
            hidden: ApiWarnings::default(),
            step: Arc::default(),
        }
    }

    /// Hides some warnings of servers.
    pub(crate) fn hiding(self, hidden: ApiWarnings) -> Self {
        Self { hidden, ..self }
    }

    pub(crate) fn of_server(&self) -> apply::EventSink<apply::Event> {
        let this = self.clone();
        apply::EventSink::new(move |event| this.server_event(event))
    }

    /// Returns an event sink that logs only requests, for verbs that show the state of their server themselves.
    pub(crate) fn requests_of_server(&self) -> apply::EventSink<apply::Event> {
        let this = self.clone();
        apply::EventSink::new(move |event| {
            if matches!(event, apply::Event::Requested { .. }) {
                this.server_event(event);
            }
        })
    }

    /// Returns the event sink of a management cluster.
    pub(crate) fn of_cluster(&self) -> apply::EventSink<ProgressEvent> {
        let this = self.clone();
        apply::EventSink::new(move |event| this.cluster_event(event))
    }

    pub(crate) fn warning(&self, text: impl Into<String>) {
        self.cluster_event(&ProgressEvent::Warning { text: text.into() });
    }

    /// Shows the end of a run. With JSON lines, the exit status reports the end.
    pub(crate) fn end(&self, text: impl AsRef<str>) {
        if self.format != ProgressFormat::Json {
            self.messages.status(text);
        }
    }

    /// Shows the last line of a successful verb: the result and the duration.
    pub(crate) fn done(&self, result: &str, took: Duration) {
        if self.format == ProgressFormat::Json {
            self.line(&json::done(result, took));
        } else {
            self.messages.status(closing_line(result, took));
        }
    }

    fn server_event(&self, event: &apply::Event) {
        use apply::Event;
        self.writes.note(event);
        if matches!(event, Event::Warning { text, .. } if self.hidden.hides(text)) {
            return;
        }
        if self.format == ProgressFormat::Json
            && let Some(line) = json::of_server(event)
        {
            return self.line(&line);
        }
        match event {
            Event::Requested { request, .. } => self.messages.log(5, format!("requesting {request}")),
            Event::Retrying { action, why, since, after } => {
                self.messages.progress().begin(&format!("trying to {action} again"));
                let text = words::retrying(action, why, *since, *after);
                if *since >= PATIENCE { self.messages.status(text) } else { self.messages.log(1, text) }
            }
            // A quiet run also hides the known warnings, which Cluster API itself causes.
            Event::Warning { text, .. } if self.messages.is_quiet() && ApiWarnings::Known.hides(text) => {}
            Event::Warning { text, action } => self.messages.warning(words::warned(text, action)),
            Event::Wrote { object, how } => {
                self.count_object();
                self.messages.log(5, words::wrote(object, *how));
            }
            Event::Deleted { object } => self.messages.log(5, format!("deleted {object}")),
            Event::WaitingForLease { .. } | Event::TookOverLease { .. } => {
                self.messages.progress().begin_named_above();
                self.messages.status(words::lease(event));
            }
            Event::Waiting { blockers } => self.waiting(blockers),
            Event::Migrating { definition, done, of } => {
                let text = words::migrating(definition, *done, *of);
                self.messages.progress().begin(&text);
                self.messages.log(1, text);
            }
        }
    }

    fn cluster_event(&self, event: &ProgressEvent) {
        self.patient.forget();
        self.begin_step(event);
        if self.format == ProgressFormat::Json {
            return self.line(event);
        }
        match words::of_cluster(event) {
            Some(words::Said::Status(text)) => {
                match words::live(event) {
                    Some(live) => self.messages.progress().begin(&live),
                    None => self.messages.progress().begin_named_above(),
                }
                self.messages.status(text);
            }
            Some(words::Said::Part(text)) => {
                self.messages.progress().begin(&text);
                self.messages.log(1, text);
            }
            Some(words::Said::Warning(text)) => self.messages.warning(text),
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
        let text = words::live(event).unwrap_or_default();
        *self.step.lock().unwrap_or_else(PoisonError::into_inner) = CountedStep { text, written: 0, of };
    }

    fn count_object(&self) {
        let mut step = self.step.lock().unwrap_or_else(PoisonError::into_inner);
        if !step.text.is_empty() {
            step.written += 1;
            self.messages.progress().begin(&words::counted(&step.text, step.written, step.of));
        }
    }

    fn waiting(&self, blockers: &[Blocker]) {
        let progress = self.messages.progress();
        if self.format == ProgressFormat::Auto && progress.is_live() {
            progress.wait_for(lines(blockers));
        } else if let Some(runtime) = self.patient.show(blockers) {
            let (patient, messages) = (self.patient.clone(), self.messages.clone());
            runtime.spawn(async move { patient.tell(|line| messages.status(line)).await });
        }
    }

    fn line(&self, line: &ProgressEvent) {
        let completed = match line {
            ProgressEvent::Warning { text } => {
                Some(ProgressEvent::Warning { text: self.messages.completed(text) })
            }
            _ => None,
        };
        // Plain data always serializes.
        let text = serde_json::to_string(completed.as_ref().unwrap_or(line)).unwrap_or_default();
        self.messages.plain(&format!("{text}\n"));
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

    fn told(format: ProgressFormat, event: &ProgressEvent) -> String {
        let written = Written::default();
        let messages = Messages::new(Box::new(written.clone()), false);
        ClusterEvents::new(messages, format, Writes::default()).cluster_event(event);
        let bytes = written.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_step_is_told_in_the_words_scripts_know_or_as_json() {
        let label = "infrastructure-aws".to_owned();
        let event = ProgressEvent::provider(ProgressStep::Installing, label, "v2.11.1", "capa-system")
            .counted(StepCounts { number: 2, of: 4, objects: 28 }, Duration::ZERO);
        assert_eq!(
            told(ProgressFormat::Auto, &event),
            "Installing provider=\"infrastructure-aws\" version=\"v2.11.1\" targetNamespace=\"capa-system\"\n"
        );
        assert_eq!(
            told(ProgressFormat::Json, &event),
            "{\"event\":\"step\",\"step\":\"installing\",\"provider\":\"infrastructure-aws\",\
             \"version\":\"v2.11.1\",\"namespace\":\"capa-system\",\"counts\":{\"number\":2,\"of\":4,\"objects\":28}}\n"
        );
    }

    #[test]
    fn the_live_line_counts_providers_and_objects() {
        let label = "cluster-api".to_owned();
        let event = ProgressEvent::provider(ProgressStep::Installing, label, "v1.14.0", "capi-system")
            .counted(StepCounts { number: 1, of: 4, objects: 28 }, Duration::ZERO);
        let live = words::live(&event).unwrap();
        assert_data_eq!(
            words::counted(&live, 12, Some(28)),
            str!["applying cluster-api v1.14.0 (provider 1 of 4): object 12 of 28"]
        );
        let step = ProgressStep::InstallingCertManager;
        let cert_manager = ProgressEvent::cert_manager(step, None, "v1.21.1");
        let live = words::live(&cert_manager).unwrap();
        assert_data_eq!(words::counted(&live, 3, None), str!["applying cert-manager v1.21.1: 3 objects"]);
    }

    #[test]
    fn a_retry_is_told_once_it_has_lasted_or_to_who_wants_to_know() {
        let told = |verbosity, since| {
            let written = Written::default();
            let messages = Messages::new(Box::new(written.clone()), false);
            messages.raise_verbosity(verbosity);
            let events = ClusterEvents::new(messages, ProgressFormat::Auto, Writes::default());
            let (action, why) = ("list Secrets".to_owned(), "storage is (re)initializing".to_owned());
            let after = Duration::from_secs(1);
            events.server_event(&apply::Event::Retrying { action, why, since, after });
            let bytes = written.0.lock().unwrap().clone();
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!(told(0, Duration::from_secs(2)), "");
        assert_data_eq!(
            told(0, Duration::from_secs(3)),
            str![[r#"
cannot list Secrets (for 3s): storage is (re)initializing; trying again in 1s

"#]]
        );
        assert_data_eq!(
            told(1, Duration::ZERO),
            str![[r#"
cannot list Secrets: storage is (re)initializing; trying again in 1s

"#]]
        );
    }

    #[test]
    fn only_what_changes_something_counts_as_written() {
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
