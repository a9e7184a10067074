//! Management clusters in a sandbox.

use api::ProviderId;
use apply::{ConnectionOptions, EventSink, Server, ServerOptions};
use provider::InstalledProvider;
pub(crate) use support::small_providers::{NEW_VERSION, components, core, docker, objects};
use support::{fixture::Fixture, small_providers::namespace_of};

use crate::ManagementCluster;

pub(crate) fn installed(id: &ProviderId, version: &str) -> InstalledProvider {
    InstalledProvider { id: id.clone(), version: version.to_owned(), namespace: namespace_of(id) }
}

/// Returns a management cluster in a sandbox.
pub(crate) async fn cluster(fixture: &Fixture) -> ManagementCluster {
    cluster_through(fixture.client()).await
}

/// Returns a management cluster behind a client, which may reach the sandbox through a proxy.
pub(crate) async fn cluster_through(client: kube::Client) -> ManagementCluster {
    let connection = ConnectionOptions::of_client(client, "capstan-test");
    let server = Server::connect(connection, ServerOptions::default()).await.unwrap().without_lease();
    ManagementCluster::new(server, EventSink::none())
}
