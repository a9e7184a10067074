use super::login_flow::LoginSession;
use crate::{Failure, session::Session};

/// Log in to the Lieutenant API
///
/// Prints a link to the identity provider, and waits for its answer on this machine. The token is kept in
/// `commodore/token` of the cache folder, where Commodore finds it too. Nothing is done while the kept token is valid or
/// can be renewed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} catalog login --api-url https://syn.example.org")]
pub(crate) struct Login {
    #[command(flatten)]
    flags: super::login_flow::LoginFlags,
}

pub(super) fn run(args: &Login, session: &mut Session) -> Result<(), Failure> {
    let login = LoginSession::new(&args.flags, session)?;
    login.token(session)?;
    session.messages().status(format!("logged in to {}", login.api_url()));
    Ok(())
}
