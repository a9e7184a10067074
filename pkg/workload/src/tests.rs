//! A management cluster on a sandbox.

use apply::{Connection, Credentials, EventSink, Server, ServerSettings};
use inventory::ManagementCluster;
use support::fixture::Fixture;

/// Returns a management cluster on a sandbox.
pub(crate) async fn cluster(fixture: &Fixture) -> ManagementCluster {
    cluster_through(fixture.client()).await
}

/// Returns a management cluster behind a client, which may include a service in front of a sandbox.
pub(crate) async fn cluster_through(client: kube::Client) -> ManagementCluster {
    let connection = Connection {
        credentials: Credentials::Client(client),
        impersonation: None,
        user_agent: "capstan-test".to_owned(),
    };
    let server = Server::connect(connection, ServerSettings::default()).await.unwrap().unguarded();
    ManagementCluster::new(server, EventSink::none())
}
