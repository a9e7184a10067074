//! The installation of the controller: its objects as a set that is applied, pruned and deleted as a whole.

use std::time::{Duration, Instant};

use apply::{
    ApiError, ApiKind, ApplyOptions, ApplyRequest, ApplySet, ApplySetStore, Blocker, DeletePolicy,
    DesiredSet, Engine, EngineError, EngineOutcome, GroupKind, OwnershipMarks, PlannedSet, Policies,
    PruneTiming, ReadByName, RunOptions, SaveAt, Server, UpdatePolicy, build_desired_set,
};
use futures::{FutureExt as _, future::BoxFuture};
use manifest::{Object, Value};
use serde_json::json;

/// The field manager of the installation, and the prefix of its annotations.
const MANAGER: &str = "capstan";
const DOMAIN: &str = "capstan.dev";
/// The ConfigMap of the record, in the namespace of the controller, and its key.
const RECORD: &str = "capstan.controller";
const SET_KEY: &str = "applySet";
/// Prefixes of the field managers of other tools that may have installed the controller.
const FORMER_TOOLS: [&str; 2] = ["kubectl", "helm"];
/// The time for waits between waves if the caller does not wait.
const WAVE_TIMEOUT: Duration = Duration::from_mins(5);

/// The reason why the controller cannot be installed or removed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum InstallationError {
    #[error("cannot read the record of the installation: ConfigMap {namespace}/{RECORD}")]
    Record { namespace: String, source: serde_json::Error },
    #[error("cannot install the controller in namespace `{namespace}`")]
    Install { namespace: String, source: Box<EngineError> },
    #[error("cannot remove the controller from namespace `{namespace}`")]
    Remove { namespace: String, source: Box<EngineError> },
    #[error("the controller is not ready after {after:?}")]
    NotReady { after: Duration, blockers: Vec<Blocker> },
    #[error("the objects of the controller are not deleted after {after:?}")]
    NotDeleted { after: Duration, blockers: Vec<Blocker> },
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// The controller in one namespace of a cluster.
#[derive(Clone, Debug)]
pub struct Installation {
    server: Server,
    namespace: String,
    marks: OwnershipMarks,
    options: ApplyOptions,
}

/// The plan to install or to remove a controller.
#[derive(Clone, Debug)]
pub struct InstallationPlan {
    /// The planned objects.
    pub objects: PlannedSet,
}

impl Installation {
    /// Returns the controller in a namespace of a server.
    pub fn new(server: Server, namespace: &str) -> Self {
        let marks = OwnershipMarks {
            // `kubectl delete` of a definition must not wait for this program.
            finalizer: None,
            ..OwnershipMarks::of_component(DOMAIN, &format!("{namespace}/controller"))
        };
        let options = ApplyOptions {
            field_manager: MANAGER.to_owned(),
            prefix: DOMAIN.to_owned(),
            defaults: Policies { update: UpdatePolicy::SsaOverride, ..Policies::default() },
            missing_namespaces: apply::MissingNamespacePolicy::Create,
            namespace: namespace.to_owned(),
            take_over: FORMER_TOOLS.map(str::to_owned).to_vec(),
            additional_managed_types: Vec::new(),
            component_digest: None,
            reapply_after: None,
        };
        Self { server, namespace: namespace.to_owned(), marks, options }
    }

    /// Plans the installation of objects, or the change from the installed objects to them.
    /// # Errors
    /// All problems of all objects.
    pub async fn plan(&self, objects: Vec<Object>) -> Result<InstallationPlan, InstallationError> {
        let recorded = self.recorded().await?.unwrap_or_default();
        let kinds = self.server.kinds().await?;
        let failed = |source| self.install_error(source);
        let mut desired: DesiredSet = build_desired_set(objects, &kinds, &self.marks, &self.options)
            .map_err(|objects| failed(EngineError::InvalidObjects { objects }))?;
        for object in desired.objects.iter_mut().filter(|object| object.key.is("", "Namespace")) {
            // Other objects may be in it.
            object.policies.policies.delete = DeletePolicy::OrphanOnDelete;
        }
        let engine = self.engine();
        let live = engine.observe(&recorded, &desired, ReadByName::All).await?;
        let mut objects =
            engine.plan(recorded, desired, live).map_err(|objects| failed(EngineError::Plan { objects }))?;
        Box::pin(engine.dry_run(&mut objects, |_| true)).await.map_err(failed)?;
        objects.keep_unchanged();
        Ok(InstallationPlan { objects })
    }

    /// Executes a plan of an installation. With a timeout, waits until the objects are ready.
    /// # Errors
    /// `NotReady` after the timeout. The same call resumes an interrupted installation.
    pub async fn install(
        &self,
        plan: &mut InstallationPlan,
        timeout: Option<Duration>,
    ) -> Result<(), InstallationError> {
        let record = self.record().await?;
        let started_at = Instant::now();
        let run = RunOptions {
            save_at: SaveAt::AfterNamespaces,
            deadline: Some(started_at + timeout.unwrap_or(WAVE_TIMEOUT)),
            wait_for_last: timeout.is_some(),
            // Controllers of other divisions wait until those before have ended.
            prune: PruneTiming::Immediately,
            ..RunOptions::new(&record)
        };
        let ended = Box::pin(self.engine().apply(&mut plan.objects, run)).await;
        match ended.map_err(|source| self.install_error(source))? {
            EngineOutcome::Done => Ok(()),
            EngineOutcome::Waiting(blockers) => {
                Err(InstallationError::NotReady { after: started_at.elapsed(), blockers })
            }
        }
    }

    /// Plans the removal of all installed objects. None if nothing is recorded.
    /// # Errors
    /// The record cannot be read.
    pub async fn plan_removal(&self) -> Result<Option<InstallationPlan>, InstallationError> {
        let Some(recorded) = self.recorded().await? else { return Ok(None) };
        let objects =
            self.engine().plan_deletion(recorded).await.map_err(|error| self.remove_error(error.into()))?;
        Ok(Some(InstallationPlan { objects }))
    }

    /// Executes a plan of a removal.
    /// # Errors
    /// Nothing is deleted while Components exist. `NotDeleted` after the timeout.
    pub async fn remove(
        &self,
        plan: &mut InstallationPlan,
        timeout: Duration,
    ) -> Result<(), InstallationError> {
        let record = self.record().await?;
        let started_at = Instant::now();
        let run = RunOptions {
            deadline: Some(started_at + timeout),
            wait_for_last: true,
            ..RunOptions::new(&record)
        };
        let ended = Box::pin(self.engine().delete(&mut plan.objects, run)).await;
        match ended.map_err(|source| self.remove_error(source))? {
            EngineOutcome::Done => Ok(()),
            EngineOutcome::Waiting(blockers) => {
                Err(InstallationError::NotDeleted { after: started_at.elapsed(), blockers })
            }
        }
    }

    fn engine(&self) -> Engine<'_> {
        Engine { server: &self.server, marks: &self.marks, options: &self.options }
    }

    /// Reads the recorded objects. None without a record.
    async fn recorded(&self) -> Result<Option<ApplySet>, InstallationError> {
        let kind = self.record().await?.kind;
        let Some(found) = self.server.get(&kind, &self.namespace, RECORD).await? else { return Ok(None) };
        let text = found.get(&["data", SET_KEY]).and_then(Value::as_str).unwrap_or_default();
        let invalid = |source| InstallationError::Record { namespace: self.namespace.clone(), source };
        serde_json::from_str(text).map(Some).map_err(invalid)
    }

    async fn record(&self) -> Result<InstallationRecord<'_>, ApiError> {
        let kind = self.server.kind(&GroupKind::new("", "ConfigMap")).await?;
        Ok(InstallationRecord { installation: self, kind })
    }

    fn install_error(&self, source: EngineError) -> InstallationError {
        InstallationError::Install { namespace: self.namespace.clone(), source: Box::new(source) }
    }

    fn remove_error(&self, source: EngineError) -> InstallationError {
        InstallationError::Remove { namespace: self.namespace.clone(), source: Box::new(source) }
    }
}

/// The record of the installed objects.
struct InstallationRecord<'a> {
    installation: &'a Installation,
    kind: ApiKind,
}

impl ApplySetStore for InstallationRecord<'_> {
    /// Writes the set. Deletes the record if the set is empty.
    fn save<'a>(&'a self, set: &'a ApplySet) -> BoxFuture<'a, Result<(), ApiError>> {
        async move {
            let Installation { server, namespace, .. } = self.installation;
            if set.items.is_empty() {
                server.delete(&self.kind, namespace, RECORD, None).await.map(drop)
            } else {
                let object = self.config_map(set);
                server.apply(&self.kind, &object, MANAGER, ApplyRequest::default()).await.map(drop)
            }
        }
        .boxed()
    }
}

impl InstallationRecord<'_> {
    fn config_map(&self, set: &ApplySet) -> Object {
        let text = serde_json::to_string(&set.without_fields());
        let text = text.expect("invariant: an apply set has text keys alone");
        let object = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": RECORD, "namespace": self.installation.namespace},
            "data": {SET_KEY: text},
        });
        Object::try_from(object).expect("invariant: the literal above is a mapping")
    }
}

impl InstallationPlan {
    /// True if nothing changes.
    pub fn is_empty(&self) -> bool {
        self.objects.plan.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use apply::{ConnectionOptions, Credentials, ServerOptions};
    use sandbox::Fault;
    use support::fixture::Fixture;

    use super::*;
    use crate::{DeploymentSettings, manifests};

    async fn installation(fixture: &Fixture) -> Installation {
        let connection = ConnectionOptions {
            credentials: Credentials::Client(fixture.client()),
            impersonation: None,
            user_agent: "test".to_owned(),
        };
        let options = ServerOptions { retry_for: Duration::ZERO, ..ServerOptions::default() };
        Installation::new(Server::connect(connection, options).await.unwrap().without_lease(), "operators")
    }

    fn objects(shards: u16) -> Vec<Object> {
        manifests(&DeploymentSettings {
            image: "registry.example/capstan:v1".to_owned(),
            namespace: "operators".to_owned(),
            replicas: 1,
            shards,
            is_cluster_admin: false,
        })
    }

    /// Plans and executes an installation.
    async fn install(installation: &Installation, shards: u16) -> Result<usize, InstallationError> {
        let mut plan = installation.plan(objects(shards)).await?;
        let writes = plan.objects.plan.steps.iter().filter(|step| step.action.is_write()).count();
        installation.install(&mut plan, None).await?;
        Ok(writes)
    }

    async fn deployments(fixture: &Fixture) -> Vec<String> {
        let all = fixture.list(support::kind::DEPLOYMENT).await;
        all.iter().map(|one| one["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    }

    #[tokio::test]
    async fn an_installation_that_fails_at_any_write_is_completed() {
        let mut failures = 0;
        for skip in (0..18).step_by(3) {
            let fixture = Fixture::start().await;
            let installation = installation(&fixture).await;
            let faults = fixture.sandbox().faults();
            for (shards, expected) in [
                (2, vec!["component-operator-0".to_owned(), "component-operator-1".to_owned()]),
                (1, vec!["component-operator".to_owned()]),
            ] {
                let fault = format!("503,verb=write,skip={skip},times=3");
                faults.replace([Fault::parse(&fault).unwrap()]);
                // Some writes of the second installation are fewer than those that are skipped.
                failures += usize::from(install(&installation, shards).await.is_err());
                faults.replace([]);
                install(&installation, shards).await.unwrap();
                assert_eq!(deployments(&fixture).await, expected, "{skip}");
                assert_eq!(install(&installation, shards).await.unwrap(), 0, "{skip}");
            }
            let mut plan = installation.plan_removal().await.unwrap().unwrap();
            installation.remove(&mut plan, Duration::from_secs(10)).await.unwrap();
            assert!(deployments(&fixture).await.is_empty());
            assert!(installation.plan_removal().await.unwrap().is_none(), "{skip}");
        }
        assert!(failures >= 6, "{failures}");
    }

    #[tokio::test]
    async fn a_record_of_another_form_is_not_overwritten() {
        let fixture = Fixture::start().await;
        fixture.apply("{apiVersion: v1, kind: Namespace, metadata: {name: operators}}").await;
        fixture
            .apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: capstan.controller, namespace: operators}, data: {applySet: later}}")
            .await;
        let error = install(&installation(&fixture).await, 1).await.unwrap_err();
        assert!(matches!(error, InstallationError::Record { .. }), "{error:?}");
        assert!(deployments(&fixture).await.is_empty());
    }
}
