//! Tests of a run that stops at a write while another run takes over and ends. The first run then continues.

use apply::{Lease, LeaseHolder, LeaseRequest};
use support::{object_snapshot::ObjectSnapshot, scripted_connection::ArrivalTime};

use super::*;

/// The step between two tested writes. With 1, the run stops at every write.
const STEP: u64 = 1;

/// Returns the lease request of a run that counts as a separate process.
pub(crate) fn lease_request(process: &str) -> LeaseRequest {
    let holder = LeaseHolder { process: process.to_owned(), ..LeaseHolder::default() };
    LeaseRequest::new(ManagementCluster::lease_name(), holder)
}

/// Executes a run under its own lease.
async fn run_alone(
    start: &Start,
    work: Work,
    wire: &ScriptedConnection,
    process: &str,
) -> Result<(), String> {
    let cluster = cluster_behind(wire).await;
    let lease = Lease::acquire(cluster.server(), &lease_request(process)).await;
    let lease = lease.map_err(|error| error.to_string())?;
    let result = work.carry_out(&cluster.with_lease(&lease), &start.releases).await;
    lease.release().await;
    result
}

/// Asserts that a superseded run writes only to objects that its successor left unchanged since the stop.
fn assert_untouched(at_stop: &ObjectSnapshot, before: &ObjectSnapshot, after: &ObjectSnapshot, when: &str) {
    for (name, object) in before.iter().filter(|(name, object)| at_stop.get(name) != Some(object)) {
        assert_eq!(Some(object), after.get(name), "{when}: {name}");
    }
    for (name, _) in at_stop.since(before).iter() {
        assert_eq!(after.get(name), None, "{when}: {name} is back");
    }
}

/// Stops a run at every write in turn, lets another run end in between, and continues the first run.
async fn stopped_anywhere(first: Work, second: Work, arrival: ArrivalTime) {
    let start = Start::of(first).await;
    for number in (1..).step_by(usize::try_from(STEP).unwrap()) {
        let (fixture, _folder) = start.again().await;
        let stopped = ScriptedConnection::stopping_at_write(&fixture, number, arrival);
        let when = format!("{first:?} stopped at write {number}, {second:?} in between");
        let successor = async {
            stopped.stopped().await;
            let at_stop = fixture.snapshot().await;
            let wire = ScriptedConnection::new(&fixture, |_| RequestOutcome::Answered);
            let result = run_alone(&start, second, &wire, "2").await;
            fixture.wait_until_idle().await;
            let before = fixture.snapshot().await;
            stopped.resume();
            (result, at_stop, before)
        };
        let loser = run_alone(&start, first, &stopped, "1");
        tokio::pin!(loser, successor);
        let (lost, (result, at_stop, before)) = tokio::select! {
            ended = &mut loser => {
                ended.unwrap_or_else(|reported| panic!("{when}: {reported}"));
                assert!(number > 10, "{first:?} has only {number} writes");
                return;
            }
            successor = &mut successor => (loser.await, successor),
        };
        let reported = lost.expect_err(&when);
        assert!(reported.contains("LeaseLost") || reported.contains("Conflict"), "{when}: {reported}");
        fixture.wait_until_idle().await;
        let after = fixture.snapshot().await;
        match arrival {
            ArrivalTime::Immediate => assert_untouched(&ObjectSnapshot::default(), &before, &after, &when),
            // A rejected run has written nothing that could be lost.
            ArrivalTime::AfterResume if result.is_err() => {}
            ArrivalTime::AfterResume => assert_untouched(&at_stop, &before, &after, &when),
        }
        check_second(second, result, &when);
    }
}

/// Asserts that the second run succeeds, or reports that the first run left no work.
fn check_second(second: Work, result: Result<(), String>, when: &str) {
    match result {
        Ok(()) => {}
        Err(reported) if second == Work::RollBack && reported.contains("NoJournal") => {}
        Err(reported) if second == Work::Delete && reported.contains("Unfinished") => {}
        Err(reported) => panic!("{when}: {reported}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_init_stopped_at_any_write_loses_to_another() {
    Box::pin(stopped_anywhere(Work::Init, Work::Init, ArrivalTime::Immediate)).await;
}

// Row: D-280
#[tokio::test(start_paused = true)]
async fn an_init_stopped_at_any_write_loses_to_a_deletion() {
    Box::pin(stopped_anywhere(Work::Init, Work::Delete, ArrivalTime::Immediate)).await;
}

#[tokio::test(start_paused = true)]
async fn an_upgrade_stopped_at_any_write_loses_to_another() {
    Box::pin(stopped_anywhere(Work::Upgrade, Work::Upgrade, ArrivalTime::Immediate)).await;
}

// Row: D-280
#[tokio::test(start_paused = true)]
async fn an_upgrade_stopped_at_any_write_loses_to_a_rollback() {
    Box::pin(stopped_anywhere(Work::Upgrade, Work::RollBack, ArrivalTime::Immediate)).await;
}

#[tokio::test(start_paused = true)]
async fn a_deletion_stopped_at_any_write_loses_to_another() {
    Box::pin(stopped_anywhere(Work::Delete, Work::Delete, ArrivalTime::Immediate)).await;
}

// Row: D-280
#[tokio::test(start_paused = true)]
async fn a_deletion_stopped_at_any_write_loses_to_an_init() {
    Box::pin(stopped_anywhere(Work::Delete, Work::Init, ArrivalTime::Immediate)).await;
}

// Row: D-281
#[tokio::test(start_paused = true)]
async fn an_upgrade_stopped_at_any_write_blocks_a_deletion() {
    Box::pin(stopped_anywhere(Work::Upgrade, Work::Delete, ArrivalTime::Immediate)).await;
}

#[tokio::test(start_paused = true)]
async fn late_requests_of_an_upgrade_change_no_new_object() {
    Box::pin(stopped_anywhere(Work::Upgrade, Work::RollBack, ArrivalTime::AfterResume)).await;
    Box::pin(stopped_anywhere(Work::Upgrade, Work::Upgrade, ArrivalTime::AfterResume)).await;
}

#[tokio::test(start_paused = true)]
async fn late_requests_of_an_init_change_no_new_object() {
    Box::pin(stopped_anywhere(Work::Init, Work::Init, ArrivalTime::AfterResume)).await;
}
