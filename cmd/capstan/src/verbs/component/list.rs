use super::{
    hub::{Hub, Selection},
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
    let components = session.block_on(async {
        let hub = Hub::open_for_reading(&cluster).await?;
        hub.select(&Selection::In(args.namespace.clone())).await
    })?;
    session.print(format, &listed(&components, false), list_text)
}
