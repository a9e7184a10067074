use std::path::PathBuf;

use catalog::reclass;

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

/// The folder of a class hierarchy.
#[derive(clap::Args)]
pub(super) struct InventoryFolder {
    /// Folder with `classes` and `targets`, or a working folder with `inventory` [default: the current folder]
    #[arg(short, long, value_name = "FOLDER")]
    directory: Option<PathBuf>,
}

impl InventoryFolder {
    /// Finds the classes and targets in the folder.
    pub(super) fn read(&self, session: &Session) -> Result<reclass::Inventory, Failure> {
        let environment = session.environment();
        let folder = match &self.directory {
            Some(folder) => environment.resolve(folder),
            None => environment.current_dir().to_owned(),
        };
        let inside = folder.join("inventory");
        let folder = if inside.is_dir() { inside } else { folder };
        if !folder.join("targets").is_dir() {
            return Err(Failure::user(format!(
                "cannot read inventory `{}`: it has no folder `targets`",
                folder.display()
            ))
            .hint("name the folder that contains `classes` and `targets` with `--directory`"));
        }
        Ok(reclass::Inventory::read(&folder)?.with_paths_from(session.environment().current_dir()))
    }
}
