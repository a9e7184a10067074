//! The installation of the controller: its objects as a set that is applied, pruned and deleted as a whole.

use std::time::Duration;

use api::labels::{CAPSTAN_DOMAIN, FIELD_MANAGER};
use apply::{
    ApiError, ApplyOptions, Blocker, EngineError, FormerTool, OwnershipMarks, PlannedSet, RecordedSet,
    RecordedSetError, SaveAt, Server, SetObjects,
};
use manifest::Object;

/// The ConfigMap of the record, in the namespace of the controller.
const RECORD: &str = "capstan.controller";
/// Prefixes of the field managers of other tools that may have installed the controller.
const FORMER_TOOLS: [FormerTool; 2] = [FormerTool::new("kubectl"), FormerTool::new("helm")];

/// The reason why the controller cannot be installed or removed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum InstallationError {
    #[error("cannot read the record of the installation: ConfigMap {namespace}/{RECORD}: {reason}")]
    Record { namespace: String, reason: String },
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
    set: RecordedSet,
}

impl Installation {
    /// Returns the controller in a namespace of a server.
    pub fn new(server: Server, namespace: &str) -> Self {
        let marks = OwnershipMarks {
            // `kubectl delete` of a definition must not wait for this program.
            finalizer: None,
            ..OwnershipMarks::of_component(CAPSTAN_DOMAIN, &format!("{namespace}/controller"))
        };
        let options = ApplyOptions {
            take_over: FORMER_TOOLS.to_vec(),
            release_orphans: true,
            ..ApplyOptions::new(FIELD_MANAGER, CAPSTAN_DOMAIN, namespace)
        };
        let (namespace, record) = (namespace.to_owned(), RECORD.to_owned());
        let save_at = SaveAt::AfterNamespaces;
        Self { set: RecordedSet { server, namespace, record, source: None, save_at, marks, options } }
    }

    /// Plans the installation of objects, or the change from the installed objects to them.
    /// # Errors
    /// All problems of all objects.
    pub async fn plan(&self, objects: Vec<Object>) -> Result<PlannedSet, InstallationError> {
        let objects = SetObjects { objects, server_check: true, ..SetObjects::default() };
        self.set.plan(objects).await.map_err(|error| self.error(error, Operation::Install))
    }

    /// Executes a plan of an installation. With a timeout, waits until the objects are ready.
    /// # Errors
    /// `NotReady` after the timeout. The same call resumes an interrupted installation.
    pub async fn install(
        &self,
        plan: &mut PlannedSet,
        timeout: Option<Duration>,
    ) -> Result<(), InstallationError> {
        let applied = self.set.apply(plan, timeout).await;
        applied.map_err(|error| self.error(error, Operation::Install))
    }

    /// Plans the removal of all installed objects. None if nothing is recorded.
    /// # Errors
    /// The record cannot be read, or Components exist.
    pub async fn plan_removal(&self) -> Result<Option<PlannedSet>, InstallationError> {
        let planned = async {
            let plan = self.set.plan_removal().await?;
            if let Some(plan) = &plan {
                self.set.check_removable(plan).await?;
            }
            Ok(plan)
        };
        planned.await.map_err(|error| self.error(error, Operation::Remove))
    }

    /// Executes a plan of a removal.
    /// # Errors
    /// Nothing is deleted while Components exist. `NotDeleted` after the timeout.
    pub async fn remove(&self, plan: &mut PlannedSet, timeout: Duration) -> Result<(), InstallationError> {
        let removed = self.set.remove(plan, timeout).await;
        removed.map_err(|error| self.error(error, Operation::Remove))
    }

    fn error(&self, error: RecordedSetError, operation: Operation) -> InstallationError {
        let namespace = self.set.namespace.clone();
        match (error, operation) {
            (RecordedSetError::Record { reason, .. }, _) => InstallationError::Record { namespace, reason },
            (RecordedSetError::NotReady { after, blockers }, _) => {
                InstallationError::NotReady { after, blockers }
            }
            (RecordedSetError::NotDeleted { after, blockers }, _) => {
                InstallationError::NotDeleted { after, blockers }
            }
            (RecordedSetError::Engine(source), Operation::Install) => {
                InstallationError::Install { namespace, source }
            }
            (RecordedSetError::Engine(source), Operation::Remove) => {
                InstallationError::Remove { namespace, source }
            }
            (RecordedSetError::Api(error), _) => InstallationError::Api(error),
        }
    }
}

#[derive(Clone, Copy)]
enum Operation {
    Install,
    Remove,
}

#[cfg(test)]
mod tests {
    use apply::{ConnectionOptions, ServerOptions};
    use sandbox::Fault;
    use support::fixture::Fixture;

    use super::*;
    use crate::{DeploymentSettings, manifests};

    async fn installation(fixture: &Fixture) -> Installation {
        let connection = ConnectionOptions::of_client(fixture.client(), "test");
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
        let writes = plan.plan.steps.iter().filter(|step| step.action.is_write()).count();
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
