//! Runs of Components: plan, apply and delete their objects, and record the outcome.

use std::time::{Duration, Instant};

use apply::{
    ApiError, ApplyOptions, ApplySet, Blocker, DesiredSet, Engine, EngineError, EngineOutcome, InUseCheck,
    InvalidObject, LiveObjects, ObservationTarget, OwnershipMarks, PlanError, PlannedSet, PruneTiming,
    ReadByName, ReadDetail, RunOptions, SaveAt, ServedKinds, Server, build_desired_set,
};
use jiff::Timestamp;
use manifest::Object;

use crate::{
    Circumstances, Component, ComponentKey, ComponentStore, InventoryError, InventoryStore, Outcome,
    SourceState, SourceStatus, TargetError, Targets, marks, options,
    reconcile::problem::{failed, write_problem},
    record_outcome,
};

/// The reason why nothing of a Component is deleted.
/// Source: component-operator 0.3.
pub(crate) const FOREIGN_FINALIZERS: &str = "deletion blocked due to existing foreign finalizers";

/// The objects of a Component, with the facts that its status records.
#[derive(Clone, Debug)]
pub struct RenderedComponent {
    /// The Component, with its generation and status.
    pub component: Component,
    /// The source of the objects.
    pub source: SourceState,
    /// The digest of the Component and all that it refers to.
    pub digest: String,
    /// The rendered objects.
    pub objects: Vec<Object>,
}

/// The plan of one Component.
#[derive(Clone, Debug)]
pub struct ComponentPlan {
    /// The key of the Component.
    pub key: ComponentKey,
    /// The Component with the status before the run.
    pub component: Component,
    /// The source of the objects.
    pub source: SourceState,
    /// The digest of the Component and all that it refers to.
    pub digest: String,
    /// The cluster of the objects.
    pub target: Server,
    /// The planned objects.
    pub objects: PlannedSet,
}

/// The desired objects of a Component, before the existing objects are read.
pub(crate) struct PlanDraft {
    pub(crate) key: ComponentKey,
    component: Component,
    source: SourceState,
    digest: String,
    marks: OwnershipMarks,
    options: ApplyOptions,
    set: ApplySet,
    max_bytes: usize,
    pub(crate) desired: DesiredSet,
}

/// The reason why a Component cannot be applied or deleted.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum RunError {
    #[error("cannot apply the objects of Component `{component}`")]
    InvalidObjects { component: ComponentKey, problems: Vec<InvalidObject> },
    #[error("cannot apply the objects of Component `{component}`")]
    Plan { component: ComponentKey, problems: Vec<PlanError> },
    #[error(
        "cannot apply Component `{component}`: the record of its {objects} objects has {bytes} bytes, and the cluster stores \
         at most {max_bytes}"
    )]
    TooManyObjects { component: ComponentKey, objects: usize, bytes: usize, max_bytes: usize },
    #[error("cannot write the objects of Component `{component}`")]
    Engine { component: ComponentKey, source: Box<EngineError> },
    #[error("the objects of Component `{component}` are not ready after {after:?}")]
    NotReady { component: ComponentKey, after: Duration, blockers: Vec<Blocker> },
    #[error("the objects of Component `{component}` are not deleted after {after:?}")]
    NotDeleted { component: ComponentKey, after: Duration, blockers: Vec<Blocker> },
    #[error("cannot delete Component `{component}`: it has finalizers of other programs: {}", finalizers.join(", "))]
    OtherFinalizers { component: ComponentKey, finalizers: Vec<String> },
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(transparent)]
    Inventory(#[from] InventoryError),
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// Runs Components. Their objects are on the cluster of the Components, or on the clusters that they name.
#[derive(Clone, Copy, Debug)]
pub struct ComponentRuns<'a> {
    /// The clusters of the objects.
    pub targets: &'a Targets,
    /// The storage of the Components.
    pub store: &'a ComponentStore,
    /// The uid of the namespace `kube-system`.
    pub hub: &'a str,
}

impl ComponentRuns<'_> {
    /// Plans the objects of a Component on its target. `kinds` are the kinds that the target serves, and those that earlier
    /// Components define.
    /// # Errors
    /// All problems of all objects.
    pub(crate) async fn plan_on(
        &self,
        target: Server,
        rendered: RenderedComponent,
        kinds: &ServedKinds,
        by_name: ReadByName,
    ) -> Result<ComponentPlan, RunError> {
        let draft = self.draft(rendered, kinds)?;
        let live = target.observe_all(&[draft.observation_target()], by_name, ReadDetail::Full).await?;
        draft.plan(target, live.into_iter().next().unwrap_or_default())
    }

    /// Returns the desired objects of a Component, before the existing objects are read.
    pub(crate) fn draft(
        &self,
        rendered: RenderedComponent,
        kinds: &ServedKinds,
    ) -> Result<PlanDraft, RunError> {
        let RenderedComponent { component, source, digest, objects } = rendered;
        let key = ComponentKey::of(&component);
        let (marks, options) = (marks(self.hub, &key), options(&component, &digest));
        let desired = build_desired_set(objects, kinds, &marks, &options)
            .map_err(|problems| RunError::InvalidObjects { component: key.clone(), problems })?;
        let set = component.applied()?;
        let max_bytes = self.store.max_bytes();
        Ok(PlanDraft { key, component, source, digest, marks, options, set, max_bytes, desired })
    }

    /// Validates the changes of a plan by a dry run of the server, and drops updates that change nothing.
    /// # Errors
    /// `Engine` with all refused objects.
    pub async fn dry_run(&self, plan: &mut ComponentPlan) -> Result<(), RunError> {
        let (marks, options) = (marks(self.hub, &plan.key), options(&plan.component, &plan.digest));
        let engine = Engine { server: &plan.target, marks: &marks, options: &options };
        let tried = Box::pin(engine.dry_run(&mut plan.objects, |_| true)).await;
        tried.map_err(|source| RunError::Engine { component: plan.key.clone(), source: Box::new(source) })?;
        plan.objects.keep_unchanged();
        Ok(())
    }

    /// Applies a plan and waits until all objects are ready, at most for the timeout of the Component.
    /// # Errors
    /// `NotReady` after the timeout. The status names the outcome in any case.
    pub async fn apply(&self, plan: &mut ComponentPlan) -> Result<Component, RunError> {
        let key = plan.key.clone();
        let mut component = plan.component.clone();
        let started_at = Instant::now();
        let timeout = crate::Intervals::of(&component.spec).timeout;
        begin(&mut component, &plan.source, &plan.digest);
        // The engine stores this status with the inventory, before the first write.
        note(&mut component, &Outcome::Processing);
        let inventory = InventoryStore::new(self.store, component);
        let run = RunOptions {
            store: &inventory,
            save_at: SaveAt::Start,
            in_use_check: InUseCheck::Perform,
            deadline: Some(started_at + timeout),
            wait_for_last: true,
            prune: PruneTiming::WhenReady,
        };
        let (marks, options) = (marks(self.hub, &key), options(&plan.component, &plan.digest));
        let engine = Engine { server: &plan.target, marks: &marks, options: &options };
        let ended = Box::pin(engine.apply(&mut plan.objects, run)).await;
        let mut component = inventory.into_component();
        match ended {
            Ok(EngineOutcome::Done) => {
                self.record(&mut component, &Outcome::Ready).await?;
                Ok(component)
            }
            Ok(EngineOutcome::Waiting(blockers)) => {
                self.record(&mut component, &Outcome::Processing).await?;
                Err(RunError::NotReady { component: key, after: started_at.elapsed(), blockers })
            }
            Err(source) => {
                let desired = plan.objects.desired.objects.iter();
                let versions =
                    desired.map(|one| (one.key.clone(), one.object.api_version().to_owned())).collect();
                // The first error matters most.
                drop(self.record(&mut component, &failed(write_problem(&source, &versions))).await);
                Err(RunError::Engine { component: key, source: Box::new(source) })
            }
        }
    }

    /// Plans the deletion of the objects of a Component.
    /// # Errors
    /// The inventory cannot be read, or the cluster of the objects cannot be used.
    pub async fn plan_deletion(&self, component: Component) -> Result<ComponentPlan, RunError> {
        let key = ComponentKey::of(&component);
        let set = component.applied()?;
        let target = self.targets.find(&component).await?;
        let (marks, options) = (marks(self.hub, &key), options(&component, ""));
        let engine = Engine { server: &target, marks: &marks, options: &options };
        let objects = engine.plan_deletion(set).await?;
        let status = component.status.source_ref.clone().unwrap_or_default();
        let source = SourceState { artifact: status.artifact, digest: status.digest, files: None };
        Ok(ComponentPlan { key, component, source, digest: String::new(), target, objects })
    }

    /// Checks that no object of another owner uses a definition of a Component. Objects of Components that are deleted
    /// `before` it do not count.
    /// # Errors
    /// `Engine` with the definitions in use.
    pub async fn check_deletable(
        &self,
        plan: &ComponentPlan,
        before: &[ComponentPlan],
    ) -> Result<(), RunError> {
        let owners: Vec<_> =
            std::iter::once(plan).chain(before).map(|plan| marks(self.hub, &plan.key)).collect();
        let options = options(&plan.component, "");
        let definitions = plan.target.in_use_by_others(&plan.objects.set, &owners, &options).await?;
        if definitions.is_empty() {
            return Ok(());
        }
        let source = Box::new(EngineError::InUse { definitions });
        Err(RunError::Engine { component: plan.key.clone(), source })
    }

    /// Deletes the objects of a Component, and then the Component.
    /// # Errors
    /// `NotDeleted` after the timeout. No object is deleted if objects of other owners use a definition, or if the Component
    /// has finalizers of other programs.
    pub async fn delete(&self, plan: &mut ComponentPlan, timeout: Duration) -> Result<(), RunError> {
        let (key, mut component) = (plan.key.clone(), plan.component.clone());
        let started_at = Instant::now();
        let (marks, options) = (marks(self.hub, &key), options(&component, ""));
        if let Err(blocked) = self.check_deletable(plan, &[]).await {
            if let RunError::Engine { source, .. } = &blocked
                && let EngineError::InUse { definitions } = &**source
            {
                let texts: Vec<String> = definitions.iter().map(ToString::to_string).collect();
                let message = format!("deletion blocked: {}", texts.join("; "));
                self.record(&mut component, &Outcome::DeletionBlocked { message }).await?;
            }
            return Err(blocked);
        }
        // A controller that runs meanwhile must not create the objects again.
        let finalizers = self.store.begin_deletion(&key).await?;
        if !finalizers.is_empty() {
            let message = FOREIGN_FINALIZERS.to_owned();
            self.record(&mut component, &Outcome::DeletionBlocked { message }).await?;
            return Err(RunError::OtherFinalizers { component: key, finalizers });
        }
        self.record(&mut component, &Outcome::Deleting).await?;
        let inventory = InventoryStore::new(self.store, component);
        let run = RunOptions {
            in_use_check: InUseCheck::AlreadyDone,
            deadline: Some(started_at + timeout),
            wait_for_last: true,
            ..RunOptions::new(&inventory)
        };
        let engine = Engine { server: &plan.target, marks: &marks, options: &options };
        let ended = Box::pin(engine.delete(&mut plan.objects, run)).await;
        match ended {
            Ok(EngineOutcome::Done) => {
                let finalizers = self.store.remove(&plan.component).await?;
                if finalizers.is_empty() {
                    return Ok(());
                }
                Err(RunError::OtherFinalizers { component: key, finalizers })
            }
            Ok(EngineOutcome::Waiting(blockers)) => {
                Err(RunError::NotDeleted { component: key, after: started_at.elapsed(), blockers })
            }
            Err(source) => Err(RunError::Engine { component: key, source: Box::new(source) }),
        }
    }

    /// Records an outcome in the status of a Component, and stores it.
    pub(crate) async fn record(&self, component: &mut Component, outcome: &Outcome) -> Result<(), ApiError> {
        note(component, outcome);
        self.store.save_status(component).await
    }
}

impl PlanDraft {
    /// The objects that a plan reads.
    pub(crate) fn observation_target(&self) -> ObservationTarget<'_> {
        ObservationTarget { marks: &self.marks, set: &self.set, desired: &self.desired }
    }

    /// Plans the desired objects over the existing objects.
    /// # Errors
    /// All problems of all objects.
    pub(crate) fn plan(self, target: Server, live: LiveObjects) -> Result<ComponentPlan, RunError> {
        let Self { key, component, source, digest, marks, options, set, max_bytes, desired } = self;
        let engine = Engine { server: &target, marks: &marks, options: &options };
        let objects = engine
            .plan(set, desired, live)
            .map_err(|problems| RunError::Plan { component: key.clone(), problems })?;
        if !objects.plan.is_empty() {
            let bytes = objects.record_bytes() + component.spec_bytes();
            if bytes > max_bytes {
                let objects = objects.desired.objects.len();
                return Err(RunError::TooManyObjects { component: key, objects, bytes, max_bytes });
            }
        }
        Ok(ComponentPlan { key, component, source, digest, target, objects })
    }
}

impl ComponentPlan {
    /// True if the last run completed exactly this plan.
    pub fn is_complete(&self) -> bool {
        let status = &self.component.status;
        self.objects.plan.is_empty()
            && status.is_ready(self.component.generation())
            && status.last_processing_digest == self.digest
    }
}

/// Notes an outcome in the status of a Component.
fn note(component: &mut Component, outcome: &Outcome) {
    let run = Circumstances {
        spec: &component.spec,
        generation: component.generation(),
        is_deleting: matches!(outcome, Outcome::Deleting | Outcome::DeletionBlocked { .. }),
        attempts: 0,
        now: Timestamp::now(),
    };
    record_outcome(&mut component.status, outcome, run);
}

/// Records in the status what is applied.
pub(crate) fn begin(component: &mut Component, source: &SourceState, digest: &str) {
    let status = &mut component.status;
    if status.processing_digest != digest {
        status.processing_since = None;
    }
    status.revision = status.revision_with(digest);
    digest.clone_into(&mut status.processing_digest);
    digest.clone_into(&mut status.last_processing_digest);
    status.last_attempted_digest.clone_from(&source.artifact.digest);
    status.last_attempted_revision.clone_from(&source.artifact.revision);
    status.source_ref =
        Some(SourceStatus { artifact: source.artifact.clone(), digest: source.digest.clone() });
}

#[cfg(test)]
mod tests;
