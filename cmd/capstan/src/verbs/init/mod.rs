//! `init` and what belongs to it.

mod list_images;

use crate::{Failure, session::Session, settings::KubeFlags, verbs::provider_flags::SeveralProviders};

/// Install Cluster API and providers on a management cluster
///
/// This version only has `init list-images`; it does not talk to management clusters yet.
#[derive(clap::Args)]
#[command(subcommand_value_name = "COMMAND")]
pub(crate) struct Init {
    #[command(subcommand)]
    verb: Option<InitVerb>,

    #[command(flatten)]
    providers: SeveralProviders,

    #[command(flatten)]
    kube: KubeFlags,
}

#[derive(clap::Subcommand)]
enum InitVerb {
    ListImages(list_images::ListImages),
}

pub(crate) fn run(args: Init, session: &mut Session) -> Result<(), Failure> {
    match args.verb {
        Some(InitVerb::ListImages(list)) => list_images::run(&list, &args.providers, session),
        None => Err(Failure::user(
            "`init` needs a management cluster, and this version does not talk to one yet",
        )
        .hint(
            "see what would be installed with `generate provider`, and which images with `init list-images`",
        )),
    }
}
