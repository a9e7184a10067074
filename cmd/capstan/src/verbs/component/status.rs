use super::{
    hub::{Hub, selection},
    listing::{listed, status_text},
};
use crate::{
    Failure,
    failure::Kind,
    session::Session,
    settings::{self, OutputFlag, ServerFlags},
};

/// Show Components, their objects and what they wait for
///
/// Shows the state, the message and the objects of Components, as the last run recorded them. Nothing is written.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} component status web -n shop
  {bin} component status shop/web

  # In a script: exit status 3 if a Component is not ready
  {bin} component status --exit-status -o json")]
pub(crate) struct Status {
    /// Names of Components, with or without NAMESPACE/ [default: all Components, or those of `--namespace`]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Namespace of the Components [default: that of the context for names, or else all namespaces]
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,

    /// Exit with status 3 if a Component is not ready
    #[arg(long = "exit-status")]
    fails_unless_ready: bool,

    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    server: ServerFlags,
}

pub(super) fn run(args: &Status, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let selection =
        selection(&args.names, args.namespace.as_deref(), &args.server.kube, session.environment())?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    let components = session.block_on(async {
        let hub = Hub::open_for_reading(&cluster).await?;
        hub.select(&selection).await
    })?;
    let list = listed(&components, true);
    session.print(format, &list, status_text)?;
    let waiting = list.components.iter().filter(|component| !component.ready).count();
    if args.fails_unless_ready && waiting > 0 {
        let count = crate::ui::format_count(waiting, "Component");
        return Err(Failure::new(Kind::Unhealthy, format!("not ready: {count}")));
    }
    Ok(())
}
