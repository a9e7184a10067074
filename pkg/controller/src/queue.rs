//! The queue of Components: when the next step of each is due, and which steps run.

use std::{
    collections::BTreeMap,
    task::{Context, Poll},
    time::Duration,
};

use component::{Component, ComponentKey};
use tokio_util::time::{DelayQueue, delay_queue};

/// The Components with their next steps. One step of a Component runs at a time.
#[derive(Debug, Default)]
pub(crate) struct StepQueue {
    due: DelayQueue<ComponentKey>,
    entries: BTreeMap<ComponentKey, QueueEntry>,
}

/// A step to take.
#[derive(Debug)]
pub(crate) struct DueStep {
    pub(crate) key: ComponentKey,
    /// The Component, if a watch has just reported it.
    pub(crate) component: Option<Box<Component>>,
    /// The number of steps without progress before this one.
    pub(crate) attempts: u32,
}

#[derive(Debug, Default)]
struct QueueEntry {
    timer: Option<delay_queue::Key>,
    is_running: bool,
    /// True if another step is needed after the running one.
    is_changed: bool,
    component: Option<Box<Component>>,
    attempts: u32,
}

impl StepQueue {
    /// Queues a Component whose last revision is known.
    pub(crate) fn push_changed(&mut self, component: Component) {
        let key = ComponentKey::of(&component);
        let entry = self.entries.entry(key.clone()).or_default();
        entry.attempts = 0;
        entry.component = Some(Box::new(component));
        self.push(&key);
    }

    /// Queues a Component for a step at once.
    pub(crate) fn push(&mut self, key: &ComponentKey) {
        let entry = self.entries.entry(key.clone()).or_default();
        if entry.is_running {
            entry.is_changed = true;
        } else {
            self.schedule(key, Duration::ZERO);
        }
    }

    /// Ends a step. The next one is due after the delay, or at once if the Component has changed meanwhile.
    pub(crate) fn finish(&mut self, key: &ComponentKey, delay: Duration, has_progress: bool) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        entry.is_running = false;
        entry.attempts = if has_progress { 0 } else { entry.attempts.saturating_add(1) };
        let delay = if std::mem::take(&mut entry.is_changed) { Duration::ZERO } else { delay };
        self.schedule(key, delay);
    }

    /// Forgets a Component that is gone, unless it was created again during its last step.
    pub(crate) fn remove(&mut self, key: &ComponentKey) {
        let Some(mut entry) = self.entries.remove(key) else { return };
        if let Some(timer) = entry.timer.take() {
            self.due.remove(&timer);
        }
        if entry.component.is_some() {
            self.entries
                .insert(key.clone(), QueueEntry { component: entry.component, ..QueueEntry::default() });
            self.schedule(key, Duration::ZERO);
        }
    }

    /// Returns the next due step. Pending until there is one.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<DueStep> {
        while let Poll::Ready(Some(expired)) = self.due.poll_expired(context) {
            let key = expired.into_inner();
            let Some(entry) = self.entries.get_mut(&key) else { continue };
            entry.timer = None;
            entry.is_running = true;
            return Poll::Ready(DueStep { component: entry.component.take(), attempts: entry.attempts, key });
        }
        Poll::Pending
    }

    fn schedule(&mut self, key: &ComponentKey, delay: Duration) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        match &entry.timer {
            Some(timer) => self.due.reset(timer, delay),
            None => entry.timer = Some(self.due.insert(key.clone(), delay)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::time::timeout;

    use super::*;

    fn key(name: &str) -> ComponentKey {
        ComponentKey { namespace: "ns".to_owned(), name: name.to_owned() }
    }

    async fn next(queue: &mut StepQueue) -> Option<ComponentKey> {
        let due = timeout(Duration::from_millis(20), poll_fn(|context| queue.poll_next(context))).await;
        due.ok().map(|step| step.key)
    }

    #[tokio::test]
    async fn one_step_of_a_component_runs_at_a_time() {
        let mut queue = StepQueue::default();
        queue.push(&key("a"));
        queue.push(&key("a"));
        assert_eq!(next(&mut queue).await, Some(key("a")));
        queue.push(&key("a"));
        assert_eq!(next(&mut queue).await, None);
        queue.finish(&key("a"), Duration::from_mins(1), true);
        assert_eq!(next(&mut queue).await, Some(key("a")));
        queue.finish(&key("a"), Duration::from_mins(1), true);
        assert_eq!(next(&mut queue).await, None);
        queue.push(&key("a"));
        assert_eq!(next(&mut queue).await, Some(key("a")));
    }

    #[tokio::test]
    async fn attempts_are_counted_until_there_is_progress() {
        let mut queue = StepQueue::default();
        queue.push(&key("a"));
        let mut attempts = Vec::new();
        for has_progress in [false, false, true, false] {
            let step = poll_fn(|context| queue.poll_next(context)).await;
            attempts.push(step.attempts);
            queue.finish(&step.key, Duration::ZERO, has_progress);
        }
        assert_eq!(attempts, [0, 1, 2, 0]);
    }

    #[tokio::test]
    async fn a_component_that_is_gone_has_no_further_step() {
        let mut queue = StepQueue::default();
        queue.push(&key("a"));
        assert_eq!(next(&mut queue).await, Some(key("a")));
        queue.push(&key("a"));
        queue.remove(&key("a"));
        queue.finish(&key("a"), Duration::ZERO, true);
        assert_eq!(next(&mut queue).await, None);
    }
}
