//! The number of Components that wait for a step.

use std::{collections::BTreeMap, sync::Mutex, time::Duration};

use component::ComponentKey;
use tokio::time::Instant;

use crate::lock::lock;

/// The Components with a step to come, and the times from which they wait for it. The queue of the library does not
/// report its length.
#[derive(Debug, Default)]
pub(crate) struct QueueDepth(Mutex<BTreeMap<ComponentKey, Instant>>);

impl QueueDepth {
    /// Schedules a step after a delay. An earlier step stays.
    pub(crate) fn schedule(&self, component: &ComponentKey, delay: Duration) {
        let due = Instant::now() + delay;
        let mut steps = lock(&self.0);
        match steps.get_mut(component) {
            Some(known) => *known = due.min(*known),
            None => drop(steps.insert(component.clone(), due)),
        }
    }

    /// Records that the step of a Component begins, or that the Component is gone.
    pub(crate) fn remove(&self, component: &ComponentKey) {
        lock(&self.0).remove(component);
    }

    /// Returns the number of Components whose step is due and has not begun.
    pub(crate) fn depth(&self) -> usize {
        let now = Instant::now();
        lock(&self.0).values().filter(|due| **due <= now).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_due_steps_that_have_not_begun_wait() {
        let steps = QueueDepth::default();
        let key = |name: &str| ComponentKey { namespace: "ns".to_owned(), name: name.to_owned() };
        steps.schedule(&key("web"), Duration::ZERO);
        steps.schedule(&key("api"), Duration::from_mins(10));
        assert_eq!(steps.depth(), 1);
        steps.schedule(&key("web"), Duration::from_mins(1));
        assert_eq!(steps.depth(), 1);
        steps.remove(&key("web"));
        assert_eq!(steps.depth(), 0);
        tokio::time::advance(Duration::from_mins(10)).await;
        assert_eq!(steps.depth(), 1);
    }
}
