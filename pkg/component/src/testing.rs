//! Servers for tests.

use apply::{ConnectionOptions, Server, ServerOptions};
use support::fixture::Fixture;

/// Connects to a sandbox.
pub(crate) async fn connect(fixture: &Fixture) -> Server {
    let connection = ConnectionOptions::of_client(fixture.client(), "test");
    Server::connect(connection, ServerOptions::default()).await.unwrap().without_lease()
}
