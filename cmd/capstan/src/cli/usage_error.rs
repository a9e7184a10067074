use std::ffi::OsString;

use api::similar_names;
use clap::{
    Arg, Command,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::Failure;

pub(super) fn explain(error: &clap::Error, tree: &Command) -> Failure {
    let text = |kind| context(error, kind);
    let flag = text(ContextKind::InvalidArg).map(|arg| flag_name(&arg)).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument => unknown_flag(tree, &flag, text(ContextKind::SuggestedArg)),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => match text(ContextKind::InvalidValue) {
            Some(value) if !value.is_empty() => invalid_value(error, &flag, &value),
            _ => Failure::user(format!("flag `{flag}` needs a value")),
        },
        ErrorKind::NoEquals => Failure::user(format!("flag `{flag}` requires its value after `=`")),
        ErrorKind::TooFewValues | ErrorKind::TooManyValues | ErrorKind::WrongNumberOfValues => {
            Failure::user(format!("flag `{flag}` requires exactly one value"))
        }
        ErrorKind::ArgumentConflict => match text(ContextKind::PriorArg) {
            Some(other) => Failure::user(format!("`{flag}` cannot be combined with `{}`", flag_name(&other))),
            None => Failure::user(format!("`{flag}` cannot be combined with the other flags")),
        },
        ErrorKind::MissingRequiredArgument => Failure::user(format!("`{flag}` is required")),
        ErrorKind::InvalidUtf8 => Failure::user("an argument is not valid UTF-8"),
        _ => Failure::user(first_line(error)),
    }
}

/// The maximum number of commands with a flag or a last word for a hint that names them. A flag of many commands, such
/// as `--yes`, does not tell which command was meant, and neither does a word such as `list`.
const MAX_SUGGESTED_VERBS: usize = 3;

/// Words of helm and kubectl for commands with other names.
const HABITS: [(&str, &str); 2] = [("install", "init"), ("uninstall", "delete")];

fn unknown_flag(tree: &Command, flag: &str, suggested: Option<String>) -> Failure {
    let failure = Failure::user(format!("unknown flag `{flag}`"));
    let long = flag.trim_start_matches('-');
    let verbs = verbs_with(tree, "", &|verb| verb.get_arguments().any(|arg| arg.get_long() == Some(long)));
    match suggested {
        // A flag of another command is not misspelt, so similar flags are no help.
        Some(suggested) if verbs.is_empty() => {
            failure.hint(format!("did you mean `{}`?", flag_name(&suggested)))
        }
        _ if verbs.is_empty() || verbs.len() > MAX_SUGGESTED_VERBS => failure,
        _ => failure.hint(format!("`{flag}` is a flag of {}", quoted(&verbs, ", "))),
    }
}

/// Returns the full names of all visible commands below a command that a condition selects.
fn verbs_with(command: &Command, prefix: &str, is_selected: &dyn Fn(&Command) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for subcommand in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        let name = format!("{prefix}{}", subcommand.get_name());
        found.extend(is_selected(subcommand).then(|| name.clone()));
        found.extend(verbs_with(subcommand, &format!("{name} "), is_selected));
    }
    found
}

fn invalid_value(error: &clap::Error, flag: &str, value: &str) -> Failure {
    let failure = Failure::user(format!("invalid value `{value}` for `{flag}`"));
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(valid)) => failure.hint(format!("use one of {}", valid.join(", "))),
        _ => match std::error::Error::source(error) {
            Some(source) => match range_text(&source.to_string()) {
                Some(range) => failure.cause(range),
                None => failure.because_foreign(source),
            },
            None => failure,
        },
    }
}

/// Returns the allowed numbers in words, from a text of clap such as `0 is not in 1..=4294967295`.
fn range_text(text: &str) -> Option<String> {
    let (_, range) = text.split_once(" is not in ")?;
    let (least, most) = range.split_once("..=")?;
    let is_limit = [i64::from(u32::MAX), i64::MAX].iter().any(|limit| limit.to_string() == most);
    Some(if is_limit {
        format!("expected a number of at least {least}")
    } else {
        format!("expected a number from {least} to {most}")
    })
}

/// Returns the failure for a missing argument, with the help text of the argument.
pub(super) fn missing_argument(arg: &Arg) -> Failure {
    let names = arg.get_value_names().unwrap_or_default();
    let name = names.first().map_or_else(|| arg.get_id().to_string().to_uppercase(), ToString::to_string);
    match arg.get_help() {
        Some(help) => {
            let help = help.to_string();
            let mut letters = help.chars();
            let first = letters.next().map(|c| c.to_lowercase().to_string()).unwrap_or_default();
            Failure::user(format!("missing argument {name}: {first}{}", letters.as_str()))
        }
        None => Failure::user(format!("missing argument {name}")),
    }
}

/// Returns the failure for a surplus argument. The word may be meant as a subcommand.
pub(super) fn surplus_argument(path: &[String], command: &Command, word: &str) -> Failure {
    let message = match command.get_positionals().count() {
        0 => format!("unexpected argument `{word}`: `{}` takes no arguments", command.get_name()),
        1 => format!("unexpected argument `{word}`: `{}` takes one argument", command.get_name()),
        most => {
            format!("unexpected argument `{word}`: `{}` takes at most {most} arguments", command.get_name())
        }
    };
    add_verb_suggestions(Failure::user(message), path, command, word)
}

/// Returns the failure for an unknown verb of the group at this path.
pub(super) fn unknown_verb(path: &[String], group: &Command, word: &str) -> Failure {
    let path_text = path.join(" ");
    let failure = Failure::user(format!("unknown command `{path_text} {word}`"));
    add_verb_suggestions(failure, path, group, word)
        .hint(format!("run `capstan {path_text} --help` to list the commands"))
}

/// Adds a hint with the verbs whose names resemble a word.
fn add_verb_suggestions(failure: Failure, path: &[String], command: &Command, word: &str) -> Failure {
    match suggestion(path, command, word) {
        Some(question) => failure.hint(question),
        None => failure,
    }
}

/// Returns a question that names the verbs that a word may mean.
pub(crate) fn suggestion(path: &[String], command: &Command, word: &str) -> Option<String> {
    let verbs = suggested_verbs(path, command, word);
    (!verbs.is_empty()).then(|| format!("did you mean {}?", quoted(&verbs, " or ")))
}

/// Returns the full names of the verbs whose names resemble a word. On the first level, these include groups' verbs of
/// this name.
fn suggested_verbs(path: &[String], command: &Command, word: &str) -> Vec<String> {
    let names = || command.get_subcommands().filter(|verb| !verb.is_hide_set()).map(Command::get_name);
    let mut near = similar_names(word, names());
    near.extend(names().filter(|name| !word.is_empty() && name.starts_with(word)));
    near.sort_unstable();
    near.dedup();
    let prefix = path.join(" ");
    let mut near: Vec<_> =
        near.into_iter().map(|name| [&*prefix, name].join(" ").trim_start().to_owned()).collect();
    if path.is_empty() {
        near.extend(HABITS.iter().filter(|(habit, _)| *habit == word).map(|(_, verb)| (*verb).to_owned()));
        let same = verbs_with(command, "", &|verb| verb.get_name() == word);
        if same.len() <= MAX_SUGGESTED_VERBS {
            near.extend(same);
        }
    }
    near
}

/// Returns the failure for a word after a flag that is not a verb. Does not check if a plugin of that name exists.
pub(super) fn flag_before_plugin(tree: &Command, flag: &OsString, word: &str) -> Failure {
    unknown_command(tree, word).hint(format!(
        "if `{word}` is a plugin, put its name before `{}`; flags after the name go to the plugin",
        flag.to_string_lossy()
    ))
}

/// Returns the failure for a first word that is neither a verb nor a plugin.
pub(crate) fn unknown_command(tree: &Command, word: &str) -> Failure {
    let failure = Failure::user(format!("unknown command `{word}`"));
    add_verb_suggestions(failure, &[], tree, word).hint("run `capstan --help` to list the commands")
}

fn quoted(names: &[String], separator: &str) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(separator)
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

/// Returns the flag name of `--flag <VALUE>` or `--flag[=<VALUE>]`, or the name of an argument such as `[CLUSTER]`.
fn flag_name(flag: &str) -> String {
    if let Some((argument, _)) = flag.strip_prefix('[').and_then(|flag| flag.split_once(']')) {
        return argument.to_owned();
    }
    // A group of flags is in angle brackets.
    let flag = flag.strip_prefix('<').filter(|group| group.starts_with('-')).unwrap_or(flag);
    flag.split([' ', '=', '[', '|']).next().unwrap_or(flag).to_owned()
}

fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}
