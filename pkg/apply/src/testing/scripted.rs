//! A server with scripted answers.

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
use manifest::Value;
use serde_json::json;
use tower_service::Service;

use super::{EventLog, connect};
use crate::{Server, ServerOptions};

/// A connection to a scripted server, and its events.
pub(crate) struct ScriptedLab {
    pub(crate) server: Server,
    pub(crate) events: EventLog,
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

    pub(crate) async fn lab(&self) -> ScriptedLab {
        self.lab_with(ServerOptions::default()).await
    }

    pub(crate) async fn lab_with(&self, options: ServerOptions) -> ScriptedLab {
        let (server, events) = connect(self.client(), options).await;
        ScriptedLab { server, events }
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
