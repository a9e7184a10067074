use std::path::PathBuf;

use catalog::WorkingFolder;

use crate::Environment;

/// The flag that selects a working folder.
#[derive(clap::Args)]
pub(super) struct WorkingDirFlag {
    /// Working folder [default: the current folder]
    #[arg(short = 'd', long, visible_alias = "directory", value_name = "FOLDER")]
    working_dir: Option<PathBuf>,
}

impl WorkingDirFlag {
    /// Returns the folder of the flag, or else of its variable, or else the current folder.
    pub(super) fn folder(&self, environment: &Environment) -> WorkingFolder {
        let variable = || environment.text("COMMODORE_WORKING_DIR").map(PathBuf::from);
        let folder = self.working_dir.clone().or_else(variable).unwrap_or_default();
        WorkingFolder::new(environment.resolve(folder))
    }
}
