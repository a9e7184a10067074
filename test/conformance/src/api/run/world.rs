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
    Action, Case, Page, Reply, Server, Step, Until,
    normal::Names,
    page::Ask,
    path::{self, Cut},
    request,
};

/// The interval and the number of attempts of a wait: 30 seconds in total.
const WAIT_STEP: Duration = Duration::from_millis(25);
const WAIT_STEPS: usize = 1_200;
/// The number of attempts of a request that the server answers with 503: five seconds in total.
const UNAVAILABLE_STEPS: usize = 200;
/// The maximum wait for an answer. A case fails after this time.
const PATIENCE: Duration = Duration::from_mins(1);

/// Headers to show in answers, if present.
const SHOWN_HEADERS: [header::HeaderName; 3] = [header::WARNING, header::RETRY_AFTER, header::ALLOW];

static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\{(?:(?<name>[a-z][a-z0-9]*):(?<path>[A-Za-z0-9_.\[\]=/-]+)|(?<char>[^{}])\*(?<times>\d+))\}",
    )
    .expect("our own pattern is valid")
});

pub(super) struct World<'s> {
    server: &'s dyn Server,
    namespace: String,
    id: String,
    names: Names,
    answers: HashMap<String, Value>,
    watches: HashMap<String, Watch>,
    /// Paths of objects created outside the namespace.
    made: Vec<String>,
}

struct Answer {
    status: StatusCode,
    headers: http::HeaderMap,
    body: Bytes,
}

impl<'s> World<'s> {
    pub(super) fn new(server: &'s dyn Server, number: usize) -> Self {
        // Several runs may use one server. All names of a run have the same length.
        let run = std::process::id();
        let mut world = Self {
            server,
            namespace: format!("n{run}q{number:04}"),
            id: format!("i{run}q{number:04}"),
            names: Names::default(),
            answers: HashMap::new(),
            watches: HashMap::new(),
            made: Vec::new(),
        };
        world.names.add(&world.namespace, "{ns}");
        world.names.add(&world.id, "{id}");
        world
    }

    /// Creates the namespace if the case uses it.
    pub(super) async fn prepare(&mut self, page: &Page, case: &Case) -> Result<(), String> {
        let mut steps = page.fixture.iter().chain(&case.steps);
        if !steps.any(|step| step.action.ask().is_some_and(|ask| ask.text.contains("{ns}"))) {
            return Ok(());
        }
        let text = "POST /api/v1/namespaces\n\nmetadata: {name: \"{ns}\"}\n".to_owned();
        let answer = self.ask(&Ask { name: String::new(), text, raw: false }).await?;
        succeeded(&answer)
    }

    /// Runs a step. Returns the text to compare, if any.
    pub(super) async fn take(&mut self, step: &Step) -> Result<Option<String>, String> {
        match &step.action {
            Action::Given(ask) => succeeded(&self.ask(ask).await?).map(|()| None),
            Action::Http(ask) => {
                let answer = self.ask(ask).await?;
                Ok(Some(self.show(&answer, &step.cut)))
            }
            Action::Watch(ask) => {
                let reply = self.send(&ask.text, ask.raw).await?.1;
                if reply.status() != StatusCode::OK {
                    return succeeded(&read(reply).await?).map(|()| None);
                }
                self.watches.insert(ask.name.clone(), Watch::new(reply.into_body()));
                Ok(None)
            }
            Action::Events { watch, count } => self.events(watch, *count, &step.cut).await.map(Some),
            Action::Wait(ask, until) => self.wait(ask, until).await.map(|()| None),
        }
    }

    /// Deletes the objects created outside the namespace, newest first, to keep servers small.
    pub(super) async fn clean(mut self) {
        for path in std::mem::take(&mut self.made).into_iter().rev() {
            // The object may be deleted already.
            let _ = self.send(&format!("DELETE {path}\n"), false).await;
        }
    }

    async fn events(&mut self, name: &str, count: Option<usize>, cut: &Cut) -> Result<String, String> {
        let watch = self.watches.get_mut(name).ok_or_else(|| format!("no watch is called {name:?}"))?;
        let mut text = String::new();
        let mut seen = 0;
        while count.is_none_or(|count| seen < count) {
            let Some(mut event) = watch.next().await? else { break };
            seen += 1;
            self.names.look_at(&mut event);
            cut.apply(&mut event);
            self.names.normalise(&mut event);
            text.push_str(&yaml::write(&Value::Array(vec![event])));
        }
        match count {
            Some(count) if seen < count => Ok(text + "# the watch ended\n"),
            None => Ok(text + "# the watch ended\n"),
            _ => Ok(text),
        }
    }

    async fn wait(&mut self, ask: &Ask, until: &Until) -> Result<(), String> {
        let mut last = String::new();
        for _ in 0..WAIT_STEPS {
            let answer = self.ask(ask).await?;
            let body = answer.value();
            let found = |path: &str| body.as_ref().and_then(|body| path::get(body, path));
            let done = match until {
                Until::Status(status) => answer.status.as_u16() == *status,
                Until::Present(path) => found(path).is_some(),
                Until::Absent(path) => answer.status == StatusCode::OK && found(path).is_none(),
                Until::Equal(path, text) => found(path).is_some_and(|value| plain(value) == *text),
            };
            if done {
                return Ok(());
            }
            last = format!("{} {}", answer.status, String::from_utf8_lossy(&answer.body));
            sleep(WAIT_STEP).await;
        }
        Err(format!("{until:?} does not come; the last answer: {last}"))
    }

    /// Sends a request. Stores the answer for references, and the objects that the request created.
    async fn ask(&mut self, ask: &Ask) -> Result<Answer, String> {
        let (request, reply) = self.send(&ask.text, ask.raw).await?;
        let answer = read(reply).await?;
        if let Some(body) = answer.value() {
            if request.0 == Method::POST && answer.status == StatusCode::CREATED {
                self.remember_made(&request.1, &body);
            }
            if !ask.name.is_empty() {
                self.answers.insert(ask.name.clone(), body);
            }
        }
        Ok(answer)
    }

    fn remember_made(&mut self, target: &str, body: &Value) {
        let path = target.split('?').next().unwrap_or_default();
        if let Some(name) = path::get(body, "metadata.name").and_then(Value::as_str)
            && !path.contains(&format!("/namespaces/{}", self.namespace))
            && name != self.namespace
        {
            self.made.push(format!("{path}/{name}"));
        }
    }

    /// Sends a request, and again after a 503, with which kube-apiserver answers while it reloads a changed definition.
    async fn send(&self, text: &str, raw: bool) -> Result<((Method, String), Reply), String> {
        let text = self.filled(text)?;
        let mut steps = UNAVAILABLE_STEPS;
        loop {
            let request = request::read(&text, raw)?;
            let sent = (request.method().clone(), request.uri().to_string());
            match timeout(PATIENCE, self.server.send(request)).await {
                Err(_) => return Err(format!("no answer within {} s", PATIENCE.as_secs())),
                Ok(Err(error)) => return Err(format!("{} {}: {error}", sent.0, sent.1)),
                Ok(Ok(reply)) if reply.status() == StatusCode::SERVICE_UNAVAILABLE && steps > 0 => {
                    steps -= 1;
                    sleep(WAIT_STEP).await;
                }
                Ok(Ok(reply)) => return Ok((sent, reply)),
            }
        }
    }

    /// Substitutes the namespace, the id, parts of earlier answers and repeated characters.
    fn filled(&self, text: &str) -> Result<String, String> {
        let text = text.replace("{ns}", &self.namespace).replace("{id}", &self.id);
        let mut problem = None;
        let filled = REFERENCE.replace_all(&text, |found: &Captures<'_>| {
            if let (Some(character), Some(times)) = (found.name("char"), found.name("times")) {
                return character.as_str().repeat(times.as_str().parse().unwrap_or(0));
            }
            let value = self.answers.get(&found["name"]).and_then(|answer| path::get(answer, &found["path"]));
            if value.is_none() {
                problem.get_or_insert_with(|| format!("no answer has {}", &found[0]));
            }
            value.map(plain).unwrap_or_default()
        });
        let filled = filled.into_owned();
        problem.map_or(Ok(filled), Err)
    }

    fn show(&mut self, answer: &Answer, cut: &Cut) -> String {
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
                self.names.look_at(&mut body);
                cut.apply(&mut body);
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
    pub(super) fn ask(&self) -> Option<&Ask> {
        match self {
            Self::Given(ask) | Self::Http(ask) | Self::Watch(ask) | Self::Wait(ask, _) => Some(ask),
            Self::Events { .. } => None,
        }
    }
}

async fn read(reply: Reply) -> Result<Answer, String> {
    let (head, body) = reply.into_parts();
    let body = timeout(PATIENCE, body.collect()).await.map_err(|_| "the answer does not end".to_owned())?;
    let body = body.map_err(|error| error.to_string())?.to_bytes();
    Ok(Answer { status: head.status, headers: head.headers, body })
}

fn succeeded(answer: &Answer) -> Result<(), String> {
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
