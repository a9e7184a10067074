use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

/// Moves the verbs of a command line to the front, so that flags may come before the verb.
/// Shape: the program name stays first and all other words keep their order. If the first word is not a verb, nothing
/// changes. A flag that is unknown so far counts as a flag with a value, because only the verb defines the flag.
/// Source: clusterctl v1.14 (cobra 1.10), run: `config -o yaml repositories`.
pub(super) fn verbs_first(tree: &Command, argv: &[OsString]) -> Vec<OsString> {
    let Some((program, words)) = argv.split_first() else { return Vec::new() };
    let VerbPath { verbs, rest, .. } = VerbPath::find(tree, words);
    let rest = if verbs.is_empty() { rest } else { join_colour_flag(rest) };
    std::iter::once(program.clone()).chain(verbs).chain(rest).collect()
}

/// The verbs of a command line and the remaining words.
pub(super) struct VerbPath<'a> {
    /// The command that the verbs name. The root without verbs.
    pub(super) command: &'a Command,
    pub(super) verbs: Vec<OsString>,
    rest: Vec<OsString>,
    /// The first word after the verbs that is neither a flag nor the value of a flag.
    pub(super) next_word: Option<String>,
}

impl<'a> VerbPath<'a> {
    /// Parses the words after the program name.
    pub(super) fn find(tree: &'a Command, words: &[OsString]) -> Self {
        let mut rest = words.to_vec();
        let mut verbs = Vec::new();
        let mut path = vec![tree];
        loop {
            let command = path.last().copied().unwrap_or(tree);
            let at = first_word(&path, &rest);
            let word = at.and_then(|at| rest[at].to_str());
            match (at, word.and_then(|word| command.find_subcommand(word))) {
                (Some(at), Some(found)) => {
                    verbs.push(rest.remove(at));
                    path.push(found);
                }
                _ => return Self { command, verbs, next_word: word.map(str::to_owned), rest },
            }
        }
    }
}

/// Joins `--color WHEN` to `--color=WHEN`. In `describe cluster`, clusterctl has `--color` as a switch, so the next
/// word may be an argument.
fn join_colour_flag(words: Vec<OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        if word == "--" {
            joined.push(word);
            break;
        }
        let is_when = |next: &OsString| ["auto", "always", "never"].iter().any(|when| next == when);
        match words.next_if(|next| word == "--color" && is_when(next)) {
            Some(when) => joined.push(format!("--color={}", when.to_string_lossy()).into()),
            None => joined.push(word),
        }
    }
    joined.extend(words);
    joined
}

fn first_word(path: &[&Command], words: &[OsString]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.to_string_lossy();
        if text == "--" {
            return None;
        }
        if !text.starts_with('-') {
            return Some(at);
        }
        at += if takes_value(path, &text) { 2 } else { 1 };
    }
    None
}

fn takes_value(path: &[&Command], flag: &str) -> bool {
    let is_switch = |arg: &Arg| matches!(arg.get_action(), ArgAction::SetTrue) || arg.is_require_equals_set();
    let find = |matches: &dyn Fn(&Arg) -> bool| {
        let known = path.iter().flat_map(|command| command.get_arguments()).find(|arg| matches(arg));
        known.is_none_or(|arg| !is_switch(arg))
    };
    if flag.contains('=') {
        return false;
    }
    match flag.strip_prefix("--") {
        Some(long) => find(&|arg| arg.get_long() == Some(long)),
        // Several letters are several switches, or one flag with its value.
        None => flag.len() == 2 && find(&|arg| arg.get_short().is_some_and(|short| flag.ends_with(short))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command;

    fn hoisted(line: &str) -> String {
        let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let words = verbs_first(&command(), &argv);
        words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn flags_and_their_values_may_stand_before_the_verb() {
        assert_eq!(hoisted("capstan config -o yaml repositories"), "capstan config repositories -o yaml");
        assert_eq!(
            hoisted("capstan -v 3 config --config c repositories"),
            "capstan config repositories -v 3 --config c"
        );
        assert_eq!(
            hoisted("capstan -v3 --quiet config repositories"),
            "capstan config repositories -v3 --quiet"
        );
        assert_eq!(hoisted("capstan --config=c version"), "capstan version --config=c");
    }

    #[test]
    fn a_colour_after_the_switch_is_not_an_argument() {
        assert_eq!(
            hoisted("capstan --color never describe cluster c"),
            "capstan describe cluster --color=never c"
        );
        for as_it_is in
            ["describe cluster --color c", "describe cluster -- --color never", "foo --color never"]
        {
            assert_eq!(hoisted(&format!("capstan {as_it_is}")), format!("capstan {as_it_is}"));
        }
    }

    #[test]
    fn other_words_keep_their_place() {
        assert_eq!(hoisted("capstan foo --flag version"), "capstan foo --flag version");
        assert_eq!(hoisted("capstan version -- config"), "capstan version -- config");
        assert_eq!(hoisted("capstan config nonsense repositories"), "capstan config nonsense repositories");
        assert_eq!(hoisted("capstan"), "capstan");
    }
}
