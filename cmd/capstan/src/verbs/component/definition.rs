use crate::{Failure, session::Session};

/// Print the CustomResourceDefinition of Components
///
/// Prints the definition of the kind Component. With it, the cluster checks Components, and their status lists their objects.
/// Without it, capstan keeps Components in Secrets.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} component definition | kubectl apply -f -")]
pub(crate) struct Definition {}

pub(super) fn run(_: &Definition, session: &mut Session) -> Result<(), Failure> {
    session.printer().write(manifest::write_stream(&[component::definition()]) + "\n")
}
