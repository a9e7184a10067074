//! `catalog`: compiles catalogs of clusters from class hierarchies.

mod explain;
mod inventory;
mod inventory_folder;

use crate::{Failure, session::Session};

/// Compile catalogs of clusters from class hierarchies
#[derive(clap::Subcommand)]
pub(crate) enum CatalogVerb {
    Inventory(Box<inventory::Inventory>),
    Explain(Box<explain::Explain>),
}

impl CatalogVerb {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Inventory(args) => inventory::run(&args, session),
            Self::Explain(args) => explain::run(&args, session),
        }
    }
}
