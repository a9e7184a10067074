use super::{
    hub::Hub,
    listing::{list_text, listed},
};
use crate::{
    Failure,
    session::Session,
    settings::{self, OutputFlag, ServerFlags},
};

/// List Components and their states
///
/// Lists the Components of a cluster, also those that were applied without their definition. Nothing is written.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} component list
  {bin} component list -n shop -o json")]
pub(crate) struct List {
    /// Namespace of the Components [default: all namespaces]
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,

    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    server: ServerFlags,
}

pub(super) fn run(args: &List, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    let mut components = session.block_on(async {
        let hub = Hub::open(&cluster).await?;
        hub.select(&[]).await
    })?;
    if let Some(namespace) = &args.namespace {
        components.components.retain(|component| component.namespace() == namespace);
        components.unreadable.retain(|one| one.component.namespace == *namespace);
    }
    session.print(format, &listed(&components, false), list_text)
}
