//! Objects that have completed their work.

use super::{EngineError, apply_run::ApplyRun};
use crate::{ApplySetItem, Blocker, ObjectKey, PlanStep, StepAction};

impl ApplyRun<'_> {
    /// Finishes the completion of objects that an earlier run started. Returns the objects that are not gone.
    pub(super) async fn resume_purges(&mut self, writes: &[PlanStep]) -> Result<Vec<Blocker>, EngineError> {
        let has_started =
            |step: &&PlanStep| self.recorder.set.item(&step.key).is_some_and(ApplySetItem::is_purged);
        let keys: Vec<_> = writes
            .iter()
            .filter(|step| matches!(step.action, StepAction::Purge | StepAction::Completed))
            .filter(has_started)
            .map(|step| step.key.clone())
            .collect();
        self.delete_and_wait(&keys).await
    }

    /// Deletes objects that have completed their work at the end of a wave. This is recorded before, so that the work
    /// is not repeated.
    pub(super) async fn purge(&mut self, steps: &[&PlanStep]) -> Result<Vec<Blocker>, EngineError> {
        if steps.is_empty() {
            return Ok(Vec::new());
        }
        let keys: Vec<_> = steps.iter().map(|step| step.key.clone()).collect();
        for key in &keys {
            self.recorder.schedule_completion(key);
        }
        self.recorder.save().await?;
        self.delete_and_wait(&keys).await
    }

    async fn delete_and_wait(&mut self, keys: &[ObjectKey]) -> Result<Vec<Blocker>, EngineError> {
        let mut remover = self.remover();
        let leaving = remover.delete_batch(keys).await?;
        remover.wait_until_gone(leaving).await
    }

    /// Removes redundant objects.
    pub(super) async fn remove(&mut self, steps: &[PlanStep]) -> Result<Vec<Blocker>, EngineError> {
        self.remover().remove(steps).await
    }
}
