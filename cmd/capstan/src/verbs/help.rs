use crate::{Failure, cli, session::Session};

/// Print the help of a command
#[derive(clap::Args)]
pub(crate) struct Help {
    /// Command, such as `generate cluster`
    command: Vec<String>,
}

/// Shows help. An unknown topic is reported on stderr and is no failure.
/// Source: clusterctl v1.14, run.
pub(crate) fn run(args: &Help, session: &mut Session) -> Result<(), Failure> {
    let program = session.program();
    let tree = (session.interpreter().tree)(program);
    let known = |count: &usize| {
        cli::render_help(tree.clone(), program, &args.command[..*count], None, false).is_some()
    };
    // Words after a command that are no subcommands are skipped.
    let longest = (0..=args.command.len()).rev().find(known).unwrap_or(0);
    if longest > 0 || args.command.is_empty() {
        return show(&args.command[..longest], session);
    }
    let topic = args.command.join(" ");
    let suggestion = cli::suggestion(&[], &tree, &topic).map_or_else(String::new, |text| format!("; {text}"));
    let help = cli::render_help(tree, program, &[], None, false).unwrap_or_default();
    session.messages().warning(format!("unknown help topic `{topic}`{suggestion}"));
    session.messages().write_plain(&help);
    Ok(())
}

pub(crate) fn show(path: &[String], session: &mut Session) -> Result<(), Failure> {
    let colour = session.printer().is_stdout_coloured();
    let program = session.program();
    let width = session.printer().width();
    let help = cli::render_help((session.interpreter().tree)(program), program, path, width, colour);
    session.printer().write(help.unwrap_or_default())
}
