//! `catalog`: compiles catalogs of clusters from class hierarchies.

mod applied_catalog;
mod apply;
mod compilation;
mod compile;
mod component;
mod delete;
mod explain;
mod inventory;
mod lieutenant;
mod lint;
mod list;
mod login;
mod login_callback;
mod package;
mod plan;
mod program;
mod sync_flags;
mod template_flags;
mod tools;
mod update_flags;
mod watch;

use self::{compilation::WorkingDirFlag, login::LoginFlags};
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
    /// Delete everything that a compilation creates, except for fetched dependencies
    #[command(after_help = "Examples:
  {bin} catalog clean
  {bin} catalog clean -d work")]
    Clean(WorkingDirFlag),
    /// Log in to the Lieutenant API
    ///
    /// Prints a link to the identity provider, and waits for its answer on this machine. The token is kept in
    /// `commodore/token` of the cache folder, where Commodore finds it too. Nothing is done while the kept token is valid
    /// or can be renewed.
    #[command(after_help = "Examples:
  {bin} catalog login --api-url https://syn.example.org")]
    Login(LoginFlags),
    /// Print a token for the Lieutenant API
    ///
    /// Prints the kept token if it is still valid, and otherwise logs in as `catalog login` does. This is the only command
    /// that prints a token.
    #[command(after_help = "Examples:
  {bin} catalog fetch-token --api-url https://syn.example.org")]
    FetchToken(LoginFlags),
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
            Self::Clean(working_dir) => working_dir.clean(session),
            Self::Login(flags) => flags.log_in(session),
            Self::FetchToken(flags) => flags.print_token(session),
        }
    }
}
