//! A sandbox for a test: in process for clients, on TLS with a kubeconfig for binaries.
//!
//! What cannot be done is a panic that says what and why: a test has nothing better to do with it.

mod request;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use sandbox::{Clock, Fault, Identity, Listener, Options, Sandbox, Switches, kubeconfig};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::{cluster_api::Object, kind::Kind};

/// Controllers of the sandbox that have more to do after this time never settle.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running sandbox. It ends with the value.
#[derive(Debug)]
pub struct Fixture {
    sandbox: Sandbox,
    clock: Clock,
    client: request::Objects,
    listening: OnceCell<Listening>,
}

/// How a sandbox is started.
#[derive(Debug)]
pub struct Builder {
    options: Options,
    clock: Clock,
}

/// A sandbox on a port, and the file that says where.
#[derive(Debug)]
struct Listening {
    kubeconfig: PathBuf,
    _listener: Listener,
    _folder: TempDir,
}

impl Fixture {
    /// Starts a sandbox that collects garbage and ends namespaces, and has no other controllers.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// The same, with a choice.
    pub fn builder() -> Builder {
        let controllers = Switches { garbage: true, ..Switches::none() };
        Builder { options: Options { controllers, ..Options::default() }, clock: Clock::default() }
    }

    /// The sandbox itself: its faults, its audit log, its revision.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// A client without a wire.
    pub fn client(&self) -> kube::Client {
        self.client.0.clone()
    }

    /// The path of a kubeconfig for binaries. The sandbox listens from the first call on.
    pub async fn kubeconfig(&self) -> &Path {
        &self.listening.get_or_init(|| listen(&self.sandbox)).await.kubeconfig
    }

    /// Moves a fixed clock on.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(SignedDuration::try_from(by).expect("no test waits for an age"));
    }

    /// Sets a fixed clock back.
    pub fn set_back(&self, by: Duration) {
        self.clock.advance(-SignedDuration::try_from(by).expect("no test waits for an age"));
    }

    /// Waits until the controllers have nothing left to do.
    ///
    /// # Panics
    /// When one of them still tries after half a minute.
    pub async fn settled(&self) {
        let settled = tokio::time::timeout(PATIENCE, self.sandbox.settle()).await;
        assert!(
            settled.is_ok(),
            "controllers of the sandbox try again and again: {:#?}",
            self.sandbox.failing()
        );
    }

    /// Applies all documents of a YAML text in their order, server-side and by force, under the field manager `test`.
    /// What names no namespace goes to `default`.
    pub async fn apply(&self, yaml: &str) {
        self.client.apply_all(yaml).await;
    }

    /// Applies all documents of a file.
    pub async fn apply_file(&self, path: impl AsRef<Path>) {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path);
        self.apply(&text.unwrap_or_else(|error| panic!("{}: {error}", path.display()))).await;
    }

    /// Creates objects in their order: their namespaces when they are missing, references to their owners with the
    /// uids these have, and what they say about their status.
    pub async fn create(&self, objects: impl IntoIterator<Item = Object>) {
        self.client.create_all(objects).await;
    }

    /// The object at `namespace/name`, or at `name` for those of the whole cluster.
    pub async fn get(&self, kind: Kind, place: &str) -> Option<Value> {
        self.client.get(kind, place).await
    }

    /// All objects of a kind, in all namespaces.
    pub async fn list(&self, kind: Kind) -> Vec<Value> {
        self.client.list(kind, "").await
    }

    /// Changes an object by a merge patch.
    pub async fn merge(&self, kind: Kind, place: &str, patch: &Value) {
        self.client.merge(kind, place, patch).await;
    }

    /// Changes the status of an object by a merge patch, as a controller would.
    pub async fn merge_status(&self, kind: Kind, place: &str, patch: &Value) {
        self.client.merge_status(kind, place, patch).await;
    }

    /// Deletes an object, in the background.
    pub async fn delete(&self, kind: Kind, place: &str) {
        self.client.delete(kind, place).await;
    }
}

/// Applies all documents of a YAML text as `Fixture::apply` does, to the server of a client.
///
/// # Panics
/// When one of them is refused.
pub async fn apply(client: &kube::Client, yaml: &str) {
    request::Objects(client.clone()).apply_all(yaml).await;
}

/// Creates objects as `Fixture::create` does, on the server of a client.
///
/// # Panics
/// When one of them is refused.
pub async fn create(client: &kube::Client, objects: impl IntoIterator<Item = Object>) {
    request::Objects(client.clone()).create_all(objects).await;
}

/// Does what controllers do where a user has created some of the objects: creates what is missing, and gives the others
/// owners, labels and finalizers, a status, and the fields of their spec that they lack.
///
/// # Panics
/// When one of them is refused.
pub async fn reconcile(client: &kube::Client, objects: impl IntoIterator<Item = Object>) {
    let client = request::Objects(client.clone());
    for object in objects {
        client.reconcile(object).await;
    }
}

/// Writes the statuses of objects that are there.
///
/// # Panics
/// When one of them is refused.
pub async fn write_statuses(client: &kube::Client, objects: impl IntoIterator<Item = Object>) {
    let client = request::Objects(client.clone());
    for object in objects {
        client.write_status(object).await;
    }
}

/// All objects of a kind in a namespace, or in all for the empty one.
///
/// # Panics
/// When the server does not answer.
pub async fn list(client: &kube::Client, kind: Kind, namespace: &str) -> Vec<Value> {
    request::Objects(client.clone()).list(kind, namespace).await
}

/// Whether objects of a kind can be asked for by now.
pub(crate) async fn is_served(client: &kube::Client, kind: Kind) -> bool {
    request::Objects(client.clone()).is_served(kind).await
}

/// Changes an object on the server of a client by a merge patch.
///
/// # Panics
/// When it is refused.
pub async fn merge(client: &kube::Client, kind: Kind, place: &str, patch: &Value) {
    request::Objects(client.clone()).merge(kind, place, patch).await;
}

impl Builder {
    /// Plays these controllers.
    #[must_use]
    pub fn controllers(mut self, controllers: Switches) -> Self {
        self.options.controllers = controllers;
        self
    }

    /// Has this trouble from the start, in the form of the command line: `409,verb=create,times=1`.
    #[must_use]
    pub fn fault(mut self, fault: &str) -> Self {
        self.options.faults.push(Fault::parse(fault).unwrap_or_else(|why| panic!("`{fault}`: {why}")));
        self
    }

    /// Lets the clock stand at this time, such as `2026-01-02T03:04:05Z`, until it is moved.
    #[must_use]
    pub fn clock_at(mut self, time: &str) -> Self {
        let time: Timestamp = time.parse().unwrap_or_else(|error| panic!("`{time}`: {error}"));
        self.clock = Clock::fixed(time);
        self
    }

    /// Changes whatever else a sandbox can be started with.
    #[must_use]
    pub fn options(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    /// Starts it.
    pub async fn start(self) -> Fixture {
        let sandbox = Sandbox::start_at(self.options, self.clock.clone()).await;
        let sandbox = sandbox.unwrap_or_else(|error| panic!("the sandbox does not start: {error}"));
        let client = request::Objects(kube::Client::new(sandbox.clone(), "default"));
        Fixture { sandbox, clock: self.clock, client, listening: OnceCell::new() }
    }
}

async fn listen(sandbox: &Sandbox) -> Listening {
    let identity = Identity::generate().expect("the system gives randomness");
    let listener = Listener::bind(sandbox.clone(), &identity, 0).await.expect("loopback has a free port");
    let folder = TempDir::new().expect("a temporary folder can be made");
    let path = folder.path().join("kubeconfig");
    let content = kubeconfig("lab", &listener.url(), &identity).to_string();
    std::fs::write(&path, content).expect("a file in a fresh folder can be written");
    Listening { kubeconfig: path, _listener: listener, _folder: folder }
}

#[cfg(test)]
mod tests;
