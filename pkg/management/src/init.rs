//! Installs the first providers, or adds providers to an existing installation.

mod planning;
mod queue;

use std::time::Instant;

use api::{Contract, labels::Labels, output::ProgressStep};
use inventory::{ContractCheck, ManagementCluster, PreflightProblem, PreflightProblems, ProviderInventory};
use provider::InstalledProvider;

use crate::{
    CertManagerError, LifecycleError, LifecyclePlan, LifecycleVerb, NotReady, ProviderPlan, ProvidersRequest,
    RenderedProvider, Sources, UnfinishedPolicy, WaitOptions,
    cert_manager::{
        execute_cert_manager, plan_cert_manager_for_init, plan_cert_manager_objects, written_objects,
    },
    execute::{ProviderPosition, execute_provider, wait_if_requested},
    labels::{add_cert_manager_labels, label_providers},
    preflight::{AccessNeed, check_access, check_providers},
    unfinished_runs::{CheckedRuns, check_unfinished},
};

use planning::InitPlanner;
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

#[cfg(test)]
mod tests;
