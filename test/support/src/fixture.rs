//! A sandbox for a test: in process for clients, or on TLS with a kubeconfig for binaries.
//!
//! Failures panic with a description, because a test cannot handle them.

mod request;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
pub use kube::Client;
use sandbox::{
    Clock, ControllerSwitches, Fault, Identity, Listener, Options, Sandbox, faults::FaultId, kubeconfig,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::{cluster_api::Object, kind::Kind, object_snapshot::ObjectSnapshot};

/// The time after which controllers of the sandbox that still have work count as stuck.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A running sandbox. Dropping the value stops the sandbox.
#[derive(Debug)]
pub struct Fixture {
    sandbox: Sandbox,
    clock: Clock,
    client: request::ObjectClient,
    listening: OnceCell<ListeningSandbox>,
}

/// The options of a sandbox.
#[derive(Debug)]
pub struct FixtureBuilder {
    options: Options,
    clock: Clock,
}

/// A sandbox on a port, and its kubeconfig.
#[derive(Debug)]
struct ListeningSandbox {
    kubeconfig: PathBuf,
    _listener: Listener,
    _folder: TempDir,
}

impl Fixture {
    /// Starts a sandbox that runs garbage collection and namespace deletion, and no other controllers.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// Creates a builder with the same defaults as [`Fixture::start`].
    pub fn builder() -> FixtureBuilder {
        let controllers = ControllerSwitches { garbage_collection: true, ..ControllerSwitches::none() };
        FixtureBuilder { options: Options { controllers, ..Options::default() }, clock: Clock::default() }
    }

    /// The sandbox, for access to its faults, audit log and revision.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Injects a fault from now on, in the syntax of the command line of sandboxes.
    ///
    /// # Panics
    /// Panics if the text is no fault.
    pub fn inject_fault(&self, fault: &str) -> FaultId {
        self.sandbox.faults().add(Fault::parse(fault).expect("a fault that can be read"))
    }

    /// A client that calls the sandbox in process.
    pub fn client(&self) -> Client {
        self.client.0.clone()
    }

    /// The path of a kubeconfig for binaries. The sandbox starts listening on the first call.
    pub async fn kubeconfig(&self) -> &Path {
        &self.listening.get_or_init(|| listen(&self.sandbox)).await.kubeconfig
    }

    /// Moves a fixed clock forward.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(SignedDuration::try_from(by).expect("no test waits for an age"));
    }

    /// Moves a fixed clock back.
    pub fn set_back(&self, by: Duration) {
        self.clock.advance(-SignedDuration::try_from(by).expect("no test waits for an age"));
    }

    /// Waits until the controllers have no work left.
    ///
    /// # Panics
    /// Panics if a controller still has work after 30 seconds.
    pub async fn wait_until_idle(&self) {
        let settled = tokio::time::timeout(TIMEOUT, self.sandbox.wait_until_idle()).await;
        assert!(
            settled.is_ok(),
            "controllers of the sandbox keep retrying: {:#?}",
            self.sandbox.failing_reconciliations()
        );
    }

    /// Applies all documents of a YAML text in order, server-side and forced, with the field manager `test`. The
    /// default namespace is `default`.
    pub async fn apply(&self, yaml: &str) {
        self.client.apply_all(yaml).await;
    }

    /// Serves a kind whose objects may have any fields and a status.
    pub async fn define(&self, kind: Kind) {
        define(&self.client(), kind).await;
    }

    /// Applies all documents of a file.
    pub async fn apply_file(&self, path: impl AsRef<Path>) {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path);
        self.apply(&text.unwrap_or_else(|error| panic!("{}: {error}", path.display()))).await;
    }

    /// Creates objects in order, with missing namespaces, owner references with the uids of the owners, and statuses.
    pub async fn create(&self, objects: impl IntoIterator<Item = Object>) {
        self.client.create_all(objects).await;
    }

    /// The object at `namespace/name`, or at `name` for cluster-scoped objects.
    pub async fn get(&self, kind: Kind, namespaced_name: &str) -> Option<Value> {
        self.client.get(kind, namespaced_name).await
    }

    /// All objects of a kind, in all namespaces.
    pub async fn list(&self, kind: Kind) -> Vec<Value> {
        self.client.list(kind, "").await
    }

    /// All objects except leases, which runs renew.
    pub async fn snapshot(&self) -> ObjectSnapshot {
        ObjectSnapshot::read(&self.client()).await.excluding(|name| name.starts_with("Lease "))
    }

    /// Changes an object with a merge patch.
    pub async fn merge(&self, kind: Kind, namespaced_name: &str, patch: &Value) {
        self.client.merge(kind, namespaced_name, patch).await;
    }

    /// Changes the status of an object with a merge patch, as a controller would.
    pub async fn merge_status(&self, kind: Kind, namespaced_name: &str, patch: &Value) {
        self.client.merge_status(kind, namespaced_name, patch).await;
    }

    /// Deletes an object with background propagation.
    pub async fn delete(&self, kind: Kind, namespaced_name: &str) {
        self.client.delete(kind, namespaced_name).await;
    }
}

/// Applies all documents of a YAML text like [`Fixture::apply`], to the server of a client.
///
/// # Panics
/// Panics if the server rejects a document.
pub async fn apply(client: &Client, yaml: &str) {
    request::ObjectClient(client.clone()).apply_all(yaml).await;
}

/// Serves a kind like [`Fixture::define`], on the server of a client.
///
/// # Panics
/// Panics if the server rejects the definition.
pub async fn define(client: &Client, kind: Kind) {
    let Kind { group, version, kind, plural, namespaced } = kind;
    let scope = if namespaced { "Namespaced" } else { "Cluster" };
    let definition = format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.{group}}}
spec:
  group: {group}
  names: {{kind: {kind}, plural: {plural}}}
  scope: {scope}
  versions:
  - name: {version}
    served: true
    storage: true
    subresources: {{status: {{}}}}
    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
"
    );
    apply(client, &definition).await;
}

/// The object at `namespace/name`, like [`Fixture::get`], on the server of a client.
///
/// # Panics
/// Panics if the server does not respond.
pub async fn get(client: &Client, kind: Kind, namespaced_name: &str) -> Option<Value> {
    request::ObjectClient(client.clone()).get(kind, namespaced_name).await
}

/// Creates objects like [`Fixture::create`], on the server of a client.
///
/// # Panics
/// Panics if the server rejects an object.
pub async fn create(client: &Client, objects: impl IntoIterator<Item = Object>) {
    request::ObjectClient(client.clone()).create_all(objects).await;
}

/// Completes objects that a user has created partially, as controllers would. Creates missing objects, and adds owners,
/// labels, finalizers, status and missing spec fields to existing ones.
///
/// # Panics
/// Panics if the server rejects a request.
pub async fn reconcile(client: &Client, objects: impl IntoIterator<Item = Object>) {
    let client = request::ObjectClient(client.clone());
    for object in objects {
        client.reconcile(object).await;
    }
}

/// Writes the statuses of existing objects.
///
/// # Panics
/// Panics if the server rejects a request.
pub async fn write_statuses(client: &Client, objects: impl IntoIterator<Item = Object>) {
    let client = request::ObjectClient(client.clone());
    for object in objects {
        client.write_status(object).await;
    }
}

/// All objects of a kind in a namespace, or in all namespaces if `namespace` is empty.
///
/// # Panics
/// Panics if the server does not respond.
pub async fn list(client: &Client, kind: Kind, namespace: &str) -> Vec<Value> {
    request::ObjectClient(client.clone()).list(kind, namespace).await
}

/// True if objects of a kind can be listed.
pub(crate) async fn is_served(client: &Client, kind: Kind) -> bool {
    request::ObjectClient(client.clone()).is_served(kind).await
}

/// Changes an object on the server of a client with a merge patch.
///
/// # Panics
/// Panics if the server rejects the patch.
pub async fn merge(client: &Client, kind: Kind, namespaced_name: &str, patch: &Value) {
    request::ObjectClient(client.clone()).merge(kind, namespaced_name, patch).await;
}

/// Changes a status like [`Fixture::merge_status`], on the server of a client.
///
/// # Panics
/// Panics if the server rejects the patch.
pub async fn merge_status(client: &Client, kind: Kind, namespaced_name: &str, patch: &Value) {
    request::ObjectClient(client.clone()).merge_status(kind, namespaced_name, patch).await;
}

/// Deletes an object like [`Fixture::delete`], on the server of a client.
///
/// # Panics
/// Panics if the server rejects the deletion.
pub async fn delete(client: &Client, kind: Kind, namespaced_name: &str) {
    request::ObjectClient(client.clone()).delete(kind, namespaced_name).await;
}

impl FixtureBuilder {
    /// Runs these controllers.
    #[must_use]
    pub fn controllers(mut self, controllers: ControllerSwitches) -> Self {
        self.options.controllers = controllers;
        self
    }

    /// Injects a fault from the start, in the syntax of the command line: `409,verb=create,times=1`.
    #[must_use]
    pub fn fault(mut self, fault: &str) -> Self {
        self.options.faults.push(Fault::parse(fault).unwrap_or_else(|why| panic!("`{fault}`: {why}")));
        self
    }

    /// Fixes the clock at this time, such as `2026-01-02T03:04:05Z`.
    #[must_use]
    pub fn clock_at(mut self, time: &str) -> Self {
        let time: Timestamp = time.parse().unwrap_or_else(|error| panic!("`{time}`: {error}"));
        self.clock = Clock::fixed(time);
        self
    }

    /// Changes any other option of the sandbox.
    #[must_use]
    pub fn options(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    /// Starts the sandbox.
    pub async fn start(self) -> Fixture {
        let sandbox = Sandbox::start_with_clock(self.options, self.clock.clone()).await;
        let sandbox = sandbox.unwrap_or_else(|error| panic!("cannot start the sandbox: {error}"));
        let client = request::ObjectClient(Client::new(sandbox.clone(), "default"));
        Fixture { sandbox, clock: self.clock, client, listening: OnceCell::new() }
    }
}

async fn listen(sandbox: &Sandbox) -> ListeningSandbox {
    let identity = Identity::generate().expect("the system gives randomness");
    let listener = Listener::bind(sandbox.clone(), &identity, 0).await.expect("loopback has a free port");
    let folder = TempDir::new().expect("a temporary folder can be created");
    let path = folder.path().join("kubeconfig");
    let content = kubeconfig("lab", &listener.url(), &identity).to_string();
    std::fs::write(&path, content).expect("a file in a fresh folder can be written");
    ListeningSandbox { kubeconfig: path, _listener: listener, _folder: folder }
}

#[cfg(test)]
mod tests;
