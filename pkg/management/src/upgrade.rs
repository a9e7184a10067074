//! Finds newer versions of providers, upgrades to them, and rolls back.

mod carry_out;
mod choose;
mod definitions;
mod journal;
mod keep;
mod prepare;
mod releases;
mod request;
mod rollback;
mod storage;

use api::{
    Contract,
    output::{CertManagerAction, CertManagerPlan, ProgressStep},
};
use apply::{ReadByName, WriteMode};
use inventory::{ContractCheck, ManagementCluster, PreflightProblem, PreflightProblems, ProviderInventory};
use provider::InstalledProvider;

use crate::{
    LifecycleError, LifecyclePlan, NotReady, OnUnfinished, Sources, Verb, WaitFor,
    cert_manager::{plan_cert_manager_for_upgrade, plan_cert_manager_objects, written_objects},
    preflight::{Need, check_access},
    sources::Wanted,
    unfinished::{Unfinished, check_unfinished},
    upgrade::{
        carry_out::carry_out_upgrade,
        journal::{clear_remains_of_journal, upgrade_journal},
        prepare::prepare,
    },
};

use choose::{Choice, check_instances, choose, outlook};
use journal::{Journal, Phase};
use prepare::{Look, Next};
use releases::look_up;

pub(crate) use keep::Keep;
pub(crate) use prepare::with_kept_fields;

pub use choose::NextVersion;
pub(crate) use journal::unfinished_upgrade;
pub use journal::{JournalState, UpgradeError};
pub use request::{InvalidUpgradeItem, UpgradeItem, UpgradeRequest, UpgradeTarget};
pub use rollback::{RollbackPlan, begin_rollback, plan_rollback, rollback_upgrade};

/// The contracts that an upgrade can start from.
/// Source: clusterctl v1.14 client/upgrade.go: the current contract, and the previous one.
const FROM: ContractCheck = ContractCheck { accepted: &["v1beta2", "v1beta1"], is_optional: false };

/// The available upgrades: the result of `upgrade plan`.
#[derive(Clone, Debug)]
pub struct UpgradeOutlook {
    /// The plan of cert-manager.
    pub cert_manager: CertManagerPlan,
    /// The available contracts in order. Each has every installed provider with its next version, or the
    /// reason why there is none.
    pub contracts: Vec<(Contract, Vec<(InstalledProvider, NextVersion)>)>,
    /// An unfinished upgrade.
    pub unfinished: Option<JournalState>,
}

/// Finds available upgrades. Writes nothing.
/// # Errors
/// Fails if the cluster cannot be read. Problems of one provider are part of its row.
pub async fn upgrade_outlook(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
) -> Result<UpgradeOutlook, LifecycleError> {
    cluster.check_contract(FROM).await?;
    let inventory = cluster.inventory().await?;
    let unfinished = unfinished_upgrade(cluster, &inventory).await?;
    let cert_manager = plan_cert_manager_for_upgrade(cluster, sources).await?;
    cluster.send_step(ProgressStep::CheckingReleases);
    let candidates = look_up(sources, &inventory.providers, None).await;
    Ok(UpgradeOutlook {
        cert_manager,
        contracts: outlook(&candidates),
        unfinished: unfinished.map(|journal| journal.index.state()),
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
    cluster.check_contract(FROM).await?;
    let inventory = cluster.inventory().await?;
    refuse(check_instances(&inventory))?;
    let abandoned = check_unfinished(cluster, &inventory, Unfinished::Moves, request.unfinished).await?;
    let Choice { items, mut warnings } = Box::pin(chosen(cluster, sources, &inventory, request)).await?;
    warnings.extend(abandoned);
    let queue = Box::pin(sources.render_all(&wanted(&items)))
        .await
        .map_err(|errors| LifecycleError::Resolve { verb: Verb::Upgrade, errors })?;
    warnings.extend(queue.iter().flat_map(|rendered| rendered.warnings.iter().cloned()));
    let cert_manager = if request.skip_cert_manager {
        CertManagerPlan::default()
    } else {
        Box::pin(plan_cert_manager_for_upgrade(cluster, sources)).await?
    };
    if cert_manager.action == CertManagerAction::Keep {
        cluster.send_step(ProgressStep::CertManagerUpToDate);
    }
    let mut problems = Vec::new();
    {
        let its_objects = Box::pin(written_objects(&cert_manager, sources)).await?;
        Box::pin(check_access(cluster, sources, &queue, &its_objects, Need::Replace, &mut problems)).await?;
    }
    let keep = Keep { replicas: request.keep_replicas, placement: request.keep_placement };
    let by_name = if request.thorough { ReadByName::All } else { ReadByName::Applied };
    let look = Look::Tried { keep, by_name };
    let nexts = items.into_iter().zip(queue).map(|((installed, to), rendered)| Next {
        installed,
        to,
        kustomization: rendered.kustomization,
        objects: rendered.objects,
    });
    let prepared = match Box::pin(prepare(cluster, nexts.collect(), look)).await {
        Ok(prepared) => prepared,
        Err(LifecycleError::Problems(more)) => {
            problems.extend(more.problems);
            Vec::new()
        }
        Err(error) => {
            // Earlier problems may explain the error.
            refuse(problems)?;
            return Err(error);
        }
    };
    refuse(problems)?;
    let (providers, words): (Vec<_>, Vec<_>) = prepared.into_iter().unzip();
    warnings.extend(words.into_iter().flatten());
    let cert_manager_objects = if request.thorough {
        Box::pin(plan_cert_manager_objects(cluster, &cert_manager, sources)).await?
    } else {
        None
    };
    Ok(LifecyclePlan {
        verb: Verb::Upgrade,
        cert_manager,
        cert_manager_objects,
        providers,
        ignored: Vec::new(),
        warnings,
        unfinished_init: inventory.unfinished.is_some(),
    })
}

/// Returns the upgrade to execute: the choice of an unfinished upgrade, or else a new choice.
async fn chosen(
    cluster: &ManagementCluster,
    sources: &Sources<'_>,
    inventory: &ProviderInventory,
    request: &UpgradeRequest,
) -> Result<Choice, LifecycleError> {
    let journal = unfinished_upgrade(cluster, inventory).await?;
    if let Some(journal) = journal {
        return Ok(journal.index.choice(inventory, request, sources.layers)?);
    }
    let candidates = look_up(sources, &inventory.providers, Some(&request.target)).await;
    Ok(choose(&candidates, request).map_err(|problems| PreflightProblems { problems })?)
}

/// Returns the new versions, each in the namespace of its provider.
fn wanted(items: &[(InstalledProvider, String)]) -> Vec<Wanted> {
    let one = |(installed, to): &(InstalledProvider, String)| Wanted {
        id: installed.id.clone(),
        version: Some(to.clone()),
        namespace: Some(installed.namespace.clone()),
    };
    items.iter().map(one).collect()
}

fn refuse(problems: Vec<PreflightProblem>) -> Result<(), PreflightProblems> {
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
    Box::pin(carry_out_upgrade(cluster, sources, request, plan)).await
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
    wait: WaitFor,
    unfinished: OnUnfinished,
    thorough: bool,
) -> Result<ResumePlan, LifecycleError> {
    let inventory = cluster.inventory().await?;
    let journal = unfinished_upgrade(cluster, &inventory).await?;
    let journal = journal.ok_or(UpgradeError::NoJournal { verb: "resume" })?;
    if journal.index.phase == Phase::RollingBack {
        let back = Box::pin(plan_rollback(cluster, unfinished)).await?;
        return Ok(ResumePlan::Rollback(Box::new(back)));
    }
    let request = UpgradeRequest { thorough, unfinished, ..journal.index.request(wait) };
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
    wait: WaitFor,
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
) -> Result<JournalState, LifecycleError> {
    let inventory = cluster.inventory().await?;
    let journal = upgrade_journal(cluster, &inventory).await?;
    if journal.is_none() && mode == WriteMode::Real {
        clear_remains_of_journal(cluster, &inventory).await?;
    }
    let journal = journal.filter(Journal::is_unfinished).ok_or(UpgradeError::NoJournal { verb: "abort" })?;
    let state = journal.index.state();
    if mode == WriteMode::Real {
        journal.forget().await?;
    }
    Ok(state)
}

#[cfg(test)]
mod tests;
