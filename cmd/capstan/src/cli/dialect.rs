use std::{any::TypeId, path::PathBuf};

use clap::{
    Arg, ArgAction, Command,
    builder::{OsStringValueParser, TypedValueParser as _},
};

/// The hidden argument that collects surplus words, so that errors can name them.
pub(super) const SURPLUS: &str = "capstan-surplus";

/// Paths that scripts set to an empty text, which clusterctl treats as missing.
const OPTIONAL_PATHS: [&str; 4] = ["kubeconfig", "to_kubeconfig", "to_directory", "from_directory"];

/// Converts a command tree to the command line syntax of clusterctl.
/// Shape: every switch accepts `--flag=false`. The last occurrence of a repeated flag counts. Lists accept commas,
/// repetition, or both. A flag with a value takes the next word, whatever its first character. The number of
/// arguments is checked later, because `--help` has precedence.
/// Source: clusterctl v1.14 (cobra 1.10, pflag 1.0), run.
pub(super) fn adapt(root: Command) -> Command {
    root.subcommand_required(false).args_override_self(true).mut_args(adapt_arg).mut_subcommands(adapt_verb)
}

fn adapt_verb(command: Command) -> Command {
    let command = command
        .subcommand_required(false)
        .arg_required_else_help(false)
        .args_override_self(true)
        .mut_args(adapt_arg)
        .mut_subcommands(adapt_verb);
    let takes_all = command.get_positionals().any(|arg| matches!(arg.get_action(), ArgAction::Append));
    if takes_all {
        command
    } else {
        command.arg(Arg::new(SURPLUS).num_args(0..).action(ArgAction::Append).hide(true))
    }
}

fn adapt_arg(arg: Arg) -> Arg {
    if arg.is_positional() {
        return arg.required(false);
    }
    let is_required = arg.is_required_set();
    let arg = if is_required { arg.required(false).required_unless_present("help") } else { arg };
    match arg.get_action() {
        ArgAction::SetTrue => arg
            .action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .default_value("false")
            .default_missing_value("true")
            .value_parser(switch),
        ArgAction::Append => {
            // A flag whose values contain commas defines another delimiter.
            let delimiter = arg.get_value_delimiter().unwrap_or(',');
            arg.allow_hyphen_values(true).value_delimiter(delimiter)
        }
        ArgAction::Set if arg.get_value_parser().type_id() == TypeId::of::<i64>() => {
            arg.allow_hyphen_values(true).value_parser(integer)
        }
        ArgAction::Set if OPTIONAL_PATHS.contains(&arg.get_id().as_str()) => {
            arg.allow_hyphen_values(true).value_parser(OsStringValueParser::new().map(PathBuf::from))
        }
        ArgAction::Set => arg.allow_hyphen_values(true),
        _ => arg,
    }
}

pub(crate) fn switch(text: &str) -> Result<bool, String> {
    manifest::parse_bool(text).ok_or_else(|| "expected true or false".to_owned())
}

/// Parses an integer with the Go flag syntax: also `0x10`, `0o20`, `0b1` and `020`, with `_` between digits.
pub(crate) fn integer(text: &str) -> Result<i64, String> {
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (&text[..1], digits),
        None => ("", text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match (lower.get(..2), lower.as_str()) {
        (Some("0x"), _) => (16, &lower[2..]),
        (Some("0o"), _) => (8, &lower[2..]),
        (Some("0b"), _) => (2, &lower[2..]),
        (Some(_), octal) if octal.starts_with('0') => (8, &octal[1..]),
        (_, decimal) => (10, decimal),
    };
    let placed =
        !(digits.ends_with('_') || digits.contains("__") || (radix == 10 && digits.starts_with('_')));
    let bare = digits.replace('_', "");
    let read = || i64::from_str_radix(&format!("{sign}{bare}"), radix).ok();
    let unsigned = bare.starts_with(|c: char| c.is_ascii_alphanumeric());
    (placed && unsigned).then(read).flatten().ok_or_else(|| "expected a whole number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{integer, switch};

    #[test]
    fn numbers_are_parsed_like_go() {
        for (text, number) in [
            ("3", 3),
            ("-3", -3),
            ("+3", 3),
            ("0", 0),
            ("0x1F", 31),
            ("0o17", 15),
            ("017", 15),
            ("0b11", 3),
            ("1_000", 1000),
        ] {
            assert_eq!(integer(text), Ok(number), "{text}");
        }
        for text in
            ["", "x", "1.5", "08", "1__0", "1_", "_1", "0x", "--1", "+-1", "99999999999999999999", "\u{e4}"]
        {
            assert!(integer(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_switch_accepts_go_booleans() {
        for text in ["1", "t", "T", "true", "TRUE", "True"] {
            assert_eq!(switch(text), Ok(true));
        }
        for text in ["0", "f", "F", "false", "FALSE", "False"] {
            assert_eq!(switch(text), Ok(false));
        }
        assert!(switch("yes").is_err() && switch("").is_err());
    }
}
