use super::inventory_folder::InventoryFolder;
use crate::{Failure, session::Session, settings::OutputFlag};

/// Print the applications, classes and parameters of a target
///
/// Merges the classes of a target as Commodore does, and resolves all references. All problems are reported at once,
/// with file and line. Without a target, the command lists the targets.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog inventory --directory inventory cluster
  {bin} catalog inventory cluster -o json")]
pub(crate) struct Inventory {
    /// Target to print
    #[arg(value_name = "TARGET")]
    target: Option<String>,

    #[command(flatten)]
    folder: InventoryFolder,

    #[command(flatten)]
    output: OutputFlag,
}

pub(super) fn run(args: &Inventory, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let inventory = args.folder.read(session)?;
    let Some(target) = &args.target else {
        let targets: Vec<&str> = inventory.targets().collect();
        return session.print(format, &targets, |targets, _| {
            targets.iter().flat_map(|target| [target, "\n"]).collect()
        });
    };
    let node = inventory.render(target)?;
    session.print(format, &node, |node, _| {
        serde_json::to_value(node).map(|node| manifest::yaml::write(&node)).unwrap_or_default()
    })
}
