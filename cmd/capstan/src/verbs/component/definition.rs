use crate::{Failure, session::Session};

/// Print the CustomResourceDefinitions of Components and Blueprints
///
/// Prints the definitions of the kinds Component and Blueprint. With them, the cluster checks Components, and their status lists
/// their objects. Without them, capstan keeps Components in Secrets.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} component definition | kubectl apply -f -")]
pub(crate) struct Definition {}

pub(super) fn run(_: &Definition, session: &mut Session) -> Result<(), Failure> {
    session.printer().write(manifest::write_stream(&component::definitions()) + "\n")
}
