use crate::{
    Failure,
    session::Session,
    verbs::{delete::Delete, init::InitFlags, upgrade::Apply},
};

/// Show what a command would change on a management cluster
///
/// Nothing is written to the cluster. `--out FILE` saves the plan. The command executes it with `--plan FILE`, and refuses an
/// outdated plan.
#[derive(clap::Subcommand)]
#[command(after_help = "Examples:
  {bin} plan init --infrastructure docker
  {bin} plan upgrade --contract v1beta2 --out plan.json
  {bin} plan delete --infrastructure docker -o json")]
pub(crate) enum Plan {
    /// Show what `init` would do, and write nothing
    ///
    /// Takes the flags of `init`. The API server validates every object in a dry run.
    #[command(after_help = "Examples:
  {bin} plan init --infrastructure docker
  {bin} plan init --infrastructure docker --out plan.json
  {bin} plan init --infrastructure docker -o json")]
    Init(Box<InitFlags>),
    /// Show what `upgrade apply` would do, and write nothing
    ///
    /// Takes the flags of `upgrade apply`. The API server validates every object in a dry run.
    #[command(after_help = "Examples:
  {bin} plan upgrade --contract v1beta2
  {bin} plan upgrade --infrastructure docker:v1.14.0 --diff")]
    Upgrade(Box<Apply>),
    /// Show what `delete` would do, and write nothing
    ///
    /// Takes the flags of `delete`.
    #[command(after_help = "Examples:
  {bin} plan delete --all --include-crd")]
    Delete(Box<Delete>),
}

impl Plan {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Init(args) => args.without_writing().run(session),
            Self::Upgrade(args) => args.without_writing().run(session),
            Self::Delete(args) => args.without_writing().run(session),
        }
    }
}
