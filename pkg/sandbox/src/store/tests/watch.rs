//! Tests of watches.

use futures::FutureExt;

use super::*;

/// Reads all pending changes: `+` for existing objects, `-` for deleted ones.
fn read(watch: &mut Watch) -> Vec<String> {
    std::iter::from_fn(|| watch.try_next().unwrap()).map(|change| shown(&change)).collect()
}

fn shown(change: &Change) -> String {
    let sign = if change.deleted { '-' } else { '+' };
    let before = change.before.as_ref().map_or(0, |before| before.revision.0);
    let after = str::from_utf8(&change.after.body).unwrap();
    format!("{sign}{} {before}->{after}", change.after.key.name)
}

#[test]
fn a_watch_reports_each_later_change_once_in_order() {
    let store = with_pods(&["a", "b"]);
    update(&store, &pod("a"), "x");
    delete(&store, &pod("b"));
    let mut watch = store.watch(all("pods"), Revision(2)).unwrap();
    assert_eq!(read(&mut watch), ["+b 0->3 new", "+a 2->4 x", "-b 3->5 gone"]);
    create(&store, &pod("b"));
    assert_eq!(read(&mut watch), ["+b 0->6 new"]);
}

#[test]
fn a_watch_reports_only_its_scope() {
    let store = Store::in_memory(100);
    let mut of_namespace = store.watch(pod("").scope(), Revision(1)).unwrap();
    let mut of_resource = store.watch(all("pods"), Revision(1)).unwrap();
    let mut of_everything = store.watch_all(Revision(1)).unwrap();
    create(&store, &pod("a"));
    create(&store, &key("pods", "other", "b"));
    create(&store, &key("secrets", "default", "c"));
    assert_eq!(read(&mut of_namespace), ["+a 0->2 new"]);
    assert_eq!(read(&mut of_resource), ["+a 0->2 new", "+b 0->3 new"]);
    assert_eq!(read(&mut of_everything), ["+a 0->2 new", "+b 0->3 new", "+c 0->4 new"]);
    assert_eq!(of_namespace.position(), Revision(4));
}

#[test]
fn a_watch_may_start_at_a_future_revision() {
    let store = with_pods(&["a"]);
    let mut watch = store.watch(all("pods"), Revision(3)).unwrap();
    let mut watch_of_the_last = store.watch(all("pods"), Revision(u64::MAX)).unwrap();
    assert_eq!(read(&mut watch), [""; 0]);
    assert_eq!(watch.position(), Revision(3));
    create(&store, &pod("b"));
    create(&store, &pod("c"));
    assert_eq!(read(&mut watch), ["+c 0->4 new"]);
    assert_eq!(read(&mut watch_of_the_last), [""; 0]);
}

#[tokio::test]
async fn a_waiting_watch_is_woken_by_a_change_of_its_resource() {
    let store = with_pods(&[]);
    let mut of_pods = store.watch(all("pods"), Revision(1)).unwrap();
    let mut of_all = store.watch_all(Revision(1)).unwrap();
    let waiting = tokio::spawn(async move { (of_pods.next().await.unwrap(), of_all.next().await.unwrap()) });
    tokio::task::yield_now().await;
    create(&store, &pod("a"));
    let (of_pods, of_all) = waiting.await.unwrap();
    assert_eq!((shown(&of_pods), shown(&of_all)), ("+a 0->2 new".into(), "+a 0->2 new".into()));
}

#[tokio::test]
async fn a_cancelled_wait_loses_no_event() {
    let store = with_pods(&[]);
    let mut watch = store.watch(all("pods"), Revision(1)).unwrap();
    {
        let mut next = std::pin::pin!(watch.next());
        assert!(next.as_mut().now_or_never().is_none());
        create(&store, &pod("a"));
    }
    assert_eq!(shown(&watch.next().await.unwrap()), "+a 0->2 new");
}

#[test]
fn only_a_watch_that_missed_events_is_expired() {
    let store = Store::in_memory(2);
    let mut slow = store.watch(all("pods"), Revision(1)).unwrap();
    let mut slow_at_everything = store.watch_all(Revision(1)).unwrap();
    let mut quiet = store.watch(all("secrets"), Revision(1)).unwrap();
    for name in ["a", "b", "c"] {
        create(&store, &pod(name));
    }
    let end = WatchEnd::Expired(Expired { oldest: Revision(2) });
    assert_eq!(slow.try_next().unwrap_err(), end);
    assert_eq!(slow_at_everything.try_next().unwrap_err(), end);
    create(&store, &key("secrets", "default", "d"));
    assert_eq!(read(&mut quiet), ["+d 0->5 new"]);
    assert_eq!(store.watch(all("pods"), Revision(2)).unwrap_err(), Expired { oldest: Revision(3) });
}

#[test]
fn an_up_to_date_watch_survives_a_compaction() {
    let store = with_pods(&["a"]);
    let mut caught_up = store.watch(all("pods"), Revision(2)).unwrap();
    let mut behind = store.watch(all("pods"), Revision(1)).unwrap();
    create(&store, &key("secrets", "default", "s"));
    store.compact(store.revision());
    assert_eq!(behind.try_next().unwrap_err(), WatchEnd::Expired(Expired { oldest: Revision(3) }));
    assert_eq!(read(&mut caught_up), [""; 0]);
    create(&store, &pod("b"));
    assert_eq!(read(&mut caught_up), ["+b 0->4 new"]);
}

#[tokio::test]
async fn closing_ends_current_and_future_watches() {
    let store = with_pods(&[]);
    let (mut of_pods, mut of_all) =
        (store.watch(all("pods"), Revision(1)).unwrap(), store.watch_all(Revision(1)).unwrap());
    let waiting =
        tokio::spawn(async move { (of_pods.next().await.unwrap_err(), of_all.next().await.unwrap_err()) });
    tokio::task::yield_now().await;
    store.close();
    assert_eq!(waiting.await.unwrap(), (WatchEnd::Closed, WatchEnd::Closed));
    let mut late = store.watch(all("pods"), Revision(1)).unwrap();
    assert_eq!(late.next().await.unwrap_err(), WatchEnd::Closed);
}

#[tokio::test]
async fn a_watch_ends_with_its_store() {
    let store = with_pods(&[]);
    let mut watch = store.watch_all(Revision(1)).unwrap();
    drop(store);
    assert_eq!(watch.next().await.unwrap_err(), WatchEnd::Closed);
}
