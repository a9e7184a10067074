//! The kubeconfig of a workload cluster, as its control plane leaves it on the management cluster.

use std::time::Duration;

use api::near_names;
use apply::{ApiError, ApiKind, GroupKind, List, WatchEvent};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures::StreamExt as _;
use inventory::{ContractError, ManagementCluster, secret_kind, served};
use manifest::{Object, Value};
use tokio::time::{Instant, timeout_at};

/// Which kubeconfig is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeconfigRequest {
    /// The namespace of the workload cluster.
    pub namespace: String,
    /// Its name.
    pub cluster: String,
    /// Whose credentials.
    pub credentials: KubeconfigOf,
    /// How long to wait for a cluster that has none yet; none to take what is there.
    pub wait: Option<Duration>,
}

/// Whose credentials a kubeconfig holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KubeconfigOf {
    /// Those of an administrator, which controllers use too: Secret `CLUSTER-kubeconfig`.
    #[default]
    Admin,
    /// Those of whoever asks, by a login of the cloud. Some managed control planes make it: Secret
    /// `CLUSTER-user-kubeconfig`.
    User,
}

/// A kubeconfig that cannot be had. Nothing of a Secret is in here.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadKubeconfigError {
    /// Neither the Secret nor a Cluster of this name.
    #[error("there is no Cluster `{cluster}` in namespace `{namespace}`")]
    NoSuchCluster {
        /// The name that was asked for.
        cluster: String,
        /// Where it was looked for.
        namespace: String,
        /// Clusters there with almost the same name.
        near: Vec<String>,
    },
    /// The Cluster is there, the Secret is not.
    #[error(
        "Cluster {namespace}/{cluster} has no {} yet{}{}",
        kubeconfig_of(*credentials),
        told(phase, "phase"),
        waited.map(|waited| format!(", after {}s", waited.as_secs())).unwrap_or_default()
    )]
    NotYet {
        /// The Cluster.
        cluster: String,
        /// Its namespace.
        namespace: String,
        /// Which kubeconfig.
        credentials: KubeconfigOf,
        /// How far the Cluster is, such as `Provisioning`; empty when it does not say.
        phase: String,
        /// How long it was waited for.
        waited: Option<Duration>,
    },
    /// The Secret is there, and no kubeconfig is in it.
    #[error("Secret {namespace}/{secret} has no kubeconfig under key `value`")]
    NoValue {
        /// Its namespace.
        namespace: String,
        /// Its name.
        secret: String,
    },
    /// There is no Cluster API to have Clusters.
    #[error(transparent)]
    Contract(#[from] ContractError),
    /// The server.
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// The key of the Secret.
/// Source: Cluster API v1.14 util/secret/consts.go.
const KEY: &str = "value";

impl KubeconfigOf {
    /// The Secret that holds it.
    /// Source: Cluster API v1.14 util/secret (Name); the managed control planes of AWS and Google write the other one.
    pub fn secret_of(self, cluster: &str) -> String {
        match self {
            Self::Admin => format!("{cluster}-kubeconfig"),
            Self::User => format!("{cluster}-user-kubeconfig"),
        }
    }
}

/// Reads the kubeconfig of a workload cluster, byte for byte. One request when it is there; another one finds out why
/// it is not. It is good under every contract: where it is kept has never changed.
///
/// With [`KubeconfigRequest::wait`] the Secret of a Cluster that is there is watched; a Cluster that is not is an error
/// at once.
/// Source: clusterctl v1.14 client/cluster/workload_cluster.go; differs: there, a Cluster is not looked for.
/// # Errors
/// Says whether the Cluster is missing, is not that far, or its Secret is of no use.
pub async fn workload_kubeconfig(
    cluster: &ManagementCluster,
    request: &KubeconfigRequest,
) -> Result<Vec<u8>, WorkloadKubeconfigError> {
    let (kind, secret) = (secret_kind(), request.credentials.secret_of(&request.cluster));
    let found = cluster.server.get(&kind, &request.namespace, &secret).await?;
    let missing = match found.as_ref().map(value) {
        Some(Some(value)) => return Ok(value),
        Some(None) => request.no_value(),
        None => why_no_kubeconfig(cluster, request).await?,
    };
    let can_come = !matches!(missing, WorkloadKubeconfigError::NoSuchCluster { .. });
    match request.wait.filter(|_| can_come) {
        Some(wait) => wait_for_kubeconfig(cluster, request, wait).await,
        None => Err(missing),
    }
}

/// Names of the Clusters in a namespace, for completion.
/// # Errors
/// When they cannot be listed, or there is no Cluster API.
pub async fn cluster_names(
    cluster: &ManagementCluster,
    namespace: &str,
) -> Result<Vec<String>, WorkloadKubeconfigError> {
    let clusters = clusters_there(cluster, &List { metadata_only: true, ..in_namespace(namespace) }).await?;
    Ok(clusters.iter().map(|cluster| cluster.name().to_owned()).collect())
}

/// Names of all namespaces, for completion.
/// # Errors
/// When they cannot be listed.
pub async fn namespace_names(cluster: &ManagementCluster) -> Result<Vec<String>, ApiError> {
    let kind = served("", "v1", "Namespace", "namespaces", false);
    let list = List { metadata_only: true, ..List::default() };
    let namespaces = cluster.server.list(&kind, &list).await?;
    Ok(namespaces.iter().map(|namespace| namespace.name().to_owned()).collect())
}

async fn wait_for_kubeconfig(
    management: &ManagementCluster,
    request: &KubeconfigRequest,
    wait: Duration,
) -> Result<Vec<u8>, WorkloadKubeconfigError> {
    let until = Instant::now() + wait;
    let secret = request.credentials.secret_of(&request.cluster);
    let list = List { fields: format!("metadata.name={secret}"), ..in_namespace(&request.namespace) };
    let mut changes = management.server.watch(&secret_kind(), &list);
    let mut is_there = false;
    while let Ok(Some(change)) = timeout_at(until, changes.next()).await {
        match change? {
            WatchEvent::Is(secret) => match value(&secret) {
                Some(value) => return Ok(value),
                None => is_there = true,
            },
            WatchEvent::Gone(_) => is_there = false,
        }
    }
    if is_there {
        return Err(request.no_value());
    }
    Err(match why_no_kubeconfig(management, request).await? {
        WorkloadKubeconfigError::NotYet { cluster, namespace, credentials, phase, .. } => {
            WorkloadKubeconfigError::NotYet { cluster, namespace, credentials, phase, waited: Some(wait) }
        }
        other => other,
    })
}

/// Looks for the Cluster among those of its namespace, so that near names are known too.
async fn why_no_kubeconfig(
    management: &ManagementCluster,
    request: &KubeconfigRequest,
) -> Result<WorkloadKubeconfigError, WorkloadKubeconfigError> {
    let KubeconfigRequest { namespace, cluster, credentials, .. } = request;
    let clusters = clusters_there(management, &in_namespace(namespace)).await?;
    let Some(found) = clusters.iter().find(|found| found.name() == cluster) else {
        let near = near_names(cluster, clusters.iter().map(Object::name));
        return Ok(WorkloadKubeconfigError::NoSuchCluster {
            cluster: cluster.clone(),
            namespace: namespace.clone(),
            near: near.into_iter().map(str::to_owned).collect(),
        });
    };
    let phase = found.get(&["status", "phase"]).and_then(Value::as_str).unwrap_or_default();
    Ok(WorkloadKubeconfigError::NotYet {
        cluster: cluster.clone(),
        namespace: namespace.clone(),
        credentials: *credentials,
        phase: phase.to_owned(),
        waited: None,
    })
}

/// The version is taken for granted first: asking what the server serves costs more than a miss.
async fn clusters_there(
    cluster: &ManagementCluster,
    list: &List,
) -> Result<Vec<Object>, WorkloadKubeconfigError> {
    match cluster.server.list(&cluster_kind(), list).await {
        Err(error) if error.is_not_found() => {}
        listed => return Ok(listed?),
    }
    let kind = match cluster.server.kind(&GroupKind::new("cluster.x-k8s.io", "Cluster")).await {
        Err(ApiError::NoSuchKind { .. }) => return Err(ContractError::Absent.into()),
        kind => kind?,
    };
    Ok(cluster.server.list(&kind, list).await?)
}

impl KubeconfigRequest {
    fn no_value(&self) -> WorkloadKubeconfigError {
        let secret = self.credentials.secret_of(&self.cluster);
        WorkloadKubeconfigError::NoValue { namespace: self.namespace.clone(), secret }
    }
}

fn in_namespace(namespace: &str) -> List {
    List { namespace: Some(namespace.to_owned()), ..List::default() }
}

/// Clusters in the version of the current contract.
fn cluster_kind() -> ApiKind {
    served("cluster.x-k8s.io", api::Contract::CURRENT, "Cluster", "clusters", true)
}

/// The bytes under the key; none when there are none.
fn value(secret: &Object) -> Option<Vec<u8>> {
    let text = secret.get(&["data", KEY])?.as_str()?;
    BASE64_STANDARD.decode(text).ok().filter(|bytes| !bytes.is_empty())
}

fn kubeconfig_of(credentials: KubeconfigOf) -> &'static str {
    match credentials {
        KubeconfigOf::Admin => "kubeconfig",
        KubeconfigOf::User => "kubeconfig for users",
    }
}

fn told(text: &str, what: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" ({what} {text})") }
}

#[cfg(test)]
mod tests;
