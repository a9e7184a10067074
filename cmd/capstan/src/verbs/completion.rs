use crate::{
    Failure,
    completion::{Shell, script},
    failure::Kind,
    session::Session,
};

/// Print the completion script of a shell
///
/// The script completes commands, flags, kubeconfig contexts, and the providers, versions and flavors known on this machine.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  source <({bin} completion bash)
  {bin} completion zsh > \"${fpath[1]}/_{bin}\"
  {bin} completion fish > ~/.config/fish/completions/{bin}.fish
  {bin} completion powershell | Out-String | Invoke-Expression")]
pub(crate) struct Completion {
    /// Shell: bash, zsh, fish or powershell
    #[arg(value_name = "SHELL", required = true)]
    shell: String,
}

pub(crate) fn run(args: &Completion, session: &mut Session) -> Result<(), Failure> {
    let shell = Shell::parse(&args.shell).ok_or_else(|| {
        let known = Shell::ALL.map(Shell::name).join(", ");
        Failure::user(format!("unknown shell `{}`", args.shell)).hint(format!("use one of {known}"))
    })?;
    let script = script(shell, session.program())
        .map_err(|error| Failure::new(Kind::Bug, "cannot create the completion script").because(&error))?;
    session.printer().write(script)
}
