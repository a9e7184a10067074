//! Shared parts of the tests: management clusters on sandboxes, and separate runs.

pub(crate) mod lab;

use std::{collections::BTreeMap, sync::Arc, time::SystemTime};

use apply::{
    ConnectionOptions, Credentials, EventSink, HeldLeasePolicy, LeaseHolder, LeaseRequest, Server,
    ServerOptions,
};
use inventory::ManagementCluster;
use serde_json::Value;
pub(crate) use support::small_providers::{NEW_VERSION, OLD_VERSION, bootstrap, control_plane, core, docker};
use support::{fixture::Fixture, object_snapshot::ObjectSnapshot, scripted_connection::ScriptedConnection};

/// Returns a lease request with which this process acts as a separate run.
pub(crate) fn lease_request(process: &str) -> LeaseRequest {
    LeaseRequest {
        name: ManagementCluster::lease_name(),
        holder: LeaseHolder {
            host: "here".to_owned(),
            process: process.to_owned(),
            verb: "test".to_owned(),
            since: None,
        },
        has_ended: Arc::new(|_| false),
        when_held: HeldLeasePolicy::Wait,
        wall_clock: SystemTime::now,
    }
}

/// Returns all objects except leases, with all their fields.
pub(crate) async fn objects(fixture: &Fixture) -> BTreeMap<String, Value> {
    let all = ObjectSnapshot::read(&fixture.client()).await;
    let others = all.iter().filter(|(name, _)| !name.starts_with("Lease "));
    others.map(|(name, object)| (name.to_owned(), object.clone())).collect()
}

/// Connects to a management cluster on a sandbox.
pub(crate) async fn cluster(fixture: &Fixture) -> ManagementCluster {
    cluster_through(fixture.client()).await
}

/// Connects to a management cluster through a client. The client may use a service in front of the sandbox.
pub(crate) async fn cluster_through(client: kube::Client) -> ManagementCluster {
    let connection = ConnectionOptions {
        credentials: Credentials::Client(client),
        impersonation: None,
        user_agent: "capstan-test".to_owned(),
    };
    let server = Server::connect(connection, ServerOptions::default()).await.unwrap().without_lease();
    ManagementCluster::new(server, EventSink::none())
}

/// Connects to the management cluster at the end of a wire. Temporary failures are retried for as long as for users.
pub(crate) async fn cluster_behind(wire: &ScriptedConnection) -> ManagementCluster {
    cluster_through(wire.client()).await
}
