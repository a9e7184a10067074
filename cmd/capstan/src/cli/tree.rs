use clap::{CommandFactory as _, Parser};

use crate::{program::Program, ui::ColourChoice, verbs::Verb};

/// Install, render, upgrade and move everything a Cluster API management cluster runs.
///
/// A drop-in for clusterctl: the same verbs, flags, files and labels.
#[derive(Parser)]
#[command(
    name = "capstan",
    subcommand_help_heading = "Commands",
    disable_help_flag = true,
    disable_help_subcommand = true,
    disable_version_flag = true,
    max_term_width = 100
)]
pub(crate) struct Root {
    #[command(flatten)]
    pub(crate) globals: Globals,

    /// Print the version of this binary
    #[arg(long)]
    pub(crate) version: bool,

    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

/// The whole command tree as it is documented: for help, completion and the reference pages.
/// `{bin}` in examples stands for the program's name.
pub fn command() -> clap::Command {
    named(Program::Capstan)
}

/// The tree of a program of this name.
pub(crate) fn named(program: Program) -> clap::Command {
    name_in(Root::command(), program.name()).name(program.name()).bin_name(program.name())
}

fn name_in(command: clap::Command, program: &str) -> clap::Command {
    let command = match command.get_after_help() {
        Some(text) => {
            let text = text.to_string().replace("{bin}", program);
            command.after_help(text)
        }
        None => command,
    };
    command.mut_subcommands(|subcommand| name_in(subcommand, program))
}

/// The help of the command at this path; none when there is no such command. Only the root lists the global flags.
pub(crate) fn render_help(program: Program, path: &[String], colour: bool) -> Option<String> {
    let mut tree = built(program);
    let command = at(&mut tree, path)?;
    // The long description once, and one line for each flag: a page that fits a screen.
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

/// The usage of the command at this path in one line, without the word before it.
pub(super) fn usage(program: Program, path: &[String]) -> String {
    let mut tree = built(program);
    let usage = at(&mut tree, path).map(|command| command.render_usage().to_string()).unwrap_or_default();
    let line = usage.lines().next().unwrap_or_default();
    line.trim_start_matches("Usage: ").to_owned()
}

/// The tree with the global flags and the full names in every command.
fn built(program: Program) -> clap::Command {
    let mut tree = named(program);
    tree.build();
    tree
}

fn at<'a>(tree: &'a mut clap::Command, path: &[String]) -> Option<&'a mut clap::Command> {
    path.iter().try_fold(tree, |command, name| command.find_subcommand_mut(name))
}

const GLOBAL: &str = "Global options";

/// Flags every verb takes.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = GLOBAL)]
pub(crate) struct Globals {
    /// Path or URL of the configuration file [default: clusterctl.yaml in $XDG_CONFIG_HOME/cluster-api, then in
    /// $HOME/.cluster-api]
    #[arg(long, global = true, value_name = "PATH|URL")]
    pub(crate) config: Option<String>,

    /// Path of the lock, or `off` to go without one [default: capstan.lock beside the configuration file]
    #[arg(long, global = true, value_name = "PATH|off")]
    pub(crate) lock: Option<String>,

    /// Read nothing that is not in the lock
    #[arg(long, global = true)]
    pub(crate) locked: bool,

    /// How much to log, from 0 to 10: 1 shows decisions, 5 every request [env: CLUSTERCTL_LOG_LEVEL]
    #[arg(id = "verbosity", short = 'v', long = "v", global = true, value_name = "N", value_parser = verbosity)]
    pub(crate) verbosity: Option<u8>,

    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) color: ColourChoice,

    /// Print no status lines and draw no progress; warnings and errors stay
    #[arg(long, global = true)]
    pub(crate) quiet: bool,

    /// Open no connection for files of providers: what is not on this machine is an error [env: CAPSTAN_OFFLINE]
    #[arg(long, global = true, conflicts_with = "refresh")]
    pub(crate) offline: bool,

    /// Ask hosts again for files of pinned versions that are in the cache
    #[arg(long, global = true)]
    pub(crate) refresh: bool,
    /// PEM certificates that are trusted for hosts of repositories, besides those of the system and SSL_CERT_FILE
    /// [env: CAPSTAN_CA_BUNDLE]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) ca_bundle: Option<String>,

    /// Print help
    #[arg(short = 'h', long, global = true)]
    pub(crate) help: bool,
}

/// Any whole number, as the peer takes it; what lies beyond the ends counts as the end.
pub(crate) fn verbosity(text: &str) -> Result<u8, String> {
    let number: i32 = text.parse().map_err(|_| "a whole number from 0 to 10 is expected".to_owned())?;
    Ok(u8::try_from(number.clamp(0, 10)).expect("a number from 0 to 10 is a u8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_fits_a_narrow_terminal_unwrapped() {
        fn check(command: &clap::Command) {
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in examples.lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&named(Program::Clusterctl));
    }
}
