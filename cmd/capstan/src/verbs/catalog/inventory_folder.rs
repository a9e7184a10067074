//! The flag that selects a class hierarchy on disk.

use std::path::PathBuf;

use catalog::reclass::Inventory;

use crate::{Failure, session::Session};

/// The folder of a class hierarchy.
#[derive(clap::Args)]
pub(super) struct InventoryFolder {
    /// Folder with `classes` and `targets`, or a working folder with `inventory` [default: the current folder]
    #[arg(short, long, value_name = "FOLDER")]
    directory: Option<PathBuf>,
}

impl InventoryFolder {
    /// Finds the classes and targets in the folder.
    pub(super) fn read(&self, session: &Session) -> Result<Inventory, Failure> {
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
        Ok(Inventory::read(&folder)?.with_paths_from(session.environment().current_dir()))
    }
}
