//! Conditions that must hold before a run continues.

use std::time::Instant;

use tokio::time::sleep;

use super::apply_run::ApplyRun;
use crate::{ApiError, Blocker, Health, ObjectKey, PlanStage, PlanStep, Status, WaitRequest, retry::Backoff};

impl ApplyRun<'_> {
    /// Waits until the server serves the kinds of a part: definitions of the same set may be new.
    pub(super) async fn wait_until_served(&mut self, part: &[PlanStep]) -> Result<Vec<Blocker>, ApiError> {
        let since = Instant::now();
        for tries in 1.. {
            let missing: Vec<_> = part
                .iter()
                .filter(|step| step.action.is_write() && self.kind(&step.key).is_err())
                .map(|step| &step.key)
                .collect();
            let is_new = part.iter().any(|step| step.stage == PlanStage::Instances);
            let is_over = self.run.deadline.is_none_or(|until| Instant::now() >= until);
            if missing.is_empty() || (tries > 1 && !is_new) {
                break;
            }
            if tries > 1 && is_over {
                return Ok(missing.into_iter().map(|key| unserved(key, since)).collect());
            }
            if tries > 1 {
                sleep(Backoff::default().pause(tries - 1, None)).await;
            }
            self.engine.server.forget_kinds();
            self.kinds = self.engine.server.kinds().await?;
            self.written_definitions.clear();
        }
        Ok(Vec::new())
    }

    /// Waits until the written objects are ready. Returns the objects that are not.
    pub(super) async fn wait_for(&mut self, part: &[PlanStep]) -> Result<Vec<Blocker>, ApiError> {
        let keys: Vec<&ObjectKey> =
            part.iter().map(|step| &step.key).filter(|key| self.unready.contains_key(*key)).collect();
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let Some(until) = self.run.deadline else {
            let blocker = |key: &ObjectKey| Some(Blocker::new(key.clone(), self.unready.get(key)?.clone()));
            return Ok(keys.into_iter().filter_map(blocker).collect());
        };
        let waiting = WaitRequest {
            objects: keys.iter().map(|key| ((*key).clone(), self.hints(key))).collect(),
            labels: self.engine.owner_selector(),
            deadline: Some(until),
        };
        let blockers = self.engine.server.wait(&waiting).await?;
        for key in keys {
            let blocker = blockers.iter().find(|blocker| blocker.object == *key);
            let status =
                blocker.map_or_else(|| Status::of(Health::Current, ""), |blocker| blocker.status.clone());
            self.recorder.record_status(key, &status);
            if status.is_ready() {
                self.unready.remove(key);
            }
        }
        Ok(blockers)
    }
}

fn unserved(key: &ObjectKey, since: Instant) -> Blocker {
    let message = format!("the server does not serve `{}` yet", key.group_kind());
    Blocker { since: since.elapsed(), ..Blocker::new(key.clone(), Status::of(Health::NotFound, message)) }
}
