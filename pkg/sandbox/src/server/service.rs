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
    fault_injection::{FaultDecision, RequestEnding},
};
use crate::{
    audit,
    request::{Query, RequestInfo, ResourcePath, Unroutable, Verb, body, route},
    respond::{self, Accepted, Body, ConnectionCut, Presenter},
    status::Status,
    verbs::{
        call::VerbResponse,
        dispatch::{self, ResourceRequest},
    },
};

impl<B> Service<Request<B>> for Sandbox
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Display,
{
    type Response = Response<Body>;
    type Error = ConnectionCut;
    type Future = BoxFuture<'static, Result<Response<Body>, ConnectionCut>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectionCut>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let server = Arc::clone(&self.server);
        Box::pin(async move { handle(&server, request).await })
    }
}

async fn handle<B>(server: &Server, request: Request<B>) -> Result<Response<Body>, ConnectionCut>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Display,
{
    let (parts, content) = request.into_parts();
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let path = ResourcePath::parse(parts.uri.path());
    let verb = path.as_ref().and_then(|path| Verb::of(&parts.method, path, &query));
    let mut logged = log_entry(&parts, path.as_ref(), verb, &query);
    let (mut response, ending) = match server.apply_faults(&logged).await {
        FaultDecision::DropConnection => (None, RequestEnding::DropConnection),
        FaultDecision::Refuse(status) => {
            (Some(respond::failure(&Accepted::default(), &status)), RequestEnding::Respond)
        }
        FaultDecision::Proceed(ending) => {
            let response = match path {
                Some(path) => resource(server, &parts, path, verb, query, content).await,
                None => documents::handle_document(server, &parts, &query),
            };
            (Some(response), ending)
        }
    };
    // A request that was running when another one killed the server gets no response either.
    if matches!(ending, RequestEnding::DropConnection | RequestEnding::Kill) || server.is_killed() {
        response = None;
    }
    logged.code = response.as_ref().map_or(0, |response| response.status().as_u16());
    server.audit.record(logged);
    if ending == RequestEnding::Kill {
        server.kill();
    }
    let mut response = response.ok_or(ConnectionCut)?;
    if let Ok(id) = HeaderValue::from_str(&uuid::Uuid::new_v4().to_string()) {
        response.headers_mut().insert("audit-id", id);
    }
    if let Ok(date) = HeaderValue::from_str(&server.clock.http_date()) {
        response.headers_mut().insert(header::DATE, date);
    }
    Ok(if ending == RequestEnding::EndWatch { response.map(Body::broken_after_first_line) } else { response })
}

/// Returns the audit entry of a request before its response.
pub(crate) fn audit_entry(parts: &Parts) -> audit::AuditEntry {
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
) -> audit::AuditEntry {
    let agent = parts.headers.get("user-agent").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let client = match query.text("fieldManager") {
        "" => agent.split('/').next().unwrap_or_default(),
        named => named,
    };
    let whole = parts.uri.path_and_query().map_or(parts.uri.path(), |whole| whole.as_str());
    let mut entry = audit::AuditEntry {
        verb: verb.map_or_else(|| method_word(&parts.method), Verb::name).into(),
        path: whole.to_owned(),
        client: client.to_owned(),
        dry_run: !query.text("dryRun").is_empty(),
        ..audit::AuditEntry::default()
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
    let plain = accepted.as_ref().map(|accepted| accepted.full()).unwrap_or_default();
    let resource = match route(&kinds, &path, verb) {
        Ok(resource) => resource,
        Err(Unroutable::PageNotFound) => return respond::page_not_found(),
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
    let resource_request = ResourceRequest { server, kinds, info: &info, content, presenter };
    let (answer, warnings) = dispatch::dispatch(&resource_request).await;
    let response = answer.and_then(|answer| form(&resource_request.presenter, &plain, answer));
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

fn form(presenter: &Presenter, plain: &Accepted, answer: VerbResponse) -> Result<Response<Body>, Status> {
    match answer {
        VerbResponse::Stored(code, stored) => presenter.stored(code, &stored),
        VerbResponse::Object(code, object) => presenter.object(code, object),
        VerbResponse::OtherKind(code, value) => Ok(respond::value(plain, code, &value)),
        VerbResponse::List(items, metadata) => presenter.list(&items, metadata),
        VerbResponse::Text(text) => Ok(respond::text(200, text)),
        VerbResponse::Watch(watching) => {
            Ok(respond::response(200, "application/json", Body::stream(watching.into_stream())))
        }
    }
}
