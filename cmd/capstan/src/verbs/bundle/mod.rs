//! `bundle`: releases, settings and images in one file, for sites that reach no other host.

mod collect;
mod create;
mod inspect;
mod kustomization;
mod load;
mod open;
mod report;
mod site;
mod verify;

use self::open::open;
use crate::{Failure, session::Session};

/// Carry releases, settings and images to a closed site in one file
#[derive(clap::Subcommand)]
pub(crate) enum Bundle {
    Create(Box<create::Create>),
    Inspect(inspect::Inspect),
    Verify(verify::Verify),
    Load(load::Load),
}

impl Bundle {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Create(args) => create::run(&args, session),
            Self::Inspect(args) => inspect::run(&args, session),
            Self::Verify(args) => verify::run(&args, session),
            Self::Load(args) => load::run(&args, session),
        }
    }
}

/// The configuration in a bundle, and in a folder it was loaded to.
const CONFIG_FILE: &str = "clusterctl.yaml";

/// The list of images in a bundle.
const IMAGES_FILE: &str = "images.json";
