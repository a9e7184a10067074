//! Executes the plan of one provider, for every command that writes providers.

use std::time::{Duration, Instant};

use api::output::{ProgressEvent, ProgressStep, StepCounts};
use apply::{Engine, EngineOutcome, InUseCheck, PruneTiming, RunOptions, SaveAt};
use inventory::ManagementCluster;
use provider::InstalledProvider;

use crate::{
    LifecycleError, LifecycleVerb, NotReady, ProviderPlan, WaitOptions,
    provider_set::{ProviderRecord, marks, options},
    readiness::wait_for_providers,
};

/// The default time limit for the objects of one wave to become ready before the next wave.
const WAVE_TIMEOUT: Duration = Duration::from_mins(5);

/// The position of a provider in a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProviderPosition {
    /// Starts at 1.
    pub(crate) number: usize,
    pub(crate) total: usize,
}

/// Applies a provider in place and writes its version to the inventory last. Writes nothing if nothing changes.
pub(crate) async fn execute_provider(
    cluster: &ManagementCluster,
    verb: LifecycleVerb,
    provider: &mut ProviderPlan,
    ProviderPosition { number, total: of }: ProviderPosition,
    wait: WaitOptions,
) -> Result<(), LifecycleError> {
    if provider.is_empty() {
        return Ok(());
    }
    let installed = provider.installed_after();
    let InstalledProvider { id, version, namespace } = installed.clone();
    let objects = provider.objects.plan.steps.iter().filter(|step| step.action.is_write()).count();
    let counts = StepCounts { number, of, objects };
    cluster
        .events
        .send(&provider_event(ProgressStep::Installing, &installed).with_counts(counts, Duration::ZERO));
    let (marks, options) = (marks(&id), options(&namespace));
    let record = ProviderRecord { cluster: cluster.clone(), id: id.clone(), version, namespace };
    let (started_at, timeout) = (Instant::now(), wait.timeout.unwrap_or(WAVE_TIMEOUT));
    let run = RunOptions {
        store: &record,
        save_at: SaveAt::AfterNamespaces,
        in_use_check: InUseCheck::Perform,
        deadline: Some(started_at + timeout),
        wait_for_last: false,
        // Controllers of two releases must never run at the same time, whatever the run waits for.
        prune: PruneTiming::Immediately,
    };
    let engine = Engine { server: &cluster.server, marks: &marks, options: &options };
    let outcome = Box::pin(engine.apply(&mut provider.objects, run)).await;
    match outcome {
        Ok(EngineOutcome::Done) => {}
        Ok(EngineOutcome::Waiting(blockers)) => {
            return Err(NotReady { after: started_at.elapsed(), blockers }.into());
        }
        Err(source) => return Err(LifecycleError::apply_error(verb, id, source)),
    }
    cluster.record_provider(&installed).await?;
    cluster
        .events
        .send(&provider_event(ProgressStep::Applied, &installed).with_counts(counts, started_at.elapsed()));
    Ok(())
}

/// Waits for providers as the request says.
/// Shape: the objects that are not ready in time, if that is no failure; `None` if all are ready or the run
/// does not wait.
/// # Errors
/// `NotReady` if the request requires readiness, or if the server rejects a definition.
pub(crate) async fn wait_if_requested(
    cluster: &ManagementCluster,
    providers: &[ProviderPlan],
    wait: WaitOptions,
) -> Result<Option<NotReady>, LifecycleError> {
    let Some(timeout) = wait.timeout.filter(|_| !providers.is_empty()) else { return Ok(None) };
    cluster.send_step(ProgressStep::WaitingForProviders);
    let started_at = Instant::now();
    let blockers = wait_for_providers(cluster, providers, started_at + timeout).await?;
    if blockers.is_empty() {
        return Ok(None);
    }
    let not_ready = NotReady { after: started_at.elapsed(), blockers };
    let is_refused = not_ready.rejected_definition().is_some();
    if wait.must_be_ready || is_refused { Err(not_ready.into()) } else { Ok(Some(not_ready)) }
}

/// Returns the progress event of a step for one provider.
pub(crate) fn provider_event(
    step: ProgressStep,
    InstalledProvider { id, version, namespace }: &InstalledProvider,
) -> ProgressEvent {
    ProgressEvent::provider(step, id.label(), version, namespace)
}
