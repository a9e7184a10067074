//! Tests of temporary faults, which must not change the result of a run.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use tokio::time::Instant;

use super::*;

/// Temporary faults of the server that need no action by the user.
const PASSING: [&[&str]; 6] = [
    &["429,times=12"],
    &["429:3,verb=write,skip=3,times=6"],
    &["503,times=10", "503,verb=write,skip=20,times=10"],
    &["500,verb=watch,times=3", "drop-watch,times=5"],
    &[
        "cut-before,verb=write,skip=2,times=1",
        "cut-before,verb=write,skip=9,times=3",
        "cut-before,verb=list,times=2",
    ],
    &[
        "cut-after,verb=write,skip=1,times=1",
        "cut-after,verb=write,skip=5,times=2",
        "cut-after,verb=write,skip=12,times=2",
    ],
];

async fn weathered(work: Work) {
    let start = Start::of(work).await;
    let expected = start.undisturbed(work).await;
    for faults in PASSING {
        let (fixture, _folder) = start.again().await;
        for fault in faults {
            fixture.inject_fault(fault);
        }
        let result = start.run(work, &ScriptedConnection::new(&fixture, |_| RequestOutcome::Answered)).await;
        result.unwrap_or_else(|reported| panic!("{work:?}, {faults:?}: {reported}"));
        fixture.sandbox().faults().clear();
        fixture.wait_until_idle().await;
        assert_same(&state(&fixture).await, &expected, &format!("{work:?}, {faults:?}"));
    }
}

#[tokio::test(start_paused = true)]
async fn init_survives_temporary_faults() {
    weathered(Work::Init).await;
}

#[tokio::test(start_paused = true)]
async fn an_upgrade_survives_temporary_faults() {
    weathered(Work::Upgrade).await;
}

#[tokio::test(start_paused = true)]
async fn a_rollback_survives_temporary_faults() {
    weathered(Work::RollBack).await;
}

#[tokio::test(start_paused = true)]
async fn a_deletion_survives_temporary_faults() {
    weathered(Work::Delete).await;
}

/// Rejects the first write of each existing object, with some exceptions.
fn refusing_each_once(fixture: &Fixture, code: u16, reason: &'static str) -> ScriptedConnection {
    let seen: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    ScriptedConnection::new(fixture, move |request| {
        // A new object has no version to conflict with. A journal written by another run belongs to another upgrade.
        let counts =
            request.is_write() && request.method != "POST" && !request.path.contains("capstan-upgrade");
        if counts && seen.lock().unwrap().insert(format!("{} {}", request.method, request.path)) {
            RequestOutcome::Rejected(code, reason, "the object has been modified")
        } else {
            RequestOutcome::Answered
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_conflict_at_every_write_is_resolved() {
    for work in Work::ALL {
        let start = Start::of(work).await;
        let expected = start.undisturbed(work).await;
        let (fixture, _folder) = start.again().await;
        let result = start.run(work, &refusing_each_once(&fixture, 409, "Conflict")).await;
        result.unwrap_or_else(|reported| panic!("{work:?}: {reported}"));
        fixture.wait_until_idle().await;
        assert_same(&state(&fixture).await, &expected, &format!("{work:?}"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_webhook_without_answer_for_a_minute_is_retried() {
    for work in [Work::Init, Work::Upgrade] {
        let start = Start::of(work).await;
        let expected = start.undisturbed(work).await;
        let (fixture, _folder) = start.again().await;
        let begun = Instant::now();
        let wire = ScriptedConnection::new(&fixture, move |request| {
            let is_down = request.is_write()
                && request.path.contains("/infrastructure-docker-system/")
                && begun.elapsed().as_secs() < 60;
            let words =
                "Internal error occurred: failed calling webhook \"webhook.cert-manager.io\": no endpoints";
            if is_down {
                RequestOutcome::Rejected(500, "InternalError", words)
            } else {
                RequestOutcome::Answered
            }
        });
        start.run(work, &wire).await.unwrap_or_else(|reported| panic!("{work:?}: {reported}"));
        assert!(begun.elapsed().as_secs() >= 60);
        fixture.wait_until_idle().await;
        assert_same(&state(&fixture).await, &expected, &format!("{work:?}"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_expires_during_a_run_is_renewed() {
    for work in Work::ALL {
        let start = Start::of(work).await;
        let expected = start.undisturbed(work).await;
        let (fixture, _folder) = start.again().await;
        let expiring = |request: &support::scripted_connection::OutgoingRequest<'_>| match request.number {
            20 | 35 => RequestOutcome::Rejected(401, "Unauthorized", "Unauthorized"),
            _ => RequestOutcome::Answered,
        };
        let result = start.run(work, &ScriptedConnection::new(&fixture, expiring)).await;
        result.unwrap_or_else(|reported| panic!("{work:?}: {reported}"));
        fixture.wait_until_idle().await;
        assert_same(&state(&fixture).await, &expected, &format!("{work:?}"));
    }
}
