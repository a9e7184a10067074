use std::sync::atomic::{AtomicBool, Ordering};

use futures::{StreamExt as _, stream};

/// Works on several items concurrently, and returns the results in the order of the items. A slow item delays no other
/// item. After the first failure, no new item starts, and running items finish.
pub(crate) async fn run_concurrently<I, T, E, F>(
    at_most: usize,
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> F,
) -> (Vec<T>, Vec<E>)
where
    F: Future<Output = Result<T, E>>,
{
    let (failed, work) = (AtomicBool::new(false), &work);
    let start = |(place, thing)| {
        let failed = &failed;
        async move {
            if failed.load(Ordering::Relaxed) {
                return None;
            }
            let result = work(thing).await;
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            Some((place, result))
        }
    };
    let (mut done, mut failures) = (Vec::new(), Vec::new());
    let mut results = stream::iter(items.into_iter().enumerate()).map(start).buffer_unordered(at_most.max(1));
    while let Some(end) = results.next().await {
        match end {
            Some((place, Ok(value))) => done.push((place, value)),
            Some((place, Err(error))) => failures.push((place, error)),
            None => {}
        }
    }
    (in_order(done), in_order(failures))
}

fn in_order<T>(mut ended: Vec<(usize, T)>) -> Vec<T> {
    ended.sort_unstable_by_key(|(place, _)| *place);
    ended.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, sync::atomic::AtomicUsize, time::Duration};

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn results_keep_their_order_and_concurrency_is_bounded() {
        let (busy, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |thing: usize| {
            let (busy, most) = (&busy, &most);
            async move {
                most.fetch_max(busy.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                // Later items finish earlier.
                for _ in thing..20 {
                    tokio::task::yield_now().await;
                }
                busy.fetch_sub(1, Ordering::Relaxed);
                Ok::<_, ()>(thing)
            }
        };
        let (done, failures) = run_concurrently(4, 0..20, work).await;
        assert_eq!(done, (0..20).collect::<Vec<_>>());
        assert!(failures.is_empty() && most.into_inner() == 4);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_item_does_not_delay_the_others() {
        let (tell, reported) = oneshot::channel();
        let (tell, reported) = (Cell::new(Some(tell)), Cell::new(Some(reported)));
        let work = |thing: usize| {
            let (tell, reported) = (&tell, &reported);
            async move {
                match thing {
                    0 => reported.take().unwrap().await.unwrap(),
                    9 => tell.take().unwrap().send(()).unwrap(),
                    _ => {}
                }
                Ok::<_, ()>(thing)
            }
        };
        let all = tokio::time::timeout(Duration::from_secs(1), run_concurrently(2, 0..10, work)).await;
        assert_eq!(all.unwrap(), ((0..10).collect(), Vec::new()));
    }

    #[tokio::test]
    async fn a_failure_starts_no_new_work_and_running_work_finishes() {
        let begun = AtomicUsize::new(0);
        let work = |thing: usize| {
            let begun = &begun;
            async move {
                begun.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                if thing == 1 { Err(thing) } else { Ok(thing) }
            }
        };
        let (done, failures) = run_concurrently(3, 0..100, work).await;
        assert_eq!(failures, [1]);
        assert!(done.contains(&0) && done.contains(&2), "{done:?}");
        assert!(begun.into_inner() < 10);
    }
}
