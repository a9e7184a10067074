//! The kubeconfig of a workload cluster, as its control plane stores it on the management cluster.

use std::time::Duration;

use api::similar_names;
use apply::{ApiError, ApiKind, GroupKind, ListQuery, WatchEvent};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures::StreamExt as _;
use inventory::{ContractError, ManagementCluster, known_kind, secret_kind};
use manifest::{Object, Value};
use tokio::time::{Instant, timeout_at};

/// A request for a kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeconfigRequest {
    /// The namespace of the workload cluster.
    pub namespace: String,
    /// The name of the workload cluster.
    pub cluster: String,
    /// The user of the credentials.
    pub credentials: KubeconfigUser,
    /// The time to wait for the kubeconfig of a new cluster. None for no wait.
    pub wait: Option<Duration>,
}

/// The user of the credentials in a kubeconfig.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KubeconfigUser {
    /// An administrator; controllers use these credentials too: Secret `CLUSTER-kubeconfig`.
    #[default]
    Admin,
    /// The current user, by a login of the cloud: Secret `CLUSTER-user-kubeconfig`. Some managed control planes create
    /// it.
    User,
}

/// An error about a kubeconfig. It has no data of a Secret.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum WorkloadKubeconfigError {
    /// Neither the Secret nor a Cluster of this name exists.
    #[error("Cluster `{cluster}` does not exist in namespace `{namespace}`")]
    UnknownCluster {
        cluster: String,
        namespace: String,
        /// Clusters of the namespace with similar names.
        suggestions: Vec<String>,
    },
    /// The Cluster exists, and the Secret does not.
    #[error(
        "Cluster {namespace}/{cluster} has no {} yet{}{}",
        kubeconfig_of(*credentials),
        reported(phase, "phase"),
        waited.map(|waited| format!(", after {}s", waited.as_secs())).unwrap_or_default()
    )]
    MissingSecret {
        cluster: String,
        namespace: String,
        credentials: KubeconfigUser,
        /// The phase of the Cluster, such as `Provisioning`; empty if it is unknown.
        phase: String,
        /// The duration of the wait.
        waited: Option<Duration>,
    },
    /// The Secret exists without a kubeconfig.
    #[error("Secret {namespace}/{secret} has no kubeconfig under key `value`")]
    MissingValue { namespace: String, secret: String },
    /// Cluster API is not installed, or its contract is unsupported or unknown.
    #[error(transparent)]
    Contract(#[from] ContractError),
    /// The failure of the server.
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// The key of the kubeconfig in the Secret.
/// Source: Cluster API v1.14 util/secret/consts.go.
const KUBECONFIG_KEY: &str = "value";

impl KubeconfigUser {
    /// Returns the name of the Secret.
    /// Source: Cluster API v1.14 util/secret (Name); managed control planes of AWS and Google write the second Secret.
    pub fn secret_of(self, cluster: &str) -> String {
        match self {
            Self::Admin => format!("{cluster}-kubeconfig"),
            Self::User => format!("{cluster}-user-kubeconfig"),
        }
    }
}

/// Reads the kubeconfig of a workload cluster, byte for byte. This takes one request if the kubeconfig exists; another
/// request finds the reason if it is missing. It works with every contract, because the name of the Secret has never
/// changed.
///
/// With [`KubeconfigRequest::wait`], the Secret of an existing Cluster is watched. A missing Cluster is an immediate
/// error.
/// Source: clusterctl v1.14 client/cluster/workload_cluster.go; differs: clusterctl does not read the Cluster.
/// # Errors
/// A missing Cluster, a Cluster without a kubeconfig, or an unusable Secret.
pub async fn workload_kubeconfig(
    cluster: &ManagementCluster,
    request: &KubeconfigRequest,
) -> Result<Vec<u8>, WorkloadKubeconfigError> {
    let (kind, secret) = (secret_kind(), request.credentials.secret_of(&request.cluster));
    let found = cluster.server.get(&kind, &request.namespace, &secret).await?;
    let missing = match found.as_ref().map(kubeconfig_bytes) {
        Some(Some(value)) => return Ok(value),
        Some(None) => request.missing_value(),
        None => missing_kubeconfig_error(cluster, request).await?,
    };
    let may_appear = !matches!(missing, WorkloadKubeconfigError::UnknownCluster { .. });
    match request.wait.filter(|_| may_appear) {
        Some(wait) => wait_for_kubeconfig(cluster, request, wait).await,
        None => Err(missing),
    }
}

/// Returns the names of the Clusters in a namespace, for completion.
/// # Errors
/// A failed list, or a missing Cluster API.
pub async fn cluster_names(
    cluster: &ManagementCluster,
    namespace: &str,
) -> Result<Vec<String>, WorkloadKubeconfigError> {
    let clusters =
        read_clusters(cluster, &ListQuery { metadata_only: true, ..in_namespace(namespace) }).await?;
    Ok(clusters.iter().map(|cluster| cluster.name().to_owned()).collect())
}

/// Returns the names of all namespaces, for completion.
/// # Errors
/// A failed list.
pub async fn namespace_names(cluster: &ManagementCluster) -> Result<Vec<String>, ApiError> {
    let kind = known_kind("", "v1", "Namespace", "namespaces", false);
    let list = ListQuery { metadata_only: true, ..ListQuery::default() };
    let namespaces = cluster.server.list(&kind, &list).await?;
    Ok(namespaces.iter().map(|namespace| namespace.name().to_owned()).collect())
}

async fn wait_for_kubeconfig(
    management: &ManagementCluster,
    request: &KubeconfigRequest,
    wait: Duration,
) -> Result<Vec<u8>, WorkloadKubeconfigError> {
    let deadline = Instant::now() + wait;
    let secret = request.credentials.secret_of(&request.cluster);
    let list = ListQuery { fields: format!("metadata.name={secret}"), ..in_namespace(&request.namespace) };
    let mut changes = management.server.watch(&secret_kind(), &list);
    let mut exists = false;
    while let Ok(Some(change)) = timeout_at(deadline, changes.next()).await {
        match change? {
            WatchEvent::Updated(secret) => match kubeconfig_bytes(&secret) {
                Some(value) => return Ok(value),
                None => exists = true,
            },
            WatchEvent::Deleted(_) => exists = false,
        }
    }
    if exists {
        return Err(request.missing_value());
    }
    Err(match missing_kubeconfig_error(management, request).await? {
        WorkloadKubeconfigError::MissingSecret { cluster, namespace, credentials, phase, .. } => {
            WorkloadKubeconfigError::MissingSecret {
                cluster,
                namespace,
                credentials,
                phase,
                waited: Some(wait),
            }
        }
        other => other,
    })
}

/// Reads the Clusters of the namespace, which also provides similar names.
async fn missing_kubeconfig_error(
    management: &ManagementCluster,
    request: &KubeconfigRequest,
) -> Result<WorkloadKubeconfigError, WorkloadKubeconfigError> {
    let KubeconfigRequest { namespace, cluster, credentials, .. } = request;
    let clusters = read_clusters(management, &in_namespace(namespace)).await?;
    let Some(found) = clusters.iter().find(|found| found.name() == cluster) else {
        let near = similar_names(cluster, clusters.iter().map(Object::name));
        return Ok(WorkloadKubeconfigError::UnknownCluster {
            cluster: cluster.clone(),
            namespace: namespace.clone(),
            suggestions: near.into_iter().map(str::to_owned).collect(),
        });
    };
    let phase = found.get(&["status", "phase"]).and_then(Value::as_str).unwrap_or_default();
    Ok(WorkloadKubeconfigError::MissingSecret {
        cluster: cluster.clone(),
        namespace: namespace.clone(),
        credentials: *credentials,
        phase: phase.to_owned(),
        waited: None,
    })
}

/// Lists Clusters in the version of the current contract first, because discovery costs more than a miss.
async fn read_clusters(
    cluster: &ManagementCluster,
    list: &ListQuery,
) -> Result<Vec<Object>, WorkloadKubeconfigError> {
    match cluster.server.list(&cluster_kind(), list).await {
        Err(error) if error.is_not_found() => {}
        listed => return Ok(listed?),
    }
    let kind = match cluster.server.kind(&GroupKind::new("cluster.x-k8s.io", "Cluster")).await {
        Err(ApiError::UnknownKind { .. }) => return Err(ContractError::NotInstalled.into()),
        kind => kind?,
    };
    Ok(cluster.server.list(&kind, list).await?)
}

impl KubeconfigRequest {
    fn missing_value(&self) -> WorkloadKubeconfigError {
        let secret = self.credentials.secret_of(&self.cluster);
        WorkloadKubeconfigError::MissingValue { namespace: self.namespace.clone(), secret }
    }
}

fn in_namespace(namespace: &str) -> ListQuery {
    ListQuery { namespace: Some(namespace.to_owned()), ..ListQuery::default() }
}

/// Returns the kind of Clusters in the version of the current contract.
fn cluster_kind() -> ApiKind {
    known_kind("cluster.x-k8s.io", api::Contract::CURRENT, "Cluster", "clusters", true)
}

/// Returns the bytes under the key. None if they are missing or empty.
fn kubeconfig_bytes(secret: &Object) -> Option<Vec<u8>> {
    let text = secret.get(&["data", KUBECONFIG_KEY])?.as_str()?;
    BASE64_STANDARD.decode(text).ok().filter(|bytes| !bytes.is_empty())
}

fn kubeconfig_of(credentials: KubeconfigUser) -> &'static str {
    match credentials {
        KubeconfigUser::Admin => "kubeconfig",
        KubeconfigUser::User => "user kubeconfig",
    }
}

fn reported(text: &str, what: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" ({what} {text})") }
}

#[cfg(test)]
mod tests;
