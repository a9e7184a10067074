//! One step of a controller: from a Component and its clusters to writes, a status, and the delay until the next step.
//!
//! ```text
//! first seen ─► suspended ─► references ─► digest ─► pins ─► finalizer ─► dependencies ─► render ─► apply ─► status
//! ```
//!
//! Source: component-operator-runtime (`pkg/component/reconciler.go`). Differs: a step that finds all objects ready
//! reports it at once; the original needs another step. Existing objects of other owners are found when they are
//! written, so their Component is Processing before it is Error.

mod event;
mod inventory;
pub(crate) mod problem;
mod renderer;

use std::time::Duration;

use apply::{
    ApiError, ApplySet, ApplySetItem, Engine, EngineError, EngineOutcome, InUseCheck, ItemPhase, ObjectKey,
    ReadByName, RunOptions, Server, WriteError,
};
use futures::future::BoxFuture;
use jiff::Timestamp;
use manifest::Object;
use repository::RepositoryContext;

use self::{
    inventory::StepInventory,
    problem::{api_versions, failed, plan_problem, write_problem},
};
use crate::{
    Circumstances, Component, ComponentKey, ComponentRuns, InventoryError, ObjectReader, Outcome, RECONCILER,
    REFERENCE_RETRY, ReferenceError, References, RenderedComponent, SourceState, State, StoreError,
    TargetError, check_dependency, check_pins, component_digest, deletion_blocker,
    dependencies::blocked_by,
    load_references, marks, options, record_outcome,
    run::{FOREIGN_FINALIZERS, begin},
    source::current_source,
};

pub use event::ComponentEvent;
pub use renderer::ClusterRenderer;

/// Renders the objects of Components.
pub trait ComponentRenderer: Send + Sync {
    /// Renders the objects of a Component. The error is a text for its status.
    fn render<'a>(&'a self, inputs: RenderInputs<'a>) -> BoxFuture<'a, Result<Vec<Object>, String>>;
}

/// Knows which Components depend on others, without a request for all Components.
pub trait DependentsReader: Send + Sync {
    /// Returns the Components that depend on a Component that is being deleted, sorted. `None` if a dependent from before
    /// the deletion may be missing.
    fn dependents(&self, deleted: &Component) -> Option<Vec<ComponentKey>>;
}

/// The inputs of the objects of a Component.
#[derive(Clone, Copy, Debug)]
pub struct RenderInputs<'a> {
    /// The Component with its status.
    pub component: &'a Component,
    /// The contents of the Secrets of the Component.
    pub references: &'a References,
    /// The source of the Component.
    pub source: &'a SourceState,
    /// The digest of the Component and all that it refers to.
    pub digest: &'a str,
    /// The cluster of the objects.
    pub target: &'a Server,
}

/// Reconciles the Components of one cluster.
#[derive(Clone, Copy)]
pub struct Reconciler<'a> {
    /// The runs of Components.
    pub runs: ComponentRuns<'a>,
    /// The sources of Components: the cluster, or a copy of its sources.
    pub sources: &'a dyn ObjectReader,
    /// The dependents of Components.
    pub dependents: &'a dyn DependentsReader,
    /// The access to artifacts behind URLs.
    pub repositories: &'a RepositoryContext,
    /// The renderer of objects.
    pub renderer: &'a dyn ComponentRenderer,
}

/// The result of a step.
#[derive(Clone, Debug)]
pub struct ComponentStep {
    /// The Component as it is stored now.
    pub component: Component,
    /// The delay until the next step.
    pub delay: Duration,
    /// True if the step changed the inventory, or started a new digest. Then the next delays begin again.
    pub has_progress: bool,
    /// The event for users.
    pub event: ComponentEvent,
}

impl Reconciler<'_> {
    /// Takes one step for a Component. `attempts` counts the steps without progress before this one. `None` if the
    /// Component is gone.
    ///
    /// The status is only written onto the given revision of the Component. Other problems than those of the storage are
    /// in the status.
    /// # Errors
    /// The status cannot be written, or the lease of the cluster is lost. A conflict means that the Component has
    /// changed; take the step again with its new revision.
    pub async fn step(
        &self,
        mut component: Component,
        attempts: u32,
        now: Timestamp,
    ) -> Result<Option<ComponentStep>, StoreError> {
        let clock = StepClock { attempts, now };
        if !component.is_object() {
            // The Component is gone, and its record is left.
            return Ok(None);
        }
        let former = component.clone();
        let is_first = component.status.observed_generation <= 0;
        let outcome = if is_first {
            self.runs.store.take_over_record(&mut component).await?;
            Outcome::FirstSeen
        } else if component.is_deleting() {
            match self.delete(&mut component, clock).await {
                Ok(Some(outcome)) => outcome,
                Ok(None) => return Ok(None),
                Err(stop) => stop.outcome()?,
            }
        } else if component.spec.suspend {
            Outcome::Suspended
        } else {
            match self.apply(&mut component, clock).await {
                Ok(outcome) => outcome,
                Err(stop) => stop.outcome()?,
            }
        };
        // A note of this step that the work has begun is no former state.
        component.status.state = former.status.state;
        let delay = clock.record(&mut component, &outcome);
        self.runs.store.replace_status(&mut component).await?;
        if is_first {
            self.runs.store.drop_record(&ComponentKey::of(&component)).await?;
        }
        let has_progress = component.status.inventory != former.status.inventory
            || component.status.processing_digest != former.status.processing_digest;
        let event = ComponentEvent::of(&component);
        Ok(Some(ComponentStep { component, delay, has_progress, event }))
    }

    /// Applies the objects of a Component as far as possible without waiting.
    async fn apply(&self, component: &mut Component, clock: StepClock) -> Result<Outcome, Stop> {
        let references = load_references(component, self.runs.targets.hub()).await;
        let references = references.map_err(|problems| Stop::reference(&problems[0]))?;
        let source = self.source(component).await.map_err(|error| Stop::reference(&error))?;
        let digest = component_digest(component, &references, &source);
        let former = std::mem::replace(&mut component.status.processing_digest, digest.clone());
        if !former.is_empty() && former != digest {
            return Ok(Outcome::Restarting);
        }
        check_pins(component, &source.artifact).map_err(|error| Stop::reference(&error))?;
        let target = self.runs.targets.connect(component, references.kubeconfig.as_deref()).await?;
        self.runs.store.add_finalizer(component).await?;
        self.check_dependencies(component, &source).await?;
        begin(component, &source, &digest);
        let inputs = RenderInputs {
            component,
            references: &references,
            source: &source,
            digest: &digest,
            target: &target,
        };
        let objects = self.renderer.render(inputs).await;
        let objects = objects.map_err(|problem| failed(format!("error rendering manifests: {problem}")))?;
        let rendered = RenderedComponent { component: component.clone(), source, digest, objects };
        self.write(component, rendered, target, clock).await
    }

    /// Returns the source. With `sticky`, the artifact of a run that is not complete stays.
    async fn source(&self, component: &Component) -> Result<SourceState, ReferenceError> {
        if let Some(kept) = &component.status.source_ref
            && component.spec.sticky
            && component.spec.source_ref.blueprint.is_none()
            && component.status.state == Some(State::Processing)
        {
            return Ok(SourceState {
                artifact: kept.artifact.clone(),
                digest: kept.digest.clone(),
                files: None,
            });
        }
        current_source(component, self.sources, self.repositories).await
    }

    async fn check_dependencies(&self, component: &Component, source: &SourceState) -> Result<(), Stop> {
        for dependency in &component.spec.dependencies {
            let key = ComponentKey::of_dependency(dependency, component.namespace());
            let live = self.runs.store.get(&key).await?;
            check_dependency(component, source, dependency, live.as_ref())
                .map_err(|message| Outcome::Retry { message, after: None })?;
        }
        Ok(())
    }

    /// Writes objects as far as possible without waiting.
    async fn write(
        &self,
        component: &mut Component,
        rendered: RenderedComponent,
        target: Server,
        clock: StepClock,
    ) -> Result<Outcome, Stop> {
        let versions = api_versions(&rendered.objects, component.deployment_namespace());
        let kinds = target.kinds().await.map_err(|error| failed(api::with_causes(&error)))?;
        // Other objects are found when they are written, because only new objects are created.
        let planned = self.runs.plan_on(target, rendered, &kinds, ReadByName::Applied).await;
        let mut plan = planned.map_err(|error| failed(plan_problem(&error, &versions)))?;
        let (marks, options) = (marks(self.runs.hub, &plan.key), options(component, &plan.digest));
        let mut noted = component.clone();
        clock.record(&mut noted, &Outcome::Processing);
        let inventory = StepInventory::new(self.runs.store, noted);
        let engine = Engine { server: &plan.target, marks: &marks, options: &options };
        let ended = Box::pin(engine.apply(&mut plan.objects, RunOptions::new(&inventory))).await;
        inventory.update(component);
        match ended {
            Ok(EngineOutcome::Done) if is_ready(&component.applied()?) => Ok(Outcome::Ready),
            Ok(_) => Ok(Outcome::Processing),
            Err(error) => Err(failed(write_problem(&error, &versions)).into()),
        }
    }

    /// Returns the reason why a Component cannot be deleted yet. If many Components are deleted at a time, a list of all for
    /// each of them would be too much.
    async fn deletion_blocker(&self, component: &Component) -> Result<Option<String>, StoreError> {
        if let Some(dependents) = self.dependents.dependents(component) {
            let blocker = blocked_by(dependents);
            if blocker.is_some() || !self.runs.store.has_records().await? {
                return Ok(blocker);
            }
        }
        Ok(deletion_blocker(component, &self.runs.store.list().await?.readable()?))
    }

    /// Deletes the objects of a Component as far as possible without waiting. `None` if all are gone.
    async fn delete(&self, component: &mut Component, clock: StepClock) -> Result<Option<Outcome>, Stop> {
        if let Some(message) = self.deletion_blocker(component).await? {
            return Ok(Some(Outcome::Retry { message, after: None }));
        }
        let set = component.applied()?;
        let target = self.runs.targets.find(component).await?;
        let (marks, options) = (marks(self.runs.hub, &ComponentKey::of(component)), options(component, ""));
        let in_use = target.in_use(&set, &marks, &options).await;
        let in_use = in_use.map_err(|error| failed(api::with_causes(&error)))?;
        if let Some(first) = in_use.first() {
            return Ok(Some(Outcome::DeletionBlocked { message: format!("deletion blocked: {first}") }));
        }
        if component.finalizers().any(|finalizer| finalizer != RECONCILER) {
            let message = FOREIGN_FINALIZERS.to_owned();
            return Ok(Some(Outcome::DeletionBlocked { message }));
        }
        if component.status.state != Some(State::Deleting) {
            clock.record(component, &Outcome::Deleting);
            self.runs.store.replace_status(component).await?;
        }
        let engine = Engine { server: &target, marks: &marks, options: &options };
        match self.delete_objects(component, engine, set).await {
            Ok(EngineOutcome::Waiting(_)) => return Ok(Some(Outcome::Deleting)),
            Err(error) if !(is_forbidden(&error) && self.is_left_to_namespace(component).await?) => {
                return Err(failed(api::with_causes(&error)).into());
            }
            Ok(EngineOutcome::Done) | Err(_) => {}
        }
        self.runs.store.remove_finalizer(component).await?;
        Ok(None)
    }

    async fn delete_objects(
        &self,
        component: &mut Component,
        engine: Engine<'_>,
        set: ApplySet,
    ) -> Result<EngineOutcome, EngineError> {
        let mut planned = engine.plan_deletion(set).await?;
        let inventory = StepInventory::of_recorded(self.runs.store, component.clone(), &planned.set);
        let run = RunOptions { in_use_check: InUseCheck::AlreadyDone, ..RunOptions::new(&inventory) };
        let ended = Box::pin(engine.delete(&mut planned, run)).await;
        inventory.update(component);
        ended
    }

    /// True if the namespace of a Component is being deleted, and all objects of the Component with it. Then its service
    /// account may already have lost its permissions.
    async fn is_left_to_namespace(&self, component: &Component) -> Result<bool, Stop> {
        let namespace = component.namespace();
        let is_left =
            |item: &ApplySetItem| item.key.namespace == namespace || item.delete_policy.orphans_on_delete();
        if component.spec.kube_config.is_some() || !component.applied()?.items.iter().all(is_left) {
            return Ok(false);
        }
        let live = self.runs.targets.hub().read(&ObjectKey::of_namespace(namespace)).await;
        let is_terminating = |live: Object| live.get(&["metadata", "deletionTimestamp"]).is_some();
        Ok(live.ok().flatten().is_some_and(is_terminating))
    }
}

/// The circumstances of a step.
#[derive(Clone, Copy)]
struct StepClock {
    attempts: u32,
    now: Timestamp,
}

impl StepClock {
    /// Records an outcome in the status of a Component, and returns the delay until the next step.
    fn record(self, component: &mut Component, outcome: &Outcome) -> Duration {
        let spec = component.spec.clone();
        let (generation, is_deleting) = (component.generation(), component.is_deleting());
        let run =
            Circumstances { spec: &spec, generation, is_deleting, attempts: self.attempts, now: self.now };
        record_outcome(&mut component.status, outcome, run)
    }
}

/// The reason why a step ends early.
#[derive(Debug)]
enum Stop {
    /// The outcome for the status.
    Outcome(Outcome),
    /// The Component cannot be read or written.
    Storage(StoreError),
}

impl Stop {
    fn reference(error: &ReferenceError) -> Self {
        Self::Outcome(Outcome::Retry { message: api::with_causes(error), after: Some(REFERENCE_RETRY) })
    }

    fn outcome(self) -> Result<Outcome, StoreError> {
        match self {
            Self::Outcome(outcome) => Ok(outcome),
            Self::Storage(error) => Err(error),
        }
    }
}

impl From<Outcome> for Stop {
    fn from(outcome: Outcome) -> Self {
        Self::Outcome(outcome)
    }
}

impl From<ApiError> for Stop {
    fn from(error: ApiError) -> Self {
        Self::Storage(error.into())
    }
}

/// Another Component that cannot be read may become readable.
impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::Unreadable { components } => {
                let texts: Vec<String> = components.iter().map(ToString::to_string).collect();
                let message = texts.join("; ");
                Self::Outcome(Outcome::Retry { message, after: None })
            }
            StoreError::Api(_) => Self::Storage(error),
        }
    }
}

impl From<InventoryError> for Stop {
    fn from(error: InventoryError) -> Self {
        failed(api::with_causes(&error)).into()
    }
}

impl From<TargetError> for Stop {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::Reference { source, .. } => Self::reference(&source),
            other => failed(api::with_causes(&other)).into(),
        }
    }
}

/// True if the server refused a request for lack of permissions.
fn is_forbidden(error: &EngineError) -> bool {
    match error {
        EngineError::Api(error) => error.is_forbidden(),
        EngineError::Writes { failed } => {
            failed.iter().any(|(_, error)| matches!(error, WriteError::Api(error) if error.is_forbidden()))
        }
        _ => false,
    }
}

/// True if no object needs another step.
fn is_ready(set: &ApplySet) -> bool {
    set.items.iter().all(|item| matches!(item.phase, ItemPhase::Ready | ItemPhase::Completed))
}

#[cfg(test)]
mod tests;
