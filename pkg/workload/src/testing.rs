//! A management cluster on a sandbox.

use apply::{ConnectionOptions, EventSink, Server, ServerOptions};
use inventory::ManagementCluster;
use support::fixture::Fixture;

/// Returns a management cluster on a sandbox.
pub(crate) async fn cluster(fixture: &Fixture) -> ManagementCluster {
    cluster_through(fixture.client()).await
}

/// Returns a management cluster behind a client, which may include a service in front of a sandbox.
pub(crate) async fn cluster_through(client: kube::Client) -> ManagementCluster {
    let connection = ConnectionOptions::of_client(client, "capstan-test");
    let server = Server::connect(connection, ServerOptions::default()).await.unwrap().without_lease();
    ManagementCluster::new(server, EventSink::none())
}
