//! Dry runs of plans on a server.

use std::collections::BTreeMap;

use futures::future::join_all;
use manifest::Object;

use super::{
    Engine, EngineError, WriteError,
    answer::{Next, Write},
    conversion::loses_webhook,
};
use crate::{
    ApiError, ApiKind, Apply, Desired, Kinds, Live, ObjectKey, Observation, Onto, PlannedSet, Step,
    StepAction, WriteMode, live::is_going,
};

impl Engine<'_> {
    pub(super) async fn judge_all(
        &self,
        PlannedSet { desired, live, plan, .. }: &PlannedSet,
        is_tried: impl Fn(&Step) -> bool,
    ) -> Result<Live, EngineError> {
        let kinds = self.server.kinds().await?;
        let desired: BTreeMap<_, _> = desired.objects.iter().map(|object| (&object.key, object)).collect();
        let judged = plan.steps.iter().filter(|step| is_tried(step)).filter_map(|step| {
            let desired = *desired.get(&step.key)?;
            let kind = can_be_judged(step, desired, live, &kinds)?;
            let loses_webhook =
                live.present(&step.key).is_some_and(|live| loses_webhook(&desired.object, live));
            Some(async move {
                // This takes two writes. A dry run of the second needs the result of the first.
                let answer = if loses_webhook {
                    Ok(desired.object.clone())
                } else {
                    self.judge(kind, desired, step.action).await
                };
                (&step.key, answer)
            })
        });
        let (mut would_be, mut failed) = (Live::default(), Vec::new());
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

    async fn judge(&self, kind: &ApiKind, desired: &Desired, action: StepAction) -> Result<Object, ApiError> {
        let (key, manager) = (&desired.key, &self.options.field_manager);
        let apply = async |onto| {
            let how = Apply { onto, mode: WriteMode::DryRun };
            self.server.apply(kind, &desired.object, manager, how).await
        };
        let write = if action == StepAction::Create { Write::Making } else { Write::Changing };
        let onto = if write == Write::Making { Onto::Absent } else { Onto::Any };
        let error = match apply(onto).await {
            Ok(object) => return Ok(object),
            Err(error) => error,
        };
        match Next::after(&error, write, key) {
            // The write itself checks the right to take the object over. The dry run only asks for the server's
            // verdict.
            Next::LookAgain if write == Write::Making => apply(Onto::Any).await,
            Next::Recreate => Ok(desired.object.clone()),
            Next::LookAgain | Next::GiveUp if cannot_judge(&error) => Ok(desired.object.clone()),
            Next::LookAgain | Next::GiveUp => Err(error),
        }
    }
}

/// Returns the kind for a dry run of a step. None if the server cannot check the step now.
fn can_be_judged<'k>(step: &Step, desired: &Desired, live: &Live, kinds: &'k Kinds) -> Option<&'k ApiKind> {
    let asks = matches!(step.action, StepAction::Create | StepAction::Update | StepAction::Adopt);
    let namespace = ObjectKey::of_namespace(&step.key.namespace);
    let has_place = step.key.namespace.is_empty()
        || live.present(&namespace).is_some_and(|namespace| !is_going(namespace));
    let kind = kinds.version(&step.key.group_kind(), &desired.version)?;
    (asks && has_place).then_some(kind)
}

/// True if a webhook with side effects refuses the dry run.
/// Source: Kubernetes 1.36, apiserver/pkg/admission/plugin/webhook (a webhook with side effects refuses dry runs).
fn cannot_judge(error: &ApiError) -> bool {
    matches!(error, ApiError::Status { code: 400, message, .. } if message.contains("does not support dry run"))
}
