use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::OnceCell;

use crate::Error;

type Cell<V> = Arc<OnceCell<Result<V, Error>>>;

/// Answers of this process by key. Whoever asks while an answer is on its way waits for that one; an answer that
/// cannot change soon, a miss among them, is kept.
pub(crate) struct Cache<K, V> {
    cells: Mutex<HashMap<K, Cell<V>>>,
}

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self { cells: Mutex::default() }
    }
}

impl<K: Clone + Eq + Hash, V: Clone> Cache<K, V> {
    /// Gives the known answer, or makes it. A failure other than a miss is shared by those who waited, then forgotten.
    pub(crate) async fn get<F>(&self, key: &K, make: F) -> Result<V, Error>
    where
        F: Future<Output = Result<V, Error>>,
    {
        let cell = self.lock().entry(key.clone()).or_default().clone();
        let answer = cell.get_or_init(|| make).await.clone();
        if answer.as_ref().is_err_and(|error| !error.is_not_found()) {
            let mut cells = self.lock();
            if cells.get(key).is_some_and(|current| Arc::ptr_eq(current, &cell)) {
                cells.remove(key);
            }
        }
        answer
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, Cell<V>>> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn missing() -> Error {
        Error::NoRelease { version: "v1.0.0".into(), place: "here".into(), available: Vec::new() }
    }

    #[tokio::test]
    async fn those_who_ask_at_once_share_one_answer_and_a_miss_is_kept() {
        let (cache, made) = (Cache::<&str, u8>::default(), AtomicUsize::new(0));
        let ask = || {
            cache.get(&"a", async {
                made.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                Err(missing())
            })
        };
        let (first, second) = tokio::join!(ask(), ask());
        assert!(first.unwrap_err().is_not_found() && second.unwrap_err().is_not_found());
        assert!(ask().await.is_err());
        assert_eq!(made.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_failure_that_is_no_miss_is_asked_again() {
        let cache = Cache::<&str, u8>::default();
        let failed = async { Err(Error::UnsafeName { name: "x".into() }) };
        assert!(cache.get(&"a", failed).await.is_err());
        assert_eq!(cache.get(&"a", async { Ok(7) }).await.unwrap(), 7);
    }
}
