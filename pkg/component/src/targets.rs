//! The clusters and users with which the objects of Components are written.

use std::{collections::BTreeMap, sync::Arc};

use apply::{ConnectError, ConnectionOptions, Credentials, Impersonation, InlineKubeconfigError, Server};
use data_encoding::HEXLOWER;
use futures::lock::Mutex;
use sha2::{Digest as _, Sha256};

use crate::{Component, ComponentKey, ReferenceError, load_kubeconfig};

/// The limit of open connections. Above it, all connections are made again when they are needed.
const MAX_CONNECTIONS: usize = 64;

/// The clusters for the objects of Components: the hub, which has the Components, and the clusters that they name.
/// Cheap to clone; the clones share the connections.
#[derive(Clone, Debug)]
pub struct Targets {
    hub: Server,
    default_service_account: Option<String>,
    connections: Arc<Mutex<BTreeMap<TargetKey, Server>>>,
}

/// The distinction between connections.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TargetKey {
    /// The digest of a kubeconfig.
    Kubeconfig(String),
    /// The user to act as on the hub.
    User(String),
}

/// The reason why the cluster of the objects of a Component cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum TargetError {
    #[error("cannot read the kubeconfig of Component `{component}`")]
    Reference { component: ComponentKey, source: ReferenceError },
    #[error("cannot use the kubeconfig of Component `{component}`")]
    Kubeconfig { component: ComponentKey, source: InlineKubeconfigError },
    #[error("cannot connect to the cluster of Component `{component}`")]
    Connect { component: ComponentKey, source: Box<ConnectError> },
}

impl Targets {
    /// Creates targets for the Components of a cluster.
    pub fn new(hub: Server) -> Self {
        Self { hub, default_service_account: None, connections: Arc::default() }
    }

    /// Sets the service account for Components that name neither a service account nor a kubeconfig.
    #[must_use]
    pub fn with_default_service_account(self, name: Option<String>) -> Self {
        Self { default_service_account: name.filter(|name| !name.is_empty()), ..self }
    }

    /// The cluster of the Components.
    pub fn hub(&self) -> &Server {
        &self.hub
    }

    /// Reads the kubeconfig of a Component, and returns the cluster for its objects.
    /// # Errors
    /// The kubeconfig does not exist or is refused, or the service account has an invalid name.
    pub async fn find(&self, component: &Component) -> Result<Server, TargetError> {
        let kubeconfig = load_kubeconfig(component, &self.hub)
            .await
            .map_err(|source| TargetError::Reference { component: ComponentKey::of(component), source })?;
        self.connect(component, kubeconfig.as_deref()).await
    }

    /// Returns the cluster for the objects of a Component. `kubeconfig` is the content of its Secret.
    /// Source: component-operator 0.3 (a service account is ignored with a kubeconfig).
    /// # Errors
    /// The kubeconfig is refused, or the service account has an invalid name.
    pub async fn connect(
        &self,
        component: &Component,
        kubeconfig: Option<&[u8]>,
    ) -> Result<Server, TargetError> {
        let user = self.service_account(component);
        let key = match (kubeconfig, &user) {
            (Some(content), _) => TargetKey::Kubeconfig(HEXLOWER.encode(&Sha256::digest(content))),
            (None, Some(user)) => TargetKey::User(user.clone()),
            (None, None) => return Ok(self.hub.clone()),
        };
        let mut connections = self.connections.lock().await;
        if let Some(known) = connections.get(&key) {
            return Ok(known.clone());
        }
        let of = || ComponentKey::of(component);
        let hub = self.hub.connection().clone();
        let options = match (kubeconfig, user) {
            (Some(content), _) => {
                let credentials = Credentials::inline_kubeconfig(content);
                let credentials =
                    credentials.map_err(|source| TargetError::Kubeconfig { component: of(), source })?;
                ConnectionOptions { credentials, impersonation: None, ..hub }
            }
            (None, user) => {
                let user = user.unwrap_or_default();
                ConnectionOptions { impersonation: Some(Impersonation { user, groups: Vec::new() }), ..hub }
            }
        };
        let server = self.hub.connect_like(options).await;
        let server =
            server.map_err(|error| TargetError::Connect { component: of(), source: Box::new(error) })?;
        if connections.len() >= MAX_CONNECTIONS {
            connections.clear();
        }
        connections.insert(key, server.clone());
        Ok(server)
    }

    /// Returns the user name of the service account of a Component.
    fn service_account(&self, component: &Component) -> Option<String> {
        let own = component.spec.service_account_name.as_ref().filter(|name| !name.is_empty());
        let name = own.or(self.default_service_account.as_ref())?;
        Some(format!("system:serviceaccount:{}:{name}", component.namespace()))
    }
}

#[cfg(test)]
mod tests;
