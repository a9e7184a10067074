use std::fmt::Write as _;

use clap::{
    Arg, Command,
    builder::{PossibleValue, Styles},
};

use super::shared_flags;
use crate::program::Program;

/// The width of a page that is not printed to a terminal, and the maximum width on a terminal.
const MAX_WIDTH: usize = 100;
/// The maximum width of the left column. Longer flags have a line of their own.
const MAX_LEFT: usize = 28;

/// Returns the help of the command at a path, or of the topic `flags`. `None` if neither exists.
///
/// A terminal has a width in columns.
pub(crate) fn render_help(
    mut tree: Command,
    program: Program,
    path: &[String],
    width: Option<usize>,
    colour: bool,
) -> Option<String> {
    tree.build();
    let width = width.map_or(MAX_WIDTH, |width| width.min(MAX_WIDTH));
    let page = |command: Command| Page { width, colour, styles: tree.get_styles().clone() }.render(command);
    if path == [shared_flags::TOPIC] {
        return Some(page(shared_flags::page(&tree, program.name())));
    }
    let mut documented = tree.clone();
    let command = command_at(&mut documented, path)?;
    // The long description once and one line per flag, so that the page fits a screen.
    let about = command.get_long_about().or(command.get_about()).cloned().unwrap_or_default();
    let examples = command.get_after_help().map(|text| format!("{text}\n\n")).unwrap_or_default();
    let (command, flags) = shared_flags::hide(command.clone().about(about), program.name());
    Some(page(command.after_help(examples + &flags)))
}

/// Returns the usage of the command at a path as one line, without the prefix `Usage:`.
pub(super) fn usage(mut tree: Command, path: &[String]) -> String {
    tree.build();
    let usage =
        command_at(&mut tree, path).map(|command| command.render_usage().to_string()).unwrap_or_default();
    let line = usage.lines().next().unwrap_or_default();
    line.trim_start_matches("Usage: ").to_owned()
}

fn command_at<'a>(tree: &'a mut Command, path: &[String]) -> Option<&'a mut Command> {
    path.iter().try_fold(tree, |command, name| command.find_subcommand_mut(name))
}

/// A page of help. Descriptions stand beside flags, where clap gives every flag two lines once one of them is long.
struct Page {
    width: usize,
    colour: bool,
    styles: Styles,
}

/// A subcommand, argument or flag.
struct Row {
    /// The name, such as `-o, --output`.
    name: String,
    /// The value, such as ` <FORMAT>`.
    value: String,
    description: String,
}

impl Page {
    fn render(&self, command: Command) -> String {
        let mut command =
            command.term_width(self.width).help_template("{about-with-newline}\n{usage-heading} {usage}\n");
        let head = command.render_help();
        let mut page = if self.colour { head.ansi().to_string() } else { head.to_string() };
        let commands = subcommands(&command);
        if !commands.is_empty() {
            self.push_sections(&mut page, &[("Commands", commands)]);
        }
        self.push_sections(&mut page, &arguments(&command));
        if let Some(text) = command.get_after_help() {
            let _ = write!(page, "\n{text}");
        }
        page.truncate(page.trim_end().len());
        page + "\n"
    }

    /// Adds sections whose descriptions begin at the same column.
    fn push_sections(&self, page: &mut String, sections: &[(&str, Vec<Row>)]) {
        let widths = sections.iter().flat_map(|(_, rows)| rows).map(Row::width);
        let left = widths.filter(|width| *width <= MAX_LEFT).max().unwrap_or_default() + 4;
        for (heading, rows) in sections {
            let _ = write!(page, "\n{}\n", self.styled(&format!("{heading}:"), self.styles.get_header()));
            for row in rows {
                self.push_row(page, row, left);
            }
        }
    }

    /// Adds a row whose description begins at the column `left`.
    fn push_row(&self, page: &mut String, row: &Row, left: usize) {
        let name = self.styled(&row.name, self.styles.get_literal());
        let value = self.styled(&row.value, self.styles.get_placeholder());
        let _ = write!(page, "  {name}{value}");
        let mut column = 2 + row.width();
        for line in wrap(&row.description, self.width.saturating_sub(left)) {
            if column + 2 > left && column > 0 {
                page.push('\n');
                column = 0;
            }
            let _ = write!(page, "{:1$}{line}", "", left - column);
            column = self.width;
        }
        page.push('\n');
    }

    fn styled(&self, text: &str, style: &anstyle::Style) -> String {
        if self.colour && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

impl Row {
    fn of(arg: &Arg) -> Self {
        let text = arg.to_string();
        let is_flag = !arg.is_positional();
        let (name, value) = text.split_at(text.find([' ', '[']).filter(|_| is_flag).unwrap_or(text.len()));
        let name = match (arg.get_short(), arg.get_long()) {
            (Some(short), Some(_)) => format!("-{short}, {name}"),
            (None, Some(_)) => format!("    {name}"),
            _ => name.to_owned(),
        };
        Self { name, value: value.to_owned(), description: description(arg) }
    }

    fn width(&self) -> usize {
        self.name.chars().count() + self.value.chars().count()
    }
}

fn subcommands(command: &Command) -> Vec<Row> {
    let shown = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    let row = |subcommand: &Command| Row {
        name: subcommand.get_name().to_owned(),
        value: String::new(),
        description: subcommand.get_about().map(ToString::to_string).unwrap_or_default(),
    };
    shown.map(row).collect()
}

/// Returns the arguments and flags of a command by headings, those without a heading first.
fn arguments(command: &Command) -> Vec<(&str, Vec<Row>)> {
    let mut shown: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    let mut sections: Vec<(&str, Vec<Row>)> = Vec::new();
    shown.sort_by_key(|arg| match arg.get_help_heading() {
        None => u8::from(!arg.is_positional()),
        Some(_) => 2,
    });
    for arg in shown {
        let default = if arg.is_positional() { "Arguments" } else { "Options" };
        let heading = arg.get_help_heading().unwrap_or(default);
        match sections.iter_mut().find(|(known, _)| *known == heading) {
            Some((_, rows)) => rows.push(Row::of(arg)),
            None => sections.push((heading, vec![Row::of(arg)])),
        }
    }
    sections
}

/// Returns the description of an argument or flag with its default and its possible values.
fn description(arg: &Arg) -> String {
    let mut text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if defaults.iter().any(|value| !value.is_empty())
        && arg.get_action().takes_values()
        && !arg.is_hide_default_value_set()
    {
        let _ = write!(text, " [default: {}]", defaults.join(" "));
    }
    let values = if arg.is_hide_possible_values_set() { Vec::new() } else { arg.get_possible_values() };
    let values: Vec<_> =
        values.iter().filter(|value| !value.is_hide_set()).map(PossibleValue::get_name).collect();
    if !values.is_empty() && arg.get_action().takes_values() {
        let _ = write!(text, " [possible values: {}]", values.join(", "));
    }
    text
}

/// Breaks a text between words into lines.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.extend([" ", word]);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
