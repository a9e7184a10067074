//! Tests of upgrades on a sandbox with its controllers: core and docker, from [`OLD`] to [`NEW`].

mod drift;
mod forward;
mod rollback;
mod user_fields;

use std::{collections::BTreeMap, time::Duration};

use api::ProviderId;
use manifest::Object;
use sandbox::ControllerSwitches;
use serde_json::{Value, json};
use support::{
    fixture::Fixture,
    kind::{CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, Kind, PROVIDER, SECRET},
};

use super::*;
use crate::{
    init, plan_init,
    testing::{
        NEW_VERSION, OLD_VERSION, Releases, cluster, components, core, docker, namespace_of, small_init,
        upgrade_to_contract,
    },
};

const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment", "deployments");
const CLUSTER_ROLE: Kind =
    Kind::new("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles").cluster_scoped();
const NO_WAIT: WaitOptions = WaitOptions { timeout: None, must_be_ready: false };
const WAIT: WaitOptions = WaitOptions { timeout: Some(Duration::from_secs(30)), must_be_ready: true };

/// Returns releases whose docker has a different additional object in each version.
fn releases() -> Releases {
    Releases::small().with_changing_docker(&components(&docker(), NEW_VERSION))
}

/// A cluster with core and docker in their old versions.
struct Lab {
    fixture: Fixture,
    cluster: ManagementCluster,
    releases: Releases,
}

impl Lab {
    async fn start() -> Self {
        Self::with(releases()).await
    }

    async fn with(releases: Releases) -> Self {
        Self::on(ControllerSwitches::default(), WAIT, releases).await
    }

    /// Starts a cluster without a workload controller, so that no workload becomes ready.
    async fn without_workloads() -> Self {
        Self::on(
            ControllerSwitches { workloads: false, ..ControllerSwitches::default() },
            NO_WAIT,
            releases(),
        )
        .await
    }

    async fn on(switches: ControllerSwitches, wait: WaitOptions, releases: Releases) -> Self {
        let fixture = Fixture::builder().controllers(switches).start().await;
        let reached = cluster(&fixture).await;
        let server = reached.server().retrying_for(Duration::ZERO);
        let cluster = ManagementCluster::new(server, apply::EventSink::none());
        let lab = Self { fixture, cluster, releases };
        lab.init(wait).await;
        lab
    }

    async fn init(&self, wait: WaitOptions) {
        let request = small_init(OLD_VERSION, wait);
        let sources = self.releases.sources();
        let mut plan = plan_init(&self.cluster, &sources, &request).await.unwrap();
        init(&self.cluster, &sources, &request, &mut plan).await.unwrap();
        self.fixture.wait_until_idle().await;
    }

    async fn upgrade(&self, request: &UpgradeRequest) -> Result<Option<NotReady>, LifecycleError> {
        let sources = self.releases.sources();
        let mut plan = plan_upgrade(&self.cluster, &sources, request).await?;
        upgrade(&self.cluster, &sources, request, &mut plan).await
    }

    async fn roll_back(&self) -> Result<Option<NotReady>, LifecycleError> {
        let mut plan = start_rollback(&self.cluster, UnfinishedPolicy::Refuse).await?;
        rollback_upgrade(&self.cluster, &mut plan, WAIT).await
    }

    async fn resume(&self) -> Result<Option<NotReady>, LifecycleError> {
        let sources = self.releases.sources();
        let mut plan = plan_resume(&self.cluster, &sources, WAIT, UnfinishedPolicy::Refuse, false).await?;
        resume_upgrade(&self.cluster, &sources, &mut plan, WAIT).await
    }

    async fn problems(&self, request: &UpgradeRequest) -> Vec<String> {
        match plan_upgrade(&self.cluster, &self.releases.sources(), request).await {
            Err(LifecycleError::Problems(found)) => {
                found.problems.into_iter().map(|problem| problem.text).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    /// Executes an upgrade until the n-th write. Returns true if the upgrade finished.
    async fn upgrade_until(&self, at: u64, request: &UpgradeRequest) -> bool {
        let sources = self.releases.sources();
        let mut plan = plan_upgrade(&self.cluster, &sources, request).await.unwrap();
        self.cut_off(at, upgrade(&self.cluster, &sources, request, &mut plan)).await
    }

    /// Executes a run whose writes fail from the n-th one on. Returns true if the run finished.
    async fn cut_off(
        &self,
        at: u64,
        what: impl Future<Output = Result<Option<NotReady>, LifecycleError>>,
    ) -> bool {
        let fault = format!("cut-before,verb=write,skip={at}");
        self.fixture.inject_fault(&fault);
        let ended = what.await;
        self.fixture.sandbox().faults().clear();
        self.fixture.wait_until_idle().await;
        ended.is_ok()
    }

    /// Returns `cluster-api v1.14.0 example.org/cluster-api:v1.14.0`: the inventory entry and the running image.
    async fn versions(&self) -> Vec<String> {
        let mut versions = Vec::new();
        for id in [core(), docker()] {
            let inventory = self.fixture.get(PROVIDER, &format!("{}/{id}", namespace_of(&id))).await.unwrap();
            let deployment = self.deployment(&id).await;
            let image = &deployment["spec"]["template"]["spec"]["containers"][0]["image"];
            versions.push(format!("{id} {} {}", inventory["version"], image).replace('"', ""));
        }
        versions
    }

    async fn deployment(&self, id: &ProviderId) -> Value {
        self.fixture.get(DEPLOYMENT, &format!("{}/manager", namespace_of(id))).await.unwrap()
    }

    /// Returns the names of the existing ConfigMaps that only one version brings.
    async fn extras(&self) -> Vec<&'static str> {
        let mut there = Vec::new();
        for name in ["dropped", "added"] {
            let place = format!("{}/{name}", namespace_of(&docker()));
            if self.fixture.get(CONFIG_MAP, &place).await.is_some() {
                there.push(name);
            }
        }
        there
    }

    async fn journal(&self) -> Vec<Value> {
        let all = self.fixture.list(SECRET).await;
        all.into_iter()
            .filter(|secret| secret["metadata"]["name"].to_string().contains("capstan-upgrade"))
            .collect()
    }

    /// Returns the installed objects without fields that servers and controllers write.
    async fn installed(&self) -> BTreeMap<String, Value> {
        let mut found = BTreeMap::new();
        for kind in [DEPLOYMENT, CLUSTER_ROLE, CUSTOM_RESOURCE_DEFINITION, CONFIG_MAP, PROVIDER] {
            for object in self.fixture.list(kind).await {
                let object = Object::try_from(object).unwrap();
                // A record contains times.
                let is_record = object.name().starts_with("capstan.");
                if object.label(api::labels::PROVIDER).is_some() && !is_record {
                    let key = format!("{kind:?} {}/{}", object.namespace(), object.name());
                    found.insert(key, journal::restorable_object(&object).into_value());
                }
            }
        }
        found
    }

    fn revision(&self) -> u64 {
        self.fixture.sandbox().revision()
    }
}

fn to_contract() -> UpgradeRequest {
    upgrade_to_contract(WAIT)
}

fn to_versions(items: &[(ProviderId, &str)]) -> UpgradeRequest {
    let item = |(provider, version): &(ProviderId, &str)| UpgradeItem {
        provider: provider.clone(),
        namespace: None,
        version: (*version).to_owned(),
    };
    UpgradeRequest { target: UpgradeTarget::Providers(items.iter().map(item).collect()), ..to_contract() }
}

fn all_at(version: &str) -> Vec<String> {
    [core(), docker()].map(|id| format!("{id} {version} example.org/{id}:{version}")).to_vec()
}
