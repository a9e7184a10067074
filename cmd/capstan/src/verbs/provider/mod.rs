//! `provider`: the list.

mod add;
mod config_file;
mod entry;
mod list;
mod remove;
mod show;

use crate::{Failure, session::Session};

/// List and configure providers
#[derive(clap::Subcommand)]
pub(crate) enum Provider {
    List(list::List),
    Show(Box<show::Show>),
    Add(add::Add),
    Remove(remove::Remove),
}

impl Provider {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::List(args) => list::run(&args, session),
            Self::Show(args) => show::run(&args, session),
            Self::Add(args) => add::run(&args, session),
            Self::Remove(args) => remove::run(&args, session),
        }
    }
}
