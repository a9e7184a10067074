//! Executes the plan of one provider, for every command that writes providers.

use std::time::{Duration, Instant};

use api::output::{ProgressEvent, ProgressStep, StepCounts};
use apply::{Blocker, Engine, EngineOutcome, Health, InUseCheck, PruneTiming, RunOptions, SaveAt};
use inventory::ManagementCluster;
use provider::InstalledProvider;

use crate::{
    LifecycleError, NotReady, ProviderPlan, Verb, WaitFor,
    provider_set::{ProviderRecord, marks, options},
    readiness::wait_for_providers,
};

/// The default time limit for the objects of one wave to become ready before the next wave.
const WAVE_PATIENCE: Duration = Duration::from_mins(5);

/// The position of a provider in a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    /// Starts at 1.
    pub(crate) number: usize,
    pub(crate) of: usize,
}

/// Applies a provider in place and writes its version to the inventory last. Writes nothing if nothing changes.
pub(crate) async fn carry_out_provider(
    cluster: &ManagementCluster,
    verb: Verb,
    provider: &mut ProviderPlan,
    Position { number, of }: Position,
    wait: WaitFor,
) -> Result<(), LifecycleError> {
    if provider.is_empty() {
        return Ok(());
    }
    let installed = provider.as_it_becomes();
    let InstalledProvider { id, version, namespace } = installed.clone();
    let objects = provider.objects.plan.steps.iter().filter(|step| step.action.is_write()).count();
    let counts = StepCounts { number, of, objects };
    cluster
        .events
        .send(&of_provider(ProgressStep::Installing, &installed).with_counts(counts, Duration::ZERO));
    let (marks, options) = (marks(&id), options(&namespace));
    let record = ProviderRecord { cluster: cluster.clone(), id: id.clone(), version, namespace };
    let (begun, patience) = (Instant::now(), wait.timeout.unwrap_or(WAVE_PATIENCE));
    let run = RunOptions {
        store: &record,
        save_at: SaveAt::AfterNamespaces,
        in_use_check: InUseCheck::Perform,
        deadline: Some(begun + patience),
        wait_for_last: false,
        // Controllers of two releases must never run at the same time, whatever the run waits for.
        prune: PruneTiming::Immediately,
    };
    let engine = Engine { server: &cluster.server, marks: &marks, options: &options };
    let outcome = Box::pin(engine.apply(&mut provider.objects, run)).await;
    match outcome {
        Ok(EngineOutcome::Done) => {}
        Ok(EngineOutcome::Waiting(blockers)) => {
            return Err(NotReady { after: begun.elapsed(), blockers }.into());
        }
        Err(source) => return Err(LifecycleError::objects(verb, id, source)),
    }
    cluster.record_provider(&installed).await?;
    cluster.events.send(&of_provider(ProgressStep::Applied, &installed).with_counts(counts, begun.elapsed()));
    Ok(())
}

/// Waits for providers as the request says.
/// Shape: the objects that are not ready in time, if that is no failure; `None` if all are ready or the run
/// does not wait.
/// # Errors
/// `NotReady` if the request requires readiness, or if the server rejects a definition.
pub(crate) async fn wait_as_asked(
    cluster: &ManagementCluster,
    providers: &[ProviderPlan],
    wait: WaitFor,
) -> Result<Option<NotReady>, LifecycleError> {
    let Some(timeout) = wait.timeout.filter(|_| !providers.is_empty()) else { return Ok(None) };
    cluster.send_step(ProgressStep::WaitingForProviders);
    let begun = Instant::now();
    let blockers = wait_for_providers(cluster, providers, begun + timeout).await?;
    if blockers.is_empty() {
        return Ok(None);
    }
    let is_refused = blockers.iter().any(is_refused_definition);
    let late = NotReady { after: begun.elapsed(), blockers };
    if wait.must_be_ready || is_refused { Err(late.into()) } else { Ok(Some(late)) }
}

fn is_refused_definition(blocker: &Blocker) -> bool {
    blocker.object.kind == "CustomResourceDefinition" && blocker.status.health == Health::Failed
}

/// Returns the progress event of a step for one provider.
pub(crate) fn of_provider(
    step: ProgressStep,
    InstalledProvider { id, version, namespace }: &InstalledProvider,
) -> ProgressEvent {
    ProgressEvent::provider(step, id.label(), version, namespace)
}

impl ProviderPlan {
    /// True if nothing changes.
    pub fn is_empty(&self) -> bool {
        self.objects.plan.is_empty() && self.from == self.to
    }

    /// Returns the provider as it is before the plan is executed.
    pub(crate) fn as_it_is(&self) -> InstalledProvider {
        self.in_version(self.from.as_ref())
    }

    /// Returns the provider as it is after the plan is executed.
    pub(crate) fn as_it_becomes(&self) -> InstalledProvider {
        self.in_version(self.to.as_ref())
    }

    fn in_version(&self, version: Option<&String>) -> InstalledProvider {
        InstalledProvider {
            id: self.id.clone(),
            version: version.cloned().unwrap_or_default(),
            namespace: self.namespace.clone(),
        }
    }
}
