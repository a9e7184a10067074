//! Dry runs of plans on a server.

use std::collections::BTreeMap;

use futures::future::join_all;
use manifest::Object;

use super::{
    Engine, EngineError, WriteError,
    conversion::loses_webhook,
    error_reaction::{ErrorReaction, WriteOperation},
};
use crate::{
    ApiError, ApiKind, ApplyPrecondition, ApplyRequest, DesiredObject, LiveObjects, ObjectKey, Observation,
    PlanStep, PlannedSet, ServedKinds, StepAction, WriteMode, live::is_terminating,
};

impl Engine<'_> {
    pub(super) async fn dry_run_all(
        &self,
        PlannedSet { desired, live, plan, .. }: &PlannedSet,
        is_tried: impl Fn(&PlanStep) -> bool,
    ) -> Result<LiveObjects, EngineError> {
        let kinds = self.server.kinds().await?;
        let desired: BTreeMap<_, _> = desired.objects.iter().map(|object| (&object.key, object)).collect();
        let judged = plan.steps.iter().filter(|step| is_tried(step)).filter_map(|step| {
            let desired = *desired.get(&step.key)?;
            let kind = dry_run_kind(step, desired, live, &kinds)?;
            let loses_webhook =
                live.present(&step.key).is_some_and(|live| loses_webhook(&desired.object, live));
            Some(async move {
                // This takes two writes. A dry run of the second needs the result of the first.
                let answer = if loses_webhook {
                    Ok(desired.object.clone())
                } else {
                    self.dry_run_object(kind, desired, step.action).await
                };
                (&step.key, answer)
            })
        });
        let (mut would_be, mut failed) = (LiveObjects::default(), Vec::new());
        for (key, answer) in join_all(judged).await {
            match answer {
                Ok(object) => {
                    would_be.objects.insert(key.clone(), Observation::Present(object));
                }
                Err(error) => failed.push((key.clone(), WriteError::Api(error))),
            }
        }
        if failed.is_empty() { Ok(would_be) } else { Err(EngineError::Writes { failed }) }
    }

    async fn dry_run_object(
        &self,
        kind: &ApiKind,
        desired: &DesiredObject,
        action: StepAction,
    ) -> Result<Object, ApiError> {
        let manager = &self.marks.manager_of(&desired.object, &self.options.field_manager);
        let apply = async |onto| {
            let how = ApplyRequest { precondition: onto, mode: WriteMode::DryRun };
            self.server.apply(kind, &desired.object, manager, how).await
        };
        let write =
            if action == StepAction::Create { WriteOperation::Create } else { WriteOperation::Update };
        let onto =
            if write == WriteOperation::Create { ApplyPrecondition::Absent } else { ApplyPrecondition::Any };
        let error = match apply(onto).await {
            Ok(object) => return Ok(object),
            Err(error) => error,
        };
        match ErrorReaction::after(&error, write, &desired.key) {
            // The write itself checks the right to take the object over. The dry run only asks for the server's
            // verdict.
            ErrorReaction::Reread if write == WriteOperation::Create => apply(ApplyPrecondition::Any).await,
            ErrorReaction::Recreate => Ok(desired.object.clone()),
            ErrorReaction::Reread | ErrorReaction::GiveUp if is_dry_run_unsupported(&error) => {
                Ok(desired.object.clone())
            }
            ErrorReaction::Reread | ErrorReaction::GiveUp => Err(error),
        }
    }
}

/// Returns the kind for a dry run of a step. None if the server cannot check the step now.
fn dry_run_kind<'k>(
    step: &PlanStep,
    desired: &DesiredObject,
    live: &LiveObjects,
    kinds: &'k ServedKinds,
) -> Option<&'k ApiKind> {
    let asks = matches!(step.action, StepAction::Create | StepAction::Update | StepAction::Adopt);
    let namespace = ObjectKey::of_namespace(&step.key.namespace);
    let has_place = step.key.namespace.is_empty()
        || live.present(&namespace).is_some_and(|namespace| !is_terminating(namespace));
    let kind = kinds.version(&step.key.group_kind(), &desired.version)?;
    (asks && has_place).then_some(kind)
}

/// True if a webhook with side effects refuses the dry run.
/// Source: Kubernetes 1.36, apiserver/pkg/admission/plugin/webhook (a webhook with side effects refuses dry runs).
fn is_dry_run_unsupported(error: &ApiError) -> bool {
    matches!(error, ApiError::Status { code: 400, message, .. } if message.contains("does not support dry run"))
}
