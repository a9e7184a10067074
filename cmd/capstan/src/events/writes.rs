use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use apply::Effect;

/// How many objects a run has changed so far. Clones count together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Writes(Arc<Counted>);

#[derive(Debug, Default)]
struct Counted {
    answered: AtomicUsize,
    any_sent: AtomicBool,
}

impl Writes {
    /// How many the server has answered.
    pub(crate) fn count(&self) -> usize {
        self.0.answered.load(Ordering::Relaxed)
    }

    /// Whether any was sent, answered or not.
    pub(crate) fn any_sent(&self) -> bool {
        self.0.any_sent.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self) {
        self.0.answered.fetch_add(1, Ordering::Relaxed);
    }

    /// As many, all of them sent.
    #[cfg(test)]
    pub(crate) fn of(answered: usize) -> Self {
        Self(Arc::new(Counted { answered: answered.into(), any_sent: true.into() }))
    }

    /// Notes a request when it may change something.
    pub(super) fn sent(&self, effect: Effect) {
        if effect == Effect::Write {
            self.0.any_sent.store(true, Ordering::Relaxed);
        }
    }
}
