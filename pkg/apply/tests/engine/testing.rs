//! A server, an owner, and the record of applied objects.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use apply::{
    ApiError, ApplyOptions, ApplyRequest, ApplySet, ApplySetItem, ApplySetStore, ConnectionOptions, Engine,
    EngineError, EngineOutcome, Event, EventSink, FormerTool, GroupKind, ItemPhase, MissingNamespacePolicy,
    ObjectKey, OwnershipMarks, PatchTarget, PlannedSet, Policies, PruneTiming, ReadByName, RunOptions,
    Server, ServerOptions, WriteError,
};
use futures::future::BoxFuture;
use manifest::{Value, YamlLimits, read_stream};
use sandbox::audit::AuditEntry;
use serde_json::json;
use support::{fixture::Fixture, kind::Kind, request_counter::RequestCounter};

pub(crate) const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment", "deployments");
pub(crate) const WIDGET: Kind = Kind::new("example.org", "v1", "Widget", "widgets");

/// The name of the record, and of the manager that writes it.
const RECORD: &str = "record";

/// One owner on one sandbox.
pub(crate) struct Lab {
    pub(crate) fixture: Fixture,
    pub(crate) server: Server,
    pub(crate) marks: OwnershipMarks,
    pub(crate) options: ApplyOptions,
    pub(crate) set: ApplySet,
    pub(crate) wait_for_last: bool,
    pub(crate) prune: PruneTiming,
    pub(crate) until: Option<Duration>,
    events: Arc<Mutex<Vec<Event>>>,
}

/// A record in a ConfigMap, like that of the engine's callers. An empty set has no ConfigMap.
pub(crate) struct InConfigMap<'a> {
    pub(crate) server: &'a Server,
    pub(crate) namespace: &'a str,
}

impl<'a> InConfigMap<'a> {
    pub(crate) fn of(server: &'a Server) -> Self {
        Self { server, namespace: "default" }
    }
}

impl ApplySetStore for InConfigMap<'_> {
    fn save<'a>(&'a self, set: &'a ApplySet) -> BoxFuture<'a, Result<(), ApiError>> {
        Box::pin(async {
            let kind = self.server.kind(&GroupKind::new("", "ConfigMap")).await?;
            if set.items.is_empty() {
                return self.server.delete(&kind, self.namespace, RECORD, None).await.map(drop);
            }
            let text = serde_json::to_string(set).unwrap();
            let object = json!({
                "apiVersion": "v1", "kind": "ConfigMap", "data": {"set": text},
                "metadata": {"name": RECORD, "namespace": self.namespace},
            });
            self.server.apply(&kind, &object.try_into().unwrap(), RECORD, ApplyRequest::default()).await?;
            Ok(())
        })
    }
}

impl Lab {
    pub(crate) async fn start() -> Self {
        Self::on(Fixture::start().await).await
    }

    pub(crate) async fn on(fixture: Fixture) -> Self {
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let sink = events.clone();
        let settings = ServerOptions {
            events: EventSink::new(move |event: &Event| sink.lock().unwrap().push(event.clone())),
            ..ServerOptions::default()
        };
        let server = connect(&fixture, settings).await;
        Self {
            fixture,
            server,
            marks: OwnershipMarks::of_component("engine.test", "one"),
            options: options(),
            set: ApplySet::default(),
            wait_for_last: false,
            prune: PruneTiming::WhenReady,
            until: None,
            events,
        }
    }

    /// Reconnects without retries, like a process that is about to end.
    pub(crate) async fn impatient(&mut self) {
        self.reconnect(Duration::ZERO).await;
    }

    pub(crate) async fn patient(&mut self) {
        self.reconnect(ServerOptions::default().retry_for).await;
    }

    async fn reconnect(&mut self, retry_for: Duration) {
        self.server = connect(&self.fixture, ServerOptions { retry_for, ..ServerOptions::default() }).await;
    }

    /// Switches to another owner on the same server.
    pub(crate) fn owner(&mut self, name: &str) {
        self.marks = OwnershipMarks::of_component("engine.test", name);
    }

    pub(crate) fn engine(&self) -> Engine<'_> {
        Engine { server: &self.server, marks: &self.marks, options: &self.options }
    }

    /// Observes, plans and applies, like a caller.
    pub(crate) async fn apply(&mut self, yaml: &str) -> Result<EngineOutcome, EngineError> {
        let mut planned = self.planned(yaml, ReadByName::Applied).await?;
        let record = InConfigMap::of(&self.server);
        let run = RunOptions {
            deadline: self.until.map(|time| Instant::now() + time),
            wait_for_last: self.wait_for_last,
            prune: self.prune,
            ..RunOptions::new(&record)
        };
        let outcome = self.engine().apply(&mut planned, run).await;
        self.set = planned.set;
        outcome
    }

    /// Observes and plans.
    pub(crate) async fn planned(&self, yaml: &str, by_name: ReadByName) -> Result<PlannedSet, EngineError> {
        let objects = read_stream(yaml.as_bytes(), &YamlLimits::default()).unwrap().objects;
        self.engine().plan_objects(self.set.clone(), objects, by_name).await
    }

    /// Applies, and fails unless the run is complete.
    pub(crate) async fn applied(&mut self, yaml: &str) {
        let outcome = self.apply(yaml).await;
        assert_eq!(outcome.map_err(|error| tell(&error)), Ok(EngineOutcome::Done));
    }

    pub(crate) async fn delete(&mut self) -> Result<EngineOutcome, EngineError> {
        let record = InConfigMap::of(&self.server);
        let run =
            RunOptions { deadline: self.until.map(|time| Instant::now() + time), ..RunOptions::new(&record) };
        let mut planned = self.engine().plan_deletion(self.set.clone()).await?;
        let outcome = self.engine().delete(&mut planned, run).await;
        self.set = planned.set;
        outcome
    }

    pub(crate) async fn deleted(&mut self) {
        let outcome = self.delete().await;
        assert_eq!(outcome.map_err(|error| tell(&error)), Ok(EngineOutcome::Done));
    }

    /// Reads the set from the record, like a new process.
    pub(crate) async fn recall(&mut self) {
        let record = self.fixture.get(support::kind::CONFIG_MAP, "default/record").await;
        let text = record.as_ref().and_then(|record| record["data"]["set"].as_str());
        self.set = text.map_or_else(ApplySet::default, |text| serde_json::from_str(text).unwrap());
    }

    pub(crate) fn count(&self) -> RequestCounter {
        RequestCounter::start(self.fixture.sandbox())
    }

    pub(crate) fn item(&self, kind: &str, name: &str) -> Option<&ApplySetItem> {
        self.set.items.iter().find(|item| item.key.kind == kind && item.key.name == name)
    }

    /// Returns phase and status of an item.
    pub(crate) fn phase(&self, kind: &str, name: &str) -> Option<(ItemPhase, &str)> {
        self.item(kind, name).map(|item| (item.phase, item.status.as_str()))
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }

    /// Writes the status of an object, like its controller.
    pub(crate) async fn status(&self, kind: Kind, place: &str, status: Value) {
        let served = self.server.kind(&GroupKind::new(kind.group, kind.kind)).await.unwrap();
        let (namespace, name) = place.split_once('/').unwrap_or(("", place));
        let patch = json!({"status": status});
        self.server.patch(&served, namespace, name, &patch, "test", PatchTarget::Status).await.unwrap();
    }

    /// Marks a Deployment of one replica as available.
    pub(crate) async fn make_available(&self, place: &str) {
        let live = self.fixture.get(DEPLOYMENT, place).await.unwrap();
        let status = json!({
            "observedGeneration": live["metadata"]["generation"], "replicas": 1, "updatedReplicas": 1,
            "readyReplicas": 1, "availableReplicas": 1,
            "conditions": [{"type": "Available", "status": "True"},
                {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}],
        });
        self.status(DEPLOYMENT, place, status).await;
    }
}

pub(crate) async fn connect(fixture: &Fixture, settings: ServerOptions) -> Server {
    let connection = ConnectionOptions::of_client(fixture.client(), "engine-test/1");
    Server::connect(connection, settings).await.unwrap().without_lease()
}

pub(crate) fn options() -> ApplyOptions {
    ApplyOptions {
        field_manager: "engine".to_owned(),
        prefix: "engine.test".to_owned(),
        defaults: Policies::default(),
        missing_namespaces: MissingNamespacePolicy::Create,
        namespace: "default".to_owned(),
        take_over: vec![FormerTool::new("kubectl"), FormerTool::new("helm")],
        additional_managed_types: Vec::new(),
        component_digest: None,
        reapply_after: None,
        release_orphans: false,
    }
}

/// Returns every write except writes of the record, in the order of the answers: `create Deployment a`.
pub(crate) fn writes(counter: &RequestCounter) -> Vec<String> {
    let written = |request: &AuditEntry| {
        let is_write = !matches!(&*request.verb, "get" | "list" | "watch" | "post" | "head");
        is_write
            && request.client != RECORD
            && request.name != RECORD
            && request.client != "test"
            && !request.resource.is_empty()
    };
    let text = |request: AuditEntry| {
        let name = if request.name.is_empty() { String::new() } else { format!(" {}", request.name) };
        format!("{} {}{name}", request.verb, request.resource)
    };
    counter.requests().into_iter().filter(written).map(text).collect()
}

/// Returns a ConfigMap in `default` with annotations and one value.
pub(crate) fn config_map(name: &str, annotations: &[(&str, &str)], value: &str) -> String {
    object("v1", "ConfigMap", name, annotations, &format!("data: {{key: \"{value}\"}}\n"))
}

/// Returns a Deployment in `default` with annotations. It is ready according to its status.
pub(crate) fn deployment(name: &str, annotations: &[(&str, &str)]) -> String {
    object("apps/v1", "Deployment", name, annotations, &deployment_spec("app"))
}

pub(crate) fn deployment_spec(label: &str) -> String {
    format!(
        "spec:\n  selector: {{matchLabels: {{app: {label}}}}}\n  template:\n    metadata: {{labels: {{app: {label}}}}}\n    spec: {{containers: [{{name: c, image: i}}]}}\n"
    )
}

/// Returns the definition of Widgets.
pub(crate) fn widgets(annotations: &[(&str, &str)]) -> String {
    let spec = "spec:\n  group: example.org\n  scope: Namespaced\n  names: {kind: Widget, plural: widgets}\n  versions:\n  - {name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}\n";
    object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.example.org", annotations, spec)
}

pub(crate) fn widget(name: &str, annotations: &[(&str, &str)]) -> String {
    object("example.org/v1", "Widget", name, annotations, "")
}

pub(crate) fn namespace(name: &str) -> String {
    object("v1", "Namespace", name, &[], "")
}

/// Returns a document. Annotations have no prefix, and the name may include a namespace.
pub(crate) fn object(
    api_version: &str,
    kind: &str,
    place: &str,
    annotations: &[(&str, &str)],
    rest: &str,
) -> String {
    let (namespace, name) = place.split_once('/').unwrap_or(("", place));
    let annotations: Value =
        annotations.iter().map(|(key, value)| (format!("engine.test/{key}"), Value::from(*value))).collect();
    let mut metadata = json!({"name": name, "annotations": annotations});
    if !namespace.is_empty() {
        metadata["namespace"] = namespace.into();
    }
    format!("---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {metadata}\n{rest}")
}

pub(crate) fn key(group: &str, kind: &str, place: &str) -> ObjectKey {
    let (namespace, name) = place.split_once('/').unwrap_or(("", place));
    let text = str::to_owned;
    ObjectKey { group: text(group), kind: text(kind), namespace: text(namespace), name: text(name) }
}

/// Formats an error with all its parts.
pub(crate) fn tell(error: &EngineError) -> String {
    let lines = |of: Vec<String>| format!("{error}: {}", of.join("; "));
    match error {
        EngineError::Writes { failed } => lines(
            failed.iter().map(|(key, error): &(ObjectKey, WriteError)| format!("{key}: {error}")).collect(),
        ),
        EngineError::Plan { objects } => lines(objects.iter().map(ToString::to_string).collect()),
        EngineError::InUse { definitions } => lines(definitions.iter().map(ToString::to_string).collect()),
        EngineError::InvalidObjects { objects } => lines(objects.iter().map(ToString::to_string).collect()),
        EngineError::Api(error) => error.to_string(),
    }
}

/// Returns the blockers of a waiting run, as `Kind ns/name: message`.
pub(crate) fn waiting(outcome: Result<EngineOutcome, EngineError>) -> Vec<String> {
    match outcome {
        Ok(EngineOutcome::Waiting(blockers)) => {
            blockers.iter().map(|blocker| format!("{}: {}", blocker.object, blocker.status.message)).collect()
        }
        Ok(EngineOutcome::Done) => vec!["done".to_owned()],
        Err(error) => vec![tell(&error)],
    }
}

/// Returns the objects whose writes failed.
pub(crate) fn failed_objects(error: &EngineError) -> Vec<String> {
    let EngineError::Writes { failed } = error else { panic!("{error:?}") };
    failed.iter().map(|(object, _)| object.to_string()).collect()
}

/// Checks that blockers of [`waiting`] are these objects, each held by the finalizer of the tests.
pub(crate) fn assert_held(blockers: &[String], objects: &[&str]) {
    let held = |(blocker, object): (&String, &&str)| {
        blocker.starts_with(&format!("{object}: ")) && blocker.ends_with("`example.org/held`")
    };
    assert!(
        blockers.len() == objects.len() && blockers.iter().zip(objects).all(held),
        "{blockers:?} are not {objects:?}"
    );
}
