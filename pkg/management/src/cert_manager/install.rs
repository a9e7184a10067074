//! Applies cert-manager and waits for it.

use std::time::Instant;

use api::output::ProgressStep;
use apply::{
    ApiError, ApplySet, DesiredSet, Engine, EngineOutcome, InUseCheck, PlannedSet, PruneTiming, ReadByName,
    RunOptions, SaveAt, StatusHints, WaitRequest,
};
use futures::future::{Either, select};
use inventory::ManagementCluster;

use super::{
    CertManagerError, CertManagerManifest,
    probe::{is_defined, probe_until},
    record::{CertManagerRecord, SELECTOR, marks},
};
use crate::{
    applied::to_items,
    cert_manager::{
        find::{external_blockers, labelled_objects},
        planning::plan_manifest,
        record::recorded_cert_manager_set,
    },
    provider_set::options,
};

/// Migrates stored objects of cert-manager to the storage version of their definitions, before new
/// definitions are applied.
pub(super) async fn migrate_cert_manager(
    cluster: &ManagementCluster,
    manifest: &CertManagerManifest,
) -> Result<(), CertManagerError> {
    let definitions = manifest.objects.iter().filter(|object| object.kind() == "CustomResourceDefinition");
    for definition in definitions {
        let migrated = cluster.server.migrate(definition).await;
        migrated.map_err(|error| CertManagerError::Migrate(Box::new(error)))?;
    }
    Ok(())
}

/// Applies all objects in place, prunes objects of an older release, and waits until cert-manager answers.
/// Plans the objects now if no plan exists yet.
pub(super) async fn apply_cert_manager(
    cluster: &ManagementCluster,
    manifest: &CertManagerManifest,
    planned: &mut Option<PlannedSet>,
    deadline: Instant,
) -> Result<(), CertManagerError> {
    let failed = |error| CertManagerError::Apply(Box::new(error));
    let planned = match planned {
        Some(planned) => planned,
        None => planned.insert(plan_manifest(cluster, manifest, ReadByName::Applied).await?),
    };
    let CertManagerManifest { namespace, version, .. } = manifest;
    let (marks, options) = (marks(), options(namespace));
    let engine = Engine { server: &cluster.server, marks: &marks, options: &options };
    let record = CertManagerRecord { cluster, namespace, version };
    let run = RunOptions {
        store: &record,
        save_at: SaveAt::AfterNamespaces,
        in_use_check: InUseCheck::Perform,
        deadline: Some(deadline),
        wait_for_last: false,
        prune: PruneTiming::Immediately,
    };
    let outcome = engine.apply(planned, run).await.map_err(failed)?;
    cluster.send_step(ProgressStep::WaitingForCertManager);
    match outcome {
        EngineOutcome::Done => wait_for_managed_cert_manager(cluster, &planned.desired, deadline).await,
        EngineOutcome::Waiting(blockers) => {
            let last = "capstan could not write all its objects in time".to_owned();
            Err(CertManagerError::NotAnswering { last, blockers })
        }
    }
}

/// Returns the objects on the cluster from the record, or else those with the cert-manager label.
///
/// Without a record, definitions and Namespaces are left out, so that pruning keeps them and the objects they
/// contain.
pub(super) async fn installed_set(
    cluster: &ManagementCluster,
    manifest: &CertManagerManifest,
) -> Result<ApplySet, ApiError> {
    if let Some(set) = recorded_cert_manager_set(cluster).await? {
        return Ok(set);
    }
    let kinds = cluster.server.kinds().await?;
    if !is_defined(&kinds) {
        // Definitions are deleted last: without them, no other object remains.
        return Ok(ApplySet::default());
    }
    let live = labelled_objects(cluster, Some(manifest), None).await?;
    let stays = |kind: &str| matches!(kind, "CustomResourceDefinition" | "Namespace");
    Ok(ApplySet { items: to_items(live.iter().filter(|object| !stays(object.kind())), &kinds) })
}

async fn wait_for_managed_cert_manager(
    cluster: &ManagementCluster,
    desired: &DesiredSet,
    deadline: Instant,
) -> Result<(), CertManagerError> {
    let keys = desired.objects.iter().map(|object| &object.key);
    let deployments = keys.filter(|key| key.is("apps", "Deployment"));
    let waiting = WaitRequest {
        objects: deployments.map(|key| (key.clone(), StatusHints::default())).collect(),
        labels: SELECTOR.to_owned(),
        deadline: Some(deadline),
    };
    // An answer of the webhook is enough. The status of the Deployments only explains the wait.
    let status = Box::pin(cluster.server.wait(&waiting));
    let answers = Box::pin(probe_until(&cluster.server, deadline));
    let (reason, blockers) = match select(answers, status).await {
        Either::Left((silence, reported)) => match silence? {
            None => return Ok(()),
            Some(last) => (last, reported.await?),
        },
        Either::Right((blockers, answers)) => match answers.await? {
            None => return Ok(()),
            Some(last) => (last, blockers?),
        },
    };
    Err(CertManagerError::NotAnswering { last: reason, blockers })
}

/// Waits until an external cert-manager answers.
pub(super) async fn wait_for_external_cert_manager(
    cluster: &ManagementCluster,
    deadline: Instant,
) -> Result<(), CertManagerError> {
    cluster.send_step(ProgressStep::WaitingForCertManager);
    let Some(last) = probe_until(&cluster.server, deadline).await? else { return Ok(()) };
    Err(CertManagerError::NotAnswering { last, blockers: external_blockers(cluster).await? })
}
