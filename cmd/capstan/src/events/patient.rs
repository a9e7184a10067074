use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use apply::Blocker;
use tokio::runtime::Handle;

use super::tree;

/// What is over sooner is never told in lines: a log of every small step tells nobody anything.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// What is waited for where nothing can be drawn: told in lines once it has lasted. Clones are one.
#[derive(Clone, Default)]
pub(super) struct Patient(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    /// As they were told last, and when that was.
    blockers: Vec<Blocker>,
    at: Option<Instant>,
    /// What was said last of each.
    told: BTreeMap<String, String>,
    /// Whether somebody looks at it from time to time.
    is_watched: bool,
}

impl Patient {
    /// Takes note of what is waited for. Gives where [`Patient::tell`] is to run, when it does not yet.
    pub(super) fn show(&self, blockers: &[Blocker]) -> Option<Handle> {
        let mut seen = self.lock();
        seen.blockers = blockers.to_vec();
        seen.at = Some(Instant::now());
        if seen.is_watched || blockers.is_empty() {
            return None;
        }
        let runtime = Handle::try_current().ok()?;
        seen.is_watched = true;
        Some(runtime)
    }

    /// Tells what lasts, until nothing is waited for.
    pub(super) async fn tell(&self, say: impl Fn(String)) {
        loop {
            tokio::time::sleep(PATIENCE).await;
            let lines = {
                let mut seen = self.lock();
                if seen.blockers.is_empty() {
                    seen.is_watched = false;
                    return;
                }
                seen.news()
            };
            lines.into_iter().for_each(&say);
        }
    }

    /// Another step has begun: what was waited for is there.
    pub(super) fn forget(&self) {
        self.lock().blockers.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn news(&mut self) -> Vec<String> {
        let passed = self.at.map(|at| at.elapsed()).unwrap_or_default();
        tree::news(&self.blockers, PATIENCE.saturating_sub(passed), &mut self.told)
    }
}
