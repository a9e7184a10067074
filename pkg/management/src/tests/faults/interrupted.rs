//! Tests of runs that are killed after any request, and then repeated.

use support::kind::Kind;

use super::*;

const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment", "deployments");

/// Kills a run after each of its requests in turn.
/// The same command from a new client must then reach the state of an undisturbed run.
async fn killed_anywhere(work: Work) {
    let start = Start::of(work).await;
    let expected = start.undisturbed(work).await;
    for requests in 1.. {
        let (fixture, _folder) = start.again().await;
        let revision = fixture.sandbox().revision();
        let wire = ScriptedConnection::breaking_after(&fixture, requests);
        if let Some(ended) = wire.run_until_broken(start.run(work, &wire)).await {
            ended.unwrap();
            assert!(requests > 20, "{work:?} has only {requests} requests");
            return;
        }
        // A run that wrote nothing leaves nothing to resume.
        if fixture.sandbox().revision() == revision {
            continue;
        }
        let when = format!("{work:?} killed after {requests} requests");
        check(&fixture, &when).await;
        again(&start, work, &fixture, &when).await;
        fixture.wait_until_idle().await;
        assert_same(&state(&fixture).await, &expected, &when);
    }
}

async fn again(start: &Start, work: Work, fixture: &Fixture, when: &str) {
    match start.run(work, &ScriptedConnection::new(fixture, |_| RequestOutcome::Answered)).await {
        // The killed run had already finished.
        Err(reported) if work == Work::RollBack && reported.contains("NoJournal") => {}
        result => result.unwrap_or_else(|reported| panic!("{when}: {reported}")),
    }
}

/// Asserts that at any time every Deployment runs and each provider in the inventory has one of its versions.
async fn check(fixture: &Fixture, when: &str) {
    for deployment in fixture.list(DEPLOYMENT).await {
        assert_eq!(deployment["spec"]["replicas"], 1, "{when}: {}", deployment["metadata"]["name"]);
    }
    let inventory = cluster_behind(&ScriptedConnection::new(fixture, |_| RequestOutcome::Answered))
        .await
        .inventory()
        .await
        .unwrap();
    for provider in inventory.providers {
        assert!([OLD_VERSION, NEW_VERSION].contains(&&*provider.version), "{when}: {provider:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_init_killed_after_any_request_is_completed_by_the_same_command() {
    killed_anywhere(Work::Init).await;
}

#[tokio::test(start_paused = true)]
async fn an_upgrade_killed_after_any_request_is_completed_by_the_same_command() {
    killed_anywhere(Work::Upgrade).await;
}

#[tokio::test(start_paused = true)]
async fn a_rollback_killed_after_any_request_is_completed_by_a_rerun() {
    killed_anywhere(Work::RollBack).await;
}

#[tokio::test(start_paused = true)]
async fn a_deletion_killed_after_any_request_is_completed_by_the_same_command() {
    killed_anywhere(Work::Delete).await;
}
