//! Several Components, planned and applied in the order of their dependencies.
//!
//! ```text
//! inputs ─► order ─► resolve ─► dependencies ready? ─► render ─► plan, one read for all of a cluster
//! plans ─► after their dependencies: plan again if these changed ─► save the Component ─► apply, wait
//! ```

mod error;
mod schedule;
mod shared_objects;
mod unstored;

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    sync::Arc,
};

use apply::{
    ApiError, ObjectKey, PlanStep, PlannedSet, ReadByName, ReadDetail, ServedKinds, Server, StepAction,
    defined_kinds,
};
use chart::Capabilities;
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use manifest::Object;
use tokio::runtime::Handle;

use crate::{
    CheckedComponent, ClusterLookups, Component, ComponentKey, ComponentPlan, ComponentRuns, ComponentStatus,
    LocalObjects, ObjectReader, Outcome, Preparation, RenderedComponent, ResolvedComponent, StoreError,
    TemplateCluster, check_dependency, dependency_order, merge, server_capabilities, store::SERVER_FIELDS,
};

pub use error::{BatchError, ComponentProblem};
use schedule::Schedule;
use shared_objects::shared_objects;
pub use unstored::UnstoredObject;

/// The number of Components whose objects are read together. Their labels are in the URL of a request, which proxies limit to
/// 8 KiB.
const READ_TOGETHER: usize = 100;

/// A Component of a file, with the other objects of its files.
#[derive(Clone, Debug)]
pub struct ComponentInput {
    /// The Component of the file.
    pub checked: CheckedComponent,
    /// Objects that the Component may refer to. They take the place of those of the cluster.
    pub files: LocalObjects,
}

/// Several Components and the means to plan and apply them.
#[derive(Clone, Copy)]
pub struct ComponentBatch<'a> {
    /// The runs on the cluster of the Components.
    pub runs: ComponentRuns<'a>,
    /// The settings for preparing Components.
    pub preparation: &'a Preparation,
    /// The Components, in any order.
    pub inputs: &'a [ComponentInput],
}

/// The purpose of plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanPurpose {
    /// Show the plans. Every object is read, and the server validates the changes in a dry run.
    Show,
    /// Execute the plans at once. A Component that needs objects of its dependencies is planned after them.
    Execute,
}

/// The plans of Components, in the order of their dependencies.
#[derive(Clone, Debug, Default)]
pub struct BatchPlan {
    steps: Vec<BatchStep>,
}

/// The part of one Component.
#[derive(Clone, Debug)]
struct BatchStep {
    /// The position of the Component among the inputs.
    input: usize,
    /// True if the cluster has the Component as it is in the file.
    is_stored: bool,
    action: BatchAction,
}

#[derive(Clone, Debug)]
enum BatchAction {
    /// The plan is executed.
    Apply(Box<ComponentPlan>),
    /// The Component is planned after its dependencies.
    PlanLater,
    /// The Component is stored only.
    Suspend(Box<Component>),
}

impl BatchPlan {
    /// The plans of the Components.
    pub fn plans(&self) -> impl Iterator<Item = &ComponentPlan> {
        self.steps.iter().filter_map(|step| match &step.action {
            BatchAction::Apply(plan) => Some(&**plan),
            BatchAction::PlanLater | BatchAction::Suspend(_) => None,
        })
    }

    /// The suspended Components, whose objects stay as they are.
    pub fn suspended(&self) -> impl Iterator<Item = ComponentKey> {
        self.steps.iter().filter_map(|step| match &step.action {
            BatchAction::Suspend(component) => Some(ComponentKey::of(component)),
            BatchAction::PlanLater | BatchAction::Apply(_) => None,
        })
    }
}

/// The objects of files over those of a cluster.
struct LayeredObjects<'a> {
    files: &'a LocalObjects,
    hub: &'a Server,
}

impl ObjectReader for LayeredObjects<'_> {
    fn read<'a>(&'a self, key: &'a ObjectKey) -> BoxFuture<'a, Result<Option<Object>, ApiError>> {
        async move {
            if let Some(found) = self.files.read(key).await? {
                return Ok(Some(found));
            }
            match self.hub.kinds().await?.preferred(&key.group_kind()) {
                Some(kind) => self.hub.get(kind, &key.namespace, &key.name).await,
                None => Ok(None),
            }
        }
        .boxed()
    }
}

/// A rendered Component and its position among the inputs.
struct RenderedStep {
    input: usize,
    is_stored: bool,
    rendered: RenderedComponent,
}

/// The distinction between clusters and users: a kubeconfig, or a namespace and a service account.
type ClusterKey = (Option<Vec<u8>>, Option<(String, String)>);

/// The cluster of some Components, as templates see it, and these Components.
struct ClusterSteps {
    server: Server,
    capabilities: Capabilities,
    rendered: Vec<RenderedStep>,
}

/// The Components of the cluster, and those that the batch applies.
#[derive(Clone, Copy)]
struct KnownComponents<'a> {
    stored: &'a BTreeMap<ComponentKey, Component>,
    of_batch: &'a BTreeSet<ComponentKey>,
}

impl KnownComponents<'_> {
    /// Returns the dependencies outside of the batch that are not ready.
    fn unready_dependencies(self, resolved: &ResolvedComponent) -> Vec<String> {
        let component = &resolved.component;
        let mut waiting = Vec::new();
        for dependency in &component.spec.dependencies {
            let key = ComponentKey::of_dependency(dependency, component.namespace());
            if !self.of_batch.contains(&key) {
                let live = self.stored.get(&key);
                waiting.extend(check_dependency(component, &resolved.source, dependency, live).err());
            }
        }
        waiting
    }
}

impl ComponentBatch<'_> {
    /// Plans all Components. Writes nothing.
    /// # Errors
    /// A cycle of dependencies, or all problems of all Components.
    pub async fn plan(&self, purpose: PlanPurpose) -> Result<BatchPlan, BatchError> {
        let order = dependency_order(self.inputs.iter().map(|input| &input.checked.component))?;
        self.plan_some(&order, purpose).await
    }

    /// Applies plans, and waits for each Component. Each one starts once its dependencies are ready, and so do several at
    /// the same time. A Component whose dependencies changed is planned again, unless the plans were `reviewed`: then exactly
    /// these plans are executed.
    /// # Errors
    /// The first problem in the order of the plans. After a problem, no further Component is started.
    pub async fn apply(&self, batch: &mut BatchPlan, reviewed: bool) -> Result<(), BatchError> {
        let mut schedule = Schedule::new(&self.prerequisites(&batch.steps));
        let mut steps: Vec<Option<BatchStep>> = batch.steps.drain(..).map(Some).collect();
        let (mut changed, mut problems) = (BTreeSet::new(), BTreeMap::new());
        let mut running = FuturesUnordered::new();
        let limit = self.runs.targets.hub().max_in_flight();
        loop {
            while problems.is_empty()
                && running.len() < limit
                && let Some(at) = schedule.start()
                && let Some(step) = steps[at].take()
            {
                let component = &self.inputs[step.input].checked.component;
                let is_stale =
                    !reviewed && ComponentKey::of_dependencies(component).any(|key| changed.contains(&key));
                running.push(async move { (at, self.run_step(step, is_stale).await) });
            }
            let Some((at, (step, executed))) = running.next().await else { break };
            match executed {
                Ok(true) => {
                    changed.insert(ComponentKey::of(&self.inputs[step.input].checked.component));
                }
                Ok(false) => {}
                Err(problem) => drop(problems.insert(at, problem)),
            }
            steps[at] = Some(step);
            schedule.complete(at);
        }
        drop(running);
        batch.steps = steps.into_iter().flatten().collect();
        problems.into_values().next().map_or(Ok(()), Err)
    }

    /// Stores the Components of plans, for a controller that applies them. Returns the Components that are not suspended, as
    /// they are stored.
    /// # Errors
    /// The failure of the storage.
    pub async fn store(&self, batch: &BatchPlan) -> Result<Vec<Component>, StoreError> {
        let mut stored = Vec::new();
        for step in &batch.steps {
            let object = &self.inputs[step.input].checked.object;
            match &step.action {
                BatchAction::Apply(plan) if step.is_stored => {
                    if !plan.is_complete() {
                        self.runs.store.request_step(&plan.key).await?;
                    }
                    stored.push(plan.component.clone());
                }
                BatchAction::Apply(plan) => {
                    stored.push(self.runs.store.save_over(object, Some(&plan.component)).await?);
                }
                BatchAction::PlanLater => stored.push(self.runs.store.save(object).await?),
                BatchAction::Suspend(component) => {
                    self.runs.store.save_over(object, Some(component)).await?;
                }
            }
        }
        Ok(stored)
    }

    /// Executes a step, after planning it again if it is stale.
    async fn run_step(&self, mut step: BatchStep, is_stale: bool) -> (BatchStep, Result<bool, BatchError>) {
        if is_stale || matches!(step.action, BatchAction::PlanLater) {
            match Box::pin(self.plan_some(&[step.input], PlanPurpose::Execute)).await {
                Ok(again) => step = again.steps.into_iter().next().unwrap_or(step),
                Err(problem) => return (step, Err(problem)),
            }
        }
        let executed = Box::pin(self.execute(&mut step)).await;
        (step, executed)
    }

    /// Returns for each step the steps that must be completed before it: those of its dependencies, and earlier ones that
    /// write objects of the whole cluster, such as namespaces and definitions.
    fn prerequisites(&self, steps: &[BatchStep]) -> Vec<BTreeSet<usize>> {
        let component = |step: &BatchStep| &self.inputs[step.input].checked.component;
        let positions: BTreeMap<ComponentKey, usize> =
            steps.iter().enumerate().map(|(at, step)| (ComponentKey::of(component(step)), at)).collect();
        let (mut prerequisites, mut of_cluster) = (Vec::new(), Vec::new());
        for (at, step) in steps.iter().enumerate() {
            let needed =
                ComponentKey::of_dependencies(component(step)).filter_map(|key| positions.get(&key).copied());
            prerequisites.push(needed.chain(of_cluster.iter().copied()).collect());
            if let BatchAction::Apply(plan) = &step.action
                && plan.objects.plan.steps.iter().any(|step| step.key.namespace.is_empty())
            {
                of_cluster.push(at);
            }
        }
        prerequisites
    }

    /// Executes a step. Returns true if anything may have changed.
    async fn execute(&self, step: &mut BatchStep) -> Result<bool, BatchError> {
        let object = &self.inputs[step.input].checked.object;
        match &mut step.action {
            BatchAction::PlanLater => Ok(false),
            BatchAction::Apply(plan) if step.is_stored && plan.is_complete() => Ok(false),
            BatchAction::Apply(plan) => {
                let steps = plan.objects.plan.steps.iter();
                let missing = steps.filter(|step| step.unowned && step.action == StepAction::Create);
                let missing: BTreeSet<ObjectKey> = missing.map(|step| step.key.clone()).collect();
                plan.component = self.runs.store.save_over(object, Some(&plan.component)).await?;
                let applied = self.runs.apply(plan).await;
                // The namespace of a Component was created to store it, before its objects.
                for step in &mut plan.objects.plan.steps {
                    if step.action == StepAction::Keep && missing.contains(&step.key) {
                        step.action = StepAction::Create;
                    }
                }
                applied?;
                Ok(true)
            }
            BatchAction::Suspend(component) => {
                let mut saved = self.runs.store.save_over(object, Some(component)).await?;
                self.runs.record(&mut saved, &Outcome::Suspended).await?;
                Ok(false)
            }
        }
    }

    /// Plans the Components at some positions, in this order.
    async fn plan_some(&self, order: &[usize], purpose: PlanPurpose) -> Result<BatchPlan, BatchError> {
        let stored = self.runs.store.list().await?.readable()?;
        let mut stored: BTreeMap<ComponentKey, Component> =
            stored.into_iter().map(|one| (ComponentKey::of(&one), one)).collect();
        let applied =
            self.inputs.iter().map(|input| &input.checked.component).filter(|one| !one.spec.suspend);
        let of_batch: BTreeSet<ComponentKey> = applied.map(ComponentKey::of).collect();
        let mut clusters: BTreeMap<ClusterKey, ClusterSteps> = BTreeMap::new();
        let (mut actions, mut problems) = (BTreeMap::new(), Vec::new());
        for at in order {
            let input = &self.inputs[*at];
            // No other Component of the batch needs it.
            let former = stored.remove(&ComponentKey::of(&input.checked.component));
            let component = preview(&input.checked, former.as_ref());
            // A Component that was applied before its definition is still in a Secret.
            let is_stored = former.as_ref() == Some(&component)
                && component.is_object() == self.runs.store.has_definition();
            drop(former);
            if component.spec.suspend {
                stored.insert(ComponentKey::of(&component), component.clone());
                let action = BatchAction::Suspend(Box::new(component));
                actions.insert(*at, BatchStep { input: *at, is_stored, action });
                continue;
            }
            let mut needed = ComponentKey::of_dependencies(&input.checked.component);
            let waits = order.len() > 1 && needed.any(|key| of_batch.contains(&key));
            let known = KnownComponents { stored: &stored, of_batch: &of_batch };
            match self.render(input, component, known, &mut clusters).await {
                Ok((cluster, rendered)) => {
                    cluster.rendered.push(RenderedStep { input: *at, is_stored, rendered });
                }
                Err(_) if waits && purpose == PlanPurpose::Execute => {
                    let step = BatchStep { input: *at, is_stored, action: BatchAction::PlanLater };
                    actions.insert(*at, step);
                }
                Err(ComponentProblem::Prepare(error)) if waits => {
                    problems.push(ComponentProblem::BeforeDependencies(error));
                }
                Err(problem) => problems.push(problem),
            }
        }
        for cluster in clusters.into_values() {
            for planned in self.plan_on(cluster, purpose).await? {
                match planned {
                    Ok(step) => drop(actions.insert(step.input, step)),
                    Err(problem) => problems.push(problem),
                }
            }
        }
        if !problems.is_empty() {
            return Err(BatchError::Problems { problems });
        }
        Ok(BatchPlan { steps: order.iter().filter_map(|at| actions.remove(at)).collect() })
    }

    /// Renders a Component that may be applied now. Returns it with its cluster.
    async fn render<'c>(
        &self,
        input: &ComponentInput,
        component: Component,
        known: KnownComponents<'_>,
        clusters: &'c mut BTreeMap<ClusterKey, ClusterSteps>,
    ) -> Result<(&'c mut ClusterSteps, RenderedComponent), ComponentProblem> {
        let key = ComponentKey::of(&component);
        if component.metadata.contains_key("deletionTimestamp") {
            return Err(ComponentProblem::Deleting { component: key });
        }
        let hub = self.runs.targets.hub();
        let objects = LayeredObjects { files: &input.files, hub };
        let resolved = self.preparation.resolve(component, &objects).await?;
        let waiting = known.unready_dependencies(&resolved);
        if !waiting.is_empty() {
            return Err(ComponentProblem::Dependencies { component: key, waiting });
        }
        let spec = &resolved.component.spec;
        let account = spec.service_account_name.clone().map(|name| (key.namespace.clone(), name));
        let cluster = match clusters.entry((resolved.references.kubeconfig.clone(), account)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => {
                let kubeconfig = resolved.references.kubeconfig.as_deref();
                let server = self.runs.targets.connect(&resolved.component, kubeconfig).await?;
                let capabilities = server_capabilities(&server).await?;
                free.insert(ClusterSteps { server, capabilities, rendered: Vec::new() })
            }
        };
        let lookup = ClusterLookups::new(cluster.server.clone(), hub.clone(), Handle::current());
        let capabilities = cluster.capabilities.clone();
        let templates = TemplateCluster { capabilities, reader: Some(Arc::new(lookup)) };
        Ok((cluster, self.preparation.render(resolved, templates).await?))
    }

    /// Plans all Components of a cluster. The objects of many Components are read together.
    async fn plan_on(
        &self,
        cluster: ClusterSteps,
        purpose: PlanPurpose,
    ) -> Result<Vec<Result<BatchStep, ComponentProblem>>, ApiError> {
        let kinds = kinds_with_definitions(&cluster).await?;
        let ClusterSteps { server, rendered, .. } = cluster;
        let (mut planned, mut drafts) = (Vec::new(), Vec::new());
        for step in rendered {
            match self.runs.draft(step.rendered, &kinds) {
                Ok(draft) => drafts.push((step.input, step.is_stored, draft)),
                Err(problem) => planned.push(Err(problem.into())),
            }
        }
        planned.extend(shared_objects(drafts.iter().map(|(.., draft)| draft)).into_iter().map(Err));
        let by_name = match purpose {
            PlanPurpose::Show => ReadByName::All,
            PlanPurpose::Execute => ReadByName::Uncompleted,
        };
        let mut namespaces = BTreeSet::new();
        while !drafts.is_empty() {
            let rest = drafts.split_off(drafts.len().min(READ_TOGETHER));
            let targets: Vec<_> = drafts.iter().map(|(.., draft)| draft.observation_target()).collect();
            let live = server.observe_all(&targets, by_name, ReadDetail::Full).await?;
            for ((input, is_stored, draft), live) in drafts.into_iter().zip(live) {
                let plan = match draft.plan(server.clone(), live) {
                    Ok(mut plan) => match purpose {
                        PlanPurpose::Show => self.runs.dry_run(&mut plan).await.map(|()| plan),
                        PlanPurpose::Execute => Ok(plan),
                    },
                    Err(problem) => Err(problem),
                };
                planned.push(plan.map_err(ComponentProblem::from).map(|mut plan| {
                    // The first Component creates a missing namespace.
                    let is_first = |step: &PlanStep| !step.unowned || namespaces.insert(step.key.clone());
                    plan.objects.plan.steps.retain(is_first);
                    if purpose == PlanPurpose::Execute && is_stored && plan.is_complete() {
                        // Nothing is executed, so only the steps are needed.
                        plan.objects = PlannedSet { plan: plan.objects.plan, ..PlannedSet::default() };
                    }
                    let action = BatchAction::Apply(Box::new(plan));
                    BatchStep { input, is_stored, action }
                }));
            }
            drafts = rest;
        }
        Ok(planned)
    }
}

/// Returns the kinds of a cluster, and those that the Components define.
async fn kinds_with_definitions(cluster: &ClusterSteps) -> Result<Arc<ServedKinds>, ApiError> {
    let mut kinds = cluster.server.kinds().await?;
    let objects = cluster.rendered.iter().flat_map(|step| &step.rendered.objects);
    for kind in objects.flat_map(defined_kinds) {
        if kinds.version(&kind.group_kind(), &kind.version).is_none() {
            Arc::make_mut(&mut kinds).add(kind);
        }
    }
    Ok(kinds)
}

/// Returns a Component of a file as the cluster will store it.
fn preview(checked: &CheckedComponent, former: Option<&Component>) -> Component {
    let mut component = checked.component.clone();
    component.metadata.retain(|field, _| !SERVER_FIELDS.contains(&field.as_str()));
    let generation = component.generation_after(former);
    component.status = ComponentStatus::default();
    if let Some(former) = former {
        let own = std::mem::replace(&mut component.metadata, former.metadata.clone());
        merge(&mut component.metadata, own);
        component.status.clone_from(&former.status);
    }
    component.metadata.insert("generation".to_owned(), generation.into());
    component
}

#[cfg(test)]
mod tests;
