//! `catalog`: compiles catalogs of clusters from class hierarchies.

mod applied_catalog;
mod apply;
mod clean;
mod compilation;
mod compile;
mod component;
mod delete;
mod explain;
mod fetch_token;
mod inventory;
mod inventory_folder;
mod lieutenant;
mod lint;
mod list;
mod login;
mod login_callback;
mod login_flow;
mod package;
mod plan;
mod program;
mod sync_flags;
mod template_flags;
mod tools;
mod update_flags;
mod watch;
mod working_dir_flag;

use crate::{Failure, session::Session};

/// Compile catalogs of clusters from class hierarchies
#[derive(clap::Subcommand)]
pub(crate) enum CatalogVerb {
    Compile(Box<compile::Compile>),
    Plan(Box<plan::Plan>),
    Apply(Box<apply::Apply>),
    Delete(Box<delete::Delete>),
    #[command(subcommand)]
    Component(component::CatalogComponentVerb),
    #[command(subcommand)]
    Package(package::CatalogPackageVerb),
    Inventory(Box<inventory::Inventory>),
    Explain(Box<explain::Explain>),
    Lint(Box<lint::Lint>),
    List(Box<list::List>),
    Clean(Box<clean::Clean>),
    Login(Box<login::Login>),
    FetchToken(Box<fetch_token::FetchToken>),
}

impl CatalogVerb {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Compile(args) => compile::run(&args, session),
            Self::Plan(args) => plan::run(&args, session),
            Self::Apply(args) => apply::run(&args, session),
            Self::Delete(args) => delete::run(&args, session),
            Self::Component(verb) => verb.run(session),
            Self::Package(verb) => verb.run(session),
            Self::Inventory(args) => inventory::run(&args, session),
            Self::Explain(args) => explain::run(&args, session),
            Self::Lint(args) => lint::run(&args, session),
            Self::List(args) => list::run(&args, session),
            Self::Clean(args) => clean::run(&args, session),
            Self::Login(args) => login::run(&args, session),
            Self::FetchToken(args) => fetch_token::run(&args, session),
        }
    }
}
