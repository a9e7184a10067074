//! Hints, kinds and members of errors: facts that a text has no room for.
//!
//! ```text
//! library error ─► Explain::explain ─► kind, hints, members, the cause with more of them
//!                                        └─► explained: those of a whole chain, as a program prints them
//! ```

use std::{error::Error, io};

use crate::{
    InvalidDnsName, InvalidProviderRef, InvalidVersion, UnknownProviderType, output::ErrorKind,
    plan::UnusablePlan, with_causes,
};

/// So many members are told one by one; the rest is counted.
const SHOWN: usize = 20;

/// In place of a kubeconfig in a suggested command: the cluster that the run writes to.
pub const TARGET: &str = "TARGET";

/// An error that knows more than its text.
pub trait Explain: Error {
    /// Explains this error. One that only passes on another error gives the explanation of that error.
    fn explain(&self) -> Explanation<'_> {
        Explanation::default()
    }
}

/// Facts of one error.
#[derive(Default)]
pub struct Explanation<'a> {
    kind: Option<ErrorKind>,
    hints: Vec<String>,
    last_hint: Option<String>,
    members: Vec<Member<'a>>,
    cause: Option<&'a dyn Explain>,
    is_about_target: bool,
}

/// One of the errors that an error stands for.
pub enum Member<'a> {
    /// Text in one line.
    Text(String),
    /// An error with its own explanation.
    Error(&'a dyn Explain),
}

impl<'a> Explanation<'a> {
    /// The explanation of an error with a next step for the user. Commands stand between backticks.
    pub fn hint(hint: impl Into<String>) -> Self {
        Self::hints([hint])
    }

    /// The explanation of an error with any number of next steps.
    pub fn hints(hints: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { hints: hints.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// The explanation of an error that only its cause can explain.
    pub fn cause(cause: &'a dyn Explain) -> Self {
        Self::default().because(cause)
    }

    /// The explanation of an error that stands for several errors.
    pub fn errors<E: Explain + 'a>(errors: impl IntoIterator<Item = &'a E>) -> Self {
        let members = errors.into_iter().map(|error| Member::Error(error)).collect();
        Self { members, ..Self::default() }
    }

    /// The explanation of an error that stands for several facts.
    pub fn texts(texts: impl IntoIterator<Item = String>) -> Self {
        Self { members: texts.into_iter().map(Member::Text).collect(), ..Self::default() }
    }

    /// The explanation of an error of this kind.
    pub fn kind(kind: ErrorKind) -> Self {
        Self::default().of_kind(kind)
    }

    /// Sets the kind; without it the kind is that of the cause.
    #[must_use]
    pub fn of_kind(self, kind: ErrorKind) -> Self {
        Self { kind: Some(kind), ..self }
    }

    /// Sets the cause. It is the error that `source` gives.
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

    /// Adds a next step behind those of the cause.
    #[must_use]
    pub fn and_last(self, hint: impl Into<String>) -> Self {
        Self { last_hint: Some(hint.into()), ..self }
    }

    /// Lets the commands of its hints, and of those of its cause, work on the cluster that the run writes to.
    #[must_use]
    pub fn about_target(self) -> Self {
        Self { is_about_target: true, ..self }
    }
}

impl<T: Explain> Explain for Box<T> {
    fn explain(&self) -> Explanation<'_> {
        (**self).explain()
    }
}

impl Explain for io::Error {}

impl Explain for serde_json::Error {}

impl Explain for InvalidDnsName {}

impl Explain for InvalidProviderRef {}

impl Explain for InvalidVersion {}

impl Explain for UnknownProviderType {}

impl Explain for UnusablePlan {}

/// An error with all its causes, explained.
#[derive(Debug, Default)]
pub struct Explained {
    /// The kind of the outermost error that has one.
    pub kind: Option<ErrorKind>,
    /// The text of each error in a line, each followed by its members.
    pub lines: Vec<String>,
    /// The hints, those of the outermost error first.
    pub hints: Vec<String>,
}

/// Explains an error and its causes.
pub fn explained(error: &dyn Explain) -> Explained {
    let mut all = Explained::default();
    all.add(error, false);
    all
}

impl Explained {
    fn add(&mut self, error: &dyn Explain, is_about_target: bool) {
        let Explanation { kind, hints, last_hint, members, cause, is_about_target: from_here } =
            error.explain();
        let is_about_target = is_about_target || from_here;
        self.kind = self.kind.or(kind);
        self.lines.push(error.to_string());
        self.lines.extend(members.iter().take(SHOWN).map(line));
        if members.len() > SHOWN {
            self.lines.push(format!("and {} more", members.len() - SHOWN));
        }
        let of_members = members.iter().flat_map(|member| match member {
            Member::Text(_) => Vec::new(),
            Member::Error(error) => explained(*error).hints,
        });
        let all = hints.into_iter().chain(of_members);
        self.hints.extend(all.map(|hint| if is_about_target { on_target(&hint) } else { hint }));
        if let Some(cause) = cause {
            self.add(cause, is_about_target);
        } else {
            let sources = std::iter::successors(error.source(), |source| (*source).source());
            self.lines.extend(sources.map(ToString::to_string));
        }
        self.hints.extend(last_hint);
    }
}

fn line(member: &Member<'_>) -> String {
    match member {
        Member::Text(text) => text.clone(),
        Member::Error(error) => with_causes(*error),
    }
}

fn on_target(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| match part.split_once(' ') {
        Some(("capstan", _)) if at % 2 == 1 => format!("{part} --kubeconfig {TARGET}"),
        Some(("kubectl", words)) if at % 2 == 1 => format!("kubectl --kubeconfig {TARGET} {words}"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// `` `a`, `b` or `c` ``
pub fn one_of(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// A word as a shell takes it: quoted if a shell would read more into it.
pub fn shell_word(word: &str) -> String {
    if is_plain_word(word) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// True if a shell takes a word as it stands.
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
        fn explain(&self) -> Explanation<'_> {
            match self {
                Self::Outer(source) => Explanation::cause(source).about_target().and_last("last"),
                Self::Inner(_) => {
                    Explanation::hint("see `capstan status` and `kubectl get ns`").of_kind(ErrorKind::User)
                }
                Self::Several(errors) => Explanation::errors(errors),
            }
        }
    }

    fn outer() -> Example {
        Example::Outer(Box::new(Example::Inner(io::Error::other("foreign"))))
    }

    #[test]
    fn kind_and_hints_are_found_below_the_outermost_error() {
        let Explained { kind, lines, hints } = explained(&outer());
        assert_eq!(kind, Some(ErrorKind::User));
        assert_eq!(lines, ["outer", "inner", "foreign"]);
        let on_target = "see `capstan status --kubeconfig TARGET` and `kubectl --kubeconfig TARGET get ns`";
        assert_eq!(hints, [on_target, "last"]);
    }

    #[test]
    fn each_member_is_told_in_one_line() {
        let Explained { kind, lines, .. } = explained(&Example::Several(vec![outer()]));
        assert_eq!(kind, None);
        assert_eq!(lines, ["several", "outer: inner: foreign"]);
    }

    #[test]
    fn names_are_listed_as_a_sentence_has_them() {
        assert_eq!(one_of(&["a"]), "`a`");
        assert_eq!(one_of(&["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
