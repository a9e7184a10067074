//! `catalog`: compiles catalogs of clusters from class hierarchies.

mod clean;
mod compile;
mod component;
mod explain;
mod inventory;
mod inventory_folder;
mod lieutenant;
mod lint;
mod list;
mod tools;

use crate::{Failure, session::Session};

/// Compile catalogs of clusters from class hierarchies
#[derive(clap::Subcommand)]
pub(crate) enum CatalogVerb {
    Compile(Box<compile::Compile>),
    #[command(subcommand)]
    Component(component::CatalogComponentVerb),
    Inventory(Box<inventory::Inventory>),
    Explain(Box<explain::Explain>),
    Lint(Box<lint::Lint>),
    List(Box<list::List>),
    Clean(Box<clean::Clean>),
}

impl CatalogVerb {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Compile(args) => compile::run(&args, session),
            Self::Component(verb) => verb.run(session),
            Self::Inventory(args) => inventory::run(&args, session),
            Self::Explain(args) => explain::run(&args, session),
            Self::Lint(args) => lint::run(&args, session),
            Self::List(args) => list::run(&args, session),
            Self::Clean(args) => clean::run(&args, session),
        }
    }
}
