//! Servers for tests.

use apply::{ConnectionOptions, Credentials, Server, ServerOptions};
use support::fixture::Fixture;

/// Connects to a sandbox.
pub(crate) async fn connect(fixture: &Fixture) -> Server {
    let connection = ConnectionOptions {
        credentials: Credentials::Client(fixture.client()),
        impersonation: None,
        user_agent: "test".to_owned(),
    };
    Server::connect(connection, ServerOptions::default()).await.unwrap().without_lease()
}
