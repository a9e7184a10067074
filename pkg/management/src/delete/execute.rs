use std::{mem, time::Duration};

use api::{ProviderId, ProviderType, labels, labels::CAPSTAN_DOMAIN, output::ProgressStep};
use apply::{
    ApiError, ApplyPlan, ApplySet, ApplySetItem, ApplySetStore, Blocker, DesiredSet, Engine, EngineOutcome,
    InUseCheck, ItemPhase, ListQuery, LiveObjects, ObjectKey, ObjectRevision, ObservationTarget,
    OwnershipMarks, PlanStep, PlannedSet, ReadByName, ReadDetail, RunOptions, SaveAt,
};
use futures::{FutureExt as _, future::BoxFuture, future::try_join_all};
use inventory::{ManagementCluster, config_map_kind, known_kind, secret_kind};
use mover::JOURNAL_NAME;
use provider::InstalledProvider;
use tokio::time::Instant;

use super::DeleteRequest;
use crate::{
    LifecycleError, LifecyclePlan, LifecycleVerb, NotReady, ProviderPlan,
    execute::provider_event,
    provider_set::{ProviderRecord, marks, options},
};

/// The time limit for objects that must be gone before other objects can be deleted.
const WAVE_TIMEOUT: Duration = Duration::from_mins(1);

/// Executes a deletion plan, then waits for all providers together as the request says.
/// Returns the objects that are not gone in time, if that is no failure.
/// # Errors
/// `Apply` with the answer of the server. `NotReady` if objects cannot be deleted yet because earlier ones
/// remain. The remaining objects are recorded: the same command resumes the deletion.
pub async fn delete_providers(
    cluster: &ManagementCluster,
    request: &DeleteRequest,
    plan: &mut LifecyclePlan,
) -> Result<Option<NotReady>, LifecycleError> {
    let started_at = Instant::now();
    let mut terminating = Vec::new();
    for provider in &mut plan.providers {
        if plan.labels.contains_key(&provider.id.label()) {
            cluster.forget_labels(&provider.id).await?;
        }
        terminating.extend(delete_provider(cluster, provider).await?);
    }
    if plan.unfinished_init {
        clear_unfinished_init(cluster).await?;
    }
    let Some(timeout) = request.wait.timeout else { return Ok(None) };
    let waits = terminating
        .into_iter()
        .map(|batch| run_batch(cluster, batch, &NoRecord, Some(started_at + timeout), None));
    let blockers: Vec<_> =
        try_join_all(waits).await?.into_iter().flat_map(|(blockers, _)| blockers).collect();
    if blockers.is_empty() {
        return Ok(None);
    }
    let not_gone = NotReady { after: started_at.elapsed(), blockers };
    if request.wait.must_be_ready { Err(not_gone.into()) } else { Ok(Some(not_gone)) }
}

/// Objects of one owner to delete.
struct DeletionBatch {
    provider: ProviderId,
    namespace: String,
    marks: OwnershipMarks,
    items: Vec<ApplySetItem>,
}

/// Records the remaining objects during a deletion.
///
/// Objects that stay are recorded too, so that a later run with more flags finds them. Nothing is recorded
/// once all objects are marked for deletion, because the record is deleted next.
struct RemainingRecord<'a> {
    record: &'a ProviderRecord,
    kept: &'a [ApplySetItem],
}

impl ApplySetStore for RemainingRecord<'_> {
    fn save<'a>(&'a self, set: &'a ApplySet) -> BoxFuture<'a, Result<(), ApiError>> {
        if set.items.iter().all(is_marked_for_deletion) {
            return async { Ok(()) }.boxed();
        }
        let items = set.items.iter().chain(self.kept).cloned().collect();
        async move { self.record.save(&ApplySet { items }).await }.boxed()
    }
}

/// Records nothing, because a Namespace contains the record.
struct NoRecord;

impl ApplySetStore for NoRecord {
    fn save<'a>(&'a self, _: &'a ApplySet) -> BoxFuture<'a, Result<(), ApiError>> {
        async { Ok(()) }.boxed()
    }
}

/// Reads the live objects of all providers, in the given order.
pub(super) async fn observe_all(
    cluster: &ManagementCluster,
    providers: &[InstalledProvider],
    sets: &[ApplySet],
    detail: ReadDetail,
) -> Result<Vec<LiveObjects>, ApiError> {
    let (marks, nothing): (Vec<_>, _) =
        (providers.iter().map(|one| marks(&one.id)).collect(), DesiredSet::default());
    let targets =
        marks.iter().zip(sets).map(|(marks, set)| ObservationTarget { marks, set, desired: &nothing });
    cluster.server.observe_all(&targets.collect::<Vec<_>>(), ReadByName::Applied, detail).await
}

/// Deletes all objects of a provider, then its namespace, its record and its inventory entry.
/// Returns the objects that are not gone yet.
async fn delete_provider(
    cluster: &ManagementCluster,
    provider: &mut ProviderPlan,
) -> Result<Vec<DeletionBatch>, LifecycleError> {
    let installed = provider.installed_before();
    cluster.events.send(&provider_event(ProgressStep::Deleting, &installed));
    let InstalledProvider { id, version, namespace } = installed.clone();
    let PlannedSet { set, live, plan, .. } = &mut provider.objects;
    let is_planned = |item: &ApplySetItem| plan.steps.iter().any(|step| step.key == item.key);
    let (deleted, mut kept): (Vec<_>, Vec<_>) = mem::take(&mut set.items).into_iter().partition(is_planned);
    let (own_namespace, items): (Vec<_>, Vec<_>) =
        deleted.into_iter().partition(|item| item.key == ObjectKey::of_namespace(&namespace));
    // The Namespace is deleted after all other objects. Until then, an interrupted run must find it in the record.
    kept.extend(own_namespace.iter().cloned());

    let record =
        ProviderRecord { cluster: cluster.clone(), id: id.clone(), version, namespace: namespace.clone() };
    let batch =
        DeletionBatch { marks: marks(&id), provider: id.clone(), namespace: namespace.clone(), items };
    let remaining = RemainingRecord { record: &record, kept: &kept };
    let of_batch = |step: &&PlanStep| batch.items.iter().any(|item| item.key == step.key);
    let steps = plan.steps.iter().filter(of_batch).cloned().collect();
    let seen = Some((ApplyPlan { steps }, mem::take(live)));
    let mut terminating = vec![mark_for_deletion(cluster, batch, &remaining, seen).await?];
    if !own_namespace.is_empty() {
        let marks = marks_of_namespace(cluster, &id, &namespace).await?;
        let batch =
            DeletionBatch { marks, provider: id.clone(), namespace: namespace.clone(), items: own_namespace };
        terminating.push(mark_for_deletion(cluster, batch, &NoRecord, None).await?);
    }
    if id.provider_type == ProviderType::Core {
        delete_journals(cluster, &namespace).await?;
    }
    record.save(&ApplySet::default()).await?;
    cluster.delete_provider_record(&installed).await?;
    terminating.retain(|batch| !batch.items.is_empty());
    Ok(terminating)
}

/// Marks all objects for deletion. Waits only for objects that must be gone before others can be deleted.
async fn mark_for_deletion(
    cluster: &ManagementCluster,
    batch: DeletionBatch,
    record: &dyn ApplySetStore,
    observed: Option<(ApplyPlan, LiveObjects)>,
) -> Result<DeletionBatch, LifecycleError> {
    let (_, batch) = run_batch(cluster, batch, record, None, observed).await?;
    if batch.items.iter().all(is_marked_for_deletion) {
        return Ok(batch);
    }
    let started_at = Instant::now();
    let (blockers, batch) = run_batch(cluster, batch, record, Some(started_at + WAVE_TIMEOUT), None).await?;
    if batch.items.iter().all(is_marked_for_deletion) {
        return Ok(batch);
    }
    Err(NotReady { after: started_at.elapsed(), blockers }.into())
}

/// Executes a plan, or a new plan if none is given. Returns the blockers and the remaining objects.
async fn run_batch(
    cluster: &ManagementCluster,
    batch: DeletionBatch,
    record: &dyn ApplySetStore,
    deadline: Option<Instant>,
    observed: Option<(ApplyPlan, LiveObjects)>,
) -> Result<(Vec<Blocker>, DeletionBatch), LifecycleError> {
    let DeletionBatch { provider, namespace, marks, items } = batch;
    if items.is_empty() {
        return Ok((Vec::new(), DeletionBatch { provider, namespace, marks, items }));
    }
    let options = options(&namespace);
    let engine = Engine { server: &cluster.server, marks: &marks, options: &options };
    let until = deadline.map(Instant::into_std);
    // The plan already checked the definitions of all providers.
    let run = RunOptions {
        save_at: SaveAt::Start,
        in_use_check: InUseCheck::AlreadyDone,
        deadline: until,
        ..RunOptions::new(record)
    };
    let set = ApplySet { items };
    let mut planned = match observed {
        Some((plan, live)) => PlannedSet { set, live, plan, ..PlannedSet::default() },
        None => engine.plan_deletion(set).await?,
    };
    let blockers = match Box::pin(engine.delete(&mut planned, run)).await {
        Ok(EngineOutcome::Done) => Vec::new(),
        Ok(EngineOutcome::Waiting(blockers)) => blockers,
        Err(source) => return Err(LifecycleError::apply_error(LifecycleVerb::Delete, provider, source)),
    };
    Ok((blockers, DeletionBatch { provider, namespace, marks, items: planned.set.items }))
}

/// Returns the marks of a namespace. A namespace shared by several providers carries the label of one of them.
async fn marks_of_namespace(
    cluster: &ManagementCluster,
    id: &ProviderId,
    namespace: &str,
) -> Result<OwnershipMarks, ApiError> {
    let mut marks = marks(id);
    let live =
        cluster.server.get(&known_kind("", "v1", "Namespace", "namespaces", false), "", namespace).await?;
    if let Some(label) = live.as_ref().and_then(|live| live.label(labels::PROVIDER)) {
        label.clone_into(&mut marks.label.1);
    }
    Ok(marks)
}

/// Deletes the journals of upgrades and moves, which cannot be rolled back or resumed without Cluster API.
async fn delete_journals(cluster: &ManagementCluster, namespace: &str) -> Result<(), ApiError> {
    // The plan already looked for the journal.
    let of_move = ObjectKey {
        kind: "ConfigMap".to_owned(),
        namespace: namespace.to_owned(),
        name: JOURNAL_NAME.to_owned(),
        ..ObjectKey::default()
    };
    if cluster.revisions.get(&of_move).is_some() {
        cluster.delete_stored_object(&config_map_kind(), &of_move).await?;
    }
    let list = ListQuery {
        namespace: Some(namespace.to_owned()),
        labels: format!("{CAPSTAN_DOMAIN}/journal"),
        metadata_only: true,
        ..ListQuery::default()
    };
    let kind = secret_kind();
    for found in cluster.server.list(&kind, &list).await? {
        cluster.server.delete(&kind, namespace, found.name(), Some(&ObjectRevision::of(&found))).await?;
    }
    Ok(())
}

/// Clears the mark of an unfinished first installation after the last provider is deleted.
async fn clear_unfinished_init(cluster: &ManagementCluster) -> Result<(), LifecycleError> {
    if cluster.inventory().await?.providers.is_empty() {
        cluster.finish_first_installation().await?;
    }
    Ok(())
}

fn is_marked_for_deletion(item: &ApplySetItem) -> bool {
    item.phase == ItemPhase::Deleting
}
