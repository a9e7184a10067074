use std::ffi::{OsStr, OsString};

use clap::Arg;

use super::{tree::command_for_words, verb_path::VerbPath};
use crate::{program::Program, ui::ErrorFormat};

/// Returns the value of a flag in the typed words: `--flag value`, `--flag=value`, `-f value` or `-fvalue`.
/// The last occurrence counts. Words after `--` are not flags.
pub(crate) fn raw_flag_value<'a>(
    words: &'a [impl AsRef<OsStr>],
    long: &str,
    short: Option<char>,
) -> Option<&'a str> {
    let long = format!("--{long}");
    let short = short.map(|letter| format!("-{letter}"));
    let words: Vec<&str> =
        words.iter().map_while(|word| word.as_ref().to_str()).take_while(|word| *word != "--").collect();
    words.iter().enumerate().rev().find_map(|(at, word)| {
        let names = std::iter::once(&long).chain(&short);
        names.filter_map(|name| word.strip_prefix(name.as_str()).map(|rest| (name, rest))).find_map(
            |(name, rest)| match rest.strip_prefix('=') {
                Some(value) => Some(value),
                None if rest.is_empty() => words.get(at + 1).copied(),
                None if name.len() == 2 => Some(rest),
                None => None,
            },
        )
    })
}

/// Returns the format of a final error, from a command line that may be invalid.
pub(crate) fn error_format(program: Program, argv: &[OsString]) -> ErrorFormat {
    let words = argv.get(1..).unwrap_or_default();
    if raw_flag_value(words, "progress", None) == Some("json") {
        return ErrorFormat::ProgressLine;
    }
    let format = match raw_flag_value(words, "output", Some('o')) {
        Some("json") => ErrorFormat::Json,
        Some("yaml") => ErrorFormat::Yaml,
        _ => return ErrorFormat::Text,
    };
    // Runs without an output flag skip building the tree.
    let tree = command_for_words(program, words);
    let path = VerbPath::find(&tree, words);
    // Commodore has no errors as JSON, and users of its inventories search for the words of its errors.
    if path.verbs == ["catalog", "inventory"] {
        return ErrorFormat::Text;
    }
    let command = path.command;
    let is_file =
        |arg: &Arg| arg.get_value_names().is_some_and(|names| names.iter().all(|name| name != "FORMAT"));
    let mut outputs = command.get_arguments().filter(|arg| arg.get_short() == Some('o'));
    if outputs.any(is_file) { ErrorFormat::Text } else { format }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(line: &str) -> ErrorFormat {
        let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        error_format(Program::Capstan, &argv)
    }

    #[test]
    fn the_error_format_is_found_even_in_an_invalid_command_line() {
        for line in ["capstan version -o json", "capstan vresion -ojson", "capstan --output=json x --y"] {
            assert_eq!(format(line), ErrorFormat::Json, "{line}");
        }
        assert_eq!(format("capstan init -o json --progress json"), ErrorFormat::ProgressLine);
        assert_eq!(format("capstan status -o yaml"), ErrorFormat::Yaml);
        // The first names a file, the second passes arguments, the third overrides its first format, the fourth names a
        // folder, and the last is a verb of Commodore.
        for line in [
            "capstan convert -o json",
            "capstan status -- -o json",
            "capstan status -o json -o text",
            "capstan catalog component compile . -o json",
            "capstan catalog inventory -o json",
        ] {
            assert_eq!(format(line), ErrorFormat::Text, "{line}");
        }
    }

    #[test]
    fn a_flag_is_found_in_every_notation() {
        let infrastructure =
            |words: &[&'static str]| raw_flag_value(words, "infrastructure", Some('i')).map(str::to_owned);
        for words in [
            ["--infrastructure", "aws"],
            ["--infrastructure=aws", ""],
            ["-i", "aws"],
            ["-iaws", ""],
            ["-i=aws", ""],
        ] {
            assert_eq!(infrastructure(&words).as_deref(), Some("aws"), "{words:?}");
        }
        assert_eq!(infrastructure(&["--infrastructures=aws"]), None);
    }
}
