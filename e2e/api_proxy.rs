//! A proxy in front of an API server that can fail as servers and networks do.

use std::{
    collections::VecDeque,
    error::Error,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use http::{HeaderMap, Method, Request, Response, header};
use http_body_util::BodyExt as _;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use jiff::{SignedDuration, fmt::rfc2822::DateTimePrinter};
use kube::{Client, client::Body};
use serde_json::json;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

/// A proxy that speaks plain HTTP/1.1 on loopback and adds the credentials of its client. Dropping it stops it.
pub(crate) struct ApiProxy {
    address: SocketAddr,
    state: Arc<Mutex<ProxyState>>,
    /// The number of times that all connections were closed.
    closed: watch::Sender<u64>,
    _tasks: JoinSet<()>,
}

struct ProxyState {
    client: Client,
    is_cut: bool,
    latency: Duration,
    is_held: fn(&ReceivedRequest) -> bool,
    /// The difference of the clock that clients see.
    skew: SignedDuration,
    refusals: VecDeque<Refusal>,
    received: Vec<ReceivedRequest>,
}

/// A request that is answered by the proxy.
struct Refusal {
    code: u16,
    is_meant: fn(&ReceivedRequest) -> bool,
}

/// A request of a client.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) method: Method,
    /// The path with its query.
    pub(crate) target: String,
    pub(crate) at: Instant,
    /// The status code of the answer. None if the server did not answer.
    pub(crate) code: Option<u16>,
}

impl ReceivedRequest {
    pub(crate) fn is_watch(&self) -> bool {
        self.target.contains("watch=true")
    }

    /// True for changes of objects, except of the Leases of controllers and of Events.
    pub(crate) fn is_write(&self) -> bool {
        let is_record = self.is_of_lease() || self.target.contains("/events");
        self.method != Method::GET && !is_record
    }

    pub(crate) fn is_of_lease(&self) -> bool {
        self.target.contains("/leases")
    }

    pub(crate) fn is_list_of(&self, plural: &str) -> bool {
        let path = self.target.split('?').next().unwrap();
        self.method == Method::GET && path.ends_with(plural) && !self.is_watch()
    }
}

impl ApiProxy {
    pub(crate) async fn start(client: Client) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(ProxyState {
            client,
            is_cut: false,
            latency: Duration::ZERO,
            is_held: |_| false,
            skew: SignedDuration::ZERO,
            refusals: VecDeque::new(),
            received: Vec::new(),
        }));
        let (closed, closing) = watch::channel(0);
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&state), closing));
        Self { address, state, closed, _tasks: tasks }
    }

    /// A kubeconfig with the address of the proxy.
    pub(crate) fn kubeconfig(&self) -> String {
        format!(
            "{{apiVersion: v1, kind: Config, current-context: proxy, clusters: [{{name: proxy, cluster: {{server: 'http://{}'}}}}], contexts: [{{name: proxy, context: {{cluster: proxy, user: proxy}}}}], users: [{{name: proxy, user: {{}}}}]}}",
            self.address
        )
    }

    /// Forwards further requests with another client.
    pub(crate) fn set_client(&self, client: Client) {
        self.state.lock().unwrap().client = client;
    }

    /// Closes all connections, and new ones at once until [`ApiProxy::restore`].
    pub(crate) fn cut(&self) {
        self.state.lock().unwrap().is_cut = true;
        self.close_connections();
    }

    pub(crate) fn restore(&self) {
        self.state.lock().unwrap().is_cut = false;
    }

    /// Closes all connections, and with them all watches.
    pub(crate) fn close_connections(&self) {
        self.closed.send_modify(|count| *count += 1);
    }

    /// Delays each request.
    pub(crate) fn set_latency(&self, latency: Duration) {
        self.state.lock().unwrap().latency = latency;
    }

    /// Holds the requests that are meant until [`ApiProxy::release`].
    pub(crate) fn hold(&self, is_meant: fn(&ReceivedRequest) -> bool) {
        self.state.lock().unwrap().is_held = is_meant;
    }

    pub(crate) fn release(&self) {
        self.hold(|_| false);
    }

    /// Changes the time in the headers of answers.
    pub(crate) fn set_clock(&self, skew: SignedDuration) {
        self.state.lock().unwrap().skew = skew;
    }

    /// Answers the next requests that are meant with an error.
    pub(crate) fn refuse(&self, times: usize, code: u16, is_meant: fn(&ReceivedRequest) -> bool) {
        let refusals = (0..times).map(|_| Refusal { code, is_meant });
        self.state.lock().unwrap().refusals.extend(refusals);
    }

    /// The number of refusals that no request has met.
    pub(crate) fn unused_refusals(&self) -> usize {
        self.state.lock().unwrap().refusals.len()
    }

    /// The requests since the start, in order.
    pub(crate) fn received(&self) -> Vec<ReceivedRequest> {
        self.state.lock().unwrap().received.clone()
    }
}

impl ProxyState {
    /// Records a request. Returns its position, and the code of the refusal that it meets.
    fn record(&mut self, method: Method, target: &str) -> (usize, Option<u16>) {
        let request = ReceivedRequest { method, target: target.to_owned(), at: Instant::now(), code: None };
        let at = self.refusals.iter().position(|refusal| (refusal.is_meant)(&request));
        let refusal = at.and_then(|at| self.refusals.remove(at)).map(|refusal| refusal.code);
        self.received.push(request);
        (self.received.len() - 1, refusal)
    }

    /// True if a recorded request is held.
    fn is_held(&self, at: usize) -> bool {
        (self.is_held)(&self.received[at])
    }
}

async fn accept(listener: TcpListener, state: Arc<Mutex<ProxyState>>, closing: watch::Receiver<u64>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        if state.lock().unwrap().is_cut {
            continue;
        }
        let (state, mut closing) = (Arc::clone(&state), closing.clone());
        closing.mark_unchanged();
        connections.spawn(async move {
            tokio::select! {
                // Clients close connections whenever they like.
                _ = serve(stream, &state) => {}
                _ = closing.changed() => {}
            }
        });
    }
}

/// Answers the requests of one connection.
async fn serve(stream: TcpStream, state: &Mutex<ProxyState>) -> hyper::Result<()> {
    let answers = service_fn(|request| answer(request, state));
    let mut server = http1::Builder::new();
    server.auto_date_header(false).serve_connection(TokioIo::new(stream), answers).await
}

/// Forwards a request, or refuses it. An error closes the connection.
async fn answer(
    request: Request<Incoming>,
    state: &Mutex<ProxyState>,
) -> Result<Response<Body>, Box<dyn Error + Send + Sync>> {
    let (mut parts, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let (at, refusal) = state.lock().unwrap().record(parts.method.clone(), &parts.uri.to_string());
    let (client, latency, skew) = {
        let state = state.lock().unwrap();
        (state.client.clone(), state.latency, state.skew)
    };
    tokio::time::sleep(latency).await;
    while state.lock().unwrap().is_held(at) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut answer = if let Some(code) = refusal {
        refusal_of(code)
    } else {
        remove_headers_of_connection(&mut parts.headers);
        client.send(Request::from_parts(parts, Body::from(body.to_vec()))).await?
    };
    state.lock().unwrap().received[at].code = Some(answer.status().as_u16());
    remove_headers_of_connection(answer.headers_mut());
    if let Some(date) = answer.headers_mut().get_mut(header::DATE) {
        let time = jiff::Timestamp::now() + skew;
        *date = DateTimePrinter::new().timestamp_to_rfc9110_string(&time)?.parse()?;
    }
    Ok(answer)
}

/// Removes the headers that concern the connection to the proxy.
fn remove_headers_of_connection(headers: &mut HeaderMap) {
    for name in [header::HOST, header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION] {
        headers.remove(name);
    }
}

/// Returns the answer of an API server that refuses a request.
fn refusal_of(code: u16) -> Response<Body> {
    let reason = match code {
        410 => "Expired",
        429 => "TooManyRequests",
        _ => "InternalError",
    };
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "refused by the proxy", "reason": reason, "code": code});
    let mut answer = Response::builder().status(code).header(header::CONTENT_TYPE, "application/json");
    if code == 429 {
        answer = answer.header(header::RETRY_AFTER, 1);
    }
    answer.body(Body::from(status.to_string().into_bytes())).unwrap()
}
