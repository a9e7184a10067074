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

mod carry_out;
mod choose;
mod going;
mod left;
mod namespace;
mod rights;

use api::output::{CertManagerPlan, ProgressStep};
use apply::{ApiError, ApplySet, ApplySetItem, LiveObjects, PlannedSet, ReadDetail};
use futures::future::try_join_all;
use inventory::{ContractCheck, ManagementCluster};
use provider::InstalledProvider;

use self::{choose::choose, going::Going};
use crate::{
    LifecycleError, LifecyclePlan, OnUnfinished, ProviderPlan, ProvidersRequest, Verb, WaitFor,
    applied::{Applied, applied_for},
    carry_out::of_provider,
    delete::{
        carry_out::look_at_all, left::objects_left_by, namespace::foreign_objects_of, rights::check_rights,
    },
    provider_set::{marks, options},
    unfinished::{Unfinished, check_unfinished},
};

pub use self::{
    carry_out::delete_providers,
    choose::{DeleteError, NotChosen},
};

/// The contracts of clusters that providers can be deleted from. Newer contracts are rejected, because this
/// binary may not know them.
const CONTRACTS: ContractCheck =
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
    pub wait: WaitFor,
    /// True if the plan reads objects with all their fields, to show or save them.
    pub thorough: bool,
    /// The reaction to an unfinished upgrade or move.
    pub unfinished: OnUnfinished,
}

/// Plans a deletion and checks that it is allowed. Writes nothing.
/// # Errors
/// `Unknown` with every named provider that cannot be identified. `Problems` with every missing permission.
/// `InUse` with every definition to delete that still has objects from outside the providers.
/// Source: clusterctl v1.14 client/delete.go; differs: core is deleted last whatever the order of flags, and
/// providers can be deleted without core.
pub async fn plan_delete(
    cluster: &ManagementCluster,
    request: &DeleteRequest,
) -> Result<LifecyclePlan, LifecycleError> {
    cluster.check_contract(CONTRACTS).await?;
    let inventory = cluster.inventory().await?;
    let chosen = choose(&inventory, request.providers.as_ref())?;
    let applied = applied_for(cluster, &chosen).await?;
    let mut warnings = check_unfinished(cluster, &inventory, Unfinished::All, request.unfinished).await?;
    let mut going = vec![Going { definitions: request.include_crds, namespace: false }; chosen.len()];
    if request.include_namespaces {
        for index in namespace::that_go(&inventory.providers, &chosen, &applied, &mut warnings) {
            going[index].namespace = true;
        }
    }
    let each = chosen.iter().zip(&applied).zip(&going);
    let all: Vec<ApplySet> =
        each.map(|((one, applied), going)| going.of(&applied.set, &one.namespace)).collect();
    check_rights(cluster, request, &chosen, &all).await?;
    if request.include_crds {
        check_use(cluster, &chosen, &applied).await?;
    } else {
        warnings.extend(objects_left_by(cluster, &chosen, &applied).await);
    }
    for (one, _) in chosen.iter().zip(&going).filter(|(_, going)| going.namespace) {
        warnings.extend(foreign_objects_of(cluster, one, &applied).await?);
    }
    let detail = if request.thorough { ReadDetail::Full } else { ReadDetail::Metadata };
    let lives = look_at_all(cluster, &chosen, &all, detail).await?;
    let providers = chosen.into_iter().zip(applied).zip(all.iter().zip(lives));
    Ok(LifecyclePlan {
        verb: Verb::Delete,
        cert_manager: CertManagerPlan::default(),
        cert_manager_objects: None,
        providers: providers
            .map(|((one, applied), (going, live))| provider_plan(one, applied, going, live))
            .collect(),
        ignored: Vec::new(),
        warnings,
        unfinished_init: inventory.unfinished.is_some(),
    })
}

fn provider_plan(
    installed: InstalledProvider,
    applied: Applied,
    going: &ApplySet,
    live: LiveObjects,
) -> ProviderPlan {
    let (marks, options) = (marks(&installed.id), options(&installed.namespace));
    let is_own_namespace = |item: &ApplySetItem| item.key == namespace::key_of(&installed.namespace);
    let (own_namespace, items): (Vec<_>, Vec<_>) = going.items.iter().cloned().partition(is_own_namespace);
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
async fn check_use(
    cluster: &ManagementCluster,
    chosen: &[InstalledProvider],
    applied: &[Applied],
) -> Result<(), LifecycleError> {
    let checks = chosen.iter().zip(applied).map(|(installed, applied)| async move {
        let InstalledProvider { id, namespace, .. } = installed.clone();
        let (marks, options) = (marks(&id), options(&namespace));
        cluster.events.send(&of_provider(ProgressStep::CheckingForObjects, installed));
        let in_use = cluster.server.in_use(&applied.set, &marks, &options).await?;
        Ok::<_, ApiError>((id, in_use))
    });
    let mut providers = try_join_all(checks).await?;
    providers.retain(|(_, in_use)| !in_use.is_empty());
    if providers.is_empty() { Ok(()) } else { Err(DeleteError::InUse { providers }.into()) }
}

#[cfg(test)]
mod tests;
