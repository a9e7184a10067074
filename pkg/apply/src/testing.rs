//! Servers for tests: a sandbox, and a server with scripted answers.

use std::{
    collections::{HashMap, VecDeque},
    convert::Infallible,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt as _, future::BoxFuture};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::Frame;
use kube::client::Body;
use manifest::{Object, Value};
use serde_json::json;
use support::fixture::Fixture;
use tower_service::Service;

use crate::{ApiKind, ConnectionOptions, Credentials, Event, EventSink, GroupKind, Server, ServerOptions};

pub(crate) use crate::fixtures::object;

/// The field manager of tests.
pub(crate) const MANAGER: &str = "me";

/// A server and its events.
pub(crate) struct Lab {
    pub(crate) server: Server,
    events: Arc<Mutex<Vec<Event>>>,
}

/// A sandbox with a server.
pub(crate) struct SandboxLab {
    pub(crate) lab: Lab,
    pub(crate) fixture: Fixture,
}

/// A server with scripted answers.
#[derive(Clone, Default)]
pub(crate) struct ScriptedServer(Arc<Mutex<Script>>);

#[derive(Default)]
struct Script {
    replies: HashMap<String, VecDeque<Reply>>,
    received: Vec<String>,
}

/// An answer.
#[derive(Clone)]
pub(crate) enum Reply {
    /// A status, a content type, and a body.
    Answer(u16, &'static str, String),
    /// A reply with an additional header.
    WithHeader(&'static str, &'static str, Box<Reply>),
    /// No answer.
    Silence,
    /// A successful answer without end, one byte a second.
    Trickle,
}

type ReplyBody = UnsyncBoxBody<Bytes, Infallible>;

impl Reply {
    pub(crate) fn json(code: u16, body: &Value) -> Self {
        Self::Answer(code, "application/json", body.to_string())
    }

    /// Returns a Kubernetes error.
    pub(crate) fn status(code: u16, reason: &str, message: &str) -> Self {
        let status = json!({"kind": "Status", "code": code, "reason": reason, "message": message});
        Self::json(code, &status)
    }

    fn response(self) -> Option<Response<ReplyBody>> {
        match self {
            Self::Silence => None,
            Self::WithHeader(name, value, reply) => {
                let mut response = reply.response()?;
                response.headers_mut().append(name, value.parse().unwrap());
                Some(response)
            }
            Self::Answer(code, content_type, body) => {
                let response = Response::builder().status(code).header("content-type", content_type);
                Some(response.body(Full::from(body).boxed_unsync()).unwrap())
            }
            Self::Trickle => {
                let bytes = futures::stream::repeat(Bytes::from_static(b" ")).then(|byte| async {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    Ok(Frame::data(byte))
                });
                Some(Response::new(StreamBody::new(bytes).boxed_unsync()))
            }
        }
    }
}

impl ScriptedServer {
    /// Sets the replies to a request such as `GET /version`, with any query. Replies are used in order, and the last
    /// one repeats.
    pub(crate) fn on<const N: usize>(&self, request: &str, replies: [Reply; N]) -> &Self {
        self.0.lock().unwrap().replies.insert(request.to_owned(), replies.into());
        self
    }

    /// Returns all received requests, with their queries.
    pub(crate) fn received(&self) -> Vec<String> {
        self.0.lock().unwrap().received.clone()
    }

    pub(crate) fn client(&self) -> kube::Client {
        kube::Client::new(self.clone(), "default")
    }

    pub(crate) async fn lab(&self) -> Lab {
        Lab::new(self.client(), ServerOptions::default()).await
    }
}

impl Service<Request<Body>> for ScriptedServer {
    type Response = Response<ReplyBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let mut script = self.0.lock().unwrap();
        let (method, uri) = (request.method(), request.uri());
        script.received.push(format!("{method} {uri}"));
        let reply = match script.replies.get_mut(&format!("{method} {}", uri.path())) {
            None => Reply::Answer(404, "text/plain", "404 page not found\n".to_owned()),
            Some(replies) if replies.len() > 1 => replies.pop_front().unwrap(),
            Some(replies) => replies[0].clone(),
        };
        Box::pin(async move {
            match reply.response() {
                Some(response) => Ok(response),
                None => std::future::pending().await,
            }
        })
    }
}

impl Lab {
    pub(crate) async fn new(client: kube::Client, settings: ServerOptions) -> Self {
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let sink = events.clone();
        let events_to = EventSink::new(move |event: &Event| sink.lock().unwrap().push(event.clone()));
        let settings = ServerOptions { events: events_to, ..settings };
        let server = Server::connect(connection(client), settings).await.unwrap().without_lease();
        Self { server, events }
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }

    /// Returns the reasons of all retries.
    pub(crate) fn retries(&self) -> Vec<String> {
        let why = self.events().into_iter().filter_map(|event| match event {
            Event::Retrying { reason: why, .. } => Some(why),
            _ => None,
        });
        why.collect()
    }
}

impl SandboxLab {
    pub(crate) async fn start() -> Self {
        let fixture = Fixture::start().await;
        Self { lab: Lab::new(fixture.client(), ServerOptions::default()).await, fixture }
    }

    /// Adds a fault in the syntax of the sandbox's command line.
    pub(crate) fn inject_fault(&self, fault: &str) {
        self.fixture.sandbox().faults().add(sandbox::Fault::parse(fault).unwrap());
    }

    pub(crate) async fn kind(&self, group: &str, kind: &str) -> ApiKind {
        self.lab.server.kind(&GroupKind::new(group, kind)).await.unwrap()
    }

    /// Returns the number of requests of one type, such as `patch configmaps`.
    pub(crate) fn request_count(&self, request: &str) -> usize {
        let requests = self.fixture.sandbox().audit().since(0);
        requests.iter().filter(|sent| format!("{} {}", sent.verb, sent.resource) == request).count()
    }
}

pub(crate) fn connection(client: kube::Client) -> ConnectionOptions {
    ConnectionOptions {
        credentials: Credentials::Client(client),
        impersonation: None,
        user_agent: "test/1".into(),
    }
}

/// Returns a ConfigMap in the default namespace with one value.
pub(crate) fn config_map(name: &str, value: &str) -> Object {
    let metadata = json!({"name": name, "namespace": "default"});
    object(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": value}}))
}

/// Returns the value of the ConfigMap.
pub(crate) fn value(object: &Object) -> &str {
    object.get(&["data", "key"]).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a kubeconfig with one context, `lab`.
pub(crate) fn kubeconfig(cluster: &Value, user: &Value) -> Credentials {
    let config = json!({
        "apiVersion": "v1", "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "lab", "context": {"cluster": "c", "user": "u"}}],
    });
    Credentials::Kubeconfig {
        config: Box::new(serde_json::from_value(config).unwrap()),
        context: "lab".into(),
    }
}

/// Returns the kind of ConfigMaps without discovery.
pub(crate) fn config_maps() -> ApiKind {
    ApiKind {
        group: String::new(),
        version: "v1".into(),
        kind: "ConfigMap".into(),
        plural: "configmaps".into(),
        namespaced: true,
        verbs: Vec::new(),
    }
}

/// The time limit of waits in tests.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_mins(2);
