//! Clusters for both programs, created once for all runs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use api::{ProviderId, ProviderType};
use serde_json::json;
use support::{
    cluster_api::{Object, cluster, define, definition, object, objects_in, provider},
    everything::client_of,
    fixture::{create, write_statuses},
    kind,
};
use tempfile::TempDir;
use tokio::{runtime::Runtime, task::JoinSet};

use super::sandbox::{Running, Setup};

/// The size of a typical Secret of a Helm release.
const SECRET: usize = 700_000;
/// The number of Clusters to create concurrently.
const SIDE_BY_SIDE: usize = 16;
const CONTROL_PLANE: usize = 3;

/// The size of a population.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Population {
    pub(super) clusters: usize,
    /// The number of machines of each Cluster, including its control plane.
    pub(super) machines: usize,
    /// The size of Secrets that belong to no Cluster.
    pub(super) megabytes_of_secrets: usize,
}

/// The data of two sandboxes: one with a population, and one with only the same kinds and providers.
pub(super) struct Populated {
    made: TempDir,
    used: TempDir,
}

impl Population {
    pub(super) const NAMESPACE: &str = "team";

    /// The number of objects that belong to Clusters.
    pub(super) fn objects(self) -> usize {
        (0..self.clusters).map(|index| self.cluster(index).len()).sum()
    }

    fn cluster(self, index: usize) -> Vec<Object> {
        let place = format!("{}/c{index}", Self::NAMESPACE);
        let workers = self.machines - CONTROL_PLANE;
        cluster(&place).control_plane(CONTROL_PLANE).machine_deployment("md", workers).into_iter().collect()
    }

    fn secrets(self) -> impl Iterator<Item = Object> {
        (0..self.megabytes_of_secrets * 1_000_000 / SECRET).map(|index| {
            object(kind::SECRET, &format!("{}/release-{index}", Self::NAMESPACE))
                .field("type", json!("helm.sh/release.v1"))
                .field("stringData", json!({"release": "r".repeat(SECRET)}))
        })
    }
}

impl Populated {
    /// Creates a population through the API of a sandbox.
    ///
    /// # Errors
    /// Fails if a sandbox does not start, or if a folder cannot be created.
    pub(super) fn make(program: &Path, folder: &Path, population: Population) -> Result<Self> {
        let populated = Self { made: TempDir::new_in(folder)?, used: TempDir::new_in(folder)? };
        for (name, population) in [("source", Some(population)), ("target", None)] {
            let data = populated.made.path().join(name);
            let setup = Setup { name, data: Some(&data), flags: &["--without", "cluster-api"] };
            let sandbox = Running::start(program, folder, &setup)?;
            fill(&sandbox.kubeconfig, population)?;
        }
        Ok(populated)
    }

    /// Fresh copies of both data folders, for one run.
    ///
    /// # Errors
    /// Fails if a file cannot be copied.
    pub(super) fn copies(&self) -> Result<(PathBuf, PathBuf)> {
        let copy = |name: &str| {
            let (from, to) = (self.made.path().join(name), self.used.path().join(name));
            copied(&from, &to).with_context(|| format!("cannot copy `{}`", from.display()))?;
            Ok::<_, anyhow::Error>(to)
        };
        Ok((copy("source")?, copy("target")?))
    }
}

fn copied(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        fs::copy(&path, to.join(path.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

/// Creates the kinds, the providers, and optionally a population on a server.
///
/// # Errors
/// Fails if the threads cannot be started.
pub(super) fn fill(kubeconfig: &Path, population: Option<Population>) -> Result<()> {
    Runtime::new()?.block_on(write(kubeconfig, population));
    Ok(())
}

/// Writes the statuses that controllers would report after a move of a population.
///
/// # Errors
/// The errors of [`fill`].
pub(super) fn reconcile(kubeconfig: &Path, population: Population) -> Result<()> {
    let all = async {
        let client = client_of(kubeconfig).await;
        let write = |client, objects| async move { write_statuses(&client, objects).await };
        of_each_cluster(&client, population, write).await;
    };
    Runtime::new()?.block_on(all);
    Ok(())
}

/// The number of objects in the namespace of the population.
///
/// # Errors
/// The errors of [`fill`].
pub(super) fn count(kubeconfig: &Path) -> Result<usize> {
    let all = async { objects_in(&client_of(kubeconfig).await, Population::NAMESPACE).await.len() };
    Ok(Runtime::new()?.block_on(all))
}

async fn write(kubeconfig: &Path, population: Option<Population>) {
    let client = client_of(kubeconfig).await;
    define(&client).await;
    // clusterctl describes nothing if these kinds are missing.
    create(&client, [kind::MACHINE_POOL, kind::MACHINE_HEALTH_CHECK].map(definition)).await;
    let core = ProviderId::new(ProviderType::Core, "cluster-api");
    let docker = ProviderId::new(ProviderType::Infrastructure, "docker");
    create(&client, [provider(&core, "v1.14.0"), provider(&docker, "v1.14.0")]).await;
    let Some(population) = population else { return };
    create(&client, [object(kind::NAMESPACE, Population::NAMESPACE)]).await;
    of_each_cluster(&client, population, |client, objects| async move { create(&client, objects).await })
        .await;
    create(&client, population.secrets()).await;
}

/// Runs an action on the objects of every Cluster, for several Clusters concurrently.
async fn of_each_cluster<C, F>(client: &C, population: Population, work: impl Fn(C, Vec<Object>) -> F)
where
    C: Clone,
    F: Future<Output = ()> + Send + 'static,
{
    let mut workers = JoinSet::new();
    for index in 0..population.clusters {
        if workers.len() >= SIDE_BY_SIDE
            && let Some(Err(error)) = workers.join_next().await
        {
            panic!("{error}");
        }
        workers.spawn(work(client.clone(), population.cluster(index)));
    }
    workers.join_all().await;
}
