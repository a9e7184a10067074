use std::{error::Error, path::Path};

use api::{ErrorChain, Explain, error_chain, output::ErrorReport};

use crate::events::Writes;

pub(crate) use api::output::ErrorKind as Kind;

/// The failure of a verb in printable form: the message, the causes and the next steps.
///
/// The `?` operator converts any error that implements `Explain`, with the causes, hints and kind of its chain.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    message: String,
    causes: Vec<String>,
    hints: Vec<String>,
    usage: Option<String>,
}

impl Failure {
    /// Returns a failure of the given kind without causes. The message is a lower-case fragment.
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), causes: Vec::new(), hints: Vec::new(), usage: None }
    }

    pub(crate) fn user(message: impl Into<String>) -> Self {
        Self::new(Kind::User, message)
    }

    pub(crate) fn interrupted() -> Self {
        Self::new(Kind::Interrupted, "interrupted, nothing was written")
    }

    /// Returns the failure of an operation on a file or folder.
    pub(crate) fn io(act: &str, path: &Path, error: &(dyn Error + 'static)) -> Self {
        Self::new(Kind::Environment, format!("cannot {act} `{}`", path.display())).because_foreign(error)
    }

    /// Appends an error with all its sources and hints to the causes.
    #[must_use]
    pub(crate) fn because(mut self, error: &dyn Explain) -> Self {
        let ErrorChain { lines, hints, .. } = error_chain(error);
        self.causes.extend(lines);
        self.hints.extend(hints);
        self
    }

    /// Appends an error of a foreign library with all its sources. Such an error has no hints.
    #[must_use]
    pub(crate) fn because_foreign(mut self, error: &(dyn Error + 'static)) -> Self {
        let chain = std::iter::successors(Some(error), |error| (*error).source());
        self.causes.extend(chain.map(ToString::to_string));
        self
    }

    /// Converts an error of a foreign library to a failure of the environment.
    pub(crate) fn foreign(error: &(dyn Error + 'static)) -> Self {
        let failure = Self::new(Kind::Environment, error.to_string());
        match error.source() {
            Some(source) => failure.because_foreign(source),
            None => failure,
        }
    }

    /// Appends one cause without an error value, such as an item of a list.
    #[must_use]
    pub(crate) fn cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Names the larger operation that failed. The previous message becomes the first cause. An interruption keeps
    /// its message.
    #[must_use]
    pub(crate) fn with_context(mut self, message: impl Into<String>) -> Self {
        if self.kind == Kind::Interrupted {
            return self;
        }
        let inner = std::mem::replace(&mut self.message, message.into());
        self.causes.insert(0, inner);
        self
    }

    /// Drops a message that only repeats a name that the caller already shows. The first cause replaces the message.
    #[must_use]
    pub(crate) fn without_repeated_name(mut self, name: &str) -> Self {
        if !self.causes.is_empty() && self.message.ends_with(&format!("`{name}`")) {
            self.message = self.causes.remove(0);
        }
        self
    }

    /// Says that a push may have taken effect before an interruption: Ctrl-C waits for no answer.
    #[must_use]
    pub(crate) fn during_push(mut self) -> Self {
        if self.kind != Kind::Interrupted {
            return self;
        }
        "interrupted; the push may have taken effect".clone_into(&mut self.message);
        self.hint("re-run the same command to complete it")
    }

    /// Adds the number of writes and the hint to resume. A run without writes stays unchanged.
    /// Ctrl-C waits for no answer, so the last request may have taken effect too.
    #[must_use]
    pub(crate) fn after_writes(mut self, writes: &Writes, resume_hint: &str) -> Self {
        let count = match writes.count() {
            1 => "one write".to_owned(),
            several => format!("{several} writes"),
        };
        if self.kind == Kind::Interrupted && writes.any_sent() {
            self.message = match writes.count() {
                0 => "interrupted during the first write".to_owned(),
                _ => format!("interrupted after at least {count}"),
            };
            return self.hint(resume_hint);
        }
        if writes.count() == 0 {
            return self;
        }
        self.hints.retain(|hint| hint != resume_hint);
        self.hint(format!("the run stopped after {count}: {resume_hint}"))
    }

    /// Adds the hint to resume. An interruption also names its position, as in `while it …`.
    #[must_use]
    pub(crate) fn with_resume_hint(mut self, at: &str, resume_hint: impl Into<String>) -> Self {
        if self.kind == Kind::Interrupted {
            self.message = format!("interrupted {at}");
        }
        self.hint(resume_hint)
    }

    #[must_use]
    pub(crate) fn with_usage(self, usage: String) -> Self {
        Self { usage: Some(usage), ..self }
    }

    #[must_use]
    pub(crate) fn with_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn causes(&self) -> &[String] {
        &self.causes
    }

    pub(crate) fn distinct_hints(&self) -> impl Iterator<Item = &str> {
        let seen = |at: usize| self.hints[..at].contains(&self.hints[at]);
        (0..self.hints.len()).filter(move |at| !seen(*at)).map(|at| self.hints[at].as_str())
    }

    pub(crate) fn one_line(&self) -> String {
        let causes = self.causes.iter().map(String::as_str);
        std::iter::once(self.message.as_str()).chain(causes).collect::<Vec<_>>().join(": ")
    }

    /// Returns the usage of the verb if the number of arguments is wrong.
    pub(crate) fn usage(&self) -> Option<&str> {
        self.usage.as_deref()
    }

    /// Returns the failure for scripts. `complete` adds the flags of this run to suggested commands.
    pub(crate) fn report(&self, complete: impl Fn(&str) -> String) -> ErrorReport {
        ErrorReport {
            kind: self.kind,
            exit_code: self.kind.exit_status().code(),
            message: complete(&self.message),
            causes: self.causes.iter().map(|cause| complete(cause)).collect(),
            usage: self.usage.clone(),
            hints: self.distinct_hints().map(complete).collect(),
        }
    }
}

impl<E: Explain> From<E> for Failure {
    fn from(error: E) -> Self {
        let ErrorChain { kind, lines, hints } = error_chain(&error);
        let mut lines = lines.into_iter();
        Self {
            kind: kind.unwrap_or(Kind::Environment),
            message: lines.next().unwrap_or_default(),
            causes: lines.collect(),
            hints,
            usage: None,
        }
    }
}

/// Converts errors of foreign libraries to failures of the environment.
pub(crate) trait Foreign<T> {
    fn foreign(self) -> Result<T, Failure>;
}

impl<T, E: Error + 'static> Foreign<T> for Result<T, E> {
    fn foreign(self) -> Result<T, Failure> {
        self.map_err(|error| Failure::foreign(&error))
    }
}

/// Adds the name of the larger operation to a failed result.
pub(crate) trait WithContext<T> {
    /// Replaces the message. The previous message becomes the first cause.
    fn with_context(self, message: impl FnOnce() -> String) -> Result<T, Failure>;
}

impl<T, E: Into<Failure>> WithContext<T> for Result<T, E> {
    fn with_context(self, message: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|error| error.into().with_context(message()))
    }
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn a_partial_run_names_its_writes_and_the_command_to_resume() {
        let interrupted = |writes: &Writes| Failure::interrupted().after_writes(writes, "run it again");
        let writes = [Writes::default(), Writes::of(0), Writes::of(1), Writes::of(7)];
        let messages = writes.map(|writes| interrupted(&writes).message().to_owned());
        assert_data_eq!(
            messages.join("\n"),
            str![[r#"
interrupted, nothing was written
interrupted during the first write
interrupted after at least one write
interrupted after at least 7 writes
"#]]
        );
        assert_eq!(interrupted(&Writes::of(0)).distinct_hints().collect::<Vec<_>>(), ["run it again"]);
        let failed = Failure::new(Kind::Environment, "cannot install").hint("run it again");
        let failed = failed.after_writes(&Writes::of(2), "run it again");
        assert_eq!(failed.message(), "cannot install");
        assert_data_eq!(
            failed.distinct_hints().collect::<String>(),
            str!["the run stopped after 2 writes: run it again"]
        );
    }

    #[test]
    fn the_kind_of_an_error_comes_from_the_first_cause_that_has_one() {
        use management::LifecycleError;
        use mover::{JournalError, MoveError};

        let kind = |failure: Failure| failure.kind();
        assert_eq!(kind(std::io::Error::from(std::io::ErrorKind::NotFound).into()), Kind::Environment);
        assert_eq!(kind(JournalError::TakenOver.into()), Kind::Conflict);
        assert_eq!(kind(MoveError::Journal(JournalError::TakenOver).into()), Kind::Conflict);
        let absent = Failure::from(LifecycleError::Contract(inventory::ContractError::NotInstalled));
        assert_eq!(absent.kind(), Kind::Environment);
        assert_data_eq!(
            absent.distinct_hints().collect::<String>(),
            str!["install Cluster API with `capstan init`"]
        );
    }

    #[test]
    fn a_full_disk_during_a_bundle_gets_the_same_hint_everywhere() {
        use bundle::BundleError;

        let full = || BundleError::Write { path: "x".into(), source: std::io::ErrorKind::StorageFull.into() };
        let last = |failure: Failure| failure.distinct_hints().last().map(str::to_owned);
        assert_data_eq!(last(full().into()).unwrap(), str!["free disk space, and re-run the command"]);
        let unsent =
            BundleError::UploadFailed { address: "oci://lab/x:v1".to_owned(), source: Box::new(full()) };
        assert_eq!(last(unsent.into()), last(full().into()));
    }
}
