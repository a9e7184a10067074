use std::fmt::Write as _;

use apply::{ApplySetStore as _, GroupKind, ListQuery, PatchTarget, WatchEvent};
use futures::{FutureExt as _, StreamExt as _, stream::BoxStream};
use manifest::{Value, YamlLimits, read_stream};
use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{fixture::Fixture, kind::GIT_REPOSITORY};
use tokio::time::timeout;

use super::*;
use crate::{ComponentStore, Targets, definition, testing::connect};

/// Renders a ConfigMap for each name in the value `maps`.
struct Maps;

impl ComponentRenderer for Maps {
    fn render<'a>(&'a self, inputs: RenderInputs<'a>) -> BoxFuture<'a, Result<Vec<Object>, String>> {
        async move {
            let names = inputs.references.values.get("maps").and_then(Value::as_array);
            let names = names.ok_or("executing \"a.yaml\" at <fail `boom`>")?;
            let hint = inputs.references.values.get("hint").and_then(Value::as_str).unwrap_or_default();
            let map = |name: &Value| {
                let mut map = json!({
                    "apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {"name": name}, "data": {"revision": inputs.source.artifact.revision},
                });
                if !hint.is_empty() {
                    map["metadata"]["annotations"] = json!({format!("{RECONCILER}/status-hint"): hint});
                }
                Object::try_from(map).unwrap()
            };
            Ok(names.iter().map(map).collect())
        }
        .boxed()
    }
}

impl DependentsReader for Maps {
    fn dependents(&self, _: &Component) -> Option<Vec<ComponentKey>> {
        None
    }
}

/// A sandbox with Components, and the statuses of all steps.
struct Lab {
    fixture: Fixture,
    server: Server,
    targets: Targets,
    store: ComponentStore,
    repositories: RepositoryContext,
    changes: BoxStream<'static, Result<WatchEvent, ApiError>>,
    seconds: i64,
    seen: String,
    last: String,
}

fn shown(component: &Component) -> String {
    let (status, ready) = (&component.status, component.status.ready().cloned().unwrap_or_default());
    let state = status.state.map(|state| format!("{state:?}")).unwrap_or_default();
    format!(
        "{} gen={}/{} state={state} Ready={} reason={} msg={}",
        component.name(),
        component.generation(),
        status.observed_generation,
        ready.status,
        ready.reason,
        ready.message
    )
}

impl Lab {
    async fn start() -> Self {
        let fixture = Fixture::start().await;
        fixture.apply(&manifest::write_stream(&[definition()])).await;
        fixture.define(GIT_REPOSITORY).await;
        fixture.apply("{apiVersion: v1, kind: Namespace, metadata: {name: ns}}").await;
        fixture.wait_until_idle().await;
        let server = connect(&fixture).await;
        let store = ComponentStore::open(&server).await.unwrap();
        let repositories = RepositoryContext::default();
        let components = server.kind(&GroupKind::new(crate::GROUP, crate::KIND)).await.unwrap();
        let mut changes = server.watch(&components, &ListQuery::default());
        assert!(timeout(Duration::from_millis(300), changes.next()).await.is_err());
        let lab = Self {
            fixture,
            targets: Targets::new(server.clone()),
            server,
            store,
            repositories,
            seconds: 0,
            seen: String::new(),
            last: String::new(),
            changes,
        };
        lab.fixture
            .apply("{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: repo, namespace: ns}, spec: {}}")
            .await;
        lab.publish("main@sha1:1", "True").await;
        lab
    }

    /// Writes the status of the source.
    async fn publish(&self, revision: &str, ready: &str) {
        let kind =
            self.server.kind(&GroupKind::new("source.toolkit.fluxcd.io", "GitRepository")).await.unwrap();
        let source = self.server.get(&kind, "ns", "repo").await.unwrap().unwrap();
        let generation = source.get(&["metadata", "generation"]).cloned();
        let status = json!({
            "observedGeneration": generation,
            "conditions": [{"type": "Ready", "status": ready}],
            "artifact": {"url": "http://host/a.tgz", "digest": format!("sha256:{revision}"), "revision": revision},
        });
        let patch = json!({"status": status});
        self.server.patch(&kind, "ns", "repo", &patch, "test", PatchTarget::Status).await.unwrap();
    }

    async fn apply(&self, name: &str, spec: &str) {
        let text = format!(
            "apiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {{name: {name}, namespace: ns}}\nspec: {{sourceRef: {{fluxGitRepository: {{name: repo}}}}, {spec}}}\n"
        );
        let object = read_stream(text.as_bytes(), &YamlLimits::default()).unwrap().objects.remove(0);
        let kind = self.component_kind().await;
        self.server.apply(&kind, &object, "test", apply::ApplyRequest::default()).await.unwrap();
    }

    async fn component_kind(&self) -> apply::ApiKind {
        self.server.kind(&GroupKind::new(crate::GROUP, crate::KIND)).await.unwrap()
    }

    async fn delete(&self, name: &str) {
        self.server.delete(&self.component_kind().await, "ns", name, None).await.unwrap();
    }

    fn reconciler(&self) -> Reconciler<'_> {
        Reconciler {
            runs: ComponentRuns { targets: &self.targets, store: &self.store, hub: "uid" },
            sources: &self.server,
            dependents: &Maps,
            repositories: &self.repositories,
            renderer: &Maps,
        }
    }

    /// Takes steps until the status no longer changes, and notes all changes that a watch reports.
    async fn settle(&mut self, name: &str) {
        let key = ComponentKey { namespace: "ns".to_owned(), name: name.to_owned() };
        let now = Timestamp::from_second(self.seconds).unwrap();
        for _ in 0..20 {
            let Some(component) = self.store.get(&key).await.unwrap() else { break };
            let former = shown(&component);
            let Some(step) = self.reconciler().step(component, 0, now).await.unwrap() else { break };
            assert_eq!(self.store.get(&key).await.unwrap().as_ref(), Some(&step.component));
            if shown(&step.component) == former {
                break;
            }
        }
        while let Ok(Some(event)) = timeout(Duration::from_millis(200), self.changes.next()).await {
            let (object, is_gone) = match event.unwrap() {
                WatchEvent::Updated(object) => (object, false),
                WatchEvent::Deleted(object) => (object, true),
            };
            let component: Component = serde_json::from_value(object.into_value()).unwrap();
            let line = if is_gone { format!("{} gone", component.name()) } else { shown(&component) };
            let is_current = component.status.observed_generation == component.generation();
            if component.status.state.is_some() && (is_current || is_gone) && self.last != line {
                writeln!(self.seen, "{line}").unwrap();
                self.last = line;
            }
        }
    }

    async fn get(&self, name: &str) -> Component {
        let key = ComponentKey { namespace: "ns".to_owned(), name: name.to_owned() };
        self.store.get(&key).await.unwrap().unwrap()
    }

    fn note(&mut self, text: &str) {
        writeln!(self.seen, "## {text}").unwrap();
    }
}

// Row: CMP-24, CMP-33, CMP-34, CMP-36, CMP-79, ENG-03, ENG-24
#[tokio::test]
async fn changes_sources_and_pins_give_the_states_of_the_peer() {
    let mut lab = Lab::start().await;
    lab.note("create");
    lab.apply("one", "values: {maps: [one-a, one-b]}").await;
    lab.settle("one").await;
    lab.note("update of spec.values");
    lab.apply("one", "values: {maps: [one-a, one-c]}").await;
    lab.settle("one").await;
    lab.note("new artifact");
    lab.publish("main@sha1:2", "True").await;
    lab.settle("one").await;
    lab.note("pin mismatch");
    lab.apply("one", "revision: 'main@sha1:9', values: {maps: [one-a, one-c]}").await;
    lab.settle("one").await;
    lab.note("pin match");
    lab.apply("one", "revision: 'main@sha1:2', values: {maps: [one-a, one-c]}").await;
    lab.settle("one").await;
    lab.note("deleted in spite of a mismatch");
    lab.apply("one", "revision: 'main@sha1:9', values: {maps: [one-a, one-c]}").await;
    lab.settle("one").await;
    lab.delete("one").await;
    lab.settle("one").await;
    assert_data_eq!(
        &lab.seen,
        str![[r#"
## create
one gen=1/1 state=Pending Ready=Unknown reason=FirstSeen msg=First seen
one gen=1/1 state=Processing Ready=Unknown reason=Processing msg=Reconcilation of dependent resources triggered; waiting until all dependent resources are ready
one gen=1/1 state=Ready Ready=True reason=Ready msg=Dependent resources successfully reconciled
## update of spec.values
one gen=2/2 state=Processing Ready=Unknown reason=Restarting msg=Restarting processing due to component changes
one gen=2/2 state=Processing Ready=Unknown reason=Processing msg=Reconcilation of dependent resources triggered; waiting until all dependent resources are ready
one gen=2/2 state=Ready Ready=True reason=Ready msg=Dependent resources successfully reconciled
## new artifact
one gen=2/2 state=Processing Ready=Unknown reason=Restarting msg=Restarting processing due to component changes
one gen=2/2 state=Processing Ready=Unknown reason=Processing msg=Reconcilation of dependent resources triggered; waiting until all dependent resources are ready
one gen=2/2 state=Ready Ready=True reason=Ready msg=Dependent resources successfully reconciled
## pin mismatch
one gen=3/3 state=Processing Ready=Unknown reason=Restarting msg=Restarting processing due to component changes
one gen=3/3 state=Pending Ready=Unknown reason=Retrying msg=Source revision (main@sha1:2) does not match specified revision (main@sha1:9)
## pin match
one gen=4/4 state=Processing Ready=Unknown reason=Restarting msg=Restarting processing due to component changes
one gen=4/4 state=Ready Ready=True reason=Ready msg=Dependent resources successfully reconciled
## deleted in spite of a mismatch
one gen=5/5 state=Processing Ready=Unknown reason=Restarting msg=Restarting processing due to component changes
one gen=5/5 state=Pending Ready=Unknown reason=Retrying msg=Source revision (main@sha1:2) does not match specified revision (main@sha1:9)
one gen=6/6 state=Deleting Ready=Unknown reason=DeletionProcessing msg=Deletion of dependent resources triggered; waiting until dependent resources are deleted
one gone

"#]]
    );
}

// A hook such as a migration must not run twice.
#[tokio::test]
async fn the_completion_of_an_object_is_stored_before_its_deletion() {
    let mut lab = Lab::start().await;
    lab.apply("one", "values: {maps: [a]}").await;
    lab.settle("one").await;
    let component = lab.get("one").await;
    let mut set = component.applied().unwrap();
    let inventory = StepInventory::of_recorded(&lab.store, component, &set);
    set.items[0].phase = ItemPhase::ScheduledForCompletion;
    inventory.save(&set).await.unwrap();
    let stored = lab.get("one").await.applied().unwrap();
    assert_eq!(stored.items[0].phase, ItemPhase::ScheduledForCompletion);
}

#[tokio::test]
async fn a_new_component_with_the_name_of_a_deleted_one_is_not_removed() {
    let mut lab = Lab::start().await;
    lab.apply("one", "values: {maps: [a]}").await;
    lab.settle("one").await;
    let deleted = lab.get("one").await;
    lab.delete("one").await;
    lab.settle("one").await;
    lab.apply("one", "values: {maps: [a]}").await;
    lab.settle("one").await;
    lab.store.remove(&deleted).await.unwrap();
    let new = lab.get("one").await;
    assert!(!new.is_deleting() && new.finalizers().eq([RECONCILER]));
}

// Row: CMP-74, CMP-75
#[tokio::test]
async fn dependencies_are_honoured_by_applications_and_deletions() {
    let mut lab = Lab::start().await;
    lab.apply("dep", "values: {maps: [a]}, dependencies: [{name: base}]").await;
    lab.settle("dep").await;
    lab.apply("base", "values: {maps: [b]}").await;
    lab.settle("base").await;
    lab.settle("dep").await;
    lab.delete("base").await;
    lab.settle("base").await;
    lab.delete("dep").await;
    lab.settle("dep").await;
    lab.settle("base").await;
    assert_data_eq!(
        &lab.seen,
        str![[r#"
dep gen=1/1 state=Pending Ready=Unknown reason=FirstSeen msg=First seen
dep gen=1/1 state=Pending Ready=Unknown reason=Retrying msg=Dependent component base not found: Component.core.cs.sap.com "base" not found
base gen=1/1 state=Pending Ready=Unknown reason=FirstSeen msg=First seen
base gen=1/1 state=Processing Ready=Unknown reason=Processing msg=Reconcilation of dependent resources triggered; waiting until all dependent resources are ready
base gen=1/1 state=Ready Ready=True reason=Ready msg=Dependent resources successfully reconciled
dep gen=1/1 state=Processing Ready=Unknown reason=Processing msg=Reconcilation of dependent resources triggered; waiting until all dependent resources are ready
dep gen=1/1 state=Ready Ready=True reason=Ready msg=Dependent resources successfully reconciled
base gen=2/2 state=DeletionPending Ready=Unknown reason=DeletionRetrying msg=Deletion blocked by depending component ns/dep
dep gen=2/2 state=Deleting Ready=Unknown reason=DeletionProcessing msg=Deletion of dependent resources triggered; waiting until dependent resources are deleted
dep gone
base gen=2/2 state=Deleting Ready=Unknown reason=DeletionProcessing msg=Deletion of dependent resources triggered; waiting until dependent resources are deleted
base gone

"#]]
    );
}

// Row: CMP-58, CMP-59, CMP-79
#[tokio::test]
async fn errors_have_the_reasons_and_texts_of_the_peer() {
    let mut lab = Lab::start().await;
    lab.fixture.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: adn-a, namespace: ns}}").await;
    lab.fixture
        .apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: ado-a, namespace: ns, labels: {component-operator.cs.sap.com/owner-id: x}, annotations: {component-operator.cs.sap.com/owner-id: other}}}")
        .await;
    lab.apply("adn", "adoptionPolicy: Never, values: {maps: [adn-a]}").await;
    lab.settle("adn").await;
    lab.apply("ado", "values: {maps: [ado-a]}").await;
    lab.settle("ado").await;
    lab.apply("nosec", "valuesFrom: [{name: gone}]").await;
    lab.settle("nosec").await;
    lab.apply("bad", "values: {}").await;
    lab.settle("bad").await;
    lab.apply("susp", "suspend: true, values: {maps: [s]}").await;
    lab.settle("susp").await;
    lab.apply("susp", "suspend: false, values: {maps: [s]}").await;
    lab.settle("susp").await;
    lab.publish("main@sha1:2", "False").await;
    lab.apply("notready", "values: {maps: [n]}").await;
    lab.settle("notready").await;
    assert_data_eq!(
        &lab.seen,
        str![[r#"
adn gen=1/1 state=Pending Ready=Unknown reason=FirstSeen msg=First seen
adn gen=1/1 state=Processing Ready=Unknown reason=Processing msg=Reconcilation of dependent resources triggered; waiting until all dependent resources are ready
adn gen=1/1 state=Error Ready=False reason=Error msg=Error reconciling dependent resources: found existing object /v1, Kind=ConfigMap ns/adn-a without owner
ado gen=1/1 state=Pending Ready=Unknown reason=FirstSeen msg=First seen
ado gen=1/1 state=Processing Ready=Unknown reason=Processing msg=Reconcilation of dependent resources triggered; waiting until all dependent resources are ready
ado gen=1/1 state=Error Ready=False reason=Error msg=Error reconciling dependent resources: owner conflict; object /v1, Kind=ConfigMap ns/ado-a is owned by other
nosec gen=1/1 state=Pending Ready=Unknown reason=FirstSeen msg=First seen
nosec gen=1/1 state=Pending Ready=Unknown reason=Retrying msg=Error loading secret ns/gone: secrets "gone" not found
bad gen=1/1 state=Pending Ready=Unknown reason=FirstSeen msg=First seen
bad gen=1/1 state=Error Ready=False reason=Error msg=Error reconciling dependent resources: error rendering manifests: executing "a.yaml" at <fail `boom`>
susp gen=1/1 state=Pending Ready=Unknown reason=FirstSeen msg=First seen
susp gen=1/1 state=Pending Ready=Unknown reason=Suspended msg=Reconciliation is suspended
susp gen=2/2 state=Processing Ready=Unknown reason=Processing msg=Reconcilation of dependent resources triggered; waiting until all dependent resources are ready
susp gen=2/2 state=Ready Ready=True reason=Ready msg=Dependent resources successfully reconciled
notready gen=1/1 state=Pending Ready=Unknown reason=FirstSeen msg=First seen
notready gen=1/1 state=Pending Ready=Unknown reason=Retrying msg=Source not ready

"#]]
    );
}

// Row: CMP-22, CMP-23, CMP-24, ENG-43
#[tokio::test]
async fn objects_that_are_not_ready_in_time_are_an_error() {
    let mut lab = Lab::start().await;
    lab.apply("slow", "timeout: 4s, values: {maps: [a], hint: conditions=Done}").await;
    lab.settle("slow").await;
    lab.seconds = 4;
    lab.settle("slow").await;
    lab.note("a change restarts the timeout");
    lab.apply("slow", "timeout: 4s, values: {maps: [a, b], hint: conditions=Done}").await;
    lab.settle("slow").await;
    lab.seconds = 8;
    lab.settle("slow").await;
    lab.note("new manifests restart the timeout");
    lab.publish("main@sha1:2", "True").await;
    lab.settle("slow").await;
    lab.seconds = 12;
    lab.settle("slow").await;
    lab.note("released after the timeout");
    lab.apply("slow", "timeout: 4s, values: {maps: [a, b]}").await;
    lab.settle("slow").await;
    lab.delete("slow").await;
    lab.settle("slow").await;
    assert_data_eq!(
        &lab.seen,
        str![[r#"
slow gen=1/1 state=Pending Ready=Unknown reason=FirstSeen msg=First seen
slow gen=1/1 state=Processing Ready=Unknown reason=Processing msg=Reconcilation of dependent resources triggered; waiting until all dependent resources are ready
slow gen=1/1 state=Error Ready=False reason=Timeout msg=Reconcilation of dependent resources timed out
## a change restarts the timeout
slow gen=2/2 state=Processing Ready=Unknown reason=Restarting msg=Restarting processing due to component changes
slow gen=2/2 state=Processing Ready=Unknown reason=Processing msg=Reconcilation of dependent resources triggered; waiting until all dependent resources are ready
slow gen=2/2 state=Error Ready=False reason=Timeout msg=Reconcilation of dependent resources timed out
## new manifests restart the timeout
slow gen=2/2 state=Processing Ready=Unknown reason=Restarting msg=Restarting processing due to component changes
slow gen=2/2 state=Processing Ready=Unknown reason=Processing msg=Reconcilation of dependent resources triggered; waiting until all dependent resources are ready
slow gen=2/2 state=Error Ready=False reason=Timeout msg=Reconcilation of dependent resources timed out
## released after the timeout
slow gen=3/3 state=Processing Ready=Unknown reason=Restarting msg=Restarting processing due to component changes
slow gen=3/3 state=Processing Ready=Unknown reason=Processing msg=Reconcilation of dependent resources triggered; waiting until all dependent resources are ready
slow gen=3/3 state=Ready Ready=True reason=Ready msg=Dependent resources successfully reconciled
slow gen=4/4 state=Deleting Ready=Unknown reason=DeletionProcessing msg=Deletion of dependent resources triggered; waiting until dependent resources are deleted
slow gone

"#]]
    );
}

#[tokio::test]
async fn a_step_sends_few_requests() {
    let mut lab = Lab::start().await;
    lab.store = lab.store.looking_once_for_records();
    lab.apply("one", "values: {maps: [a, b, c, d, e]}").await;
    let (mut component, mut counts) = (lab.get("one").await, Vec::new());
    for _ in 0..3 {
        let before = lab.server.requests();
        let now = Timestamp::from_second(0).unwrap();
        component = lab.reconciler().step(component, 0, now).await.unwrap().unwrap().component;
        counts.push((component.status.ready().unwrap().reason.clone(), lab.server.requests() - before));
    }
    // Two for the status, one each for the source, the finalizer, the namespace and the list, and five objects.
    let expected = [("FirstSeen", 1), ("Ready", 11), ("Ready", 4)];
    assert_eq!(counts, expected.map(|(reason, count)| (reason.to_owned(), count)));
}

#[tokio::test]
async fn a_step_on_an_old_revision_writes_nothing() {
    let mut lab = Lab::start().await;
    lab.apply("one", "values: {maps: [a]}").await;
    lab.settle("one").await;
    let old = lab.get("one").await;
    lab.apply("one", "values: {maps: [b]}").await;
    let written = lab.get("one").await;
    let now = Timestamp::from_second(0).unwrap();
    let error = lab.reconciler().step(old, 0, now).await.unwrap_err();
    assert!(matches!(&error, StoreError::Api(error) if error.is_conflict()), "{error:?}");
    assert_eq!(lab.get("one").await, written);
}

#[tokio::test]
async fn events_name_the_revision_and_the_digest() {
    let mut lab = Lab::start().await;
    lab.apply("one", "values: {maps: [a]}").await;
    lab.settle("one").await;
    let component = lab.get("one").await;
    let event = ComponentEvent::of(&component);
    assert_eq!((event.is_warning, &*event.reason), (false, "Ready"));
    assert_eq!(event.annotations["core.cs.sap.com/revision"], "main@sha1:1");
    assert_eq!(event.annotations["core.cs.sap.com/token"], component.status.processing_digest);
}

#[tokio::test]
async fn a_new_component_takes_over_the_objects_of_its_record() {
    let mut lab = Lab::start().await;
    lab.apply("one", "values: {maps: [a, b]}").await;
    lab.settle("one").await;
    let mut component = lab.get("one").await;
    let mut record = component.clone();
    record.metadata.remove("uid");
    component.status = crate::ComponentStatus::default();
    lab.store.save_status(&component).await.unwrap();
    lab.store.save_status(&record).await.unwrap();
    lab.apply("one", "values: {maps: [a]}").await;
    lab.settle("one").await;
    let maps = async |lab: &Lab| {
        let maps = lab.fixture.list(support::kind::CONFIG_MAP).await;
        maps.iter().filter(|map| !map["data"]["revision"].is_null()).count()
    };
    assert_eq!((maps(&lab).await, lab.fixture.list(support::kind::SECRET).await.len()), (1, 0));
    // A record that is left causes no step, and goes with its Component.
    lab.store.save_status(&record).await.unwrap();
    assert!(lab.reconciler().step(record, 0, Timestamp::UNIX_EPOCH).await.unwrap().is_none());
    lab.delete("one").await;
    lab.settle("one").await;
    assert_eq!((maps(&lab).await, lab.store.list().await.unwrap().keys().len()), (0, 0));
}

// Row: D-570
#[tokio::test]
async fn a_component_goes_with_its_namespace_without_permissions() {
    for (other_namespace, is_gone) in [("ns", true), ("other", false)] {
        let mut lab = Lab::start().await;
        lab.fixture.apply("{apiVersion: v1, kind: Namespace, metadata: {name: other}}").await;
        lab.apply("one", &format!("namespace: {other_namespace}, values: {{maps: [a]}}")).await;
        lab.settle("one").await;
        lab.fixture.delete(support::kind::NAMESPACE, "ns").await;
        lab.delete("one").await;
        lab.fixture.inject_fault("403,resource=configmaps");
        lab.settle("one").await;
        let left = lab.store.list().await.unwrap().components;
        assert_eq!(left.is_empty(), is_gone, "{other_namespace}: {left:?}");
        for component in left {
            assert_eq!(component.status.state, Some(State::Error));
        }
    }
}
