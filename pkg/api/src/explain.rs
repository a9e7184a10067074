//! Explanations of errors: hints, kinds and members that do not fit into the error text.
//!
//! ```text
//! library error ─► Explain::explain ─► kind, hints, members, the cause with its own explanation
//!                                        └─► explained: the explanation of the whole chain, in printed form
//! ```

use std::{error::Error, io};

use crate::{
    DnsNameError, ProviderRefError, UnknownProviderType, VersionError, output::ErrorKind,
    plan::SavedPlanError, with_causes,
};

/// The limit of members that are shown. The others are counted.
const MAX_SHOWN: usize = 20;

/// The placeholder for a kubeconfig in a suggested command, for the cluster that the run writes to.
pub const TARGET_PLACEHOLDER: &str = "TARGET";

/// An error with an explanation beyond its text.
pub trait Explain: Error {
    /// Explains this error. A transparent error returns the explanation of its inner error.
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::default()
    }
}

/// The explanation of one error.
#[derive(Default)]
pub struct ErrorExplanation<'a> {
    kind: Option<ErrorKind>,
    hints: Vec<String>,
    last_hint: Option<String>,
    members: Vec<ErrorMember<'a>>,
    cause: Option<&'a dyn Explain>,
    is_about_target: bool,
}

/// One of several errors that an error collects.
pub enum ErrorMember<'a> {
    /// A text of one line.
    Text(String),
    /// An error with its own explanation.
    Error(&'a dyn Explain),
}

impl<'a> ErrorExplanation<'a> {
    /// Explains an error by a next step for the user. Commands are in backticks.
    pub fn hint(hint: impl Into<String>) -> Self {
        Self::hints([hint])
    }

    /// Explains an error by any number of next steps.
    pub fn hints(hints: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { hints: hints.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Explains an error by its cause only.
    pub fn cause(cause: &'a dyn Explain) -> Self {
        Self::default().because(cause)
    }

    /// Explains an error that collects several errors.
    pub fn errors<E: Explain + 'a>(errors: impl IntoIterator<Item = &'a E>) -> Self {
        let members = errors.into_iter().map(|error| ErrorMember::Error(error)).collect();
        Self { members, ..Self::default() }
    }

    /// Explains an error that collects several texts.
    pub fn texts(texts: impl IntoIterator<Item = String>) -> Self {
        Self { members: texts.into_iter().map(ErrorMember::Text).collect(), ..Self::default() }
    }

    /// Explains an error by its kind.
    pub fn kind(kind: ErrorKind) -> Self {
        Self::default().with_kind(kind)
    }

    /// Sets the kind. The default is the kind of the cause.
    #[must_use]
    pub fn with_kind(self, kind: ErrorKind) -> Self {
        Self { kind: Some(kind), ..self }
    }

    /// Sets the cause. The cause is the error that `source` returns.
    #[must_use]
    pub fn because(self, cause: &'a dyn Explain) -> Self {
        Self { cause: Some(cause), ..self }
    }

    /// Adds a next step.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a next step after those of the cause.
    #[must_use]
    pub fn with_last_hint(self, hint: impl Into<String>) -> Self {
        Self { last_hint: Some(hint.into()), ..self }
    }

    /// Makes the commands in the hints, also in those of the cause, use the cluster that the run writes to.
    #[must_use]
    pub fn about_target(self) -> Self {
        Self { is_about_target: true, ..self }
    }
}

impl<T: Explain> Explain for Box<T> {
    fn explain(&self) -> ErrorExplanation<'_> {
        (**self).explain()
    }
}

impl Explain for io::Error {}

impl Explain for serde_json::Error {}

impl Explain for DnsNameError {}

impl Explain for ProviderRefError {}

impl Explain for VersionError {}

impl Explain for UnknownProviderType {}

impl Explain for SavedPlanError {}

/// The explanation of an error and all its causes.
#[derive(Debug, Default)]
pub struct ErrorChain {
    /// The kind of the outermost error that has one.
    pub kind: Option<ErrorKind>,
    /// The text of each error on one line, followed by its members.
    pub lines: Vec<String>,
    /// The hints, starting with those of the outermost error.
    pub hints: Vec<String>,
}

/// Explains an error and its causes.
pub fn error_chain(error: &dyn Explain) -> ErrorChain {
    let mut all = ErrorChain::default();
    all.add_error(error, false);
    all
}

impl ErrorChain {
    fn add_error(&mut self, error: &dyn Explain, is_about_target: bool) {
        let ErrorExplanation { kind, hints, last_hint, members, cause, is_about_target: from_here } =
            error.explain();
        let is_about_target = is_about_target || from_here;
        self.kind = self.kind.or(kind);
        self.lines.push(error.to_string());
        self.lines.extend(members.iter().take(MAX_SHOWN).map(member_line));
        if members.len() > MAX_SHOWN {
            self.lines.push(format!("and {} more", members.len() - MAX_SHOWN));
        }
        let of_members = members.iter().flat_map(|member| match member {
            ErrorMember::Text(_) => Vec::new(),
            ErrorMember::Error(error) => error_chain(*error).hints,
        });
        let all = hints.into_iter().chain(of_members);
        self.hints.extend(all.map(|hint| if is_about_target { with_target_flag(&hint) } else { hint }));
        if let Some(cause) = cause {
            self.add_error(cause, is_about_target);
        } else {
            let sources = std::iter::successors(error.source(), |source| (*source).source());
            self.lines.extend(sources.map(ToString::to_string));
        }
        self.hints.extend(last_hint);
    }
}

fn member_line(member: &ErrorMember<'_>) -> String {
    match member {
        ErrorMember::Text(text) => text.clone(),
        ErrorMember::Error(error) => with_causes(*error),
    }
}

fn with_target_flag(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| match part.split_once(' ') {
        Some(("capstan", _)) if at % 2 == 1 => format!("{part} --kubeconfig {TARGET_PLACEHOLDER}"),
        Some(("kubectl", words)) if at % 2 == 1 => {
            format!("kubectl --kubeconfig {TARGET_PLACEHOLDER} {words}")
        }
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Returns `` `a`, `b` or `c` ``.
pub fn one_of(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Quotes a word for a shell if necessary.
pub fn shell_word(word: &str) -> String {
    if is_plain_word(word) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// True if a shell accepts a word without quotes.
pub fn is_plain_word(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:=,@%+-".contains(&byte);
    !word.is_empty() && word.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    enum Example {
        #[error("outer")]
        Outer(#[source] Box<Example>),
        #[error("inner")]
        Inner(#[source] io::Error),
        #[error("several")]
        Several(Vec<Example>),
    }

    impl Explain for Example {
        fn explain(&self) -> ErrorExplanation<'_> {
            match self {
                Self::Outer(source) => ErrorExplanation::cause(source).about_target().with_last_hint("last"),
                Self::Inner(_) => ErrorExplanation::hint("see `capstan status` and `kubectl get ns`")
                    .with_kind(ErrorKind::User),
                Self::Several(errors) => ErrorExplanation::errors(errors),
            }
        }
    }

    fn outer() -> Example {
        Example::Outer(Box::new(Example::Inner(io::Error::other("foreign"))))
    }

    #[test]
    fn kind_and_hints_are_found_below_the_outermost_error() {
        let ErrorChain { kind, lines, hints } = error_chain(&outer());
        assert_eq!(kind, Some(ErrorKind::User));
        assert_eq!(lines, ["outer", "inner", "foreign"]);
        let on_target = "see `capstan status --kubeconfig TARGET` and `kubectl --kubeconfig TARGET get ns`";
        assert_eq!(hints, [on_target, "last"]);
    }

    #[test]
    fn each_member_is_printed_on_one_line() {
        let ErrorChain { kind, lines, .. } = error_chain(&Example::Several(vec![outer()]));
        assert_eq!(kind, None);
        assert_eq!(lines, ["several", "outer: inner: foreign"]);
    }

    #[test]
    fn names_are_joined_as_in_a_sentence() {
        assert_eq!(one_of(&["a"]), "`a`");
        assert_eq!(one_of(&["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
