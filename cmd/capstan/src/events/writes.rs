use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// How many objects a run has changed so far. Clones count together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Writes(Arc<AtomicUsize>);

impl Writes {
    /// How many.
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
