//! A server for journeys: a sandbox, or a real API server.

use std::{
    fs,
    path::{Path, PathBuf},
};

use support::{
    api_server::ApiServer,
    fixture::Fixture,
    object_snapshot::{ObjectSnapshot, client_from_kubeconfig},
};

use crate::line::Meter;

/// A running server. Dropping the value stops the server.
pub(crate) struct Server {
    kubeconfig: PathBuf,
    _process: Process,
}

#[expect(dead_code, reason = "held until the journey ends")]
enum Process {
    Real(ApiServer),
    Sandbox(Box<Fixture>),
}

impl Server {
    /// `None` if this machine has no API server.
    pub(crate) fn real() -> Option<Self> {
        Some(Self::over(ApiServer::start_or_skip()?))
    }

    pub(crate) fn over(server: ApiServer) -> Self {
        Self { kubeconfig: server.kubeconfig().to_owned(), _process: Process::Real(server) }
    }

    /// Starts a sandbox with garbage collection and namespace deletion, like the real server.
    pub(crate) async fn sandbox() -> Self {
        let fixture = Box::new(Fixture::start().await);
        Self { kubeconfig: fixture.kubeconfig().await.to_owned(), _process: Process::Sandbox(fixture) }
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The kubeconfig with the address of a meter.
    pub(crate) fn through(&self, meter: &Meter) -> String {
        let kubeconfig = fs::read_to_string(&self.kubeconfig).unwrap();
        let start = kubeconfig.find("https://").unwrap() + "https://".len();
        let end =
            start + kubeconfig[start..].find(|c: char| !(c.is_ascii_digit() || ".:".contains(c))).unwrap();
        let address = &kubeconfig[start..end];
        kubeconfig.replace(address, &meter.open(address.to_owned()))
    }

    pub(crate) async fn everything(&self) -> ObjectSnapshot {
        ObjectSnapshot::read_after_deletions(&client_from_kubeconfig(&self.kubeconfig).await).await
    }
}

/// The objects that differ between two states, including revisions, by kind and location.
pub(crate) fn differences(before: &ObjectSnapshot, after: &ObjectSnapshot) -> Vec<String> {
    let deleted = before.since(after);
    let other = after.iter().filter(|(name, object)| before.get(name) != Some(*object));
    deleted.iter().chain(other).map(|(name, _)| name.to_owned()).collect()
}
