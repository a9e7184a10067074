//! Two management clusters, for verbs that transfer objects between them.

use std::path::PathBuf;

use api::{ProviderId, ProviderType};
use snapbox::{assert_data_eq, str};
use support::{
    binary::{RunOutput, TestEnvironment},
    cluster_api::{cluster, install, provider},
    fixture::Fixture,
    kind::CLUSTER,
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

    /// Runs a command line with source and target.
    pub(crate) async fn run(&self, arguments: &str) -> RunOutput {
        let [source, target] = self.kubeconfigs().await;
        self.named(self.alone(&format!("{arguments} --kubeconfig {source} --to-kubeconfig {target}"))).await
    }

    /// Runs a command line on the source.
    pub(crate) async fn here(&self, arguments: &str) -> RunOutput {
        let [kubeconfig, _] = self.kubeconfigs().await;
        self.named(self.alone(&format!("{arguments} --kubeconfig {kubeconfig}"))).await
    }

    /// Runs a restoring command line on the target.
    pub(crate) async fn there(&self, arguments: &str) -> RunOutput {
        let [_, kubeconfig] = self.kubeconfigs().await;
        self.named(self.alone(&format!("{arguments} {kubeconfig}"))).await
    }

    pub(crate) fn alone(&self, arguments: &str) -> RunOutput {
        tokio::task::block_in_place(|| self.world.run(arguments.split_whitespace()))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.world.current_dir().join(name)
    }

    /// True if the Cluster exists and is not paused.
    pub(crate) async fn works_on(&self, side: &Fixture) -> bool {
        side.get(CLUSTER, "default/demo").await.is_some_and(|cluster| cluster["spec"]["paused"].is_null())
    }

    /// Restores a backup on the target, and fails unless every object is created and the Cluster works.
    pub(crate) async fn assert_restored(&self, backup: &str, flags: &str) {
        let run = self.there(&format!("restore {backup} {flags} --kubeconfig")).await;
        assert_data_eq!(
            run.to_string().replace(backup, "BACKUP"),
            str![[r#"
exit 0
--- stderr
backup of https://127.0.0.1:[..] at [..], without a pause
warning: cannot check whether the Clusters still run on the source cluster `https://127.0.0.1:[..]`
    if the source cluster may still run, set it with `--source-kubeconfig`, or restore with `--paused`
created 8 objects on the target
verified 8 objects on the target
resumed 1 Cluster or ClusterClass
done in [..]: restored 8 objects from `BACKUP`

"#]]
        );
        assert!(self.works_on(&self.target).await);
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
