//! The clusters that templates ask: lookups of objects, the version, the served kinds.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use apply::{ApiError, ApiKind, ConnectionOptions, Credentials, GroupKind, ListQuery, ServedKinds, Server};
use chart::{Capabilities, KubeVersion, ObjectLookup, ObjectQuery};
use data_encoding::HEXLOWER;
use manifest::{Object, Value};
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use crate::{ClusterReader, LookupCluster};

/// The most clusters that the templates of one Component ask by kubeconfigs.
const MAX_CLUSTERS: usize = 16;

/// Asks one server for the objects that templates look up. It blocks, so it must be used outside of asynchronous tasks.
#[derive(Clone)]
pub struct ServerLookup {
    server: Server,
    runtime: Handle,
}

impl fmt::Debug for ServerLookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerLookup({})", self.server.address())
    }
}

impl ServerLookup {
    /// Takes a server and the runtime of its connections.
    pub fn new(server: Server, runtime: Handle) -> Self {
        Self { server, runtime }
    }
}

impl ObjectLookup for ServerLookup {
    fn get(&self, object: &ObjectQuery<'_>) -> Result<Option<Value>, String> {
        let found = self.runtime.block_on(async {
            let Some(kind) = kind(&self.server, object).await? else { return Ok(None) };
            self.server.get(&kind, object.namespace, object.selector).await
        });
        Ok(found.map_err(|error: ApiError| api::with_causes(&error))?.map(Object::into_value))
    }

    fn list(&self, objects: &ObjectQuery<'_>) -> Result<Vec<Value>, String> {
        let found = self.runtime.block_on(async {
            let Some(kind) = kind(&self.server, objects).await? else { return Ok(Vec::new()) };
            let namespace = Some(objects.namespace).filter(|namespace| !namespace.is_empty());
            let list = ListQuery {
                namespace: namespace.map(str::to_owned),
                labels: objects.selector.to_owned(),
                ..ListQuery::default()
            };
            self.server.list(&kind, &list).await
        });
        let found = found.map_err(|error: ApiError| api::with_causes(&error))?;
        Ok(found.into_iter().map(Object::into_value).collect())
    }
}

/// The clusters of the templates of a Component. Blocks as [`ServerLookup`] does.
pub struct ClusterLookups {
    target: ServerLookup,
    local: ServerLookup,
    /// The servers of kubeconfigs, by their digest.
    others: Mutex<BTreeMap<String, Server>>,
}

impl ClusterLookups {
    /// Takes the server of the objects, the server of the Component, and the runtime of their connections.
    pub fn new(target: Server, local: Server, runtime: Handle) -> Self {
        Self {
            target: ServerLookup::new(target, runtime.clone()),
            local: ServerLookup::new(local, runtime),
            others: Mutex::default(),
        }
    }

    /// Connects to the cluster of a kubeconfig. Plug-ins and files are refused.
    fn connect(&self, kubeconfig: &str) -> Result<Server, String> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = HEXLOWER.encode(&Sha256::digest(kubeconfig));
        if let Some(known) = others.get(&digest) {
            return Ok(known.clone());
        }
        if others.len() >= MAX_CLUSTERS {
            return Err(format!("templates use more than {MAX_CLUSTERS} kubeconfigs"));
        }
        let credentials = Credentials::inline_kubeconfig(kubeconfig.as_bytes());
        let credentials = credentials.map_err(|error| api::with_causes(&error))?;
        let local = &self.local.server;
        let options = ConnectionOptions { credentials, impersonation: None, ..local.connection().clone() };
        let server = self.local.runtime.block_on(local.connect_like(options));
        let server = server.map_err(|error| api::with_causes(&error))?;
        others.insert(digest, server.clone());
        Ok(server)
    }
}

impl ClusterReader for ClusterLookups {
    fn cluster(&self, cluster: LookupCluster<'_>) -> Result<Arc<dyn ObjectLookup>, String> {
        Ok(Arc::new(match cluster {
            LookupCluster::Target => self.target.clone(),
            LookupCluster::Local => self.local.clone(),
            LookupCluster::KubeConfig(text) => {
                ServerLookup::new(self.connect(text)?, self.local.runtime.clone())
            }
        }))
    }
}

/// Returns the kind of a query. `None` if the server does not serve it.
async fn kind(server: &Server, query: &ObjectQuery<'_>) -> Result<Option<ApiKind>, ApiError> {
    let (group, version) = query.api_version.rsplit_once('/').unwrap_or(("", query.api_version));
    Ok(server.kinds().await?.version(&GroupKind::new(group, query.kind), version).cloned())
}

/// Returns the version and the served APIs of a server, for templates.
/// # Errors
/// The failure of the server.
pub async fn server_capabilities(server: &Server) -> Result<Capabilities, ApiError> {
    let version = server.version().await?.git_version;
    Ok(capabilities(&version, &*server.kinds().await?))
}

/// Returns a version and served kinds for templates.
pub(crate) fn capabilities(version: &str, kinds: &ServedKinds) -> Capabilities {
    let mut served = BTreeSet::new();
    for kind in kinds.versions() {
        let api_version = kind.api_version();
        served.insert(format!("{api_version}/{}", kind.kind));
        served.insert(api_version);
    }
    let kube_version = KubeVersion::parse(version).unwrap_or_default();
    Capabilities { kube_version, api_versions: served.into_iter().collect() }
}
