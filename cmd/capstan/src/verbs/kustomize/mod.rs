//! `kustomize`: builds and checks kustomizations.

mod build;
mod lint;

use crate::{Failure, session::Session};

/// Build and check kustomizations
#[derive(clap::Subcommand)]
pub(crate) enum Kustomize {
    Build(Box<build::Build>),
    Lint(Box<lint::Lint>),
}

impl Kustomize {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Build(args) => build::run(&args, session),
            Self::Lint(args) => lint::run(&args, session),
        }
    }
}

const CURRENT_FOLDER: &str = ".";
