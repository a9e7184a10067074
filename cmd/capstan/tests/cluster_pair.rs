//! Two management clusters, for verbs that transfer objects between them.

use api::{ProviderId, ProviderType};
use support::{
    binary::{RunOutput, TestEnvironment},
    cluster_api::{cluster, install, provider},
    fixture::Fixture,
};

/// A source with the Cluster `default/demo`, and a target for it.
/// Tests need several threads, because one thread waits for the binary.
pub(crate) struct ClusterPair {
    pub(crate) source: Fixture,
    pub(crate) target: Fixture,
    pub(crate) world: TestEnvironment,
}

impl ClusterPair {
    pub(crate) async fn start() -> Self {
        let (source, target) =
            (Box::pin(start_management_cluster()).await, Box::pin(start_management_cluster()).await);
        source.create(cluster("default/demo").machines(1)).await;
        Self { source, target, world: crate::world() }
    }

    pub(crate) async fn kubeconfigs(&self) -> [String; 2] {
        [self.source.kubeconfig().await, self.target.kubeconfig().await]
            .map(|path| path.display().to_string())
    }

    /// Replaces the paths of both kubeconfigs by names.
    pub(crate) async fn named(&self, run: RunOutput) -> RunOutput {
        let [source, target] = self.kubeconfigs().await;
        let named = |text: &str| text.replace(&source, "[SOURCE]").replace(&target, "[TARGET]");
        RunOutput { stdout: named(&run.stdout), stderr: named(&run.stderr), ..run }
    }
}

async fn start_management_cluster() -> Fixture {
    let side = Fixture::start().await;
    install(&side).await;
    let ids = [
        ProviderId::new(ProviderType::Core, "cluster-api"),
        ProviderId::new(ProviderType::Bootstrap, "kubeadm"),
        ProviderId::new(ProviderType::ControlPlane, "kubeadm"),
        ProviderId::new(ProviderType::Infrastructure, "docker"),
    ];
    side.create(ids.map(|id| provider(&id, "v1.14.0"))).await;
    side
}
