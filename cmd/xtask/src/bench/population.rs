//! Objects for both programs to work on.

use std::{fs, path::Path, rc::Rc};

use anyhow::Result;
use api::{ProviderId, ProviderType};
use serde_json::json;
use support::{
    cluster_api::{Object, cluster, definition, install_on, object, objects_in, provider},
    fixture::{apply, create, write_statuses},
    kind,
    object_snapshot::client_from_kubeconfig,
};
use tempfile::TempDir;
use tokio::{runtime::Runtime, task::JoinSet};

use super::servers::{ApiServer, SandboxServer};
use crate::workspace::copy_folder;

/// The size of a typical Secret of a Helm release.
const SECRET_BYTES: usize = 700_000;
/// The number of Clusters to create concurrently.
const MAX_CONCURRENT_CLUSTERS: usize = 16;
const CONTROL_PLANE_MACHINES: usize = 3;
const UNRELATED_CRDS: usize = 300;
const UNRELATED_SECRETS: usize = 5_000;
/// Unrelated objects that are written one after the other; the chunks are written at the same time.
const CHUNK_SIZE: usize = 100;

/// The numbers of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Population {
    pub(super) clusters: usize,
    /// Of each Cluster, including those of its control plane.
    pub(super) machines: usize,
    /// The size of Secrets that belong to no Cluster.
    pub(super) megabytes_of_secrets: usize,
}

/// The data of two sandboxes: one with a population, and one with only the same kinds and providers.
pub(super) struct PopulatedData {
    original: TempDir,
    copy: TempDir,
}

impl Population {
    pub(super) const NAMESPACE: &str = "team";

    /// The number of objects that belong to Clusters.
    pub(super) fn objects(self) -> usize {
        (0..self.clusters).map(|index| self.cluster(index).len()).sum()
    }

    fn cluster(self, index: usize) -> Vec<Object> {
        let place = format!("{}/c{index}", Self::NAMESPACE);
        let workers = self.machines - CONTROL_PLANE_MACHINES;
        cluster(&place)
            .control_plane(CONTROL_PLANE_MACHINES)
            .machine_deployment("md", workers)
            .into_iter()
            .collect()
    }

    fn secrets(self) -> impl Iterator<Item = Object> {
        (0..self.megabytes_of_secrets * 1_000_000 / SECRET_BYTES).map(|index| {
            object(kind::SECRET, &format!("{}/release-{index}", Self::NAMESPACE))
                .field("type", json!("helm.sh/release.v1"))
                .field("stringData", json!({"release": "r".repeat(SECRET_BYTES)}))
        })
    }
}

impl PopulatedData {
    /// Creates a population through the API of a sandbox.
    ///
    /// # Errors
    /// Fails if a sandbox does not start, or if a folder cannot be created.
    pub(super) fn create(program: &Path, folder: &Path, population: Population) -> Result<Self> {
        let populated = Self { original: TempDir::new_in(folder)?, copy: TempDir::new_in(folder)? };
        for (name, population) in [("source", Some(population)), ("target", None)] {
            let data = populated.original.path().join(name);
            let sandbox = SandboxServer::start(program, folder, name, Some(&data), "--without cluster-api")?;
            fill(sandbox.kubeconfig(), population)?;
        }
        Ok(populated)
    }

    /// Starts the source and the target on fresh copies of the data.
    ///
    /// # Errors
    /// If a file cannot be copied, or a sandbox does not start.
    pub(super) fn start_servers(
        &self,
        program: &Path,
        folder: &Path,
        flags: &str,
    ) -> Result<[Rc<dyn ApiServer>; 2]> {
        let server = |name: &str| {
            let (from, to) = (self.original.path().join(name), self.copy.path().join(name));
            if to.exists() {
                fs::remove_dir_all(&to)?;
            }
            copy_folder(&from, &to)?;
            Ok::<_, anyhow::Error>(Rc::new(SandboxServer::start(program, folder, name, Some(&to), flags)?))
        };
        Ok([server("source")?, server("target")?])
    }
}

/// Writes the kinds and providers to a server, and a population.
///
/// # Errors
/// If there are no threads to do it in.
pub(super) fn fill(kubeconfig: &Path, population: Option<Population>) -> Result<()> {
    Runtime::new()?.block_on(write(kubeconfig, population));
    Ok(())
}

/// Writes the statuses that controllers would write for a population that was moved to a server.
///
/// # Errors
/// The errors of [`fill`].
pub(super) fn reconcile(kubeconfig: &Path, population: Population) -> Result<()> {
    let all = async {
        let client = client_from_kubeconfig(kubeconfig).await;
        let write = |client, objects| async move { write_statuses(&client, objects).await };
        of_each_cluster(&client, population, write).await;
    };
    Runtime::new()?.block_on(all);
    Ok(())
}

/// The number of objects of a server in the namespace of a population.
///
/// # Errors
/// The errors of [`fill`].
pub(super) fn count(kubeconfig: &Path) -> Result<usize> {
    let all =
        async { objects_in(&client_from_kubeconfig(kubeconfig).await, Population::NAMESPACE).await.len() };
    Ok(Runtime::new()?.block_on(all))
}

async fn write(kubeconfig: &Path, population: Option<Population>) {
    let client = client_from_kubeconfig(kubeconfig).await;
    install_on(&client).await;
    // clusterctl describes nothing without these kinds.
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

/// Passes the objects of every Cluster to `work`, several Clusters at the same time.
async fn of_each_cluster<C, F>(client: &C, population: Population, work: impl Fn(C, Vec<Object>) -> F)
where
    C: Clone,
    F: Future<Output = ()> + Send + 'static,
{
    let mut workers = JoinSet::new();
    for index in 0..population.clusters {
        if workers.len() >= MAX_CONCURRENT_CLUSTERS
            && let Some(Err(error)) = workers.join_next().await
        {
            panic!("{error}");
        }
        workers.spawn(work(client.clone(), population.cluster(index)));
    }
    workers.join_all().await;
}

/// Writes CRDs and Secrets that do not belong to providers.
///
/// # Errors
/// As for [`fill`].
pub(super) fn fill_with_unrelated(kubeconfig: &Path) -> Result<()> {
    let objects: Vec<String> = (0..UNRELATED_CRDS)
        .map(unrelated_definition)
        .chain((0..UNRELATED_SECRETS).map(unrelated_secret))
        .collect();
    let all = async {
        let client = client_from_kubeconfig(kubeconfig).await;
        let mut writers = JoinSet::new();
        for chunk in objects.chunks(CHUNK_SIZE) {
            let (client, yaml) = (client.clone(), chunk.join("\n---\n"));
            writers.spawn(async move { apply(&client, &yaml).await });
        }
        writers.join_all().await;
    };
    Runtime::new()?.block_on(all);
    Ok(())
}

fn unrelated_secret(index: usize) -> String {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": format!("unrelated-{index}")},
        "data": {"value": "A".repeat(2_000)}})
    .to_string()
}

fn unrelated_definition(index: usize) -> String {
    let group = format!("g{}.example.org", index % 30);
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("unrelated{index}s.{group}")},
        "spec": {"group": group, "scope": "Namespaced",
            "names": {"plural": format!("unrelated{index}s"), "singular": format!("unrelated{index}"),
                "kind": format!("Unrelated{index}"), "listKind": format!("Unrelated{index}List")},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})
    .to_string()
}
