//! Plans as verbs print them: the types of `api::output`.

use std::fmt;

use api::output::{
    CertManagerAction, CertManagerReport, LifecycleReport, ObjectName, ProviderReport, StepAction,
    StepReport, WaitingFor,
};
use apply::{Blocker, Change, ObjectKey, PlannedSet, Step, Summary};

use super::{LifecyclePlan, ProviderPlan, Verb};
use crate::CertManagerPlan;

/// The detail in which a report shows the change of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diffs {
    /// The action alone.
    Hidden,
    /// Changes in the terms of the kind, and a short diff of everything else.
    Summary,
    /// Changes in the terms of the kind, and a unified diff of the whole object.
    Full,
}

impl LifecyclePlan {
    /// The plan as it is printed.
    pub fn report(&self, diffs: Diffs) -> LifecycleReport {
        LifecycleReport {
            command: self.verb.command().to_owned(),
            carried_out: false,
            changes: !self.is_empty(),
            cert_manager: CertManagerReport {
                steps: self
                    .cert_manager_objects
                    .as_ref()
                    .map_or_else(Vec::new, |its| report_steps(its, diffs)),
                ..self.cert_manager.report()
            },
            providers: self.providers.iter().map(|provider| report_provider(provider, diffs)).collect(),
            warnings: self.warnings(),
            not_ready: Vec::new(),
        }
    }

    /// Everything the user should know.
    pub fn warnings(&self) -> Vec<String> {
        let ignored = self.ignored.iter().map(|problem| format!("ignored: {}", problem.text));
        self.warnings.iter().cloned().chain(ignored).collect()
    }
}

fn report_provider(provider: &ProviderPlan, diffs: Diffs) -> ProviderReport {
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

fn report_steps(objects: &PlannedSet, diffs: Diffs) -> Vec<StepReport> {
    objects.plan.steps.iter().map(|step| report_step(step, objects, diffs)).collect()
}

fn report_step(step: &Step, objects: &PlannedSet, diffs: Diffs) -> StepReport {
    let report = StepReport {
        action: step.action,
        object: object_name(&step.key),
        why: step.why.clone(),
        diff: None,
        changes: Vec::new(),
    };
    let change = if diffs == Diffs::Hidden { None } else { change_of(step, objects) };
    let Some(change) = change else { return report };
    let Summary { changes, rest } = apply::summarise(&change);
    let diff = if diffs == Diffs::Full { apply::diff(&change) } else { rest };
    StepReport { changes, diff: (!diff.is_empty()).then_some(diff), ..report }
}

/// The object before and after: as the server said it would be, else the manifest. None where nothing changes.
fn change_of(step: &Step, objects: &PlannedSet) -> Option<Change> {
    let before = objects.live.present(&step.key).cloned();
    let after = match step.action {
        StepAction::Create | StepAction::Update | StepAction::Adopt | StepAction::Recreate => {
            let asked = objects.would_be.present(&step.key);
            let desired = || objects.desired.objects.iter().find(|desired| desired.key == step.key);
            asked.or_else(|| desired().map(|desired| &desired.object)).cloned()
        }
        StepAction::Delete | StepAction::Purge => None,
        StepAction::Keep | StepAction::Completed | StepAction::Orphan => return None,
    };
    Some(Change { before, after })
}

impl CertManagerPlan {
    /// What becomes of it, as it is printed.
    pub fn report(&self) -> CertManagerReport {
        let report =
            |action, from: Option<&String>, to: Option<&String>, why: Option<&String>| CertManagerReport {
                action,
                from: from.cloned(),
                to: to.cloned(),
                why: why.cloned(),
                steps: Vec::new(),
            };
        match self {
            Self::None => report(CertManagerAction::None, None, None, None),
            Self::External => report(CertManagerAction::External, None, None, None),
            Self::Keep { version } => {
                let known = Some(version).filter(|version| !version.is_empty());
                report(CertManagerAction::Keep, known, known, None)
            }
            Self::Install { version, why } => {
                report(CertManagerAction::Install, None, Some(version), why.as_ref())
            }
            Self::Upgrade { from, to } => report(CertManagerAction::Upgrade, Some(from), Some(to), None),
        }
    }
}

impl fmt::Display for CertManagerPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("not looked at"),
            Self::External => f.write_str("taken care of by somebody else"),
            Self::Keep { version } if version.is_empty() => f.write_str("stays"),
            Self::Keep { version } => write!(f, "stays at {version}"),
            Self::Install { version, why: None } => write!(f, "install {version}"),
            Self::Install { version, why: Some(why) } => write!(f, "install {version} ({why})"),
            Self::Upgrade { from, to } => write!(f, "upgrade from {from} to {to}"),
        }
    }
}

impl Verb {
    /// The words it is called by.
    pub fn command(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Upgrade => "upgrade apply",
            Self::Delete => "delete",
        }
    }
}

/// An object's name as it is printed.
pub fn object_name(key: &ObjectKey) -> ObjectName {
    ObjectName {
        group: key.group.clone(),
        kind: key.kind.clone(),
        namespace: key.namespace.clone(),
        name: key.name.clone(),
    }
}

/// What is waited for, as it is printed.
pub fn waiting_for(blockers: &[Blocker]) -> Vec<WaitingFor> {
    let one = |blocker: &Blocker| WaitingFor {
        object: object_name(&blocker.object),
        health: blocker.status.health.as_str().to_owned(),
        message: blocker.status.message.clone(),
        for_seconds: blocker.since.as_secs(),
        below: waiting_for(&blocker.below),
    };
    blockers.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_is_not_known_is_absent() {
        let kept = |version: &str| CertManagerPlan::Keep { version: version.to_owned() }.report();
        assert_eq!((kept("").from, kept("").to), (None, None));
        assert_eq!(kept("v1.21.1").from.as_deref(), Some("v1.21.1"));
    }
}
