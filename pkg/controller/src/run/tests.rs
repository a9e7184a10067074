mod faults;
mod leaders;
mod reports;
mod shards;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicU64, Ordering},
};

use apply::{ConnectionOptions, Event, GroupKind, ListQuery, PatchTarget, ServerOptions};
use component::{Component, GROUP, RECONCILER, RenderInputs, State, definition};
use futures::{FutureExt as _, future::BoxFuture};
use manifest::{Object, Value};
use serde_json::json;
use support::{
    fixture::{Fixture, FixtureBuilder},
    kind::GIT_REPOSITORY,
};
use tokio::{sync::Notify, time::timeout};

use super::*;

/// Renders as many ConfigMaps as the value `maps` says, with the revision of the source.
struct Maps;

impl ComponentRenderer for Maps {
    fn render<'a>(&'a self, inputs: RenderInputs<'a>) -> BoxFuture<'a, Result<Vec<Object>, String>> {
        async move {
            let count = inputs.references.values.get("maps").and_then(Value::as_u64).unwrap_or_default();
            let map = |number: u64| {
                let name = format!("{}-{number}", inputs.component.name());
                let revision = &inputs.source.artifact.revision;
                Object::try_from(json!({
                    "apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {"name": name}, "data": {"revision": revision},
                }))
                .unwrap()
            };
            Ok((0..count).map(map).collect())
        }
        .boxed()
    }
}

/// A sandbox with Components and a source.
struct Lab {
    fixture: Fixture,
    server: Server,
    metrics: Arc<Metrics>,
    readiness: Arc<Readiness>,
    requests: Arc<RequestCount>,
}

/// Counts requests, and tells when a number of requests is reached.
#[derive(Default)]
struct RequestCount {
    sent: AtomicU64,
    stop_at: AtomicU64,
    reached: Notify,
}

impl Lab {
    async fn start() -> Self {
        Self::start_with(Fixture::builder()).await
    }

    async fn start_with(builder: FixtureBuilder) -> Self {
        let fixture = builder.start().await;
        fixture.apply(&manifest::write_stream(&[definition()])).await;
        fixture.define(GIT_REPOSITORY).await;
        fixture.apply("{apiVersion: v1, kind: Namespace, metadata: {name: ns}}").await;
        fixture.wait_until_idle().await;
        let requests = Arc::new(RequestCount::default());
        let counted = Arc::clone(&requests);
        let events = EventSink::new(move |event| {
            if let Event::Requested { .. } = event {
                let sent = counted.sent.fetch_add(1, Ordering::SeqCst) + 1;
                if sent == counted.stop_at.load(Ordering::SeqCst) {
                    counted.reached.notify_one();
                }
            }
        });
        let connection = ConnectionOptions::of_client(fixture.client(), "controller");
        let settings = ServerOptions { events, ..ServerOptions::default() };
        let server = Server::connect(connection, settings).await.unwrap().without_lease();
        let lab = Self { fixture, server, metrics: Arc::default(), readiness: Arc::default(), requests };
        lab.fixture
            .apply("{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: repo, namespace: ns}, spec: {}}")
            .await;
        lab.publish("main@sha1:1").await;
        lab
    }

    async fn publish(&self, revision: &str) {
        let kind =
            self.server.kind(&GroupKind::new("source.toolkit.fluxcd.io", "GitRepository")).await.unwrap();
        let status = json!({"status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "artifact": {"url": "http://host/a.tgz", "digest": revision, "revision": revision},
        }});
        self.server.patch(&kind, "ns", "repo", &status, "test", PatchTarget::Status).await.unwrap();
    }

    async fn apply(&self, name: &str, spec: &str) {
        self.fixture
            .apply(&format!("{{apiVersion: core.cs.sap.com/v1alpha1, kind: Component, metadata: {{name: {name}, namespace: ns}}, spec: {{sourceRef: {{fluxGitRepository: {{name: repo}}}}, {spec}}}}}"))
            .await;
    }

    async fn delete(&self, name: &str) {
        let kind = self.server.kind(&GroupKind::new(GROUP, KIND)).await.unwrap();
        self.server.delete(&kind, "ns", name, None).await.unwrap();
    }

    async fn components(&self) -> Vec<Component> {
        ComponentStore::open(&self.server).await.unwrap().list().await.unwrap().readable().unwrap()
    }

    /// Returns the ConfigMaps of Components with their revisions.
    async fn maps(&self) -> BTreeMap<String, String> {
        let kind = self.server.kind(&GroupKind::new("", "ConfigMap")).await.unwrap();
        let list = ListQuery { labels: format!("{RECONCILER}/owner-id"), ..ListQuery::default() };
        let maps = self.server.list(&kind, &list).await.unwrap();
        let revision =
            |map: &Object| map.get(&["data", "revision"]).and_then(Value::as_str).unwrap().to_owned();
        maps.iter().map(|map| (map.name().to_owned(), revision(map))).collect()
    }

    fn controller(&self) -> Controller<'_> {
        Controller {
            hub: self.server.clone(),
            hub_uid: "uid".to_owned(),
            renderer: &Maps,
            repositories: RepositoryContext::default(),
            metrics: Arc::clone(&self.metrics),
            readiness: Arc::clone(&self.readiness),
            options: ControllerOptions {
                max_concurrent_reconciles: 5,
                default_service_account: None,
                receiver: None,
                shard: Shard::default(),
                events: EventSink::none(),
            },
        }
    }

    /// Runs a controller until a condition holds.
    async fn run_until(&self, condition: impl AsyncFn(&Self) -> bool) {
        let stop = async {
            while !condition(self).await {
                sleep(Duration::from_millis(20)).await;
            }
        };
        let controller = self.controller();
        timeout(Duration::from_secs(30), controller.run(stop)).await.expect("the condition holds").unwrap();
    }

    /// Runs a controller that is cut off at a request. True if it has nothing left to do before.
    async fn run_and_kill(&self, at_request: u64) -> bool {
        let before = self.requests.sent.load(Ordering::SeqCst);
        self.requests.stop_at.store(before + at_request, Ordering::SeqCst);
        let controller = self.controller();
        tokio::select! {
            ended = controller.run(sleep(Duration::from_millis(400))) => {
                ended.unwrap();
                true
            }
            () = self.requests.reached.notified() => false,
        }
    }
}

async fn are_ready(lab: &Lab) -> bool {
    lab.components().await.iter().all(|one| one.status.is_ready(one.generation()))
}

async fn are_gone(lab: &Lab) -> bool {
    lab.components().await.is_empty()
}

// Row: CMP-02, CMP-19, CMP-76, ENG-24
#[tokio::test]
async fn components_become_ready_follow_their_source_and_go() {
    let lab = Lab::start().await;
    lab.apply("web", "values: {maps: 2}").await;
    lab.run_until(are_ready).await;
    assert_eq!(lab.maps().await.into_keys().collect::<Vec<_>>(), ["web-0", "web-1"]);
    lab.run_until(async |lab: &Lab| {
        if lab.maps().await["web-0"] == "main@sha1:1" {
            lab.publish("main@sha1:2").await;
        }
        are_ready(lab).await && lab.maps().await.values().all(|revision| revision == "main@sha1:2")
    })
    .await;
    lab.delete("web").await;
    lab.run_until(are_gone).await;
    assert_eq!(lab.maps().await.len(), 0);
}

#[tokio::test]
async fn a_new_artifact_during_a_restart_is_applied_once() {
    let lab = Lab::start().await;
    lab.apply("web", "values: {maps: 1}").await;
    lab.run_until(are_ready).await;
    lab.publish("main@sha1:2").await;
    let before = lab.metrics.steps.load(Ordering::Relaxed);
    lab.controller().run(sleep(Duration::from_secs(1))).await.unwrap();
    assert_eq!(lab.maps().await["web-0"], "main@sha1:2");
    // It notes the change, applies it, and has one more step after it was processing.
    assert_eq!(lab.metrics.steps.load(Ordering::Relaxed) - before, 3);
}

// Row: CMP-74, CMP-75
#[tokio::test]
async fn dependents_continue_once_their_dependency_is_ready_or_gone() {
    let lab = Lab::start().await;
    lab.apply("web", "values: {maps: 1}, dependencies: [{name: base}]").await;
    let is_pending = async |lab: &Lab| lab.components().await[0].status.state == Some(State::Pending);
    lab.run_until(is_pending).await;
    // The retry interval is ten minutes, so only the dependency can cause the next step.
    lab.run_until(async |lab: &Lab| {
        if lab.components().await.len() == 1 {
            sleep(Duration::from_millis(200)).await;
            lab.apply("base", "values: {maps: 1}").await;
        }
        are_ready(lab).await
    })
    .await;
    lab.delete("base").await;
    let is_waiting = async |lab: &Lab| lab.components().await[0].status.state == Some(State::DeletionPending);
    lab.run_until(is_waiting).await;
    lab.run_until(async |lab: &Lab| {
        let left = lab.components().await;
        if left.len() == 2 && !left[1].is_deleting() {
            sleep(Duration::from_millis(200)).await;
            lab.delete("web").await;
        }
        left.is_empty()
    })
    .await;
    assert_eq!(lab.maps().await.len(), 0);
}

#[tokio::test]
async fn a_component_of_five_objects_takes_thirteen_requests() {
    let lab = Lab::start().await;
    for number in 0..20 {
        lab.apply(&format!("web-{number}"), "values: {maps: 5}").await;
    }
    let audit = lab.fixture.sandbox().audit();
    let before = audit.answered();
    let stop = async {
        // Reads of this test would be counted.
        while lab.metrics.to_text().lines().all(|line| !line.ends_with("state{state=\"Ready\"} 20")) {
            sleep(Duration::from_millis(20)).await;
        }
        sleep(Duration::from_millis(500)).await;
    };
    lab.controller().run(stop).await.unwrap();
    let requests = audit.since(before);
    let is_watch = |path: &str| path.contains("watch=true");
    let counted = requests.iter().filter(|one| !is_watch(&one.path)).count();
    assert!(counted <= 20 * 13 + 40, "{counted}");
    assert_eq!(lab.maps().await.len(), 100);
    // Nothing changes any more.
    let before = audit.answered();
    lab.controller().run(sleep(Duration::from_secs(1))).await.unwrap();
    assert!(audit.answered() - before < 130, "{}", audit.answered() - before);
}

#[tokio::test]
async fn deletions_list_components_only_once() {
    let lab = Lab::start().await;
    let names: Vec<String> = (0..5).map(|number| format!("web-{number}")).collect();
    for name in &names {
        lab.apply(name, "values: {maps: 1}").await;
    }
    lab.run_until(are_ready).await;
    for name in &names {
        lab.delete(name).await;
    }
    let audit = lab.fixture.sandbox().audit();
    let before = audit.answered();
    let stop = async {
        while !lab.maps().await.is_empty() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    lab.controller().run(stop).await.unwrap();
    let requests = audit.since(before);
    let lists = requests.iter().filter(|one| one.verb == "list" && one.path.contains("/components"));
    assert_eq!(lists.count(), 1, "{requests:?}");
    lab.run_until(are_gone).await;
}

#[tokio::test]
async fn an_event_names_the_component_its_state_and_its_revision() {
    let lab = Lab::start().await;
    lab.apply("web", "values: {maps: 1}").await;
    lab.run_until(are_ready).await;
    let kind = lab.server.kind(&GroupKind::new("", "Event")).await.unwrap();
    let list = ListQuery { namespace: Some("ns".to_owned()), ..ListQuery::default() };
    let events = lab.server.list(&kind, &list).await.unwrap();
    let reasons: BTreeSet<&str> =
        events.iter().filter_map(|event| event.get(&["reason"]).and_then(Value::as_str)).collect();
    assert_eq!(reasons, BTreeSet::from(["FirstSeen", "Ready"]));
    let ready = events.iter().find(|event| event.get(&["reason"]).unwrap() == "Ready").unwrap();
    let revision = ready.get(&["metadata", "annotations", "core.cs.sap.com/revision"]).unwrap();
    assert_eq!(
        (revision, ready.get(&["involvedObject", "name"]).unwrap()),
        (&"main@sha1:1".into(), &"web".into())
    );
}

#[tokio::test]
async fn a_cluster_without_the_definition_is_refused() {
    let fixture = Fixture::start().await;
    let connection = ConnectionOptions::of_client(fixture.client(), "controller");
    let server = Server::connect(connection, ServerOptions::default()).await.unwrap().without_lease();
    let lab =
        Lab { fixture, server, metrics: Arc::default(), readiness: Arc::default(), requests: Arc::default() };
    let error = lab.controller().run(pending()).await.unwrap_err();
    assert!(matches!(error, ControllerError::NoDefinition), "{error:?}");
}

#[tokio::test]
async fn a_controller_that_is_killed_at_any_request_loses_nothing() {
    let lab = Lab::start().await;
    let covers = async || {
        let inventories: BTreeSet<String> = lab
            .components()
            .await
            .iter()
            .flat_map(|one| one.applied().unwrap().items)
            .map(|item| item.key.name)
            .collect();
        let maps: BTreeSet<String> = lab.maps().await.into_keys().collect();
        assert!(maps.is_subset(&inventories), "{maps:?} are not all in {inventories:?}");
    };
    lab.apply("base", "values: {maps: 2}").await;
    lab.apply("web", "values: {maps: 2}, dependencies: [{name: base}]").await;
    for (phase, seed) in ["create", "change", "delete"].into_iter().zip(1..) {
        match phase {
            "change" => lab.apply("web", "values: {maps: 1}, dependencies: [{name: base}]").await,
            "delete" => {
                lab.delete("base").await;
                lab.delete("web").await;
            }
            _ => {}
        }
        let mut random = fastrand::Rng::with_seed(seed);
        let mut kills = 0;
        while !lab.run_and_kill(random.u64(3..24)).await {
            covers().await;
            kills += 1;
            assert!(kills < 200, "{phase} makes no progress");
            // Every run lists the Components and their kinds first.
            if kills % 8 == 0 && (are_ready(&lab).await || are_gone(&lab).await) {
                break;
            }
        }
        if phase == "delete" {
            lab.run_until(are_gone).await;
        } else {
            lab.run_until(are_ready).await;
        }
    }
    assert_eq!(lab.maps().await.len(), 0);
}

#[tokio::test]
async fn a_controller_ends_with_a_hint_once_its_definition_is_deleted() {
    let lab = Lab::start().await;
    let stop = async {
        lab.fixture.delete(support::kind::CUSTOM_RESOURCE_DEFINITION, "components.core.cs.sap.com").await;
        pending::<()>().await;
    };
    let ended = timeout(Duration::from_secs(30), lab.controller().run(stop)).await.expect("an end");
    assert!(matches!(ended, Err(ControllerError::NoDefinition)), "{ended:?}");
}
