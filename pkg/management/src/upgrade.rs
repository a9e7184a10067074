//! Finds newer versions of providers, upgrades to them, and rolls back.

mod choose;
mod definitions;
mod execute;
mod journal;
mod prepare;
mod releases;
mod request;
mod rollback;
mod storage;
mod user_fields;

use api::{
    Contract,
    labels::Labels,
    output::{CertManagerAction, CertManagerPlan, ProgressStep, UnfinishedUpgrade},
};
use apply::{ReadByName, WriteMode};
use inventory::{ContractCheck, ManagementCluster, PreflightProblem, PreflightProblems, ProviderInventory};
use provider::InstalledProvider;

use crate::{
    LifecycleError, LifecyclePlan, LifecycleVerb, NotReady, Sources, UnfinishedPolicy, WaitOptions,
    cert_manager::{plan_cert_manager_for_upgrade, plan_cert_manager_objects, written_objects},
    labels::{add_cert_manager_labels, label_providers},
    preflight::{AccessNeed, check_access},
    sources::WantedProvider,
    unfinished_runs::{CheckedRuns, check_unfinished},
    upgrade::{
        execute::execute_upgrade,
        journal::{delete_journal_leftovers, upgrade_journal},
        prepare::prepare_providers,
    },
};

use choose::{UpgradeChoice, available_upgrades, check_instances, choose_upgrade};
use journal::{UpgradeJournal, UpgradePhase};
use prepare::{PrepareMode, ProviderTarget};
use releases::read_candidates;

pub(crate) use prepare::{live_objects, with_kept_fields};
pub(crate) use user_fields::KeptFields;

pub use choose::NextVersion;
pub use journal::UpgradeError;
pub(crate) use journal::unfinished_upgrade;
pub use request::{UpgradeItem, UpgradeItemError, UpgradeRequest, UpgradeTarget};
pub use rollback::{RollbackPlan, plan_rollback, rollback_upgrade, start_rollback};

/// The contracts that an upgrade can start from.
/// Source: clusterctl v1.14 client/upgrade.go: the current contract, and the previous one.
const CONTRACT_CHECK: ContractCheck = ContractCheck { accepted: &["v1beta2", "v1beta1"], is_optional: false };

/// The available upgrades: the result of `upgrade plan`.
#[derive(Clone, Debug)]
pub struct AvailableUpgrades {
    /// The plan of cert-manager.
    pub cert_manager: CertManagerPlan,
    /// The available contracts in order. Each has every installed provider with its next version, or the
    /// reason why there is none.
    pub contracts: Vec<(Contract, Vec<(InstalledProvider, NextVersion)>)>,
    /// An unfinished upgrade.
    pub unfinished: Option<UnfinishedUpgrade>,
}

/// Finds available upgrades. Writes nothing.
/// # Errors
/// Fails if the cluster cannot be read. Problems of one provider are part of its row.
pub async fn find_upgrades(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
) -> Result<AvailableUpgrades, LifecycleError> {
    cluster.check_contract(CONTRACT_CHECK).await?;
    let inventory = cluster.inventory().await?;
    let unfinished = unfinished_upgrade(cluster, &inventory).await?;
    let cert_manager = plan_cert_manager_for_upgrade(cluster, sources).await?;
    cluster.send_step(ProgressStep::CheckingReleases);
    let candidates = read_candidates(sources, &inventory.providers, None).await;
    Ok(AvailableUpgrades {
        cert_manager,
        contracts: available_upgrades(&candidates),
        unfinished: unfinished.map(|journal| journal.index.report()),
    })
}

/// Fetches, renders, checks, dry-runs and plans. Writes nothing.
/// An unfinished upgrade to the same target is planned to its end, with the versions chosen at its start.
/// # Errors
/// `Problems` with all problems of all providers. `Unfinished` if an upgrade to another target is unfinished.
pub async fn plan_upgrade(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
    request: &UpgradeRequest,
) -> Result<LifecyclePlan, LifecycleError> {
    cluster.check_contract(CONTRACT_CHECK).await?;
    let inventory = cluster.inventory().await?;
    fail_on_problems(check_instances(&inventory))?;
    let abandon_warnings =
        check_unfinished(cluster, &inventory, CheckedRuns::MovesAndRestores, request.unfinished).await?;
    let UpgradeChoice { items, mut warnings } =
        Box::pin(choose_versions(cluster, sources, &inventory, request)).await?;
    warnings.extend(abandon_warnings);
    let mut queue = Box::pin(sources.render_all(&wanted_providers(&items)))
        .await
        .map_err(|errors| LifecycleError::Resolve { verb: LifecycleVerb::Upgrade, errors })?;
    let mut labels = label_providers(&inventory, &Labels::new(), &mut queue);
    warnings.extend(queue.iter().flat_map(|rendered| rendered.warnings.iter().cloned()));
    let cert_manager = if request.options.skip_cert_manager {
        CertManagerPlan::default()
    } else {
        Box::pin(plan_cert_manager_for_upgrade(cluster, sources)).await?
    };
    if cert_manager.action == CertManagerAction::Keep {
        cluster.send_step(ProgressStep::CertManagerUpToDate);
    }
    add_cert_manager_labels(&inventory, &Labels::new(), &cert_manager, &mut labels);
    let mut problems = Vec::new();
    {
        let cert_manager_objects_to_write = Box::pin(written_objects(&cert_manager, sources)).await?;
        Box::pin(check_access(
            cluster,
            sources,
            &queue,
            &cert_manager_objects_to_write,
            AccessNeed::Replace,
            &mut problems,
        ))
        .await?;
    }
    let kept_fields =
        KeptFields { replicas: request.options.keep_replicas, placement: request.options.keep_placement };
    let by_name = if request.server_dry_run { ReadByName::All } else { ReadByName::Applied };
    let mode = PrepareMode::DryRun { keep: kept_fields, by_name };
    let targets = items.into_iter().zip(queue).map(|((installed, to), rendered)| ProviderTarget {
        installed,
        to,
        kustomization: rendered.kustomization,
        objects: rendered.objects,
    });
    let prepared = match Box::pin(prepare_providers(cluster, targets.collect(), mode)).await {
        Ok(prepared) => prepared,
        Err(LifecycleError::Problems(more)) => {
            problems.extend(more.problems);
            Vec::new()
        }
        Err(error) => {
            // Earlier problems may explain the error.
            fail_on_problems(problems)?;
            return Err(error);
        }
    };
    fail_on_problems(problems)?;
    let (providers, provider_warnings): (Vec<_>, Vec<_>) = prepared.into_iter().unzip();
    warnings.extend(provider_warnings.into_iter().flatten());
    let mut plan = LifecyclePlan {
        cert_manager,
        providers,
        labels,
        warnings,
        ..LifecyclePlan::empty(LifecycleVerb::Upgrade, &inventory)
    };
    if request.server_dry_run {
        Box::pin(plan_cert_manager_objects(cluster, &mut plan, sources)).await?;
    }
    Ok(plan)
}

/// Returns the upgrade to execute: the choice of an unfinished upgrade, or else a new choice.
async fn choose_versions(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
    inventory: &ProviderInventory,
    request: &UpgradeRequest,
) -> Result<UpgradeChoice, LifecycleError> {
    let journal = unfinished_upgrade(cluster, inventory).await?;
    if let Some(journal) = journal {
        return Ok(journal.index.choice(inventory, request, sources.overlays)?);
    }
    let candidates = read_candidates(sources, &inventory.providers, Some(&request.target)).await;
    Ok(choose_upgrade(&candidates, request).map_err(|problems| PreflightProblems { problems })?)
}

/// Returns the new versions, each in the namespace of its provider.
fn wanted_providers(items: &[(InstalledProvider, String)]) -> Vec<WantedProvider> {
    let one = |(installed, to): &(InstalledProvider, String)| WantedProvider {
        id: installed.id.clone(),
        version: Some(to.clone()),
        namespace: Some(installed.namespace.clone()),
    };
    items.iter().map(one).collect()
}

fn fail_on_problems(problems: Vec<PreflightProblem>) -> Result<(), PreflightProblems> {
    if problems.is_empty() { Ok(()) } else { Err(PreflightProblems { problems }) }
}

/// Executes a plan with a journal. Returns the objects that are not ready in time, if that is no failure.
/// # Errors
/// Finished steps stay and are in the journal. Another call with a new plan resumes the upgrade, and
/// [`rollback_upgrade`] rolls back.
pub async fn upgrade(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
    request: &UpgradeRequest,
    plan: &mut LifecyclePlan,
) -> Result<Option<NotReady>, LifecycleError> {
    cluster.send_step(ProgressStep::PerformingUpgrade);
    Box::pin(execute_upgrade(cluster, sources, request, plan)).await
}

/// The remaining work of an unfinished upgrade.
pub enum ResumePlan {
    /// The upgrade to the chosen versions.
    Upgrade {
        /// The request at the start of the upgrade.
        request: Box<UpgradeRequest>,
        /// The plan with the remaining and the finished providers.
        plan: Box<LifecyclePlan>,
    },
    /// The unfinished rollback.
    Rollback(Box<RollbackPlan>),
}

impl ResumePlan {
    /// Returns the plan of either direction.
    pub fn plan(&self) -> &LifecyclePlan {
        match self {
            Self::Upgrade { plan, .. } => plan,
            Self::Rollback(back) => &back.plan,
        }
    }
}

/// Plans the rest of an unfinished upgrade or rollback. Writes nothing.
/// Reads every object by name if `thorough`.
/// # Errors
/// `NoJournal` if no upgrade is unfinished.
pub async fn plan_resume(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
    wait: WaitOptions,
    unfinished: UnfinishedPolicy,
    server_dry_run: bool,
) -> Result<ResumePlan, LifecycleError> {
    let inventory = cluster.inventory().await?;
    let journal = unfinished_upgrade(cluster, &inventory).await?;
    let journal = journal.ok_or(UpgradeError::NoJournal { verb: "resume" })?;
    if journal.index.phase == UpgradePhase::RollingBack {
        let rollback = Box::pin(plan_rollback(cluster, unfinished)).await?;
        return Ok(ResumePlan::Rollback(Box::new(rollback)));
    }
    let request = UpgradeRequest { server_dry_run, unfinished, ..journal.index.request(wait) };
    let plan = Box::pin(plan_upgrade(cluster, sources, &request)).await?;
    Ok(ResumePlan::Upgrade { request: Box::new(request), plan: Box::new(plan) })
}

/// Resumes an unfinished upgrade or rollback.
/// # Errors
/// The errors of [`upgrade`] and [`rollback_upgrade`].
pub async fn resume_upgrade(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
    plan: &mut ResumePlan,
    wait: WaitOptions,
) -> Result<Option<NotReady>, LifecycleError> {
    match plan {
        ResumePlan::Upgrade { request, plan } => upgrade(cluster, sources, request, plan).await,
        ResumePlan::Rollback(plan) => Box::pin(rollback_upgrade(cluster, plan, wait)).await,
    }
}

/// Deletes the journal of an unfinished upgrade and returns its state. The changes stay. A dry run writes nothing.
/// # Errors
/// `NoJournal` if no upgrade is unfinished.
pub async fn abort_upgrade(
    cluster: &ManagementCluster,
    mode: WriteMode,
) -> Result<UnfinishedUpgrade, LifecycleError> {
    let inventory = cluster.inventory().await?;
    let journal = upgrade_journal(cluster, &inventory).await?;
    if journal.is_none() && mode == WriteMode::Real {
        delete_journal_leftovers(cluster, &inventory).await?;
    }
    let journal =
        journal.filter(UpgradeJournal::is_unfinished).ok_or(UpgradeError::NoJournal { verb: "abort" })?;
    let state = journal.index.report();
    if mode == WriteMode::Real {
        journal.delete().await?;
    }
    Ok(state)
}

#[cfg(test)]
mod tests;
