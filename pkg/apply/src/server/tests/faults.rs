//! Faults on the way to a server and back.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    ApiError, ApplyPrecondition, ApplyRequest, ListQuery, WriteMode,
    testing::{Lab, MANAGER, config_map, config_maps, value},
};

fn new() -> ApplyRequest {
    ApplyRequest { precondition: ApplyPrecondition::Absent, ..ApplyRequest::default() }
}

#[tokio::test(start_paused = true)]
async fn throttled_requests_are_retried_after_the_requested_pause() {
    let sandbox = Lab::start().await;
    sandbox.fixture.inject_fault("429:3,verb=write,times=3");
    let (server, start) = (&sandbox.server, Instant::now());
    let applied = server.apply(&config_maps(), &config_map("a", "1"), MANAGER, new()).await.unwrap();
    assert_eq!(value(&applied), "1");
    assert_eq!(start.elapsed().as_secs(), 9);
    assert_eq!(sandbox.events.take_retries().len(), 3);
    assert_eq!((server.requests(), sandbox.request_count("patch configmaps")), (4, 4));
}

#[tokio::test(start_paused = true)]
async fn all_requests_pause_while_the_server_is_overloaded() {
    let sandbox = Lab::start().await;
    sandbox.fixture.inject_fault("429:7,verb=write,times=1");
    let (server, start) = (&sandbox.server, Instant::now());
    assert!(server.once_applied().await.is_err());
    server.list(&config_maps(), &ListQuery::default()).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 7);
}

// Row: D-94
#[tokio::test(start_paused = true)]
async fn temporary_errors_are_retried_and_others_fail_at_once() {
    for (fault, tries) in
        [("503", 3), ("504", 3), ("cut-before", 3), ("500", 1), ("403", 1), ("409", 1), ("410", 1)]
    {
        let sandbox = Lab::start().await;
        // The first answer proves that the server exists.
        sandbox.server.version().await.unwrap();
        sandbox.fixture.inject_fault(&format!("{fault},verb=write,times=2"));
        let applied = sandbox.server.apply(&config_maps(), &config_map("a", "1"), MANAGER, new()).await;
        assert_eq!(
            (applied.is_ok(), sandbox.request_count("patch configmaps")),
            (tries == 3, tries),
            "{fault}"
        );
    }
}

#[tokio::test]
async fn an_unexpected_conflict_is_retried_a_few_times() {
    for (conflicts, tries) in [(2, 3), (9, 5)] {
        let sandbox = Lab::start().await;
        sandbox.fixture.inject_fault(&format!("409,verb=write,times={conflicts}"));
        let object = config_map("a", "1");
        let applied = sandbox.server.apply(&config_maps(), &object, MANAGER, ApplyRequest::default()).await;
        assert_eq!((applied.is_ok(), sandbox.request_count("patch configmaps")), (conflicts == 2, tries));
    }
}

#[tokio::test(start_paused = true)]
async fn at_the_deadline_the_last_failure_is_reported() {
    let sandbox = Lab::start().await;
    sandbox.fixture.inject_fault("503,verb=write");
    let server = sandbox.server.retrying_for(Duration::from_secs(20));
    let error = server.delete(&config_maps(), "default", "a", None).await.unwrap_err();
    let ApiError::RetriesExhausted { tried, ref last, .. } = error else { panic!("{error:?}") };
    assert!((15..=20).contains(&tried.as_secs()), "{tried:?}");
    assert_eq!((last.code(), error.code(), error.is_temporary()), (Some(503), Some(503), true));
    // There was no retry, so the error has no duration.
    let server = server.retrying_for(Duration::ZERO);
    let error = server.delete(&config_maps(), "default", "a", None).await.unwrap_err();
    assert!(matches!(error, ApiError::Status { code: 503, .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_retried_after_the_deadline() {
    let sandbox = Lab::start().await;
    sandbox.fixture.inject_fault("503,verb=write");
    let now = std::time::Instant::now();
    let in_time = sandbox.server.retrying_until(now.checked_add(Duration::from_secs(20)));
    // The earlier deadline stays in effect.
    for server in
        [in_time.retrying_until(now.checked_add(Duration::from_mins(1))), in_time.retrying_until(None)]
    {
        let start = Instant::now();
        server.delete(&config_maps(), "default", "a", None).await.unwrap_err();
        assert!(start.elapsed().as_secs() <= 20, "{:?}", start.elapsed());
    }
    assert!(sandbox.request_count("delete configmaps") > 3, "it is tried again before");
}

#[tokio::test(start_paused = true)]
async fn a_write_with_a_lost_answer_counts_as_done() {
    let sandbox = Lab::start().await;
    let (server, kind) = (&sandbox.server, &config_maps());
    sandbox.fixture.inject_fault("cut-after,verb=write,times=1");
    assert_eq!(value(&server.apply(kind, &config_map("a", "1"), MANAGER, new()).await.unwrap()), "1");
    sandbox.fixture.inject_fault("cut-after,verb=write,times=1");
    assert_eq!(
        value(&server.create(kind, &config_map("b", "1"), MANAGER, WriteMode::Real).await.unwrap()),
        "1"
    );
    sandbox.fixture.inject_fault("cut-after,verb=write,times=1");
    let found = server.get(kind, "default", "b").await.unwrap().unwrap();
    assert_eq!(value(&server.replace(kind, &found, MANAGER, WriteMode::Real).await.unwrap()), "1");
    sandbox.fixture.inject_fault("cut-after,verb=write,times=1");
    server.delete(kind, "default", "b", None).await.unwrap();
    assert_eq!(server.get(kind, "default", "b").await.unwrap(), None);
    assert_eq!(sandbox.events.take_retries().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_foreign_write_is_a_conflict_even_after_a_lost_answer() {
    let sandbox = Lab::start().await;
    let (server, kind) = (&sandbox.server, &config_maps());
    server.create(kind, &config_map("a", "1"), "somebody", WriteMode::Real).await.unwrap();
    server.create(kind, &config_map("b", "2"), MANAGER, WriteMode::Real).await.unwrap();
    for name in ["a", "b"] {
        sandbox.fixture.inject_fault("cut-after,verb=write,times=1");
        let error = server.create(kind, &config_map(name, "1"), MANAGER, WriteMode::Real).await.unwrap_err();
        assert!(error.is_already_exists(), "{name}: {error}");
    }
}

impl crate::Server {
    /// Applies an object with one try.
    async fn once_applied(&self) -> Result<manifest::Object, ApiError> {
        self.retrying_for(Duration::ZERO).apply(&config_maps(), &config_map("a", "1"), MANAGER, new()).await
    }
}
