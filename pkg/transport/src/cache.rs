use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::OnceCell;

type Cell<V, E> = Arc<OnceCell<Result<V, E>>>;

/// Results of this process by key. Concurrent callers with the same key share one computation. Successes and misses
/// stay in the cache.
pub struct Cache<V, E> {
    cells: Mutex<HashMap<String, Cell<V, E>>>,
}

/// An error type that can report a missing resource.
pub trait Miss {
    /// True if the host reported that the resource does not exist.
    fn is_miss(&self) -> bool;
}

impl<V, E> Default for Cache<V, E> {
    fn default() -> Self {
        Self { cells: Mutex::default() }
    }
}

impl<V: Clone, E: Clone + Miss> Cache<V, E> {
    /// Returns the cached result, or computes it. Concurrent callers share a failure.
    /// Of all failures, only a miss stays in the cache.
    pub async fn get<F>(&self, key: &str, make: F) -> Result<V, E>
    where
        F: Future<Output = Result<V, E>>,
    {
        let cell = self.lock().entry(key.to_owned()).or_default().clone();
        let answer = cell.get_or_init(|| make).await.clone();
        if answer.as_ref().is_err_and(|error| !error.is_miss()) {
            let mut cells = self.lock();
            if cells.get(key).is_some_and(|current| Arc::ptr_eq(current, &cell)) {
                cells.remove(key);
            }
        }
        answer
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Cell<V, E>>> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Clone, Debug)]
    struct Missing(bool);

    impl Miss for Missing {
        fn is_miss(&self) -> bool {
            self.0
        }
    }

    #[tokio::test]
    async fn concurrent_readers_share_one_result_and_misses_are_cached() {
        let (cache, made) = (Cache::<u8, Missing>::default(), AtomicUsize::new(0));
        let ask = || {
            cache.get("a", async {
                made.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                Err(Missing(true))
            })
        };
        let (first, second) = tokio::join!(ask(), ask());
        assert!(first.unwrap_err().0 && second.unwrap_err().0);
        assert!(ask().await.is_err());
        assert_eq!(made.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_failure_other_than_a_miss_is_retried() {
        let cache = Cache::<u8, Missing>::default();
        let failed = async { Err(Missing(false)) };
        assert!(cache.get("a", failed).await.is_err());
        assert_eq!(cache.get("a", async { Ok(7) }).await.unwrap(), 7);
    }
}
