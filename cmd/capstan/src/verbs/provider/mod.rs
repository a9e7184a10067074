//! `provider`: the subcommands.

mod edit;
mod entry;
mod show;

use crate::{Failure, session::Session};

/// List and configure providers
#[derive(clap::Subcommand)]
pub(crate) enum Provider {
    List(show::List),
    Show(Box<show::Show>),
    Add(edit::Add),
    Remove(edit::Remove),
}

impl Provider {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::List(args) => show::list(&args, session),
            Self::Show(args) => show::show(&args, session),
            Self::Add(args) => edit::add(&args, session),
            Self::Remove(args) => edit::remove(&args, session),
        }
    }
}
