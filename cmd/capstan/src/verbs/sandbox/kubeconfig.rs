use crate::{Failure, sandboxes::Home, session::Session, settings::merge_kubeconfig};

/// Print the path of a sandbox's kubeconfig
#[derive(clap::Args)]
#[command(after_help = "Examples:
  export KUBECONFIG=$({bin} sandbox kubeconfig lab)
  {bin} sandbox kubeconfig lab --merge")]
pub(crate) struct Kubeconfig {
    /// Name of the sandbox
    #[arg(default_value = "capstan")]
    name: String,

    /// Add it to your kubeconfig and make it the current context; the path of that file is printed
    #[arg(long)]
    merge: bool,
}

pub(crate) fn run(args: &Kubeconfig, session: &mut Session) -> Result<(), Failure> {
    let folder = Home::of(session.environment())?.existing(&args.name)?;
    let own = folder.kubeconfig();
    if !own.is_file() {
        return Err(Failure::user(format!("sandbox `{}` has never been ready", folder.name()))
            .hint(format!("start it with `capstan sandbox start {}`", folder.name())));
    }
    let path = if args.merge { merge_kubeconfig(&own, session.environment())? } else { own };
    session.printer().data(format!("{}\n", path.display()))
}
