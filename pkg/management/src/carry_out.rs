//! Bringing one provider to what its plan says: the same for every verb that writes providers.

use std::time::{Duration, Instant};

use api::output::{ProgressEvent, ProgressStep, StepCounts};
use apply::{Blocker, Engine, Guard, Health, Outcome, Prune, RecordAt, Run};
use inventory::ManagementCluster;
use provider::InstalledProvider;

use crate::{
    LifecycleError, NotReady, ProviderPlan, Verb, WaitFor,
    provider_set::{ProviderRecord, marks, options},
    readiness::wait_for_providers,
};

/// How long objects of one wave may take to be ready that the next one needs, where the user names no time.
/// Source: clusterctl v1.14 (--wait-provider-timeout).
const WAVE_PATIENCE: Duration = Duration::from_mins(5);

/// The position of a provider among those of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) of: usize,
}

/// Brings a provider to what is desired, in place, and notes its version in the inventory last. Writes nothing when
/// nothing would change.
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
    let objects = provider.objects.plan.steps.iter().filter(|step| step.action.writes()).count();
    let counts = StepCounts { number, of, objects };
    cluster.events.send(&of_provider(ProgressStep::Installing, &installed).counted(counts, Duration::ZERO));
    let (marks, options) = (marks(&id), options(&namespace));
    let record = ProviderRecord { cluster: cluster.clone(), id: id.clone(), version, namespace };
    let (begun, patience) = (Instant::now(), wait.timeout.unwrap_or(WAVE_PATIENCE));
    let run = Run {
        record: &record,
        record_at: RecordAt::AfterNamespaces,
        guard: Guard::Check,
        until: Some(begun + patience),
        wait_for_last: false,
        // Controllers of two releases must not work beside each other, whoever waits.
        prune: Prune::AtOnce,
    };
    let engine = Engine { server: &cluster.server, marks: &marks, options: &options };
    let outcome = Box::pin(engine.apply(&mut provider.objects, run)).await;
    match outcome {
        Ok(Outcome::Done) => {}
        Ok(Outcome::Waiting(blockers)) => {
            return Err(NotReady { after: begun.elapsed(), blockers }.into());
        }
        Err(source) => return Err(LifecycleError::objects(verb, id, source)),
    }
    cluster.record_provider(&installed).await?;
    cluster.events.send(&of_provider(ProgressStep::Applied, &installed).counted(counts, begun.elapsed()));
    Ok(())
}

/// Waits as a verb was told to.
/// Shape: what was not ready in time, where that is no failure; none when all is ready or nothing is waited for.
/// # Errors
/// `NotReady` where it is a failure; always when the server refuses a definition, which no time will mend.
pub(crate) async fn wait_as_asked(
    cluster: &ManagementCluster,
    providers: &[ProviderPlan],
    wait: WaitFor,
) -> Result<Option<NotReady>, LifecycleError> {
    let Some(timeout) = wait.timeout.filter(|_| !providers.is_empty()) else { return Ok(None) };
    cluster.step(ProgressStep::WaitingForProviders);
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

/// A step of a provider.
pub(crate) fn of_provider(
    step: ProgressStep,
    InstalledProvider { id, version, namespace }: &InstalledProvider,
) -> ProgressEvent {
    ProgressEvent::provider(step, id.label(), version, namespace)
}

impl ProviderPlan {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.objects.plan.is_empty() && self.from == self.to
    }

    /// The provider as it is before the plan is carried out.
    pub(crate) fn as_it_is(&self) -> InstalledProvider {
        self.in_version(self.from.as_ref())
    }

    /// The provider as it is afterwards.
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
