//! The flag that selects a class hierarchy on disk.

use std::path::PathBuf;

use catalog::reclass::Inventory;

use crate::{Failure, session::Session};

/// The folder of a class hierarchy.
#[derive(clap::Args)]
pub(super) struct InventoryFolder {
    /// Folder with `classes` and `targets`, or a working folder with `inventory`
    #[arg(short, long, value_name = "FOLDER", default_value = ".")]
    directory: PathBuf,
}

impl InventoryFolder {
    /// Finds the classes and targets in the folder.
    pub(super) fn read(&self, session: &Session) -> Result<Inventory, Failure> {
        let inside = self.directory.join("inventory");
        let resolve = |path: &PathBuf| session.environment().resolve(path);
        let folder = if resolve(&inside).is_dir() { resolve(&inside) } else { resolve(&self.directory) };
        if !folder.join("targets").is_dir() {
            return Err(Failure::user(format!(
                "cannot read inventory `{}`: it has no folder `targets`",
                folder.display()
            ))
            .hint("name the folder that contains `classes` and `targets` with `--directory`"));
        }
        Ok(Inventory::read(&folder)?)
    }
}
