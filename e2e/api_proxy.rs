//! A proxy in front of an API server that can fail as servers and networks do.

use std::{
    collections::VecDeque,
    fmt::Write as _,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use jiff::{SignedDuration, fmt::rfc2822::DateTimePrinter};
use kube::{Client, client::Body};
use tokio::{
    io::{self, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
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
async fn serve(stream: TcpStream, state: &Mutex<ProxyState>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some((method, target, headers)) = read_head(&mut stream).await? {
        let length =
            headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut body).await?;
        let (at, refusal) = state.lock().unwrap().record(method.clone(), &target);
        let (client, latency, skew) = {
            let state = state.lock().unwrap();
            (state.client.clone(), state.latency, state.skew)
        };
        tokio::time::sleep(latency).await;
        if let Some(code) = refusal {
            state.lock().unwrap().received[at].code = Some(code);
            stream.write_all(refusal_text(code).as_bytes()).await?;
            continue;
        }
        let mut request = Request::builder().method(method).uri(target);
        for (name, value) in headers.iter().filter(|(name, _)| !is_of_connection(name)) {
            request = request.header(name, value);
        }
        let Ok(answer) = client.send(request.body(Body::from(body)).unwrap()).await else { return Ok(()) };
        state.lock().unwrap().received[at].code = Some(answer.status().as_u16());
        let (parts, mut body) = answer.into_parts();
        stream.write_all(head_text(parts.status, &parts.headers, skew).as_bytes()).await?;
        loop {
            let frame = tokio::select! {
                frame = body.frame() => frame,
                // The next request follows the answer, so the client has closed the connection.
                _ = stream.fill_buf() => return Ok(()),
            };
            let Some(frame) = frame else { break };
            let Ok(data) = frame.map_err(io::Error::other)?.into_data() else { continue };
            stream.write_all(format!("{:x}\r\n", data.len()).as_bytes()).await?;
            stream.write_all(&data).await?;
            stream.write_all(b"\r\n").await?;
        }
        stream.write_all(b"0\r\n\r\n").await?;
    }
    Ok(())
}

/// Reads the start of a request. None at the end of the connection.
async fn read_head(stream: &mut BufReader<TcpStream>) -> io::Result<Option<(Method, String, HeaderMap)>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let mut words = line.split(' ');
    let method = words.next().and_then(|method| method.parse().ok()).unwrap();
    let target = words.next().unwrap().to_owned();
    let mut headers = HeaderMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        let name: header::HeaderName = name.parse().unwrap();
        headers.append(name, value.parse().unwrap());
    }
    Ok(Some((method, target, headers)))
}

/// True for headers that concern the connection to the proxy.
fn is_of_connection(name: &header::HeaderName) -> bool {
    [header::HOST, header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION].contains(name)
}

fn head_text(status: StatusCode, headers: &HeaderMap, skew: SignedDuration) -> String {
    let mut text = format!("HTTP/1.1 {} Forwarded\r\ntransfer-encoding: chunked\r\n", status.as_u16());
    for (name, value) in headers.iter().filter(|(name, _)| !is_of_connection(name)) {
        let value = value.to_str().unwrap();
        if *name == header::DATE {
            let time = jiff::Timestamp::now() + skew;
            let time = DateTimePrinter::new().timestamp_to_rfc9110_string(&time).unwrap();
            let _ = write!(text, "date: {time}\r\n");
        } else {
            let _ = write!(text, "{name}: {value}\r\n");
        }
    }
    text + "\r\n"
}

/// Returns the answer of an API server that refuses a request.
fn refusal_text(code: u16) -> String {
    let (reason, headers) = match code {
        410 => ("Expired", ""),
        429 => ("TooManyRequests", "retry-after: 1\r\n"),
        _ => ("InternalError", ""),
    };
    let body = format!(
        r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"refused by the proxy","reason":"{reason}","code":{code}}}"#
    );
    format!(
        "HTTP/1.1 {code} {reason}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}
