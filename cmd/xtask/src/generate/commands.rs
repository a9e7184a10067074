use std::fmt::Write as _;

use clap::{Arg, Command};

use super::{Page, REFERENCE, heading};

/// The complete command tree on one page, in the order of `--help`.
pub(super) fn page() -> Page {
    let mut command = capstan::command();
    command.build();
    let mut text = heading("Commands");
    text.push_str(
        "The help of every command, on one page. Every command accepts the \"Global flags\" of `capstan`.\n",
    );
    write_command(&mut text, &command, "", true);
    (format!("{REFERENCE}/cli.md"), text)
}

fn write_command(text: &mut String, command: &Command, parents: &str, is_root: bool) {
    let name = format!("{parents}{}", command.get_name());
    let _ = write!(text, "\n## {name}\n\n");
    if let Some(about) = command.get_long_about().or_else(|| command.get_about()) {
        let _ = write!(text, "{}\n\n", about.to_string().trim());
    }
    let usage = command.clone().render_usage().to_string();
    let _ = write!(text, "```text\n{}\n```\n", usage.trim_start_matches("Usage:").trim());
    write_arguments(text, command, is_root);
    if let Some(examples) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        write_examples(text, &examples.to_string());
    }
    for child in command.get_subcommands().filter(|child| !child.is_hide_set()) {
        write_command(text, child, &format!("{name} "), false);
    }
}

/// Writes arguments under their headings. Global arguments are listed only for the root command.
fn write_arguments(text: &mut String, command: &Command, is_root: bool) {
    let shown: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set() && (is_root || !is_global(argument)))
        .collect();
    let mut headings: Vec<&str> = Vec::new();
    for argument in &shown {
        let heading = heading_of(argument);
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        let _ = write!(text, "\n{heading}:\n\n");
        for argument in shown.iter().filter(|argument| heading_of(argument) == heading) {
            write_argument(text, argument);
        }
    }
}

fn is_global(argument: &Arg) -> bool {
    argument.get_help_heading() == Some("Global flags")
        || matches!(argument.get_id().as_str(), "help" | "version")
}

fn heading_of(argument: &Arg) -> &str {
    let default = if argument.is_positional() { "Arguments" } else { "Options" };
    argument.get_help_heading().unwrap_or(default)
}

fn write_argument(text: &mut String, argument: &Arg) {
    let value = argument.get_value_names().filter(|_| argument.get_action().takes_values());
    let value = value.and_then(|names| names.first()).map(|name| format!("<{name}>"));
    let mut names: Vec<String> = Vec::new();
    names.extend(argument.get_short().map(|short| format!("`-{short}`")));
    let long = argument.get_long().map(|long| match &value {
        Some(value) => format!("`--{long} {value}`"),
        None => format!("`--{long}`"),
    });
    names.extend(long.or_else(|| value.map(|value| format!("`{value}`"))));
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let _ = write!(text, "- {}: {}", names.join(", "), escape(&help));
    let values: Vec<_> =
        argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if !values.is_empty() && argument.get_action().takes_values() {
        let _ = write!(text, " (one of {})", values.join(", "));
    }
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !defaults.is_empty() && !argument.is_hide_default_value_set() && argument.get_action().takes_values() {
        let _ = write!(text, " (default `{}`)", defaults.join(","));
    }
    text.push('\n');
}

fn write_examples(text: &mut String, examples: &str) {
    let lines: Vec<&str> = examples.lines().filter(|line| line.trim() != "Examples:").collect();
    let body: String = lines.iter().fold(String::new(), |mut body, line| {
        let _ = writeln!(body, "{}", line.strip_prefix("  ").unwrap_or(line));
        body
    });
    let _ = write!(text, "\n```sh\n{}\n```\n", body.trim());
}

/// Escapes angle brackets outside code, which would be read as HTML.
fn escape(help: &str) -> String {
    let one_line = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut escaped = String::with_capacity(one_line.len());
    let mut in_code = false;
    for sign in one_line.chars() {
        in_code ^= sign == '`';
        match sign {
            '<' if !in_code => escaped.push_str("&lt;"),
            sign => escaped.push(sign),
        }
    }
    escaped
}
