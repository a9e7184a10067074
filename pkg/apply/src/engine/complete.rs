//! Objects that have completed their work.

use super::{EngineError, pass::Pass};
use crate::{Blocker, Item, ObjectKey, Step, StepAction};

impl Pass<'_> {
    /// Finishes the completion of objects that an earlier run started. Returns the objects that are not gone.
    pub(super) async fn complete(&mut self, writes: &[Step]) -> Result<Vec<Blocker>, EngineError> {
        let begun = |step: &&Step| self.ledger.set.item(&step.key).is_some_and(Item::is_purged);
        let keys: Vec<_> = writes
            .iter()
            .filter(|step| matches!(step.action, StepAction::Purge | StepAction::Completed))
            .filter(begun)
            .map(|step| step.key.clone())
            .collect();
        self.take_away(&keys).await
    }

    /// Deletes objects that have completed their work at the end of a wave. This is recorded before, so that the work
    /// is not repeated.
    pub(super) async fn purge(&mut self, steps: &[&Step]) -> Result<Vec<Blocker>, EngineError> {
        if steps.is_empty() {
            return Ok(Vec::new());
        }
        let keys: Vec<_> = steps.iter().map(|step| step.key.clone()).collect();
        for key in &keys {
            self.ledger.complete(key);
        }
        self.ledger.keep().await?;
        self.take_away(&keys).await
    }

    async fn take_away(&mut self, keys: &[ObjectKey]) -> Result<Vec<Blocker>, EngineError> {
        let mut remover = self.remover();
        let leaving = remover.dismiss(keys).await?;
        remover.outlast(leaving).await
    }

    /// Removes redundant objects.
    pub(super) async fn remove(&mut self, steps: &[Step]) -> Result<Vec<Blocker>, EngineError> {
        self.remover().remove(steps).await
    }
}
