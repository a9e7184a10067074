//! A client connection to a sandbox that breaks or rejects requests at chosen points.

use std::{
    future::{Future, pending},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use kube::client::Body;
use sandbox::Sandbox;
use serde_json::json;
use tokio::sync::{Notify, watch};
use tower_service::Service;

use crate::fixture::Fixture;

type Cut = <Sandbox as Service<Request<Body>>>::Error;
type IsPausePoint = Arc<dyn Fn(&OutgoingRequest<'_>) -> bool + Send + Sync>;
type Answer = Response<UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>>;

/// A request before it is sent.
#[derive(Debug)]
pub struct OutgoingRequest<'a> {
    /// The number of the request on this connection, from 1.
    pub number: u64,
    /// The method, such as `GET` or `PATCH`.
    pub method: &'a str,
    /// The path without the query.
    pub path: &'a str,
    /// The query. Empty if there is none.
    pub query: &'a str,
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The request is answered.
    Answered,
    /// The request takes effect, but the client receives no answer. All later requests are lost.
    AnswerLost,
    /// The sending process is stopped. This request and all later ones are in flight until the process resumes.
    ProcessStopped,
    /// The request is rejected with status, reason and message.
    Rejected(u16, &'static str, &'static str),
}

/// The arrival time of a request that was in flight when its process was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalTime {
    /// Immediately. The process receives the answer after it resumes.
    Immediate,
    /// After the process resumes, as after a network partition.
    AfterResume,
}

/// A point in a run, before a chosen request, at which a test makes a change.
#[derive(Clone, Default)]
pub struct PausePoint {
    is_reached: Arc<AtomicBool>,
    reached: Arc<Notify>,
    released: Arc<Notify>,
}

/// A connection to a sandbox that determines the outcome of each request.
#[derive(Clone)]
pub struct ScriptedConnection {
    sandbox: Sandbox,
    outcome: Arc<dyn Fn(&OutgoingRequest<'_>) -> RequestOutcome + Send + Sync>,
    pause_point: Option<(PausePoint, IsPausePoint)>,
    sent: Arc<AtomicU64>,
    is_broken: watch::Sender<bool>,
    stopped: watch::Sender<bool>,
    arrival: ArrivalTime,
}

impl OutgoingRequest<'_> {
    /// True if the request changes objects.
    pub fn is_write(&self) -> bool {
        self.method != "GET" && !self.path.ends_with("reviews") && !self.query.contains("dryRun=All")
    }

    /// True if the request acquires, renews or releases the lease of the cluster.
    pub fn is_lease_request(&self) -> bool {
        self.path.contains("/leases")
    }
}

impl ScriptedConnection {
    /// Creates a connection on which a function decides the outcome of each request.
    pub fn new(
        fixture: &Fixture,
        fate: impl Fn(&OutgoingRequest<'_>) -> RequestOutcome + Send + Sync + 'static,
    ) -> Self {
        let (dead, stopped) = (watch::Sender::new(false), watch::Sender::new(false));
        Self {
            sandbox: fixture.sandbox().clone(),
            outcome: Arc::new(fate),
            sent: Arc::default(),
            pause_point: None,
            is_broken: dead,
            stopped,
            arrival: ArrivalTime::AfterResume,
        }
    }

    /// Creates a connection whose process is stopped at the given write. Writes to the lease are not counted.
    pub fn stopping_at_write(fixture: &Fixture, number: u64, arrival: ArrivalTime) -> Self {
        Self::stopping(fixture, number, &Arc::default(), arrival)
    }

    /// Creates the connections of one process to two servers. The process is stopped at the given write to either
    /// server.
    pub fn stopping_pair(fixtures: [&Fixture; 2], number: u64) -> (Self, Self) {
        let writes = Arc::default();
        let [one, other] =
            fixtures.map(|fixture| Self::stopping(fixture, number, &writes, ArrivalTime::Immediate));
        let stopped = one.stopped.clone();
        (one, Self { stopped, ..other })
    }

    fn stopping(fixture: &Fixture, number: u64, writes: &Arc<AtomicU64>, arrival: ArrivalTime) -> Self {
        let writes = Arc::clone(writes);
        let wire = Self::new(fixture, move |request| {
            let counts = request.is_write() && !request.is_lease_request();
            if counts && writes.fetch_add(1, Ordering::Relaxed) + 1 == number {
                return RequestOutcome::ProcessStopped;
            }
            RequestOutcome::Answered
        });
        Self { arrival, ..wire }
    }

    /// Waits until the process is stopped.
    pub async fn stopped(&self) {
        // The sender lives as long as this value.
        let _ = self.stopped.subscribe().wait_for(|stopped| *stopped).await;
    }

    /// Resumes the process. Requests in flight arrive.
    pub fn resume(&self) {
        self.stopped.send_replace(false);
    }

    /// Creates a connection on which the first matching request waits for the end of a moment.
    pub fn pausing_before(
        fixture: &Fixture,
        moment: &PausePoint,
        is_moment: impl Fn(&OutgoingRequest<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        let wire = Self::new(fixture, |_| RequestOutcome::Answered);
        Self { pause_point: Some((moment.clone(), Arc::new(is_moment))), ..wire }
    }

    /// Creates a connection that breaks after this many requests.
    pub fn breaking_after(fixture: &Fixture, requests: u64) -> Self {
        Self::new(fixture, move |request| {
            if request.number < requests { RequestOutcome::Answered } else { RequestOutcome::AnswerLost }
        })
    }

    /// A client that uses the connection.
    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.clone(), "default")
    }

    /// Breaks the connection. Further requests receive no answer.
    pub fn break_now(&self) {
        self.is_broken.send_replace(true);
    }

    /// Runs a future until it completes or the connection breaks. `None` if the connection broke.
    pub async fn run_until_broken<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut dead = self.is_broken.subscribe();
        tokio::select! {
            biased;
            _ = dead.wait_for(|dead| *dead) => None,
            result = work => Some(result),
        }
    }
}

impl ScriptedConnection {
    /// Sends a request that reaches the server even if the client no longer waits for the answer.
    async fn send_detached(
        &self,
        request: Request<Body>,
        is_sent: bool,
    ) -> Result<Response<sandbox::Body>, Cut> {
        let (mut stopped, mut sandbox) = (self.stopped.subscribe(), self.sandbox.clone());
        let arrival = tokio::spawn(async move {
            if is_sent {
                let answer = sandbox.call(request).await;
                let _ = stopped.wait_for(|stopped| !*stopped).await;
                return answer;
            }
            let _ = stopped.wait_for(|stopped| !*stopped).await;
            sandbox.call(request).await
        });
        arrival.await.expect("a sandbox does not panic")
    }
}

impl PausePoint {
    /// Runs the future until the moment, makes a change, and completes the future.
    pub async fn run_with_change<T>(
        &self,
        work: impl Future<Output = T>,
        change: impl Future<Output = ()>,
    ) -> T {
        let mut work = pin!(work);
        tokio::select! {
            biased;
            _ = &mut work => panic!("the command ended before the expected request"),
            () = self.reached.notified() => {}
        }
        change.await;
        self.released.notify_one();
        work.await
    }

    async fn wait_for_change(&self) {
        if !self.is_reached.swap(true, Ordering::Relaxed) {
            self.reached.notify_one();
            self.released.notified().await;
        }
    }
}

impl Service<Request<Body>> for ScriptedConnection {
    type Response = Answer;
    type Error = Cut;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Answer, Cut>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Cut>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let mut wire = self.clone();
        Box::pin(async move {
            if *wire.is_broken.borrow() {
                return pending().await;
            }
            let number = wire.sent.fetch_add(1, Ordering::Relaxed) + 1;
            let outgoing = OutgoingRequest {
                number,
                method: request.method().as_str(),
                path: request.uri().path(),
                query: request.uri().query().unwrap_or_default(),
            };
            let fate = (wire.outcome)(&outgoing);
            if fate == RequestOutcome::ProcessStopped {
                wire.stopped.send_replace(true);
            }
            if *wire.stopped.borrow() {
                let is_sent = wire.arrival == ArrivalTime::Immediate && !outgoing.is_lease_request();
                let answer = wire.send_detached(request, is_sent).await;
                return answer.map(|answer| answer.map(|body| body.map_err(Into::into).boxed_unsync()));
            }
            if let RequestOutcome::Rejected(code, reason, message) = fate {
                return Ok(refusal(code, reason, message));
            }
            if let Some((moment, is_moment)) = &wire.pause_point
                && is_moment(&outgoing)
            {
                moment.wait_for_change().await;
            }
            let answer = wire.sandbox.call(request).await;
            if fate == RequestOutcome::AnswerLost {
                wire.is_broken.send_replace(true);
                return pending().await;
            }
            answer.map(|answer| answer.map(|body| body.map_err(Into::into).boxed_unsync()))
        })
    }
}

fn refusal(code: u16, reason: &str, message: &str) -> Answer {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message,
    });
    let response = Response::builder().status(code).header("content-type", "application/json");
    let body = Full::from(status.to_string()).map_err(|never| match never {});
    response.body(body.boxed_unsync()).expect("the answer can be created")
}
