//! Installs the first providers, or adds providers to an existing installation.

mod again;
mod planning;
mod queue;

use std::time::Instant;

use api::{Contract, output::ProgressStep};
use inventory::{ContractCheck, ManagementCluster, PreflightProblem, PreflightProblems, ProviderInventory};
use provider::InstalledProvider;

use crate::{
    CertManagerError, LifecycleError, LifecyclePlan, NotReady, OnUnfinished, ProviderPlan, ProvidersRequest,
    RenderedProvider, Sources, Verb, WaitFor,
    carry_out::{Position, carry_out_provider, wait_as_asked},
    cert_manager::{
        carry_out_cert_manager, plan_cert_manager_for_init, plan_cert_manager_objects, written_objects,
    },
    init::again::not_whole,
    preflight::{Need, check_access, check_providers},
    unfinished::{Unfinished, check_unfinished},
};

use planning::Planning;
use queue::Selection;

/// The options of `init`.
#[derive(Clone, Debug)]
pub struct InitRequest {
    /// The named providers. Types disabled with `-` are in `declined`.
    pub providers: ProvidersRequest,
    /// Types without a default provider in a first installation.
    pub declined: Vec<api::ProviderType>,
    /// The namespace of all providers. `None` for the default namespace of each.
    pub target_namespace: Option<String>,
    /// True if ignorable problems stop the run.
    pub validate: bool,
    /// The wait at the end of the run.
    pub wait: WaitFor,
    /// True if every object is dry-run first, to show the result.
    pub thorough: bool,
    /// The reaction to an unfinished upgrade or move.
    pub unfinished: OnUnfinished,
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
    accepted(&inventory).check(contract.clone())?;
    let abandoned = check_unfinished(cluster, &inventory, Unfinished::All, request.unfinished).await?;
    let Selection { wanted, mut warnings } = queue::select(&inventory, request);
    warnings.extend(abandoned);

    cluster.send_step(ProgressStep::FetchingProviders);
    let rendered = Box::pin(sources.render_all(&wanted))
        .await
        .map_err(|errors| LifecycleError::Resolve { verb: Verb::Init, errors })?;
    let (not_whole, half_way) = Box::pin(not_whole(cluster, &inventory, &rendered)).await?;
    warnings.extend(half_way);
    let queue = queue::drop_installed(&inventory, &not_whole, rendered);
    warnings.extend(queue.iter().flat_map(|provider| provider.warnings.iter().cloned()));

    let mut problems = check_queue(sources, &inventory, &queue).await;
    let cert_manager = Box::pin(plan_cert_manager_for_init(cluster, sources)).await?;
    let is_admin = {
        // A release that cannot be read is reported later, when its kinds are read.
        let its_objects = Box::pin(written_objects(&cert_manager, sources)).await.unwrap_or_default();
        let writes_nothing = queue.is_empty() && its_objects.is_empty();
        writes_nothing
            || Box::pin(check_access(cluster, sources, &queue, &its_objects, Need::Install, &mut problems))
                .await?
    };
    let planning = Planning {
        cluster,
        inventory: &inventory,
        is_fresh: !inventory.is_defined && contract.is_none(),
        is_admin,
        thorough: request.thorough,
    };
    let providers = match Box::pin(planning.plan(sources, &cert_manager, &queue, &mut problems)).await {
        Ok(providers) => providers,
        Err(error) => {
            // Earlier problems explain the error.
            ignored(problems, request.validate)?;
            return Err(error);
        }
    };
    let ignored = ignored(problems, request.validate)?;
    let cert_manager_objects = if request.thorough {
        Box::pin(plan_cert_manager_objects(cluster, &cert_manager, sources)).await?
    } else {
        None
    };
    Ok(LifecyclePlan {
        verb: Verb::Init,
        cert_manager,
        cert_manager_objects,
        providers,
        ignored,
        warnings,
        unfinished_init: inventory.unfinished.is_some(),
    })
}

/// Returns the contracts that an existing installation accepts.
///
/// An interrupted first installation of an older core provider may also be finished on an older contract.
fn accepted(inventory: &ProviderInventory) -> ContractCheck {
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
    let others = queue::without(inventory, queue);
    let mut problems = Vec::new();
    let mut core_contract = None;
    if let Some(core) = others.core_provider() {
        match Box::pin(sources.contract_of(&core.id, &core.version)).await {
            Ok(contract) => core_contract = Some(contract),
            Err(error) => problems.push(PreflightProblem::ignorable(
                format!("cannot tell the contract of the core provider: {}", api::with_causes(&error)),
                "check the url of the core provider in clusterctl.yaml",
            )),
        }
    }
    problems.extend(check_providers(&others, queue, core_contract.as_ref()));
    problems
}

/// Returns the problems if all of them can be ignored and `validate` is off.
fn ignored(
    problems: Vec<PreflightProblem>,
    validate: bool,
) -> Result<Vec<PreflightProblem>, PreflightProblems> {
    let stops = problems.iter().any(|problem| validate || !problem.can_be_ignored);
    if stops { Err(PreflightProblems { problems }) } else { Ok(problems) }
}

/// Executes a plan. Returns true for the first installation, and the objects that are not ready in time if
/// that is no failure.
///
/// The first installation records its providers before any other write and until it is complete. After an
/// interruption, the same command resumes it.
/// # Errors
/// `NotReady` also if objects of one wave are not ready that the next wave needs.
pub async fn init(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
    request: &InitRequest,
    plan: &mut LifecyclePlan,
) -> Result<(bool, Option<NotReady>), LifecycleError> {
    let inventory = cluster.inventory().await?;
    let is_first = queue::is_first(&inventory);
    if !plan.providers.is_empty() {
        let begun: Vec<InstalledProvider> = plan.providers.iter().map(ProviderPlan::as_it_becomes).collect();
        cluster.define_inventory(is_first.then_some(&begun)).await?;
    }
    let patience = sources.config.cert_manager().map_err(CertManagerError::from)?.timeout;
    let (cert_manager, objects) = (&plan.cert_manager, &mut plan.cert_manager_objects);
    let until = Instant::now() + patience;
    Box::pin(carry_out_cert_manager(cluster, cert_manager, objects, sources, until)).await?;
    let of = plan.providers.len();
    for (provider, number) in plan.providers.iter_mut().zip(1..) {
        let position = Position { number, of };
        Box::pin(carry_out_provider(cluster, plan.verb, provider, position, request.wait)).await?;
    }
    let not_ready = wait_as_asked(cluster, &plan.providers, request.wait).await?;
    if is_first {
        cluster.finish_first_installation().await?;
    }
    Ok((is_first, not_ready))
}

#[cfg(test)]
mod tests;
