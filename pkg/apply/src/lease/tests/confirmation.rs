//! Tests of the confirmation of a lease before each write.

use std::{
    cell::Cell,
    convert::Infallible,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Collected, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use manifest::Value;
use serde_json::json;
use support::fixture::Fixture;
use tokio::{
    net::TcpListener,
    spawn,
    sync::Notify,
    time::{Instant, advance, sleep, timeout},
};

use super::{LEASE, PLACE, acquire, lab, pass, request, value, write};
use crate::{
    ApiError, ApplyRequest, ConnectionOptions, Server, ServerOptions,
    lease::{HeldLeasePolicy, Lease, LeaseRequest, MAX_CONFIRMATION_AGE},
    testing::{MANAGER, config_map, config_maps, kubeconfig},
};

thread_local! {
    /// The offset of the wall clock of a test in seconds.
    static WALL_OFFSET: Cell<i64> = const { Cell::new(0) };
}

fn shift_wall_clock(seconds: i64) {
    WALL_OFFSET.set(WALL_OFFSET.get() + seconds);
}

fn shifted_wall_clock() -> SystemTime {
    let offset = WALL_OFFSET.get();
    let by = Duration::from_secs(offset.unsigned_abs());
    if offset < 0 { SystemTime::now() - by } else { SystemTime::now() + by }
}

#[tokio::test(start_paused = true)]
async fn a_wall_clock_that_jumps_leads_to_a_new_confirmation() {
    for jump in [3600, -3600] {
        let lab = lab().await;
        let with_clock =
            LeaseRequest { wall_clock: shifted_wall_clock, ..request("1", HeldLeasePolicy::Wait) };
        let lease = Lease::acquire(&lab.server, &with_clock).await.unwrap();
        let before = lab.server.requests();
        shift_wall_clock(jump);
        write(&lab, &lease, "1").await.unwrap();
        assert_eq!(lab.server.requests() - before, 2, "a renewal and the write, {jump}");
        // If another run holds the lease, the jump does not help.
        drop(acquire(&lab, "2", HeldLeasePolicy::TakeOver).await.unwrap());
        shift_wall_clock(jump);
        let error = write(&lab, &lease, "2").await.unwrap_err();
        assert!(matches!(error, ApiError::LeaseLost { holder: Some(_) }), "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_confirmation_is_retried_like_a_request() {
    let lab = lab().await;
    let lease = acquire(&lab, "1", HeldLeasePolicy::Fail).await.unwrap();
    lab.fixture.inject_fault("503,verb=update,resource=coordination.k8s.io/leases,times=2");
    let server = lab.server.with_lease(&lease);
    server.confirm_leases("delete objects").await.unwrap();
    lab.fixture.inject_fault("503,verb=update,resource=coordination.k8s.io/leases");
    let started = Instant::now();
    let server = server.retrying_for(Duration::from_secs(30));
    let error = server.confirm_leases("delete objects").await.unwrap_err();
    let ApiError::RetriesExhausted { last, .. } = &error else { panic!("{error:?}") };
    assert!(matches!(**last, ApiError::LeaseUnconfirmed { .. }), "{error:?}");
    assert!(started.elapsed() > Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn a_confirmation_that_took_too_long_is_repeated() {
    let lab = lab().await;
    let with_clock = LeaseRequest { wall_clock: shifted_wall_clock, ..request("1", HeldLeasePolicy::Wait) };
    let lease = Lease::acquire(&lab.server, &with_clock).await.unwrap();
    pass(&lab, MAX_CONFIRMATION_AGE).await;
    let slow = "latency:4s,verb=update,resource=coordination.k8s.io/leases,times=1";
    lab.fixture.inject_fault(slow);
    let before = lab.server.requests();
    // This simulates a process that is stopped during the renewal.
    let stop = async {
        sleep(Duration::from_secs(2)).await;
        shift_wall_clock(60);
    };
    let (written, ()) = tokio::join!(write(&lab, &lease, "1"), stop);
    written.unwrap();
    assert_eq!(lab.server.requests() - before, 3, "two renewals and the write");
}

/// A server that can only create leases, and reads the bodies of other requests on demand.
#[derive(Clone, Default)]
struct SlowReader {
    begun: Arc<Notify>,
    read_on: Arc<Notify>,
    whole: Arc<Mutex<Vec<bool>>>,
}

impl SlowReader {
    /// Starts the server; returns its address.
    async fn listen(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let reader = self.clone();
        spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let reader = reader.clone();
                let service = service_fn(move |request| reader.clone().answer(request));
                spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        address
    }

    async fn answer(self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        let (head, body) = request.into_parts();
        let is_lease = head.uri.path().contains("/leases");
        if !is_lease {
            self.begun.notify_one();
            self.read_on.notified().await;
        }
        let body = body.collect().await.map(Collected::to_bytes);
        if !is_lease {
            self.whole.lock().unwrap().push(body.is_ok());
        }
        let mut answer = Response::new(Full::new(body.unwrap_or_default()));
        if is_lease && head.method != Method::POST {
            *answer.status_mut() = StatusCode::NOT_FOUND;
        }
        Ok(answer)
    }
}

#[tokio::test]
async fn a_half_sent_request_stops_when_the_lease_goes_stale() {
    // The value exceeds the buffers of a connection.
    let object = config_map("a", &"x".repeat(32 * 1024 * 1024));
    for (seconds, arrives) in [(0, true), (60, false), (-60, false)] {
        let reader = SlowReader::default();
        let config = kubeconfig(&json!({"server": reader.listen().await}), &json!({}));
        let connection =
            ConnectionOptions { credentials: config, impersonation: None, user_agent: "test/1".into() };
        let server = Server::connect(connection, ServerOptions::default()).await.unwrap();
        let with_clock =
            LeaseRequest { wall_clock: shifted_wall_clock, ..request("1", HeldLeasePolicy::Wait) };
        let lease = Lease::acquire(&server, &with_clock).await.unwrap();
        let server = server.with_lease(&lease);
        let kind = config_maps();
        let stop = async {
            reader.begun.notified().await;
            shift_wall_clock(seconds);
            reader.read_on.notify_one();
        };
        let (written, ()) =
            tokio::join!(server.apply(&kind, &object, MANAGER, ApplyRequest::default()), stop);
        match written {
            Ok(_) => assert!(arrives),
            Err(ApiError::LeaseLost { holder: None }) => assert!(!arrives),
            Err(other) => panic!("{other:?}"),
        }
        assert_eq!(*reader.whole.lock().unwrap(), [arrives], "{seconds}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_lost_one_of_two_leases_writes_nothing() {
    for lost in 0..2 {
        let labs = [lab().await, lab().await];
        let mut leases = Vec::new();
        for lab in &labs {
            leases.push(acquire(lab, "1", HeldLeasePolicy::Wait).await.unwrap());
        }
        let server = leases.iter().fold(labs[0].server.clone(), |server, lease| server.with_lease(lease));
        labs[lost].fixture.delete(LEASE, PLACE).await;
        advance(MAX_CONFIRMATION_AGE).await;
        let refused =
            server.apply(&config_maps(), &config_map("a", "1"), MANAGER, ApplyRequest::default()).await;
        assert!(matches!(refused, Err(ApiError::LeaseLost { .. })), "{lost}: {refused:?}");
        assert_eq!(value(&labs[0]).await, Value::Null);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_confirmed_while_writes_use_all_connections() {
    let fixture = Fixture::start().await;
    let settings = ServerOptions { max_in_flight: 1, ..ServerOptions::default() };
    let connection = ConnectionOptions::of_client(fixture.client(), "test/1");
    let server = Server::connect(connection, settings).await.unwrap();
    let lease = Lease::acquire(&server, &request("1", HeldLeasePolicy::Wait)).await.unwrap();
    advance(MAX_CONFIRMATION_AGE).await;
    let server = server.with_lease(&lease);
    let (kind, object) = (config_maps(), config_map("a", "1"));
    let written = server.apply(&kind, &object, MANAGER, ApplyRequest::default());
    timeout(MAX_CONFIRMATION_AGE, written).await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn writes_wait_while_the_lease_cannot_be_confirmed() {
    let lab = lab().await;
    let lease = acquire(&lab, "1", HeldLeasePolicy::Wait).await.unwrap();
    pass(&lab, MAX_CONFIRMATION_AGE).await;
    lab.fixture.inject_fault("503,resource=coordination.k8s.io/leases,times=3");
    write(&lab, &lease, "1").await.unwrap();
    assert_eq!(value(&lab).await, "1");
    pass(&lab, MAX_CONFIRMATION_AGE).await;
    lab.fixture.inject_fault("503,resource=coordination.k8s.io/leases");
    let error = write(&lab, &lease, "2").await.unwrap_err();
    let ApiError::RetriesExhausted { last, .. } = error else { panic!("{error:?}") };
    assert!(matches!(*last, ApiError::LeaseUnconfirmed { .. }), "{last:?}");
    assert_eq!(value(&lab).await, "1");
}
