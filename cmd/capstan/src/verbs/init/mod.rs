//! `init` and what belongs to it.

mod install;
mod list_images;

use crate::{Failure, session::Session, settings::KubeFlags, verbs::provider_flags::SeveralProviders};

pub(crate) use install::PlanInit;

/// Install Cluster API and providers on a management cluster
///
/// A first installation adds cluster-api, the kubeadm providers and cert-manager by itself. All is fetched, rendered and
/// checked before anything is written, and it is waited until what was installed answers. One that was cut off is
/// completed by the same command.
#[derive(clap::Args)]
#[command(
    subcommand_value_name = "COMMAND",
    after_help = "Examples:
  {bin} init --infrastructure docker
  {bin} init --infrastructure aws:v2.11.1,docker --wait-providers

  # Look first, then do exactly that
  {bin} init --infrastructure docker --diff
  {bin} init --infrastructure docker --out plan.json
  {bin} init --plan plan.json

  # Without a Kubernetes cluster
  {bin} init --sandbox lab --infrastructure docker"
)]
pub(crate) struct Init {
    #[command(subcommand)]
    verb: Option<InitVerb>,

    #[command(flatten)]
    providers: SeveralProviders,

    #[command(flatten)]
    kube: KubeFlags,

    #[command(flatten)]
    install: install::InstallFlags,
}

#[derive(clap::Subcommand)]
enum InitVerb {
    ListImages(list_images::ListImages),
}

pub(crate) fn run(args: Init, session: &mut Session) -> Result<(), Failure> {
    match args.verb {
        Some(InitVerb::ListImages(list)) => list_images::run(&list, &args.providers, session),
        None => install::run(&args.install, &args.providers, &args.kube, session),
    }
}
