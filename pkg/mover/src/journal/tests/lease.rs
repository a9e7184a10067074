//! Successive runs, and journals that somebody deletes.
use snapbox::{assert_data_eq, str};

use super::*;
use api::output::MovePhase;

async fn take(lab: &Lab, journal: MoveJournal, keeper: &JournalStore) -> Result<JournalLease, JournalError> {
    let lines = lab.lines();
    JournalLease::acquire(&lines.source().await, &lines.target().await, journal, keeper).await
}

async fn both(lab: &Lab) -> [Option<MoveJournal>; 2] {
    [stored_journal(&lab.source).await, stored_journal(&lab.target).await]
}

#[tokio::test(start_paused = true)]
async fn a_new_journal_is_written_to_both_clusters_and_disk_first() {
    let lab = Lab::start().await;
    let disk = Arc::new(Mutex::new(Vec::new()));
    let stored = Arc::clone(&disk);
    let store = move |journal: &MoveJournal| {
        stored.lock().unwrap().push(journal.clone());
        Ok(())
    };
    let keeper = JournalStore { write_journal: Arc::new(store), ..keeper("1") };
    let mut held = take(&lab, started_journal(), &keeper).await.unwrap();
    held.update(|journal| journal.phase = MovePhase::Creating).await.unwrap();
    assert_eq!(both(&lab).await, [Some(held.journal.clone()), Some(held.journal.clone())]);
    assert_eq!(disk.lock().unwrap().last(), Some(&held.journal));
    let full =
        JournalStore { write_journal: Arc::new(|_| Err(io::Error::other("full"))), ..super::keeper("1") };
    let other = Lab::start().await;
    let error = take(&other, started_journal(), &full).await.unwrap_err();
    assert!(matches!(error, JournalError::Disk(_)), "{error:?}");
    assert_eq!(both(&other).await, [None, None]);
    take(&lab, started_journal(), &full).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_journal_is_stored_beside_the_core_provider() {
    let lab = Lab::start().await;
    support::cluster_api::install(&lab.source).await;
    lab.source.create([provider(&core(), NEW_VERSION)]).await;
    take(&lab, started_journal(), &keeper("1")).await.unwrap();
    assert!(lab.source.get(CONFIG_MAP, "cluster-api-system/capstan-move").await.is_some());
    assert!(lab.source.get(NAMESPACE, "capi-system").await.is_none());
    assert!(lab.target.get(CONFIG_MAP, PLACE).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_new_move_replaces_the_journal_of_a_finished_one() {
    let lab = Lab::start().await;
    let mut first = take(&lab, started_journal(), &keeper("1")).await.unwrap();
    let report =
        MoveReport { run: first.journal.run.clone(), objects: vec![(ObjectKey::default(), "moved".into())] };
    first.finish(&report).await.unwrap();
    let (source, target) = (testing::cluster(&lab.source).await, testing::cluster(&lab.target).await);
    for side in [(Some(&source), None), (None, Some(&target))] {
        assert_eq!(find_move_report(side.0, side.1).await.unwrap().as_ref(), Some(&report));
    }
    let second = take(&lab, started_journal(), &keeper("2")).await.unwrap();
    assert_ne!(second.journal.run, first.journal.run);
    assert_eq!(both(&lab).await, [Some(second.journal.clone()), Some(second.journal.clone())]);
    assert_eq!(find_move_report(Some(&source), None).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn an_unfinished_journal_is_resumed_in_its_phase() {
    let lab = Lab::start().await;
    let mut first = take(&lab, started_journal(), &keeper("1")).await.unwrap();
    first.update(|journal| journal.phase = MovePhase::Verifying).await.unwrap();
    let second = take(&lab, started_journal(), &keeper("2")).await.unwrap();
    assert_eq!((&second.journal.run, second.journal.phase), (&first.journal.run, MovePhase::Verifying));
    assert!(second.journal.holder.write_number > first.journal.holder.write_number);
}

#[tokio::test(start_paused = true)]
async fn a_superseded_run_cannot_write_its_journal() {
    let lab = Lab::start().await;
    let mut first = take(&lab, started_journal(), &keeper("1")).await.unwrap();
    let mut second = take(&lab, started_journal(), &keeper("2")).await.unwrap();
    let error = first.update(|journal| journal.phase = MovePhase::Deleting).await.unwrap_err();
    assert!(matches!(error, JournalError::TakenOver), "{error:?}");
    second.update(|journal| journal.phase = MovePhase::Creating).await.unwrap();
    first.finish(&MoveReport::default()).await.unwrap_err();
    second.update(|journal| journal.phase = MovePhase::Verifying).await.unwrap();
    assert_eq!(both(&lab).await, [Some(second.journal.clone()), Some(second.journal.clone())]);
}

#[tokio::test(start_paused = true)]
async fn a_journal_deleted_during_a_run_stops_it_and_stays_deleted() {
    for sides in [[true, false], [false, true], [true, true]] {
        let lab = Lab::start().await;
        let mut held = take(&lab, started_journal(), &keeper("1")).await.unwrap();
        let run = held.journal.run.clone();
        for (fixture, _) in [&lab.source, &lab.target].into_iter().zip(sides).filter(|(_, delete)| *delete) {
            fixture.delete(CONFIG_MAP, PLACE).await;
        }
        let error = held.update(|journal| journal.phase = MovePhase::Creating).await.unwrap_err();
        assert!(matches!(error, JournalError::TakenOver), "{error:?}");
        assert_eq!(both(&lab).await.map(|kept| kept.is_none()), sides);
        // The next run resumes the remaining journal.
        let next = take(&lab, started_journal(), &keeper("2")).await.unwrap();
        assert_eq!(next.journal.run == run, sides != [true, true], "{sides:?}");
        assert_eq!(both(&lab).await, [Some(next.journal.clone()), Some(next.journal.clone())], "{sides:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn source_is_unfinished_until_the_target_is_finished() {
    let lab = Lab::start().await;
    let mut held = take(&lab, started_journal(), &keeper("1")).await.unwrap();
    lab.target.inject_fault("403,verb=patch,resource=configmaps");
    held.finish(&MoveReport::default()).await.unwrap_err();
    assert_eq!(both(&lab).await.map(|kept| kept.unwrap().phase), [MovePhase::Pausing; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_journal_on_one_cluster_only_is_resumed() {
    for deleted_on_source in [true, false] {
        let lab = Lab::start().await;
        let mut first = take(&lab, started_journal(), &keeper("1")).await.unwrap();
        first.update(|journal| journal.phase = MovePhase::Deleting).await.unwrap();
        let expected = first.journal.clone();
        drop(first);
        let fixture = if deleted_on_source { &lab.source } else { &lab.target };
        fixture.delete(CONFIG_MAP, PLACE).await;
        let second = take(&lab, started_journal(), &keeper("2")).await.unwrap();
        assert_eq!((&second.journal.run, second.journal.phase), (&expected.run, MovePhase::Deleting));
        assert_eq!(both(&lab).await, [Some(second.journal.clone()), Some(second.journal.clone())]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_move_without_any_journal_starts_again() {
    let lab = Lab::start().await;
    let first = take(&lab, started_journal(), &keeper("1")).await.unwrap().journal;
    lab.source.delete(CONFIG_MAP, PLACE).await;
    lab.target.delete(CONFIG_MAP, PLACE).await;
    let second = take(&lab, started_journal(), &keeper("2")).await.unwrap();
    assert_ne!(second.journal.run, first.run);
}

#[tokio::test(start_paused = true)]
async fn an_unfinished_move_of_other_clusters_is_not_taken_over() {
    let lab = Lab::start().await;
    drop(take(&lab, started_journal(), &keeper("1")).await.unwrap());
    let mut other = started_journal();
    other.target = identity("c");
    let error = take(&lab, other, &keeper("2")).await.unwrap_err();
    assert_data_eq!(error.to_string(), str!["another move is unfinished: it moves to `https://b`"]);
    lab.source.delete(CONFIG_MAP, PLACE).await;
    let mut other = started_journal();
    other.source = identity("c");
    let error = take(&lab, other, &keeper("2")).await.unwrap_err();
    assert_data_eq!(error.to_string(), str!["another move is unfinished: it moves from `https://a`"]);
    assert_eq!(stored_journal(&lab.source).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_does_not_look_like_another_run() {
    let lab = Lab::start().await;
    let mut held = take(&lab, started_journal(), &keeper("1")).await.unwrap();
    for fixture in [&lab.source, &lab.target] {
        fixture.inject_fault("cut-after,verb=patch,times=2");
    }
    held.update(|journal| journal.phase = MovePhase::Creating).await.unwrap();
    assert_eq!(both(&lab).await, [Some(held.journal.clone()), Some(held.journal.clone())]);
}

#[tokio::test(start_paused = true)]
async fn a_journal_of_a_thousand_clusters_fits() {
    let lab = Lab::start().await;
    let key = |number: usize| ObjectKey {
        group: "infrastructure.cluster.x-k8s.io".to_owned(),
        kind: "DockerMachine".to_owned(),
        namespace: format!("team-{}", number / 29),
        name: format!("cluster-{}-md-0-{:x}-{number}", number / 29, number * 7919),
    };
    let mut held = take(&lab, started_journal(), &keeper("1")).await.unwrap();
    let paused = |number| PausedObject { object: key(number), was_paused: false, is_kept: false };
    held.update(|journal| {
        journal.paused = (0..1000).map(paused).collect();
        journal.existed = (0..29_000).map(key).collect();
    })
    .await
    .unwrap();
    let (source, target) = (testing::cluster(&lab.source).await, testing::cluster(&lab.target).await);
    for side in [(Some(&source), None), (None, Some(&target))] {
        assert_eq!(find_move_journal(side.0, side.1).await.unwrap().as_ref(), Some(&held.journal));
    }
}
