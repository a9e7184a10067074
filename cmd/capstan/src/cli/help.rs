use super::tree::named;
use crate::program::Program;

/// The help of the command at this path; none when there is no such command.
pub(crate) fn render(program: Program, path: &[String], colour: bool) -> Option<String> {
    let mut tree = named(program);
    // Building hands the global flags and the full names down to every command.
    tree.build();
    let mut command = &mut tree;
    for name in path {
        command = command.find_subcommand_mut(name)?;
    }
    // The long description once, and one line for each flag: a page that fits a screen.
    let about = command.get_long_about().or(command.get_about()).cloned().unwrap_or_default();
    let help = command.clone().about(about).render_help();
    Some(if colour { help.ansi().to_string() } else { help.to_string() })
}
