//! Installs the first providers, or adds providers to an existing installation.

mod queue;

use std::{collections::BTreeMap, time::Instant};

use api::{
    Contract,
    labels::Labels,
    output::{CertManagerAction, CertManagerPlan, ProgressStep},
};
use apply::{
    ApiError, ApiKind, ApplySet, DesiredSet, Engine, EngineError, LiveObjects, ObjectKey, PlanStep,
    ReadByName, ServedKinds, StepAction, build_desired_set, defined_kinds,
};
use futures::future::try_join_all;
use inventory::{
    ContractCheck, ManagementCluster, PreflightProblem, PreflightProblems, ProviderInventory, known_kind,
};
use manifest::Object;
use provider::InstalledProvider;

use crate::{
    CertManagerError, LifecycleError, LifecyclePlan, LifecycleVerb, NotReady, ProviderPlan, ProvidersRequest,
    RenderedProvider, Sources, UnfinishedPolicy, WaitOptions,
    applied::read_applied,
    cert_manager::{
        cert_manager_manifest, execute_cert_manager, plan_cert_manager_for_init, plan_cert_manager_objects,
        written_objects,
    },
    execute::{ProviderPosition, execute_provider, wait_if_requested},
    labels::{add_cert_manager_labels, label_providers},
    preflight::{AccessNeed, check_access, check_providers},
    provider_set::{marks, options, read_recorded_set, set_policies},
    status::{add_drift_reasons, clear_drifted_digests},
    unfinished_runs::{CheckedRuns, check_unfinished},
    upgrade::{KeptFields, with_kept_fields},
};

use queue::ProviderSelection;

/// The options of `init`.
#[derive(Clone, Debug)]
pub struct InitRequest {
    /// The named providers. Types disabled with `-` are in `declined`.
    pub providers: ProvidersRequest,
    /// Types without a default provider in a first installation.
    pub declined: Vec<api::ProviderType>,
    /// The namespace of all providers. `None` for the default namespace of each.
    pub target_namespace: Option<String>,
    /// Labels for every object, in addition to those of earlier runs.
    pub labels: Labels,
    /// True if ignorable problems stop the run.
    pub validate: bool,
    /// The wait at the end of the run.
    pub wait: WaitOptions,
    /// True if every object is dry-run first, to show the result.
    pub server_dry_run: bool,
    /// The reaction to an unfinished upgrade or move.
    pub unfinished: UnfinishedPolicy,
}

/// Fetches, renders, checks and plans. Writes nothing.
/// # Errors
/// All problems of all providers at once: rendering errors first, then other problems.
pub async fn plan_init(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
    request: &InitRequest,
) -> Result<LifecyclePlan, LifecycleError> {
    let (inventory, contract) = futures::join!(Box::pin(cluster.inventory()), Box::pin(cluster.contract()));
    let (inventory, contract) = (inventory?, contract?);
    accepted_contracts(&inventory).check(contract.clone())?;
    let abandon_warnings =
        check_unfinished(cluster, &inventory, CheckedRuns::All, request.unfinished).await?;
    let ProviderSelection { wanted, mut warnings } = queue::select_providers(&inventory, request);
    warnings.extend(abandon_warnings);

    cluster.send_step(ProgressStep::FetchingProviders);
    let mut rendered = Box::pin(sources.render_all(&wanted))
        .await
        .map_err(|errors| LifecycleError::Resolve { verb: LifecycleVerb::Init, errors })?;
    let mut labels = label_providers(&inventory, &request.labels, &mut rendered);
    let (queue, interrupted) = Box::pin(queue::drop_complete(cluster, &inventory, rendered, &labels)).await?;
    warnings.extend(interrupted);
    warnings.extend(queue.iter().flat_map(|provider| provider.warnings.iter().cloned()));
    labels.retain(|owner, _| queue.iter().any(|provider| provider.id.label() == *owner));

    let mut problems = check_queue(sources, &inventory, &queue).await;
    let cert_manager = Box::pin(plan_cert_manager_for_init(cluster, sources)).await?;
    add_cert_manager_labels(&inventory, &request.labels, &cert_manager, &mut labels);
    let is_admin = {
        // A release that cannot be read is reported later, when its kinds are read.
        let cert_manager_objects_to_write =
            Box::pin(written_objects(&cert_manager, sources)).await.unwrap_or_default();
        let writes_nothing = queue.is_empty() && cert_manager_objects_to_write.is_empty();
        writes_nothing
            || Box::pin(check_access(
                cluster,
                sources,
                &queue,
                &cert_manager_objects_to_write,
                AccessNeed::Install,
                &mut problems,
            ))
            .await?
    };
    let planning = InitPlanner {
        cluster,
        inventory: &inventory,
        is_fresh: !inventory.is_defined && contract.is_none(),
        is_admin,
        server_dry_run: request.server_dry_run,
    };
    let providers = match Box::pin(planning.plan(sources, &cert_manager, &queue, &mut problems)).await {
        Ok(providers) => providers,
        Err(error) => {
            // Earlier problems explain the error.
            ignorable_problems(problems, request.validate)?;
            return Err(error);
        }
    };
    let ignored = ignorable_problems(problems, request.validate)?;
    let mut plan = LifecyclePlan {
        cert_manager,
        providers,
        labels,
        ignored,
        warnings,
        ..LifecyclePlan::empty(LifecycleVerb::Init, &inventory)
    };
    if request.server_dry_run {
        Box::pin(plan_cert_manager_objects(cluster, &mut plan, sources)).await?;
    }
    Ok(plan)
}

/// Returns the contracts that an existing installation accepts.
///
/// An interrupted first installation of an older core provider may also be finished on an older contract.
fn accepted_contracts(inventory: &ProviderInventory) -> ContractCheck {
    let accepted: &[&str] =
        if inventory.unfinished.is_some() { &Contract::COMPATIBLE } else { &[Contract::CURRENT] };
    ContractCheck { accepted, is_optional: true }
}

async fn check_queue(
    sources: &Sources<'_>,
    inventory: &ProviderInventory,
    queue: &[RenderedProvider],
) -> Vec<PreflightProblem> {
    if queue.is_empty() {
        return Vec::new();
    }
    let others = queue::without_queued(inventory, queue);
    let mut problems = Vec::new();
    let mut core_contract = None;
    if let Some(core) = others.core_provider() {
        match Box::pin(sources.contract_of(&core.id, &core.version)).await {
            Ok(contract) => core_contract = Some(contract),
            Err(error) => problems.push(PreflightProblem::ignorable(
                format!("cannot determine the contract of the core provider: {}", api::with_causes(&error)),
                "check the URL of the core provider in clusterctl.yaml",
            )),
        }
    }
    problems.extend(check_providers(&others, queue, core_contract.as_ref()));
    problems
}

/// Returns the problems if all of them can be ignored and `validate` is off.
fn ignorable_problems(
    problems: Vec<PreflightProblem>,
    validate: bool,
) -> Result<Vec<PreflightProblem>, PreflightProblems> {
    let stops = problems.iter().any(|problem| validate || !problem.can_be_ignored);
    if stops { Err(PreflightProblems { problems }) } else { Ok(problems) }
}

/// Executes a plan. Returns true for the first installation, and the objects that are not ready in time if
/// that is no failure.
///
/// The labels, and the providers of the first installation, are recorded before any other write. After an interruption,
/// the same command resumes the installation.
/// # Errors
/// `NotReady` also if objects of one wave are not ready that the next wave needs.
pub async fn init(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
    request: &InitRequest,
    plan: &mut LifecyclePlan,
) -> Result<(bool, Option<NotReady>), LifecycleError> {
    let inventory = cluster.inventory().await?;
    let is_first = queue::is_first_installation(&inventory);
    if !plan.providers.is_empty() || !plan.labels.is_empty() {
        let recorded: Vec<InstalledProvider> =
            plan.providers.iter().map(ProviderPlan::installed_after).collect();
        let labels = inventory.labels.into_iter().chain(plan.labels.clone()).collect();
        cluster.define_inventory(is_first.then_some(&recorded), &labels).await?;
    }
    let timeout = sources.config.cert_manager().map_err(CertManagerError::from)?.timeout;
    Box::pin(execute_cert_manager(cluster, plan, sources, Instant::now() + timeout)).await?;
    let of = plan.providers.len();
    for (provider, number) in plan.providers.iter_mut().zip(1..) {
        let position = ProviderPosition { number, total: of };
        Box::pin(execute_provider(cluster, plan.verb, provider, position, request.wait)).await?;
    }
    let not_ready = wait_if_requested(cluster, &plan.providers, request.wait).await?;
    if is_first {
        cluster.finish_first_installation().await?;
    }
    Ok((is_first, not_ready))
}

/// Kinds of cert-manager whose objects providers bring.
const CERT_MANAGER_KINDS: [(&str, &str, bool); 3] = [
    ("Certificate", "certificates", true),
    ("ClusterIssuer", "clusterissuers", false),
    ("Issuer", "issuers", true),
];

/// The circumstances that decide how many objects the plan reads.
struct InitPlanner<'a> {
    cluster: &'a ManagementCluster,
    inventory: &'a ProviderInventory,
    /// True if Cluster API was never installed. Then every object is new, or its write reports that it exists.
    is_fresh: bool,
    /// True if the user may do everything. Then no write of a new object lacks a permission.
    is_admin: bool,
    server_dry_run: bool,
}

/// A provider with its desired objects.
struct DesiredProvider<'q> {
    provider: &'q RenderedProvider,
    desired: DesiredSet,
}

impl InitPlanner<'_> {
    /// Plans all providers of the queue in order, and adds problems of any provider to `problems`.
    async fn plan(
        &self,
        sources: &Sources<'_>,
        cert_manager: &CertManagerPlan,
        queue: &[RenderedProvider],
        problems: &mut Vec<PreflightProblem>,
    ) -> Result<Vec<ProviderPlan>, LifecycleError> {
        let kinds = self.kinds(sources, cert_manager).await?;
        let (ready, kinds) = build_desired(queue, kinds, problems);
        problems.extend(duplicate_objects(&ready));
        let planned = try_join_all(ready.into_iter().map(|ready| self.plan_one(ready, &kinds))).await?;
        let mut plans = Vec::with_capacity(planned.len());
        for result in planned {
            match result {
                Ok(plan) => plans.push(plan),
                Err(more) => problems.extend(more),
            }
        }
        Ok(plans)
    }

    /// Returns the served kinds and those that cert-manager will define.
    /// Reads the manifest of cert-manager early, so that an unreadable release does not stop the run halfway.
    async fn kinds(
        &self,
        sources: &Sources<'_>,
        cert_manager: &CertManagerPlan,
    ) -> Result<ServedKinds, LifecycleError> {
        let mut kinds = ServedKinds::clone(&*self.cluster.server.kinds().await?);
        match cert_manager.action {
            CertManagerAction::Install | CertManagerAction::Upgrade => {
                let manifest = cert_manager_manifest(sources).await.map_err(CertManagerError::from)?;
                add_defined_kinds(&mut kinds, &manifest.objects);
            }
            CertManagerAction::External => cert_manager_kinds().for_each(|kind| kinds.add(kind)),
            CertManagerAction::None | CertManagerAction::Keep => {}
        }
        Ok(kinds)
    }

    async fn plan_one(
        &self,
        ready: DesiredProvider<'_>,
        kinds: &ServedKinds,
    ) -> Result<Result<ProviderPlan, Vec<PreflightProblem>>, ApiError> {
        let DesiredProvider { provider, mut desired } = ready;
        let (id, namespace) = (&provider.id, &provider.namespace);
        let installed = self.inventory.entries_of(id).find(|installed| installed.namespace == *namespace);
        let mut set = self.applied_set(provider, installed).await?;
        let (marks, options) = (marks(id), options(namespace));
        let engine = Engine { server: &self.cluster.server, marks: &marks, options: &options };
        let live = self.observe(&engine, &set, &desired).await?;
        let mut drifted = Vec::new();
        if installed.is_some() {
            drifted = clear_drifted_digests(&mut set, &live, &marks);
            desired = with_user_fields(provider, desired, &live, kinds);
        }
        let mut objects = match engine.plan(set, desired, live) {
            Ok(planned) => planned,
            Err(impossible) => {
                return Ok(Err(impossible.iter().map(|why| install_problem(provider, why)).collect()));
            }
        };
        add_drift_reasons(&mut objects.plan, &drifted);
        match engine.dry_run(&mut objects, |step| self.needs_dry_run(step)).await {
            Ok(()) => {}
            Err(EngineError::Api(error)) => return Err(error),
            Err(error) => return Ok(Err(dry_run_problems(provider, &error))),
        }
        let from = installed.map(|installed| installed.version.clone());
        if from.as_ref() == Some(&provider.version) {
            objects.keep_unchanged();
        }
        Ok(Ok(ProviderPlan {
            id: id.clone(),
            namespace: namespace.clone(),
            from,
            to: Some(provider.version.clone()),
            kustomization: provider.kustomization.clone(),
            objects,
        }))
    }

    /// Reads the live objects. On a fresh cluster nothing is read unless every object is dry-run.
    async fn observe(
        &self,
        engine: &Engine<'_>,
        set: &ApplySet,
        desired: &DesiredSet,
    ) -> Result<LiveObjects, ApiError> {
        match (self.is_fresh, self.server_dry_run) {
            (true, false) => Ok(LiveObjects::default()),
            (false, false) => engine.observe(set, desired, ReadByName::Applied).await,
            (_, true) => engine.observe(set, desired, ReadByName::All).await,
        }
    }

    /// Returns the applied objects of an installed provider, or those of an interrupted run.
    async fn applied_set(
        &self,
        provider: &RenderedProvider,
        installed: Option<&InstalledProvider>,
    ) -> Result<ApplySet, ApiError> {
        if let Some(installed) = installed {
            let mut applied = read_applied(self.cluster, std::slice::from_ref(installed)).await?;
            return Ok(applied.pop().map(|applied| applied.set).unwrap_or_default());
        }
        if self.is_fresh {
            return Ok(ApplySet::default());
        }
        let recorded = read_recorded_set(self.cluster, &provider.id, &provider.namespace).await?;
        Ok(recorded.map(|(set, _)| set).unwrap_or_default())
    }

    /// True if the step is dry-run first. This covers changes of existing objects, and cluster-scoped objects
    /// that a user without admin rights creates. The privilege escalation rules of RBAC cannot be checked as
    /// permissions.
    fn needs_dry_run(&self, step: &PlanStep) -> bool {
        match step.action {
            StepAction::Update | StepAction::Adopt | StepAction::Recreate => true,
            StepAction::Create => self.server_dry_run || (!self.is_admin && step.key.namespace.is_empty()),
            _ => false,
        }
    }
}

/// Prepares the objects of all providers. Each provider may use kinds that earlier providers define.
/// Returns the known kinds too.
fn build_desired<'q>(
    queue: &'q [RenderedProvider],
    mut kinds: ServedKinds,
    problems: &mut Vec<PreflightProblem>,
) -> (Vec<DesiredProvider<'q>>, ServedKinds) {
    let mut all = Vec::with_capacity(queue.len());
    for provider in queue {
        let (marks, options) = (marks(&provider.id), options(&provider.namespace));
        match build_desired_set(provider.objects.clone(), &kinds, &marks, &options) {
            Ok(mut desired) => {
                set_policies(&mut desired);
                all.push(DesiredProvider { provider, desired });
            }
            Err(bad) => problems.extend(bad.iter().map(|why| install_problem(provider, why))),
        }
        add_defined_kinds(&mut kinds, &provider.objects);
    }
    (all, kinds)
}

/// Returns the desired objects with the fields that users set on live Deployments.
fn with_user_fields(
    provider: &RenderedProvider,
    desired: DesiredSet,
    live: &LiveObjects,
    kinds: &ServedKinds,
) -> DesiredSet {
    let Some(objects) = with_kept_fields(&provider.objects, &desired, live, KeptFields::ALL) else {
        return desired;
    };
    let (marks, options) = (marks(&provider.id), options(&provider.namespace));
    // Preparation succeeded before and only fields of Deployments changed, so it succeeds again.
    let Ok(mut kept) = build_desired_set(objects, kinds, &marks, &options) else { return desired };
    set_policies(&mut kept);
    kept
}

/// Returns a problem for each object that several providers bring. Providers may share a Namespace.
fn duplicate_objects(ready: &[DesiredProvider<'_>]) -> Vec<PreflightProblem> {
    let mut first: BTreeMap<&ObjectKey, &RenderedProvider> = BTreeMap::new();
    let mut problems = Vec::new();
    for DesiredProvider { provider, desired } in ready {
        for key in desired.objects.iter().map(|object| &object.key).filter(|key| !key.is_namespace()) {
            if let Some(other) = first.insert(key, provider) {
                let RenderedProvider { id, version, .. } = provider;
                problems.push(PreflightProblem::fatal(format!(
                    "cannot install `{id}` {version}: `{}` also contains {key}",
                    other.id
                )));
            }
        }
    }
    problems
}

fn add_defined_kinds(kinds: &mut ServedKinds, objects: &[Object]) {
    objects.iter().flat_map(defined_kinds).for_each(|kind| kinds.add(kind));
}

fn cert_manager_kinds() -> impl Iterator<Item = ApiKind> {
    CERT_MANAGER_KINDS
        .iter()
        .map(|(kind, plural, namespaced)| known_kind("cert-manager.io", "v1", kind, plural, *namespaced))
}

fn install_problem(provider: &RenderedProvider, why: &dyn std::error::Error) -> PreflightProblem {
    PreflightProblem::fatal(format!(
        "cannot install `{}` {}: {}",
        provider.id,
        provider.version,
        api::with_causes(why)
    ))
}

fn dry_run_problems(provider: &RenderedProvider, error: &EngineError) -> Vec<PreflightProblem> {
    match error {
        EngineError::Writes { failed } => {
            failed.iter().map(|(_, why)| install_problem(provider, why)).collect()
        }
        EngineError::Plan { objects } => objects.iter().map(|why| install_problem(provider, why)).collect(),
        other => vec![install_problem(provider, other)],
    }
}

#[cfg(test)]
mod tests;
