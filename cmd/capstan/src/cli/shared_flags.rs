//! Flags that many commands share. The help of a command only names them; `help flags` explains them.

use std::fmt::Write as _;

use clap::{Arg, Command, builder::Resettable};

use crate::settings::{
    CHART_SOURCE, CHART_VALUES, CLUSTER, CUSTOMISATION, GLOBAL, OTHER_RUNS, PLAN, WAITING,
};

/// The topic of `help` that explains the shared flags.
pub(crate) const TOPIC: &str = "flags";

/// The headings of shared flags, in the order of the page.
const HEADINGS: [&str; 8] =
    [CLUSTER, CUSTOMISATION, PLAN, WAITING, OTHER_RUNS, CHART_VALUES, CHART_SOURCE, GLOBAL];

/// The width of the list of names: it also fits a narrow terminal.
const WIDTH: usize = 80;

/// Hides the shared flags of a command. Returns the list of their names too, without the flags of every command.
pub(super) fn hide(mut command: Command, program: &str) -> (Command, String) {
    let mut list = String::new();
    for heading in HEADINGS.into_iter().filter(|heading| *heading != GLOBAL) {
        let names: Vec<String> = shared(&command, heading).filter_map(name).collect();
        if !names.is_empty() {
            push_group(&mut list, heading, &names);
        }
    }
    // The usage mentions hidden flags too.
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    command =
        command.mut_args(|arg| if is_shared(&arg) { arg.hide(true) } else { arg }).override_usage(usage);
    let topic = format!("explained by `{program} help {TOPIC}`");
    match list.as_str() {
        "" => (command, format!("Global flags are {topic}.\n")),
        _ => (command, format!("Global flags and these shared flags are {topic}:\n{list}")),
    }
}

/// The page that explains every shared flag once.
pub(super) fn page(tree: &Command, program: &str) -> Command {
    let mut page = Command::new(TOPIC)
        .about("Flags that many commands share. The help of a command names the flags that it accepts.")
        .override_usage(format!("{program} <COMMAND> [FLAGS]"))
        .disable_help_flag(true)
        .max_term_width(100);
    for heading in HEADINGS {
        collect(tree, heading, &mut page);
    }
    page
}

/// Adds the flags of a heading that the page does not have.
fn collect(command: &Command, heading: &'static str, page: &mut Command) {
    for arg in shared(command, heading) {
        if page.get_arguments().all(|known| known.get_long() != arg.get_long()) {
            // The page has not every flag that these may name.
            let arg = arg.clone().conflicts_with(Resettable::Reset).requires(Resettable::Reset).global(false);
            *page = std::mem::take(page).arg(arg);
        }
    }
    for subcommand in command.get_subcommands() {
        collect(subcommand, heading, page);
    }
}

fn shared<'a>(command: &'a Command, heading: &str) -> impl Iterator<Item = &'a Arg> {
    command.get_arguments().filter(move |arg| arg.get_help_heading() == Some(heading) && !arg.is_hide_set())
}

fn is_shared(arg: &Arg) -> bool {
    arg.get_help_heading().is_some_and(|heading| HEADINGS.contains(&heading))
}

fn name(arg: &Arg) -> Option<String> {
    arg.get_long().map(|long| format!("--{long}"))
}

/// Adds a heading and names, wrapped beside the heading.
fn push_group(list: &mut String, heading: &str, names: &[String]) {
    let indent = HEADINGS.iter().map(|heading| heading.len()).max().unwrap_or_default() + 4;
    let _ = write!(list, "{:indent$}", format!("  {heading}"));
    let mut column = indent;
    for (index, name) in names.iter().enumerate() {
        if index > 0 && column + 1 + name.len() > WIDTH {
            let _ = write!(list, "\n{:indent$}", "");
            column = indent;
        } else if index > 0 {
            list.push(' ');
            column += 1;
        }
        list.push_str(name);
        column += name.len();
    }
    list.push('\n');
}
