//! The state of one case: names, earlier answers, open watches.

use std::{collections::HashMap, fmt::Write as _, sync::LazyLock, time::Duration};

use bytes::Bytes;
use http::{Method, StatusCode, header};
use http_body_util::BodyExt as _;
use manifest::{YamlLimits, yaml};
use regex::{Captures, Regex};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::watch::Watch;
use crate::api::{
    Action, Case, Page, Reply, Server, Step, WaitCondition,
    page::RequestTemplate,
    path::{self, BodyFilter},
    placeholders::Placeholders,
    request,
};

/// The interval and the number of attempts of a wait: 30 seconds in total.
const WAIT_INTERVAL: Duration = Duration::from_millis(25);
const WAIT_ATTEMPTS: usize = 1_200;
/// The number of attempts of a request that the server answers with 503: five seconds in total.
const UNAVAILABLE_ATTEMPTS: usize = 200;
/// The maximum wait for an answer. A case fails after this time.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);

/// Headers to show in answers, if present.
const SHOWN_HEADERS: [header::HeaderName; 3] = [header::WARNING, header::RETRY_AFTER, header::ALLOW];

static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\{(?:(?<name>[a-z][a-z0-9]*):(?<path>[A-Za-z0-9_.\[\]=/-]+)|(?<char>[^{}])\*(?<times>\d+))\}",
    )
    .expect("our own pattern is valid")
});

pub(super) struct CaseRun<'s> {
    server: &'s dyn Server,
    namespace: String,
    id: String,
    names: Placeholders,
    answers: HashMap<String, Value>,
    watches: HashMap<String, Watch>,
    /// Paths of objects created outside the namespace.
    created_paths: Vec<String>,
}

struct Answer {
    status: StatusCode,
    headers: http::HeaderMap,
    body: Bytes,
}

impl<'s> CaseRun<'s> {
    pub(super) fn new(server: &'s dyn Server, number: usize) -> Self {
        // Several runs may use one server. All names of a run have the same length.
        let run = std::process::id();
        let mut world = Self {
            server,
            namespace: format!("n{run}q{number:04}"),
            id: format!("i{run}q{number:04}"),
            names: Placeholders::default(),
            answers: HashMap::new(),
            watches: HashMap::new(),
            created_paths: Vec::new(),
        };
        world.names.add(&world.namespace, "{ns}");
        world.names.add(&world.id, "{id}");
        world
    }

    /// Creates the namespace if the case uses it.
    pub(super) async fn prepare(&mut self, page: &Page, case: &Case) -> Result<(), String> {
        let mut steps = page.fixture.iter().chain(&case.steps);
        if !steps.any(|step| step.action.request().is_some_and(|ask| ask.text.contains("{ns}"))) {
            return Ok(());
        }
        let text = "POST /api/v1/namespaces\n\nmetadata: {name: \"{ns}\"}\n".to_owned();
        let answer = self.request(&RequestTemplate { name: String::new(), text, raw: false }).await?;
        expect_success(&answer)
    }

    /// Runs a step. Returns the text to compare, if any.
    pub(super) async fn run_step(&mut self, step: &Step) -> Result<Option<String>, String> {
        match &step.action {
            Action::Given(ask) => expect_success(&self.request(ask).await?).map(|()| None),
            Action::Http(ask) => {
                let answer = self.request(ask).await?;
                Ok(Some(self.format_answer(&answer, &step.filter)))
            }
            Action::Watch(ask) => {
                let reply = self.send(&ask.text, ask.raw).await?.1;
                if reply.status() != StatusCode::OK {
                    return expect_success(&read(reply).await?).map(|()| None);
                }
                self.watches.insert(ask.name.clone(), Watch::new(reply.into_body()));
                Ok(None)
            }
            Action::Events { watch, count } => self.events(watch, *count, &step.filter).await.map(Some),
            Action::Wait(ask, until) => self.wait(ask, until).await.map(|()| None),
        }
    }

    /// Deletes the objects created outside the namespace, newest first, to keep servers small.
    pub(super) async fn delete_created(mut self) {
        for path in std::mem::take(&mut self.created_paths).into_iter().rev() {
            // The object may be deleted already.
            let _ = self.send(&format!("DELETE {path}\n"), false).await;
        }
    }

    async fn events(
        &mut self,
        name: &str,
        count: Option<usize>,
        filter: &BodyFilter,
    ) -> Result<String, String> {
        let watch = self.watches.get_mut(name).ok_or_else(|| format!("unknown watch {name:?}"))?;
        let mut text = String::new();
        let mut seen = 0;
        while count.is_none_or(|count| seen < count) {
            let Some(mut event) = watch.next().await? else { break };
            seen += 1;
            self.names.record_generated(&mut event);
            filter.apply(&mut event);
            self.names.normalise(&mut event);
            text.push_str(&yaml::write(&Value::Array(vec![event])));
        }
        match count {
            Some(count) if seen < count => Ok(text + "# the watch ended\n"),
            None => Ok(text + "# the watch ended\n"),
            _ => Ok(text),
        }
    }

    async fn wait(&mut self, ask: &RequestTemplate, until: &WaitCondition) -> Result<(), String> {
        let mut last = String::new();
        for _ in 0..WAIT_ATTEMPTS {
            let answer = self.request(ask).await?;
            let body = answer.value();
            let found = |path: &str| body.as_ref().and_then(|body| path::get(body, path));
            let done = match until {
                WaitCondition::Status(status) => answer.status.as_u16() == *status,
                WaitCondition::Present(path) => found(path).is_some(),
                WaitCondition::Absent(path) => answer.status == StatusCode::OK && found(path).is_none(),
                WaitCondition::Equal(path, text) => found(path).is_some_and(|value| plain(value) == *text),
            };
            if done {
                return Ok(());
            }
            last = format!("{} {}", answer.status, String::from_utf8_lossy(&answer.body));
            sleep(WAIT_INTERVAL).await;
        }
        Err(format!("{until:?} did not happen; the last answer: {last}"))
    }

    /// Sends a request. Stores the answer for references, and the objects that the request created.
    async fn request(&mut self, ask: &RequestTemplate) -> Result<Answer, String> {
        let (request, reply) = self.send(&ask.text, ask.raw).await?;
        let answer = read(reply).await?;
        if let Some(body) = answer.value() {
            if request.0 == Method::POST && answer.status == StatusCode::CREATED {
                self.record_created(&request.1, &body);
            }
            if !ask.name.is_empty() {
                self.answers.insert(ask.name.clone(), body);
            }
        }
        Ok(answer)
    }

    fn record_created(&mut self, target: &str, body: &Value) {
        let path = target.split('?').next().unwrap_or_default();
        if let Some(name) = path::get(body, "metadata.name").and_then(Value::as_str)
            && !path.contains(&format!("/namespaces/{}", self.namespace))
            && name != self.namespace
        {
            self.created_paths.push(format!("{path}/{name}"));
        }
    }

    /// Sends a request, and again after a 503, with which kube-apiserver answers while it reloads a changed definition.
    async fn send(&self, text: &str, raw: bool) -> Result<((Method, String), Reply), String> {
        let text = self.substitute(text)?;
        let mut steps = UNAVAILABLE_ATTEMPTS;
        loop {
            let request = request::parse_request(&text, raw)?;
            let sent = (request.method().clone(), request.uri().to_string());
            match timeout(ANSWER_TIMEOUT, self.server.send(request)).await {
                Err(_) => return Err(format!("no answer within {} s", ANSWER_TIMEOUT.as_secs())),
                Ok(Err(error)) => return Err(format!("{} {}: {error}", sent.0, sent.1)),
                Ok(Ok(reply)) if reply.status() == StatusCode::SERVICE_UNAVAILABLE && steps > 0 => {
                    steps -= 1;
                    sleep(WAIT_INTERVAL).await;
                }
                Ok(Ok(reply)) => return Ok((sent, reply)),
            }
        }
    }

    /// Substitutes the namespace, the id, parts of earlier answers and repeated characters.
    fn substitute(&self, text: &str) -> Result<String, String> {
        let text = text.replace("{ns}", &self.namespace).replace("{id}", &self.id);
        let mut problem = None;
        let filled = REFERENCE.replace_all(&text, |found: &Captures<'_>| {
            if let (Some(character), Some(times)) = (found.name("char"), found.name("times")) {
                return character.as_str().repeat(times.as_str().parse().unwrap_or(0));
            }
            let value = self.answers.get(&found["name"]).and_then(|answer| path::get(answer, &found["path"]));
            if value.is_none() {
                problem.get_or_insert_with(|| format!("no earlier answer contains {}", &found[0]));
            }
            value.map(plain).unwrap_or_default()
        });
        let filled = filled.into_owned();
        problem.map_or(Ok(filled), Err)
    }

    fn format_answer(&mut self, answer: &Answer, filter: &BodyFilter) -> String {
        let status = answer.status;
        let mut text = format!("{} {}\n", status.as_u16(), status.canonical_reason().unwrap_or_default());
        for name in &SHOWN_HEADERS {
            for value in answer.headers.get_all(name) {
                let value = String::from_utf8_lossy(value.as_bytes());
                text += &self.names.text(&format!("{}: {value}\n", title(name.as_str())));
            }
        }
        let content_type = answer.headers.get(header::CONTENT_TYPE).map(http::HeaderValue::as_bytes);
        if let Some(other) = content_type.filter(|content_type| *content_type != b"application/json") {
            let _ = writeln!(text, "Content-Type: {}", String::from_utf8_lossy(other));
        }
        text.push('\n');
        match answer.value() {
            Some(mut body) => {
                self.names.record_generated(&mut body);
                filter.apply(&mut body);
                self.names.normalise(&mut body);
                text += &yaml::write(&body);
            }
            None => text += self.names.text(&String::from_utf8_lossy(&answer.body)).trim_end(),
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }
}

impl Answer {
    /// The body as a value. `None` for plain text.
    fn value(&self) -> Option<Value> {
        let is_yaml = self.headers.get(header::CONTENT_TYPE).is_some_and(|found| found == "application/yaml");
        if is_yaml {
            let text = str::from_utf8(&self.body).ok()?;
            return yaml::read_value(text, &YamlLimits::default()).ok();
        }
        serde_json::from_slice(&self.body).ok()
    }
}

impl Action {
    /// The request of a step.
    pub(super) fn request(&self) -> Option<&RequestTemplate> {
        match self {
            Self::Given(ask) | Self::Http(ask) | Self::Watch(ask) | Self::Wait(ask, _) => Some(ask),
            Self::Events { .. } => None,
        }
    }
}

async fn read(reply: Reply) -> Result<Answer, String> {
    let (head, body) = reply.into_parts();
    let body = timeout(ANSWER_TIMEOUT, body.collect())
        .await
        .map_err(|_| "the answer is incomplete after the timeout".to_owned())?;
    let body = body.map_err(|error| error.to_string())?.to_bytes();
    Ok(Answer { status: head.status, headers: head.headers, body })
}

fn expect_success(answer: &Answer) -> Result<(), String> {
    if answer.status.is_success() {
        return Ok(());
    }
    Err(format!("this must succeed: {} {}", answer.status, String::from_utf8_lossy(&answer.body)))
}

/// The text of a value for substitution and for comparison in waits.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.len().to_string(),
        other => other.to_string(),
    }
}

fn title(name: &str) -> String {
    name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect::<Vec<_>>().join("-")
}
