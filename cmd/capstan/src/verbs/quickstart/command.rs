//! Command lines: as words, as they are typed, and as they are run.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::kubectl::{self, Kubectl};
use crate::{
    Failure,
    cli::{self, Invocation},
    failure::Kind,
    program::Program,
    session::Session,
    suggested_commands::quoted,
};

/// A command of the tour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// One of this program, without its name.
    Own(Vec<String>),
    /// One of kubectl, on a sandbox; the tour does the same by itself.
    Kubectl {
        /// The sandbox.
        sandbox: &'static str,
        /// How kubectl reaches it.
        kubeconfig: PathBuf,
        /// What is done.
        task: Kubectl,
    },
}

impl Command {
    /// A command of this program.
    pub(super) fn own<const N: usize>(words: [&str; N]) -> Self {
        Self::Own(words.map(str::to_owned).into())
    }

    /// The same with more words.
    pub(super) fn with(self, more: impl IntoIterator<Item = String>) -> Self {
        match self {
            Self::Own(mut words) => {
                words.extend(more);
                Self::Own(words)
            }
            kubectl @ Self::Kubectl { .. } => kubectl,
        }
    }

    /// As it is typed into a shell; a long one goes on in further lines, which begin with flags.
    pub(super) fn typed(&self, program: Program, home: Option<&Path>) -> String {
        let words = match self {
            Self::Own(words) => [&[program.name().to_owned()], words.as_slice()].concat(),
            Self::Kubectl { kubeconfig, task, .. } => {
                let reach = ["kubectl", "--kubeconfig"].map(str::to_owned);
                reach.into_iter().chain([kubeconfig.display().to_string()]).chain(task.words()).collect()
            }
        };
        in_lines(&words.iter().map(|word| quoted(word, home)).collect::<Vec<_>>())
    }

    /// Its first words, which tell it from the others.
    pub(super) fn name(&self, program: Program) -> String {
        match self {
            Self::Own(words) => {
                let verbs = words.iter().take_while(|word| !word.starts_with('-')).take(2);
                verbs.fold(program.name().to_owned(), |name, word| format!("{name} {word}"))
            }
            Self::Kubectl { task, .. } => format!("kubectl {}", task.verb()),
        }
    }

    /// Runs it in this process; a command of this program by the way of any command line.
    /// # Errors
    /// As for the command.
    pub(super) fn run(&self, session: &mut Session) -> Result<(), Failure> {
        let words = match self {
            Self::Own(words) => words,
            Self::Kubectl { sandbox, task, .. } => return kubectl::run(task, sandbox, session),
        };
        let program = session.program();
        let argv: Vec<OsString> =
            std::iter::once(program.name()).chain(words.iter().map(String::as_str)).map(Into::into).collect();
        let parsed = cli::parse(program, &argv)?;
        let commands = parsed.suggested_commands(program, session.environment());
        match parsed.invocation {
            Invocation::Verb(verb) => session.within(parsed.globals, commands, |session| verb.run(session)),
            _ => Err(Failure::new(Kind::Bug, format!("`{}` is no command to run", self.name(program)))),
        }
    }
}

/// Joins words, with a line end where a flag would not fit together with its value.
fn in_lines(words: &[String]) -> String {
    const WIDTH: usize = 100;
    let mut lines = String::new();
    let mut line = String::new();
    let flags = words.chunk_by(|_, next| !next.starts_with('-')).map(|flag| flag.join(" "));
    for flag in flags {
        if !line.is_empty() && line.len() + flag.len() > WIDTH {
            lines.push_str(&line);
            lines.push_str("\\\n    ");
            line.clear();
        }
        line.push_str(&flag);
        line.push(' ');
    }
    lines + line.trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_goes_on_with_a_flag_and_its_value() {
        let words =
            |value: usize| ["do", "it", "--first", &"x".repeat(value), "--second", "y z"].map(str::to_owned);
        assert_eq!(in_lines(&words(3)), "do it --first xxx --second y z");
        let (long, text) = ("x".repeat(90), in_lines(&words(90)));
        assert_eq!(text, format!("do it \\\n    --first {long} \\\n    --second y z"));
    }

    #[test]
    fn a_command_is_named_by_its_verbs() {
        let name = |command: Command| command.name(Program::Clusterctl);
        assert_eq!(name(Command::own(["init", "--sandbox", "a"])), "clusterctl init");
        assert_eq!(name(Command::own(["describe", "cluster", "demo"])), "clusterctl describe cluster");
    }
}
