//! Tests of runs that hold a lease in turn, on a sandbox whose clock the test sets.

mod confirmation;

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use manifest::Value;
use serde_json::json;
use support::{fixture::Fixture, kind::Kind};
use tokio::time::{Instant, advance, sleep};

use super::{
    HeldLeasePolicy, LEASE_DURATION, Lease, LeaseEnd, LeaseError, LeaseHolder, LeaseName, LeaseRequest,
    LeaseState, MAX_CONFIRMATION_AGE, RENEW_EVERY, end_expired_lease, lease_state, object,
};
use crate::{
    ApiError, ApplyRequest, ConnectionOptions, Event, Server, ServerOptions, WriteMode,
    testing::{Lab, MANAGER, config_map, config_maps},
};

const LEASE: Kind =
    Kind { group: "coordination.k8s.io", version: "v1", kind: "Lease", plural: "leases", namespaced: true };
const PLACE: &str = "kube-system/capstan";

fn name() -> LeaseName {
    LeaseName { namespace: "kube-system".to_owned(), name: "capstan".to_owned() }
}

fn holder(process: &str) -> LeaseHolder {
    LeaseHolder {
        host: "laptop".to_owned(),
        process: process.to_owned(),
        verb: "upgrade apply".to_owned(),
        since: None,
    }
}

fn request(process: &str, when_held: HeldLeasePolicy) -> LeaseRequest {
    LeaseRequest {
        name: name(),
        holder: holder(process),
        has_ended: Arc::new(|_| false),
        when_held,
        wall_clock: SystemTime::now,
    }
}

/// Returns a sandbox with a fixed clock. Tests advance it together with tokio's paused time.
async fn lab() -> Lab {
    Lab::with_fixture(Fixture::builder().clock_at("2026-01-02T03:04:05Z").start().await).await
}

async fn pass(lab: &Lab, time: Duration) {
    lab.fixture.advance(time);
    advance(time).await;
}

async fn acquire(lab: &Lab, process: &str, when_held: HeldLeasePolicy) -> Result<Lease, LeaseError> {
    Lease::acquire(&lab.server, &request(process, when_held)).await
}

async fn write(lab: &Lab, lease: &Lease, value: &str) -> Result<(), ApiError> {
    let server = lab.server.with_lease(lease);
    server.apply(&config_maps(), &config_map("a", value), MANAGER, ApplyRequest::default()).await.map(drop)
}

async fn value(lab: &Lab) -> Value {
    lab.fixture.get(support::kind::CONFIG_MAP, "default/a").await.unwrap_or_default()["data"]["key"].clone()
}

#[tokio::test(start_paused = true)]
async fn an_idle_cluster_holds_no_lease_and_a_run_takes_two_requests() {
    let lab = lab().await;
    let before = lab.server.requests();
    let lease = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    let state = lease_state(&lab.server, &name()).await.unwrap().unwrap();
    assert_eq!(state.holder.process, "1");
    assert_eq!((state.holder.verb.as_str(), state.is_expired), ("upgrade apply", false));
    write(&lab, &lease, "1").await.unwrap();
    lease.release().await;
    assert_eq!(lab.server.requests() - before, 2 + 2, "the state and the write");
    assert_eq!(lab.fixture.get(LEASE, PLACE).await, None);
    assert_eq!(lease_state(&lab.server, &name()).await.unwrap(), None::<LeaseState>);
}

// Row: D-280
#[tokio::test(start_paused = true)]
async fn a_handle_without_a_lease_refuses_to_write() {
    let lab = Lab::with_fixture(Fixture::start().await).await;
    let connection = ConnectionOptions::of_client(lab.fixture.client(), "test/1");
    let server = Server::connect(connection, ServerOptions::default()).await.unwrap();
    let (kind, object) = (&config_maps(), config_map("a", "1"));
    let error = server.apply(kind, &object, MANAGER, ApplyRequest::default()).await.unwrap_err();
    assert!(matches!(error, ApiError::NoLease { .. }), "{error:?}");
    let error = server.delete(kind, "default", "a", None).await.unwrap_err();
    assert!(matches!(error, ApiError::NoLease { .. }), "{error:?}");
    let error = server.create(kind, &object, MANAGER, WriteMode::Real).await.unwrap_err();
    assert!(matches!(error, ApiError::NoLease { .. }), "{error:?}");
    assert_eq!(server.requests(), 0);
    // These requests do not write.
    let dry = ApplyRequest { mode: WriteMode::DryRun, ..ApplyRequest::default() };
    server.apply(kind, &object, MANAGER, dry).await.unwrap();
    assert!(server.check_permissions(&[]).await.unwrap().is_admin);
}

// Row: D-280
#[tokio::test(start_paused = true)]
async fn a_second_run_waits_and_reports_the_holder() {
    let lab = lab().await;
    let first = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    let refused = acquire(&lab, "2", HeldLeasePolicy::Fail).await.unwrap_err();
    assert!(matches!(refused, LeaseError::Held { holder } if holder.process == "1"));
    let release = async {
        sleep(Duration::from_secs(5)).await;
        first.release().await;
    };
    let (second, ()) = tokio::join!(acquire(&lab, "2", HeldLeasePolicy::Wait), release);
    write(&lab, &second.unwrap(), "2").await.unwrap();
    let waits = lab.events.take().into_iter().filter_map(|event| match event {
        Event::WaitingForLease { holder } => Some(holder.process),
        _ => None,
    });
    assert_eq!(waits.collect::<Vec<_>>(), ["1"]);
}

#[tokio::test(start_paused = true)]
async fn a_lease_expired_by_the_server_clock_is_taken_over() {
    let lab = lab().await;
    let first = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    drop(first);
    for (passed, is_free) in [(LEASE_DURATION.as_secs(), false), (1, true)] {
        lab.fixture.advance(Duration::from_secs(passed));
        let second = acquire(&lab, "2", HeldLeasePolicy::Fail).await;
        assert_eq!(second.is_ok(), is_free, "{second:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_nobody_renews_expires_without_a_server_clock() {
    let lab = lab().await;
    drop(acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap());
    // A clock that was set back shows nothing about the time since.
    lab.fixture.merge(LEASE, PLACE, &json!({"spec": {"renewTime": "2030-01-01T00:00:00.000000Z"}})).await;
    let start = Instant::now();
    acquire(&lab, "2", HeldLeasePolicy::Wait).await.unwrap();
    assert!(start.elapsed() >= LEASE_DURATION);
}

#[tokio::test(start_paused = true)]
async fn a_renewed_lease_is_waited_for_without_a_limit() {
    let lab = lab().await;
    let first = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    let work = async {
        for _ in 0..10 {
            sleep(RENEW_EVERY).await;
            lab.fixture.advance(RENEW_EVERY);
        }
        write(&lab, &first, "1").await.unwrap();
        first.release().await;
    };
    let (second, ()) = tokio::join!(acquire(&lab, "2", HeldLeasePolicy::Wait), work);
    write(&lab, &second.unwrap(), "2").await.unwrap();
    assert_eq!(value(&lab).await, "2");
}

#[tokio::test(start_paused = true)]
async fn the_lease_of_a_process_that_has_ended_is_free() {
    let lab = lab().await;
    drop(acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap());
    let heir = LeaseRequest {
        has_ended: Arc::new(|holder| holder.process == "1"),
        ..request("2", HeldLeasePolicy::Fail)
    };
    let lease = Lease::acquire(&lab.server, &heir).await.unwrap();
    write(&lab, &lease, "2").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn renewals_keep_a_lease_and_cost_one_request_each_ten_seconds() {
    let lab = Lab::with_fixture(Fixture::start().await).await;
    let lease = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    let before = lab.server.requests();
    sleep(RENEW_EVERY * 10 + Duration::from_secs(1)).await;
    assert_eq!(lab.server.requests() - before, 10);
    write(&lab, &lease, "1").await.unwrap();
    assert_eq!(lab.server.requests() - before, 11);
}

// Row: D-280
#[tokio::test(start_paused = true)]
async fn a_superseded_run_writes_nothing_once_it_continues() {
    let lab = lab().await;
    let first = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    write(&lab, &first, "1").await.unwrap();
    // The run is stopped: it neither renews the lease nor does anything else.
    let Lease { held, renewals } = first;
    drop(renewals);
    let first = Lease { held, renewals: tokio::task::JoinSet::new() };
    pass(&lab, LEASE_DURATION * 2).await;
    let second = acquire(&lab, "2", HeldLeasePolicy::Fail).await.unwrap();
    write(&lab, &second, "2").await.unwrap();
    second.release().await;
    let error = write(&lab, &first, "stale").await.unwrap_err();
    assert!(matches!(error, ApiError::LeaseLost { .. }), "{error:?}");
    assert_eq!(value(&lab).await, "2");
    assert!(first.loss_error().is_some());
    // A lost lease stays lost.
    let third = acquire(&lab, "1", HeldLeasePolicy::Fail).await.unwrap();
    write(&lab, &first, "stale").await.unwrap_err();
    write(&lab, &third, "3").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_suspended_run_continues_if_not_superseded() {
    let lab = lab().await;
    let lease = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    pass(&lab, LEASE_DURATION * 10).await;
    write(&lab, &lease, "1").await.unwrap();
    assert_eq!(value(&lab).await, "1");
}

#[tokio::test(start_paused = true)]
async fn a_lease_deleted_by_hand_stops_the_run() {
    let lab = lab().await;
    let lease = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    lab.fixture.delete(LEASE, PLACE).await;
    write(&lab, &lease, "1").await.unwrap();
    pass(&lab, MAX_CONFIRMATION_AGE).await;
    let error = write(&lab, &lease, "2").await.unwrap_err();
    assert!(matches!(error, ApiError::LeaseLost { holder: None }), "{error:?}");
    assert_eq!((value(&lab).await, lab.fixture.get(LEASE, PLACE).await), (json!("1"), None));
}

/// Asserts that a run takes the lease over from a live run, and reads and writes once that run has stopped.
async fn takes_over_from_a_live_run(lab: Lab, when_held: HeldLeasePolicy) {
    let first = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    if when_held == HeldLeasePolicy::Fail {
        lab.fixture.advance(Duration::from_hours(1));
    }
    let start = Instant::now();
    let take_over = async {
        let second = acquire(&lab, "2", when_held).await.unwrap();
        // What it writes depends on what it reads.
        lab.server.with_lease(&second).get(&config_maps(), "default", "a").await.unwrap();
        let began = start.elapsed();
        write(&lab, &second, "2").await.unwrap();
        began
    };
    let first_writes = async {
        let mut last = Duration::ZERO;
        while write(&lab, &first, "1").await.is_ok() {
            last = start.elapsed();
            sleep(Duration::from_millis(500)).await;
        }
        last
    };
    let (began, last) = tokio::join!(take_over, first_writes);
    assert!(last < began, "{last:?} {began:?}");
    assert_eq!(value(&lab).await, "2");
    let reported = lab.events.take();
    assert!(
        reported
            .iter()
            .any(|event| matches!(event, Event::TookOverLease { holder } if holder.process == "1"))
    );
}

// Row: D-280
#[tokio::test(start_paused = true)]
async fn a_lease_taken_over_from_a_live_run_is_used_after_that_run_stopped() {
    let lab = Lab::with_fixture(Fixture::start().await).await;
    takes_over_from_a_live_run(lab, HeldLeasePolicy::TakeOver).await;
}

// Row: D-280
#[tokio::test(start_paused = true)]
async fn a_clock_of_the_server_that_jumps_lets_nobody_read_or_write_too_early() {
    takes_over_from_a_live_run(lab().await, HeldLeasePolicy::Fail).await;
}

#[tokio::test(start_paused = true)]
async fn lost_answers_do_not_look_like_another_run() {
    for verb in ["create", "update"] {
        let lab = lab().await;
        lab.fixture
            .inject_fault(&format!("cut-after,verb={verb},resource=coordination.k8s.io/leases,times=1"));
        let lease = acquire(&lab, "1", HeldLeasePolicy::Fail).await.unwrap();
        pass(&lab, MAX_CONFIRMATION_AGE).await;
        write(&lab, &lease, "1").await.unwrap();
        lease.release().await;
        assert_eq!(lab.fixture.get(LEASE, PLACE).await, None, "{verb}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_forbidden_lease_is_reported_before_any_write() {
    let lab = lab().await;
    lab.fixture.inject_fault("403,resource=coordination.k8s.io/leases");
    let error = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap_err();
    assert!(matches!(error, LeaseError::Forbidden { name, .. } if name == self::name()));
}

#[tokio::test(start_paused = true)]
async fn a_lease_edited_by_others_keeps_its_holder() {
    let lab = lab().await;
    let lease = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    lab.fixture.merge(LEASE, PLACE, &json!({"metadata": {"labels": {"team": "a"}}})).await;
    pass(&lab, MAX_CONFIRMATION_AGE).await;
    write(&lab, &lease, "1").await.unwrap();
    // The holder of another program is reported as well.
    lab.fixture
        .merge(
            LEASE,
            PLACE,
            &json!({"spec": {"holderIdentity": "somebody"}, "metadata": {"annotations": null}}),
        )
        .await;
    let state = lease_state(&lab.server, &name()).await.unwrap().unwrap();
    assert_eq!((state.holder.host.as_str(), state.holder.process.as_str()), ("somebody", ""));
}

#[tokio::test(start_paused = true)]
async fn a_superseded_run_does_not_release_the_lease_of_the_other() {
    let lab = lab().await;
    let first = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    let second = acquire(&lab, "2", HeldLeasePolicy::TakeOver).await.unwrap();
    first.release().await;
    let state = lease_state(&lab.server, &name()).await.unwrap().unwrap();
    assert_eq!((state.holder.process.as_str(), state.is_expired), ("2", false));
    write(&lab, &second, "2").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_lease_deleted_and_restored_by_hand_stops_the_run() {
    let lab = lab().await;
    let lease = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    let found = lab.fixture.get(LEASE, PLACE).await.unwrap();
    lab.fixture.delete(LEASE, PLACE).await;
    let mut restored = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"namespace": "kube-system", "name": "capstan"},
    });
    restored["spec"] = found["spec"].clone();
    lab.fixture.apply(&restored.to_string()).await;
    pass(&lab, MAX_CONFIRMATION_AGE).await;
    let error = write(&lab, &lease, "1").await.unwrap_err();
    assert!(matches!(error, ApiError::LeaseLost { .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn two_runs_of_one_process_do_not_share_a_lease() {
    let lab = lab().await;
    let _first = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    let second = acquire(&lab, "1", HeldLeasePolicy::Fail).await.unwrap_err();
    assert!(matches!(second, LeaseError::Held { holder } if holder.process == "1"));
}

#[tokio::test(start_paused = true)]
async fn a_lease_without_a_holder_is_free() {
    let lab = lab().await;
    drop(acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap());
    lab.fixture.merge(LEASE, PLACE, &json!({"spec": {"holderIdentity": ""}})).await;
    let second = acquire(&lab, "2", HeldLeasePolicy::Fail).await.unwrap();
    write(&lab, &second, "2").await.unwrap();
}

#[test]
fn a_lease_does_not_expire_while_the_time_of_the_server_is_unknown() {
    let mut lease = object::new_lease(&name(), &holder("1"), "somebody");
    lease = object::renew(&lease, "2000-01-01T00:00:00Z".parse().ok());
    assert!(!object::is_expired(&lease, None));
    assert!(object::is_expired(&lease, "2000-01-01T00:01:00Z".parse().ok()));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_under_a_lease_that_was_released() {
    let lab = lab().await;
    let lease = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    let server = lab.server.with_lease(&lease);
    lease.release().await;
    let late = server.apply(&config_maps(), &config_map("a", "1"), MANAGER, ApplyRequest::default()).await;
    assert!(matches!(late, Err(ApiError::LeaseLost { holder: None })), "{late:?}");
    assert_eq!(value(&lab).await, Value::Null);
}

#[tokio::test(start_paused = true)]
async fn a_lease_with_a_lost_renewal_answer_is_released() {
    let lab = lab().await;
    let lease = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    lab.fixture.merge(LEASE, PLACE, &json!({"spec": {"renewTime": "2026-01-02T03:04:06.000000Z"}})).await;
    lease.release().await;
    assert_eq!(lab.fixture.get(LEASE, PLACE).await, None);
}

#[test]
fn a_holder_reads_as_command_machine_process_and_time() {
    let mut one = LeaseHolder { process: "4711-5f3a-1".to_owned(), ..holder("") };
    assert_eq!(one.to_string(), "`upgrade apply` on `laptop` (process 4711)");
    one.since = "2026-01-02T03:04:05.6Z".parse().ok();
    assert_eq!(one.to_string(), "`upgrade apply` on `laptop` (process 4711, since 2026-01-02T03:04:05Z)");
    let foreign = LeaseHolder { process: String::new(), verb: String::new(), ..one };
    assert_eq!(foreign.to_string(), "another program on `laptop` (since 2026-01-02T03:04:05Z)");
    assert_eq!(LeaseHolder { since: None, ..foreign }.to_string(), "another program on `laptop`");
}

#[test]
fn a_holder_is_one_line_whatever_a_lease_contains() {
    let noted = json!({"host": "a\nb", "process": "\u{1b}[2J", "verb": "init\r"}).to_string();
    let annotations = json!({"capstan.dev/holder": noted});
    let lease =
        json!({"apiVersion": "v1", "kind": "Lease", "metadata": {"name": "x", "annotations": annotations}});
    let holder = object::holder(&lease.try_into().unwrap());
    assert_eq!(holder.to_string(), r"`init\r` on `a\nb` (process \u{1b}[2J)");
}

#[tokio::test(start_paused = true)]
async fn only_an_expired_lease_is_ended_for_good() {
    let lab = lab().await;
    let lease = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    let ended = async || match end_expired_lease(&lab.server, &name()).await.unwrap() {
        LeaseEnd::Free => "free".to_owned(),
        LeaseEnd::Ended(holder) => format!("ended {}", holder.process),
        LeaseEnd::Held(holder) => format!("held {}", holder.process),
    };
    assert_eq!(ended().await, "held 1");
    write(&lab, &lease, "1").await.unwrap();
    // The process sleeps: its clock stands still.
    lab.fixture.advance(LEASE_DURATION + Duration::from_secs(2));
    assert_eq!(ended().await, "ended 1");
    assert_eq!(lab.fixture.get(LEASE, PLACE).await, None);
    advance(RENEW_EVERY + Duration::from_secs(1)).await;
    sleep(Duration::from_secs(6)).await;
    let error = write(&lab, &lease, "2").await.unwrap_err();
    assert!(matches!(error, ApiError::LeaseLost { .. }), "{error:?}");
    assert_eq!(ended().await, "free");
}
