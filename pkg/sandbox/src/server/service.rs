//! The entry point: from an HTTP request to its response.

use std::{
    fmt::Display,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderValue, Method, Request, Response, header, request::Parts};
use tower_service::Service;

use super::{
    Sandbox, Server, documents,
    hooks::{Ending, Verdict},
};
use crate::{
    audit,
    request::{Query, RequestInfo, ResourcePath, Unroutable, Verb, body, route},
    respond::{self, Accepted, Body, Cut, Presenter},
    status::Status,
    verbs::{
        answer::Answer,
        dispatch::{self, Asked},
    },
};

impl<B> Service<Request<B>> for Sandbox
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Display,
{
    type Response = Response<Body>;
    type Error = Cut;
    type Future = BoxFuture<'static, Result<Response<Body>, Cut>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Cut>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let server = Arc::clone(&self.server);
        Box::pin(async move { answer(&server, request).await })
    }
}

async fn answer<B>(server: &Server, request: Request<B>) -> Result<Response<Body>, Cut>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Display,
{
    let (parts, content) = request.into_parts();
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let path = ResourcePath::parse(parts.uri.path());
    let verb = path.as_ref().and_then(|path| Verb::of(&parts.method, path, &query));
    let mut logged = log_entry(&parts, path.as_ref(), verb, &query);
    let (mut response, ending) = match server.strike(&logged).await {
        Verdict::Cut => (None, Ending::Cut),
        Verdict::Refuse(status) => (Some(respond::failure(&Accepted::default(), &status)), Ending::Answer),
        Verdict::Proceed(ending) => {
            let response = match path {
                Some(path) => resource(server, &parts, path, verb, query, content).await,
                None => documents::answer(server, &parts, &query),
            };
            (Some(response), ending)
        }
    };
    // A request that was running when another one killed the server gets no response either.
    if matches!(ending, Ending::Cut | Ending::Kill) || server.is_killed() {
        response = None;
    }
    logged.code = response.as_ref().map_or(0, |response| response.status().as_u16());
    server.audit.record(logged);
    if ending == Ending::Kill {
        server.kill();
    }
    let mut response = response.ok_or(Cut)?;
    if let Ok(id) = HeaderValue::from_str(&uuid::Uuid::new_v4().to_string()) {
        response.headers_mut().insert("audit-id", id);
    }
    if let Ok(date) = HeaderValue::from_str(&server.clock.http_date()) {
        response.headers_mut().insert(header::DATE, date);
    }
    Ok(if ending == Ending::BreakOff { response.map(Body::broken_off) } else { response })
}

/// Returns the audit entry of a request before its response.
pub(crate) fn logged(parts: &Parts) -> audit::Request {
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let path = ResourcePath::parse(parts.uri.path());
    let verb = path.as_ref().and_then(|path| Verb::of(&parts.method, path, &query));
    log_entry(parts, path.as_ref(), verb, &query)
}

fn log_entry(
    parts: &Parts,
    path: Option<&ResourcePath>,
    verb: Option<Verb>,
    query: &Query,
) -> audit::Request {
    let agent = parts.headers.get("user-agent").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let client = match query.text("fieldManager") {
        "" => agent.split('/').next().unwrap_or_default(),
        named => named,
    };
    let whole = parts.uri.path_and_query().map_or(parts.uri.path(), |whole| whole.as_str());
    let mut entry = audit::Request {
        verb: verb.map_or_else(|| method_word(&parts.method), Verb::word).into(),
        path: whole.to_owned(),
        client: client.to_owned(),
        dry_run: !query.text("dryRun").is_empty(),
        ..audit::Request::default()
    };
    if let Some(path) = path {
        let sub = if path.subresource.is_empty() { "" } else { "/" };
        entry.resource = format!("{}{sub}{}", path.plural, path.subresource);
        (entry.group, entry.namespace, entry.name) =
            (path.group.clone(), path.namespace.clone(), path.name.clone());
    }
    entry
}

fn method_word(method: &Method) -> &'static str {
    match *method {
        Method::GET => "get",
        Method::POST => "post",
        Method::PUT => "put",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        Method::HEAD => "head",
        Method::OPTIONS => "options",
        _ => "other",
    }
}

async fn resource<B>(
    server: &Server,
    parts: &Parts,
    path: ResourcePath,
    verb: Option<Verb>,
    query: Query,
    content: B,
) -> Response<Body>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Display,
{
    let kinds = server.kinds();
    let header =
        |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let pretty = is_pretty(&query, header("user-agent"), header("accept"));
    let accepted = Accepted::read(header("accept"), pretty, verb == Some(Verb::Watch));
    let plain = accepted.as_ref().map(|accepted| accepted.whole()).unwrap_or_default();
    let resource = match route(&kinds, &path, verb) {
        Ok(resource) => resource,
        Err(Unroutable::Page) => return respond::no_page(),
        Err(Unroutable::Status(status)) => return respond::failure(&plain, &status),
    };
    let unknown = resource.custom.is_none().then(|| respond::unknown_media_types(header("accept"))).flatten();
    if let Some(status) = unknown {
        return respond::failure(&plain, &status);
    }
    let (Some(verb), Ok(accepted)) = (verb, &accepted) else {
        return respond::failure(&plain, &accepted.err().unwrap_or_else(Status::method_not_allowed));
    };
    let info = RequestInfo { verb, resource, path, query, headers: parts.headers.clone() };
    let content = match read_body(verb, content).await {
        Ok(content) => content,
        Err(status) => return respond::failure(&plain, &status),
    };
    let include = info.query.text("includeObject").to_owned();
    let now = server.clock.timestamp().as_second();
    let presenter = match Presenter::new(Arc::clone(&info.resource), *accepted, &include, now) {
        Ok(presenter) => presenter,
        Err(status) => return respond::failure(&plain, &status),
    };
    let asked = Asked { server, kinds, info: &info, content, presenter };
    let (answer, warnings) = dispatch::dispatch(&asked).await;
    let response = answer.and_then(|answer| form(&asked.presenter, &plain, answer));
    let mut response = response.unwrap_or_else(|status| respond::failure(&plain, &status));
    respond::warn(&mut response, &warnings);
    response
}

async fn read_body<B>(verb: Verb, content: B) -> Result<Bytes, Status>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Display,
{
    match verb {
        Verb::Get | Verb::List | Verb::Watch => Ok(Bytes::new()),
        _ => body::read(content).await,
    }
}

/// True for clients such as browsers and curl, which receive line breaks. Source: apiserver 1.36 `isPrettyPrint`.
fn is_pretty(query: &Query, agent: &str, accept: &str) -> bool {
    if !query.text("pretty").is_empty() {
        return query.flag("pretty");
    }
    let by_hand = ["curl", "Wget", "Mozilla/5.0"].iter().any(|start| agent.starts_with(start));
    by_hand && !accept.contains(";as=")
}

fn form(presenter: &Presenter, plain: &Accepted, answer: Answer) -> Result<Response<Body>, Status> {
    match answer {
        Answer::Stored(code, stored) => presenter.stored(code, &stored),
        Answer::Object(code, object) => presenter.object(code, object),
        Answer::Other(code, value) => Ok(respond::value(plain, code, &value)),
        Answer::List(items, metadata) => presenter.list(&items, metadata),
        Answer::Text(text) => Ok(respond::text(200, text)),
        Answer::Watch(watching) => {
            Ok(respond::response(200, "application/json", Body::stream(watching.into_stream())))
        }
    }
}
