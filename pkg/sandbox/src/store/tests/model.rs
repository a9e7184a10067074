//! Random operations, compared with a model that keeps a full copy of every revision.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Creates, updates or deletes an object. A deletion of a missing object does nothing.
#[derive(Clone, Debug)]
enum Step {
    Put(Key),
    Delete(Key),
    Reopen,
    ReplaceJournal,
}

/// The revision of each object, sorted by key.
type State = BTreeMap<Key, Revision>;

fn keys() -> impl Strategy<Value = Key> {
    let resource = prop_oneof![Just("pods"), Just("secrets")];
    let namespace = prop_oneof![Just("a"), Just("a-b"), Just("b"), Just("")];
    (resource, namespace, 0..20_u32)
        .prop_map(|(resource, namespace, name)| key(resource, namespace, &name.to_string()))
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        60 => keys().prop_map(Step::Put),
        40 => keys().prop_map(Step::Delete),
        2 => Just(Step::Reopen),
        1 => Just(Step::ReplaceJournal),
    ];
    proptest::collection::vec(step, 0..most)
}

/// Executes a commit step and records the expected state.
fn run(store: &Store, states: &mut Vec<State>, step: &Step) {
    let mut state = states.last().unwrap().clone();
    match step {
        Step::Put(key) => {
            let expected =
                state.get(key).map_or(Precondition::Absent, |revision| Precondition::At(*revision));
            let stored = store.commit_with(key, expected, draft("x")).unwrap();
            state.insert(key.clone(), stored.revision);
        }
        Step::Delete(key) => {
            let Some(revision) = state.remove(key) else { return };
            store.delete(key, revision, draft("x")).unwrap();
        }
        Step::Reopen | Step::ReplaceJournal => return,
    }
    states.push(state);
}

/// Returns the states with their revisions: `states[n]` belongs to revision n + 1.
fn revisions(states: &[State]) -> impl Iterator<Item = (Revision, &State)> {
    (1..).map(Revision).zip(states)
}

fn scopes() -> [Scope; 4] {
    [all("pods"), all("secrets"), key("pods", "a", "").scope(), key("pods", "a-b", "").scope()]
}

fn expected(state: &State, scope: &Scope) -> Vec<(Key, Revision)> {
    state
        .iter()
        .filter(|(key, _)| scope.contains(key))
        .map(|(key, revision)| (key.clone(), *revision))
        .collect()
}

/// Lists everything page by page and checks the numbers of each page.
fn listed(store: &Store, scope: &Scope, at: Revision, size: usize) -> Result<Vec<(Key, Revision)>, Expired> {
    let mut items = Vec::new();
    let mut after = None;
    let mut promised = None;
    loop {
        let options = ListOptions { after: after.as_ref(), at: Some(at), ..limit(size) };
        let page = store.list(scope, options)?;
        items.extend(page.items.iter().map(|object| (object.key.clone(), object.revision)));
        assert_eq!(page.revision, at);
        let rest = page.items.len() as u64 + page.remaining.unwrap_or(0);
        assert_eq!(*promised.get_or_insert(rest), rest);
        promised = page.remaining;
        after = page.last;
        if after.is_none() {
            return Ok(items);
        }
    }
}

/// Replays a watch from a state and compares the result after each change.
fn check_watch(store: &Store, scope: &Scope, states: &[State], from: Revision) {
    let mut watch = store.watch(scope.clone(), from).unwrap();
    let state_at = |revision: Revision| &states[usize::try_from(revision.0).unwrap() - 1];
    let mut state: State = expected(state_at(from), scope).into_iter().collect();
    while let Some(change) = watch.try_next().unwrap() {
        let key = &change.after.key;
        assert_eq!(state.get(key).copied(), change.before.as_ref().map(|before| before.revision));
        assert_eq!(change.after.revision, change.revision);
        if change.deleted {
            state.remove(key);
        } else {
            state.insert(key.clone(), change.revision);
        }
        assert!(
            state
                .iter()
                .map(|(key, revision)| (key.clone(), *revision))
                .eq(expected(state_at(change.revision), scope))
        );
    }
    assert!(state.into_iter().eq(expected(states.last().unwrap(), scope)));
}

/// Compares all reads at every revision. Revisions before `oldest` are expired.
fn check(store: &Store, states: &[State], oldest: Revision, page: usize) {
    for (revision, state) in revisions(states) {
        for scope in &scopes() {
            match listed(store, scope, revision, page) {
                Ok(items) => assert_eq!(items, expected(state, scope)),
                Err(expired) => assert!(revision < oldest && revision < expired.oldest),
            }
            if revision >= oldest {
                check_watch(store, scope, states, revision);
            }
        }
    }
    for (key, revision) in states.last().unwrap() {
        assert_eq!(store.get(key).unwrap().revision, *revision);
    }
    assert_eq!(store.revision(), Revision(states.len() as u64));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lists_and_watches_match_the_model_at_any_revision(
        steps in steps(200),
        history in 1..300_usize,
        page in 1..12_usize,
    ) {
        let store = Store::in_memory(history);
        let mut states = vec![State::new()];
        for step in &steps {
            run(&store, &mut states, step);
        }
        let oldest = Revision(states.len().saturating_sub(history).max(1) as u64);
        check(&store, &states, oldest, page);
    }

    #[test]
    fn a_reopened_directory_has_all_commits_and_their_history(steps in steps(80)) {
        let directory = tempfile::tempdir().unwrap();
        let open = || Store::open(directory.path(), &DirectoryOptions::default()).unwrap();
        let mut store = open();
        let mut states = vec![State::new()];
        let mut replaced = Revision(1);
        let mut oldest = Revision(1);
        for step in &steps {
            match step {
                Step::Reopen => {
                    drop(store);
                    store = open();
                    oldest = replaced;
                }
                Step::ReplaceJournal => {
                    store.replace_journal(store.lock_journal().as_mut().unwrap());
                    replaced = store.revision();
                }
                step => run(&store, &mut states, step),
            }
        }
        check(&store, &states, oldest, 5);
        prop_assert_eq!(store.journal_report(), Some(JournalReport::default()));
    }
}
