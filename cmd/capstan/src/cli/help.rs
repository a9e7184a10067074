use crate::{program::Program, settings::GLOBAL};

/// Returns the help of the command at a path. `Unchanged` if the command does not exist. Only the root lists the global
/// flags.
pub(crate) fn render_help(
    mut tree: clap::Command,
    program: Program,
    path: &[String],
    colour: bool,
) -> Option<String> {
    tree.build();
    let command = command_at(&mut tree, path)?;
    // The long description once and one line per flag, so that the page fits a screen.
    let about = command.get_long_about().or(command.get_about()).cloned().unwrap_or_default();
    let mut command = command.clone().about(about);
    if !path.is_empty() {
        let examples = command.get_after_help().map(|text| format!("{text}\n\n")).unwrap_or_default();
        let globals = format!("Use `{} --help` for the global options.", program.name());
        command = command
            .mut_args(|arg| if arg.get_help_heading() == Some(GLOBAL) { arg.hide(true) } else { arg })
            .after_help(examples + &globals);
    }
    let help = command.render_help();
    Some(if colour { help.ansi().to_string() } else { help.to_string() })
}

/// Returns the usage of the command at a path as one line, without the prefix `Usage:`.
pub(super) fn usage(mut tree: clap::Command, path: &[String]) -> String {
    tree.build();
    let usage =
        command_at(&mut tree, path).map(|command| command.render_usage().to_string()).unwrap_or_default();
    let line = usage.lines().next().unwrap_or_default();
    line.trim_start_matches("Usage: ").to_owned()
}

fn command_at<'a>(tree: &'a mut clap::Command, path: &[String]) -> Option<&'a mut clap::Command> {
    path.iter().try_fold(tree, |command, name| command.find_subcommand_mut(name))
}
