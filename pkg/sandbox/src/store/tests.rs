//! Tests of the store in memory.

mod directory;
mod model;
mod watch;

use std::{sync::atomic::AtomicU64, thread};

use std::num::NonZeroUsize;

use super::*;

impl Key {
    /// Returns the scope of the key's resource and namespace.
    fn scope(&self) -> Scope {
        let namespace = (!self.namespace.is_empty()).then(|| Arc::clone(&self.namespace));
        Scope { resource: self.resource.clone(), namespace }
    }
}

fn key(resource: &str, namespace: &str, name: &str) -> Key {
    let resource = ResourceName { group: "".into(), plural: resource.into() };
    Key { resource, namespace: namespace.into(), name: name.into() }
}

fn pod(name: &str) -> Key {
    key("pods", "default", name)
}

fn draft(text: &str) -> impl FnOnce(Revision) -> Draft {
    move |revision| Draft {
        version: "v1".into(),
        schema_generation: 7,
        body: format!("{revision} {text}").into_bytes(),
        labels: Box::new([("app".into(), text.into())]),
    }
}

fn all(resource: &str) -> Scope {
    Scope { namespace: None, ..key(resource, "", "").scope() }
}

fn create(store: &Store, key: &Key) -> Revision {
    store.commit_with(key, Precondition::Absent, draft("new")).unwrap().revision
}

/// Replaces the current object.
fn update(store: &Store, key: &Key, text: &str) -> Revision {
    let at = store.get(key).unwrap().revision;
    store.commit_with(key, Precondition::At(at), draft(text)).unwrap().revision
}

fn delete(store: &Store, key: &Key) -> Revision {
    let at = store.get(key).unwrap().revision;
    store.delete(key, at, draft("gone")).unwrap().revision
}

fn with_pods(names: &[&str]) -> Store {
    let store = Store::in_memory(100);
    for name in names {
        create(&store, &pod(name));
    }
    store
}

fn texts(page: &Page) -> Vec<String> {
    page.items.iter().map(|object| String::from_utf8(object.body.to_vec()).unwrap()).collect()
}

fn names(page: &Page) -> Vec<&str> {
    page.items.iter().map(|object| &*object.key.name).collect()
}

fn limit(limit: usize) -> ListOptions<'static> {
    ListOptions { limit: NonZeroUsize::new(limit), ..ListOptions::default() }
}

fn at(revision: Revision) -> ListOptions<'static> {
    ListOptions { at: Some(revision), ..ListOptions::default() }
}

#[test]
fn the_first_change_has_revision_2() {
    let store = Store::in_memory(10);
    assert_eq!(store.revision(), Revision(1));
    let stored = store.commit_with(&pod("a"), Precondition::Absent, draft("x")).unwrap();
    assert_eq!((stored.revision, &stored.body[..]), (Revision(2), &b"2 x"[..]));
    assert_eq!(store.revision(), Revision(2));
}

#[test]
fn all_resources_share_one_counter() {
    let store = Store::in_memory(10);
    assert_eq!(create(&store, &pod("a")), Revision(2));
    assert_eq!(create(&store, &key("secrets", "default", "a")), Revision(3));
    assert_eq!(update(&store, &pod("a"), "x"), Revision(4));
    assert_eq!(delete(&store, &pod("a")), Revision(5));
}

#[test]
fn a_failed_precondition_changes_nothing() {
    let store = with_pods(&["a"]);
    let refused = |key: &Key, expected| {
        store.commit_with(key, expected, |_| unreachable!("nothing is to be written")).unwrap_err()
    };
    let there = |stored: &StoredObject| stored.revision == Revision(2);
    assert!(
        matches!(refused(&pod("a"), Precondition::Absent), CommitError::Exists(stored) if there(&stored))
    );
    assert!(
        matches!(refused(&pod("a"), Precondition::At(Revision(1))), CommitError::Changed(stored) if there(&stored))
    );
    assert!(matches!(refused(&pod("b"), Precondition::At(Revision(2))), CommitError::Gone));
    assert!(matches!(store.delete(&pod("a"), Revision(1), draft("x")), Err(CommitError::Changed(_))));
    assert!(matches!(store.delete(&pod("b"), Revision(1), draft("x")), Err(CommitError::Gone)));
    assert_eq!(store.revision(), Revision(2));
}

#[test]
fn a_deleted_object_has_the_revision_of_its_deletion() {
    let store = with_pods(&["a"]);
    let last = store.delete(&pod("a"), Revision(2), draft("last")).unwrap();
    assert_eq!((last.revision, &last.body[..]), (Revision(3), &b"3 last"[..]));
    assert!(store.get(&pod("a")).is_none());
    assert_eq!((store.count(&pod("a").resource), store.resources()), (0, vec![]));
}

#[test]
fn a_list_is_sorted_like_etcd_keys() {
    let store = Store::in_memory(100);
    for (namespace, name) in [("a", "x"), ("a-b", "x"), ("a.b", "x"), ("a", "a-b"), ("a", "a"), ("a0", "x")] {
        create(&store, &key("pods", namespace, name));
    }
    let page = store.list(&all("pods"), ListOptions::default()).unwrap();
    let places: Vec<_> = page.items.iter().map(|o| format!("{}/{}", o.key.namespace, o.key.name)).collect();
    assert_eq!(places, ["a-b/x", "a.b/x", "a/a", "a/a-b", "a/x", "a0/x"]);
    assert!(page.items.is_sorted_by_key(|object| &object.key));
    let page = store.list(&key("pods", "a", "").scope(), ListOptions::default()).unwrap();
    assert_eq!(names(&page), ["a", "a-b", "x"]);
}

#[test]
fn pages_have_a_continue_key_and_a_remaining_count() {
    let store = with_pods(&["a", "b", "c", "d", "e"]);
    create(&store, &key("pods", "zoo", "z"));
    let scope = pod("").scope();
    let first = store.list(&scope, limit(2)).unwrap();
    assert_eq!((names(&first), &first.last, first.remaining), (vec!["a", "b"], &Some(pod("b")), Some(3)));
    let rest = ListOptions { after: first.last.as_ref(), ..limit(3) };
    let rest = store.list(&scope, rest).unwrap();
    assert_eq!((names(&rest), &rest.last, rest.remaining), (vec!["c", "d", "e"], &None, None));
}

#[test]
fn a_page_continues_after_a_deleted_key() {
    let store = with_pods(&["a", "b", "c"]);
    delete(&store, &pod("b"));
    let after = ListOptions { after: Some(&pod("b")), ..ListOptions::default() };
    assert_eq!(names(&store.list(&all("pods"), after).unwrap()), ["c"]);
}

#[test]
fn a_filtered_page_is_full_and_has_no_remaining_count() {
    let store = with_pods(&["a", "b", "c", "d", "e"]);
    let even = |object: &StoredObject| object.revision.0.is_multiple_of(2);
    let page = store.list(&all("pods"), ListOptions { filter: Some(&even), ..limit(2) }).unwrap();
    assert_eq!((names(&page), &page.last, page.remaining), (vec!["a", "c"], &Some(pod("c")), None));
}

#[test]
fn later_pages_have_the_revision_of_the_first() {
    let store = with_pods(&["a", "b", "c", "d"]);
    let first = store.list(&all("pods"), limit(2)).unwrap();
    update(&store, &pod("c"), "changed");
    delete(&store, &pod("d"));
    update(&store, &pod("c"), "again");
    create(&store, &pod("e"));
    let later = ListOptions { after: first.last.as_ref(), at: Some(first.revision), ..limit(1) };
    let second = store.list(&all("pods"), later).unwrap();
    assert_eq!(
        (texts(&second), second.revision, second.remaining),
        (vec!["4 new".into()], Revision(5), Some(1))
    );
    assert_eq!(
        texts(&store.list(&all("pods"), at(Revision(5))).unwrap()),
        ["2 new", "3 new", "4 new", "5 new"]
    );
    let now = store.list(&all("pods"), at(Revision(1000))).unwrap();
    assert_eq!(
        (texts(&now), now.revision),
        (vec!["2 new".into(), "3 new".into(), "8 again".into(), "9 new".into()], Revision(9))
    );
}

#[test]
fn a_list_before_the_history_is_expired() {
    let store = Store::in_memory(3);
    create(&store, &key("secrets", "default", "quiet"));
    create(&store, &pod("a"));
    for _ in 0..5 {
        update(&store, &pod("a"), "x");
    }
    assert_eq!(store.revision(), Revision(8));
    let expired = store.list(&all("pods"), at(Revision(4))).unwrap_err();
    assert_eq!(expired, Expired { oldest: Revision(5) });
    assert_eq!(texts(&store.list(&all("pods"), at(Revision(5))).unwrap()), ["5 x"]);
    // The only change of this resource was dropped, but it came before revision 2.
    assert_eq!(texts(&store.list(&all("secrets"), at(Revision(2))).unwrap()), ["2 new"]);
    assert_eq!(store.list(&all("secrets"), at(Revision(1))).unwrap_err(), Expired { oldest: Revision(2) });
}

#[test]
fn the_history_is_limited_by_size() {
    let store = Store::in_memory(100);
    let text = "x".repeat(12 << 20);
    create(&store, &pod("a"));
    for _ in 0..4 {
        update(&store, &pod("a"), &text);
    }
    assert_eq!(store.list(&all("pods"), at(Revision(2))).unwrap_err(), Expired { oldest: Revision(4) });
}

#[test]
fn compaction_removes_the_history_before_a_revision() {
    let store = with_pods(&["a", "b", "c"]);
    store.compact(Revision(3));
    assert_eq!(store.list(&all("pods"), at(Revision(2))).unwrap_err(), Expired { oldest: Revision(3) });
    assert_eq!(names(&store.list(&all("pods"), at(Revision(3))).unwrap()), ["a", "b"]);
    assert_eq!(store.watch(all("secrets"), Revision(2)).unwrap_err(), Expired { oldest: Revision(3) });
    store.compact(Revision(1000));
    assert_eq!(store.list(&all("pods"), at(Revision(3))).unwrap_err(), Expired { oldest: Revision(4) });
    assert_eq!(names(&store.list(&all("pods"), ListOptions::default()).unwrap()), ["a", "b", "c"]);
}

#[test]
fn a_filter_may_use_the_store_itself() {
    let store = with_pods(&["a", "b"]);
    let rename = |object: &StoredObject| {
        create(&store, &pod(&format!("{}-copy", object.key.name)));
        true
    };
    let page =
        store.list(&all("pods"), ListOptions { filter: Some(&rename), ..ListOptions::default() }).unwrap();
    assert_eq!(names(&page), ["a", "b"]);
    assert_eq!(store.count(&pod("a").resource), 4);
}

#[test]
fn a_panic_in_a_draft_does_not_change_the_store() {
    let store = with_pods(&["a"]);
    let panicking =
        || drop(store.commit_with(&pod("b"), Precondition::Absent, |_| panic!("a fault of the caller")));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panicking)).is_err());
    assert_eq!(create(&store, &pod("b")), Revision(3));
}

#[test]
fn concurrent_commits_have_distinct_revisions() {
    let store = Store::in_memory(10_000);
    let revisions = AtomicU64::new(0);
    let mut watch = store.watch(all("pods"), Revision(1)).unwrap();
    thread::scope(|scope| {
        for worker in 0..16 {
            let (store, revisions) = (&store, &revisions);
            scope.spawn(move || {
                for number in 0..625 {
                    let revision = create(store, &pod(&format!("{number}-{worker}")));
                    revisions.fetch_add(revision.0, std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(revisions.into_inner(), (2..10_002).sum::<u64>());
    for revision in 2..10_002 {
        assert_eq!(watch.try_next().unwrap().unwrap().revision, Revision(revision));
    }
    assert!(watch.try_next().unwrap().is_none());
    assert_eq!(store.list(&all("pods"), ListOptions::default()).unwrap().items.len(), 10_000);
}
