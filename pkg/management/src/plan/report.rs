//! Converts plans to the printed types of `api::output`.

use api::output::{CertManagerReport, LifecycleReport, ProviderReport, StepAction, StepReport};
use apply::{DiffSummary, ObjectPair, PlanStep, PlannedSet};

use super::{LifecyclePlan, LifecycleVerb, ProviderPlan};

/// The detail in which a report shows the change of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffDetail {
    /// Only the action.
    Hidden,
    /// Changes in terms of the kind, and a short diff of everything else.
    Summary,
    /// Changes in terms of the kind, and a unified diff of the whole object.
    Full,
}

impl LifecyclePlan {
    /// Returns the plan in its printed form.
    pub fn report(&self, diffs: DiffDetail) -> LifecycleReport {
        LifecycleReport {
            command: self.verb.command().to_owned(),
            carried_out: false,
            changes: !self.is_empty(),
            cert_manager: CertManagerReport {
                plan: self.cert_manager.clone(),
                steps: self
                    .cert_manager_objects
                    .as_ref()
                    .map_or_else(Vec::new, |its| report_steps(its, diffs)),
            },
            providers: self.providers.iter().map(|provider| report_provider(provider, diffs)).collect(),
            labels: self.labels.clone(),
            warnings: self.warnings(),
            not_ready: Vec::new(),
        }
    }

    /// Returns all warnings for the user.
    pub fn warnings(&self) -> Vec<String> {
        let ignored = self.ignored.iter().map(|problem| format!("ignored: {}", problem.text));
        self.warnings.iter().cloned().chain(ignored).collect()
    }
}

fn report_provider(provider: &ProviderPlan, diffs: DiffDetail) -> ProviderReport {
    ProviderReport {
        provider: provider.id.label(),
        id: provider.id.clone(),
        namespace: provider.namespace.clone(),
        from: provider.from.clone(),
        to: provider.to.clone(),
        kustomization: provider.kustomization.clone(),
        steps: report_steps(&provider.objects, diffs),
    }
}

/// Returns the steps of a plan in their printed form.
pub fn report_steps(objects: &PlannedSet, diffs: DiffDetail) -> Vec<StepReport> {
    objects.plan.steps.iter().map(|step| report_step(step, objects, diffs)).collect()
}

fn report_step(step: &PlanStep, objects: &PlannedSet, diffs: DiffDetail) -> StepReport {
    let report = StepReport {
        action: step.action,
        object: step.key.clone(),
        why: step.why.clone(),
        diff: None,
        changes: Vec::new(),
    };
    let change = if diffs == DiffDetail::Hidden { None } else { step_change(step, objects) };
    let Some(change) = change else { return report };
    let DiffSummary { changes, remaining_diff: rest } = apply::summarise(&change);
    let diff = if diffs == DiffDetail::Full { apply::diff(&change) } else { rest };
    StepReport { changes, diff: (!diff.is_empty()).then_some(diff), ..report }
}

/// Returns the object before and after the step. `None` if nothing changes.
/// The object after the step comes from the dry run of the server, or else from the manifest.
fn step_change(step: &PlanStep, objects: &PlannedSet) -> Option<ObjectPair> {
    let before = objects.live.present(&step.key).cloned();
    let after = match step.action {
        StepAction::Create | StepAction::Update | StepAction::Adopt | StepAction::Recreate => {
            let dry_run = objects.dry_run.present(&step.key);
            let desired = || objects.desired.objects.iter().find(|desired| desired.key == step.key);
            dry_run.or_else(|| desired().map(|desired| &desired.object)).cloned()
        }
        StepAction::Delete | StepAction::Purge => None,
        StepAction::Keep | StepAction::Completed | StepAction::Orphan => return None,
    };
    Some(ObjectPair { before, after })
}

impl LifecycleVerb {
    /// Returns the words of the command.
    pub fn command(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Upgrade => "upgrade apply",
            Self::Delete => "delete",
        }
    }
}
