//! Deletes exactly the applied objects of providers, and their inventory entries last.
//!
//! ```text
//! inventory ─► choose ─► applied objects ─► allowed? ─► in use? ─► plan
//!                                                                   │ add-ons first, core last; for each provider:
//!                                                                   └─► objects ─► Namespace ─► record ─► entry
//! ```
//!
//! Until all objects of a provider are marked for deletion, the remaining ones stay in its record. The
//! provider stays in the inventory, so the same command resumes an interrupted deletion.

mod choose;
mod execute;
mod leftovers;
mod namespace;
mod permissions;
mod scope;

use api::output::ProgressStep;
use apply::{ApiError, ApplySet, ApplySetItem, LiveObjects, ObjectKey, PlannedSet, ReadDetail};
use futures::future::try_join_all;
use inventory::{ContractCheck, ManagementCluster};
use provider::InstalledProvider;

use self::{choose::choose_providers, scope::DeletionScope};
use crate::{
    LifecycleError, LifecyclePlan, LifecycleVerb, ProviderPlan, ProvidersRequest, UnfinishedPolicy,
    WaitOptions,
    applied::{AppliedObjects, read_applied},
    delete::{
        execute::observe_all, leftovers::leftover_warnings, namespace::foreign_objects_warning,
        permissions::check_delete_permissions,
    },
    execute::provider_event,
    provider_set::{marks, options},
    unfinished_runs::{CheckedRuns, check_unfinished},
};

pub use self::{
    choose::{DeleteError, ProviderSelectionError},
    execute::delete_providers,
};

/// The contracts of clusters that providers can be deleted from. Newer contracts are rejected, because this
/// binary may not know them.
const CONTRACT_CHECK: ContractCheck =
    ContractCheck { accepted: &["v1beta2", "v1beta1", "v1alpha4", "v1alpha3"], is_optional: true };

/// The options of `delete`.
#[derive(Clone, Debug)]
pub struct DeleteRequest {
    /// The named providers. `None` for all providers.
    pub providers: Option<ProvidersRequest>,
    /// True if definitions are deleted too. Then no objects of their kinds may remain.
    pub include_crds: bool,
    /// True if the namespaces of the providers are deleted too.
    pub include_namespaces: bool,
    /// The wait at the end of the deletion.
    pub wait: WaitOptions,
    /// True if the plan reads objects with all their fields, to show or save them.
    pub full_objects: bool,
    /// The reaction to an unfinished upgrade or move.
    pub unfinished: UnfinishedPolicy,
}

/// Plans a deletion and checks that it is allowed. Writes nothing.
/// # Errors
/// `UnknownProviders` with every named provider that cannot be identified. `Problems` with every missing permission.
/// `InUse` with every definition to delete that still has objects from outside the providers.
/// Source: clusterctl v1.14 client/delete.go; differs: core is deleted last whatever the order of flags, and
/// providers can be deleted without core.
pub async fn plan_delete(
    cluster: &ManagementCluster,
    request: &DeleteRequest,
) -> Result<LifecyclePlan, LifecycleError> {
    cluster.check_contract(CONTRACT_CHECK).await?;
    let inventory = cluster.inventory().await?;
    let selected = choose_providers(&inventory, request.providers.as_ref())?;
    let applied = read_applied(cluster, &selected).await?;
    let mut warnings = check_unfinished(cluster, &inventory, CheckedRuns::All, request.unfinished).await?;
    let mut scopes =
        vec![DeletionScope { definitions: request.include_crds, namespace: false }; selected.len()];
    if request.include_namespaces {
        for index in namespace::deleted_namespaces(&inventory.providers, &selected, &applied, &mut warnings) {
            scopes[index].namespace = true;
        }
    }
    let each = selected.iter().zip(&applied).zip(&scopes);
    let sets: Vec<ApplySet> =
        each.map(|((one, applied), deleted)| deleted.select(&applied.set, &one.namespace)).collect();
    check_delete_permissions(cluster, request, &selected, &sets).await?;
    if request.include_crds {
        check_in_use(cluster, &selected, &applied).await?;
    } else {
        warnings.extend(leftover_warnings(cluster, &selected, &applied).await);
    }
    for (one, _) in selected.iter().zip(&scopes).filter(|(_, deleted)| deleted.namespace) {
        warnings.extend(foreign_objects_warning(cluster, one, &applied).await?);
    }
    let detail = if request.full_objects { ReadDetail::Full } else { ReadDetail::Metadata };
    let lives = observe_all(cluster, &selected, &sets, detail).await?;
    let providers = selected.into_iter().zip(applied).zip(sets.iter().zip(lives));
    let unchanged = LifecyclePlan::empty(LifecycleVerb::Delete, &inventory);
    Ok(LifecyclePlan {
        providers: providers
            .map(|((one, applied), (deleted, live))| provider_plan(one, applied, deleted, live))
            .collect(),
        labels: inventory.labels,
        warnings,
        ..unchanged
    })
}

fn provider_plan(
    installed: InstalledProvider,
    applied: AppliedObjects,
    deleted: &ApplySet,
    live: LiveObjects,
) -> ProviderPlan {
    let (marks, options) = (marks(&installed.id), options(&installed.namespace));
    let is_own_namespace = |item: &ApplySetItem| item.key == ObjectKey::of_namespace(&installed.namespace);
    let (own_namespace, items): (Vec<_>, Vec<_>) = deleted.items.iter().cloned().partition(is_own_namespace);
    let mut plan = apply::plan_delete(&ApplySet { items }, &live, &marks, &options);
    // The Namespace may carry the label of another provider that shares the namespace.
    let last =
        apply::plan_delete(&ApplySet { items: own_namespace }, &LiveObjects::default(), &marks, &options);
    plan.steps.extend(last.steps);
    ProviderPlan {
        id: installed.id,
        namespace: installed.namespace,
        from: Some(installed.version),
        to: None,
        kustomization: None,
        objects: PlannedSet { set: applied.set, live, plan, ..PlannedSet::default() },
    }
}

/// Checks all definitions to delete for remaining objects, before any deletion.
async fn check_in_use(
    cluster: &ManagementCluster,
    chosen: &[InstalledProvider],
    applied: &[AppliedObjects],
) -> Result<(), LifecycleError> {
    let checks = chosen.iter().zip(applied).map(|(installed, applied)| async move {
        let InstalledProvider { id, namespace, .. } = installed.clone();
        let (marks, options) = (marks(&id), options(&namespace));
        cluster.events.send(&provider_event(ProgressStep::CheckingForObjects, installed));
        let in_use = cluster.server.in_use(&applied.set, &marks, &options).await?;
        Ok::<_, ApiError>((id, in_use))
    });
    let mut providers = try_join_all(checks).await?;
    providers.retain(|(_, in_use)| !in_use.is_empty());
    if providers.is_empty() { Ok(()) } else { Err(DeleteError::InUse { providers }.into()) }
}

#[cfg(test)]
mod tests;
