use super::login_flow::{LoginFlags, LoginSession};
use crate::{Failure, session::Session};

/// Print a token for the Lieutenant API
///
/// Prints the kept token if it is still valid, and otherwise logs in as `catalog login` does. This is the only command
/// that prints a token.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog fetch-token --api-url https://syn.example.org")]
pub(crate) struct FetchToken {
    #[command(flatten)]
    flags: LoginFlags,
}

pub(super) fn run(args: &FetchToken, session: &mut Session) -> Result<(), Failure> {
    let token = LoginSession::new(&args.flags, session)?.token(session)?;
    session.printer().write(format!("{}\n", token.expose()))
}
