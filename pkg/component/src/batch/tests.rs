use manifest::{YamlLimits, read_stream};
use serde_json::Map;
use snapbox::{assert_data_eq, str};
use support::fixture::Fixture;

use super::*;
use crate::{
    ArtifactReference, ComponentStore, SourceState, State, Targets, check_component, definition,
    testing::connect,
};

/// A sandbox with the storage of Components.
struct Lab {
    fixture: Fixture,
    server: Server,
    targets: Targets,
    store: ComponentStore,
}

impl Lab {
    async fn start() -> Self {
        let fixture = Fixture::start().await;
        let server = connect(&fixture).await;
        let store = ComponentStore::open(&server).await.unwrap();
        Self { fixture, targets: Targets::new(server.clone()), store, server }
    }

    async fn with_definition() -> Self {
        let mut lab = Self::start().await;
        lab.fixture.apply(&manifest::write_stream(&[definition()])).await;
        lab.fixture.wait_until_idle().await;
        lab.server.forget_kinds();
        lab.store = ComponentStore::open(&lab.server).await.unwrap();
        lab
    }

    fn runs(&self) -> ComponentRuns<'_> {
        ComponentRuns { targets: &self.targets, store: &self.store, hub: "uid" }
    }

    async fn plan(&self, texts: &[String], files: &[(&str, &str)]) -> Result<BatchPlan, String> {
        let (inputs, preparation) = (inputs(texts), given(files));
        let batch = ComponentBatch { runs: self.runs(), preparation: &preparation, inputs: &inputs };
        batch.plan(PlanPurpose::Show).await.map_err(|error| shown(&error))
    }

    /// Plans and applies Components of a source with some files.
    async fn apply(&self, texts: &[String], files: &[(&str, &str)]) -> Result<BatchPlan, String> {
        let (inputs, preparation) = (inputs(texts), given(files));
        let batch = ComponentBatch { runs: self.runs(), preparation: &preparation, inputs: &inputs };
        let mut plan = batch.plan(PlanPurpose::Execute).await.map_err(|error| shown(&error))?;
        batch.apply(&mut plan, false).await.map_err(|error| shown(&error))?;
        Ok(plan)
    }

    /// Plans Components and leaves the plan to a controller.
    async fn store(&self, texts: &[String], files: &[(&str, &str)]) {
        let (inputs, preparation) = (inputs(texts), given(files));
        let batch = ComponentBatch { runs: self.runs(), preparation: &preparation, inputs: &inputs };
        let plan = batch.plan(PlanPurpose::Execute).await.unwrap();
        batch.store(&plan).await.unwrap();
    }

    async fn states(&self) -> Vec<(String, Option<State>)> {
        let all = self.store.list().await.unwrap().components;
        all.iter().map(|one| (one.name().to_owned(), one.status.state)).collect()
    }
}

fn shown(error: &BatchError) -> String {
    let chain = api::error_chain(error);
    [chain.lines, chain.hints].concat().join("\n")
}

fn component(name: &str, rest: &str) -> String {
    format!(
        "{{apiVersion: core.cs.sap.com/v1alpha1, kind: Component, metadata: {{name: {name}, namespace: shop}}, spec: {{sourceRef: {{fluxBucket: {{name: s}}}}, path: {name}{rest}}}}}"
    )
}

fn inputs(texts: &[String]) -> Vec<ComponentInput> {
    let read =
        |text: &String| read_stream(text.as_bytes(), &YamlLimits::default()).unwrap().objects.remove(0);
    let input = |text| ComponentInput {
        checked: check_component(&read(text)).unwrap(),
        files: LocalObjects::default(),
    };
    texts.iter().map(input).collect()
}

fn given(files: &[(&str, &str)]) -> Preparation {
    let files = files.iter().map(|(path, content)| (path, content.as_bytes().to_vec())).collect();
    let source =
        SourceState { artifact: ArtifactReference::default(), digest: "s".to_owned(), files: Some(files) };
    Preparation { source: Some(source), values: Map::new(), ..Preparation::default() }
}

const DB: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: db}, data: {port: '5432'}}";
const WEB: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {port: '{{ (mustLookup "v1" "ConfigMap" "shop" "db").data.port }}'}
"#;

// Row: CMP-03, CMP-72, CMP-74, ENG-81
#[tokio::test]
async fn a_component_sees_the_objects_of_its_dependencies() {
    for lab in [Lab::start().await, Lab::with_definition().await] {
        let texts = [component("web", ", dependencies: [{name: db}]"), component("db", "")];
        let files = [("/db/a.yaml", DB), ("/web/a.yaml", WEB)];
        let shown = lab.plan(&texts, &files).await.unwrap_err();
        assert!(shown.contains("\"db\" not found"), "{shown}");
        assert!(shown.contains("apply the dependencies first"), "{shown}");
        let applied = lab.apply(&texts, &files).await.unwrap();
        let order: Vec<&str> = applied.plans().map(|plan| plan.key.name.as_str()).collect();
        assert_eq!(order, ["db", "web"]);
        let ready = Some(State::Ready);
        assert_eq!(lab.states().await, [("db".to_owned(), ready), ("web".to_owned(), ready)]);
        for component in lab.store.list().await.unwrap().components {
            let items = component.applied().unwrap().items.into_iter().map(|item| item.key.name);
            assert_eq!(items.collect::<Vec<_>>(), [component.name()]);
        }
        // Another port of the database reaches the web server in the same run.
        let other = DB.replace("5432", "5433");
        lab.apply(&texts, &[("/db/a.yaml", &other), ("/web/a.yaml", WEB)]).await.unwrap();
        let map = lab.fixture.get(support::kind::CONFIG_MAP, "shop/web").await.unwrap();
        assert_eq!(map["data"]["port"], "5433");
    }
}

#[tokio::test]
async fn an_unchanged_component_is_not_written() {
    for lab in [Lab::start().await, Lab::with_definition().await] {
        let texts = [component("db", ", values: {a: 1}")];
        lab.apply(&texts, &[("/db/a.yaml", DB)]).await.unwrap();
        let revision = lab.fixture.sandbox().revision();
        lab.apply(&texts, &[("/db/a.yaml", DB)]).await.unwrap();
        assert_eq!(lab.fixture.sandbox().revision(), revision);
        lab.apply(&[component("db", ", values: {a: 2}")], &[("/db/a.yaml", DB)]).await.unwrap();
        assert_ne!(lab.fixture.sandbox().revision(), revision);
    }
}

#[tokio::test]
async fn the_controller_is_asked_for_a_step_only_if_there_is_work() {
    let lab = Lab::with_definition().await;
    let texts = [component("db", "")];
    lab.apply(&texts, &[("/db/a.yaml", DB)]).await.unwrap();
    let revision = lab.fixture.sandbox().revision();
    lab.store(&texts, &[("/db/a.yaml", DB)]).await;
    assert_eq!(lab.fixture.sandbox().revision(), revision);
    lab.store(&texts, &[("/db/a.yaml", &DB.replace("5432", "5433"))]).await;
    assert_ne!(lab.fixture.sandbox().revision(), revision);
    let map = lab.fixture.get(support::kind::CONFIG_MAP, "shop/db").await.unwrap();
    assert_eq!(map["data"]["port"], "5432");
}

#[tokio::test]
async fn requests_for_many_components_fit_into_the_urls_of_proxies() {
    let lab = Lab::start().await;
    let names: Vec<String> = (0..=READ_TOGETHER).map(|number| format!("c{number}")).collect();
    let texts: Vec<String> = names.iter().map(|name| component(name, "")).collect();
    let files: Vec<(String, String)> =
        names.iter().map(|name| (format!("/{name}/a.yaml"), DB.replace("db", name))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    lab.apply(&texts, &files).await.unwrap();
    let audit = lab.fixture.sandbox().audit();
    let before = audit.answered();
    let unchanged = lab.apply(&texts, &files).await.unwrap();
    assert!(unchanged.plans().all(ComponentPlan::is_complete));
    let requests = audit.since(before);
    assert!(requests.iter().all(|one| one.path.len() < 8192));
    assert!(requests.len() < 20, "{}", requests.len());
}

#[tokio::test]
async fn definitions_of_one_component_serve_objects_of_another() {
    let lab = Lab::start().await;
    let definition = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: toys.x.io}, spec: {group: x.io, names: {kind: Toy, plural: toys}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}";
    let toy = "{apiVersion: x.io/v1, kind: Toy, metadata: {name: t}}";
    let texts = [component("web", ", dependencies: [{name: db}]"), component("db", "")];
    let files = [("/db/a.yaml", definition), ("/web/a.yaml", toy)];
    assert_eq!(lab.plan(&texts, &files).await.unwrap().plans().count(), 2);
    lab.apply(&texts, &files).await.unwrap();
    assert_eq!(lab.states().await.len(), 2);
}

#[tokio::test]
async fn independent_components_are_applied_at_the_same_time() {
    let lab = Lab::start().await;
    lab.fixture.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}").await;
    lab.fixture.apply("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: toys.x.io}, spec: {group: x.io, names: {kind: Toy, plural: toys}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}").await;
    lab.fixture.wait_until_idle().await;
    lab.server.forget_kinds();
    let toy = format!(
        "{{apiVersion: x.io/v1, kind: Toy, metadata: {{name: t, namespace: shop, annotations: {{{}/status-hint: has-ready-condition}}}}}}",
        crate::RECONCILER
    );
    // The toy of the first Component becomes ready after the second Component.
    let make_ready = async {
        while lab.fixture.get(support::kind::CONFIG_MAP, "shop/db").await.is_none() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        lab.fixture.apply("{apiVersion: x.io/v1, kind: Toy, metadata: {name: t, namespace: shop}, status: {conditions: [{type: Ready, status: 'True'}]}}").await;
    };
    let texts = [component("web", ""), component("db", "")];
    let files = [("/db/a.yaml", DB), ("/web/a.yaml", toy.as_str())];
    let run = Box::pin(async { tokio::join!(lab.apply(&texts, &files), make_ready).0 });
    let applied = tokio::time::timeout(std::time::Duration::from_mins(1), run).await.expect("an end");
    let plan = applied.unwrap();
    let order: Vec<&str> = plan.plans().map(|plan| plan.key.name.as_str()).collect();
    assert_eq!(order, ["web", "db"]);
    assert!(lab.states().await.iter().all(|(_, state)| *state == Some(State::Ready)));
}

#[tokio::test]
async fn all_problems_are_reported_before_anything_is_written() {
    let lab = Lab::start().await;
    lab.fixture.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}").await;
    lab.fixture.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: db, namespace: shop, labels: {component-operator.cs.sap.com/owner-id: x}, annotations: {component-operator.cs.sap.com/owner-id: other}}}").await;
    let revision = lab.fixture.sandbox().revision();
    let texts = [
        component("db", ""),
        component("web", ", dependencies: [{name: cache}]"),
        component("proxy", ", valuesFrom: [{name: gone}]"),
        component("broken", ""),
    ];
    let files = [("/db/a.yaml", DB), ("/broken/a.yaml", "{{ fail \"no\" }}")];
    assert_data_eq!(
        lab.plan(&texts, &files).await.unwrap_err(),
        str![[r#"
cannot apply 4 Components
Component `shop/web` waits for other Components: dependent component cache not found: Component.core.cs.sap.com "cache" not found
cannot resolve the references of Component `shop/proxy`: spec.valuesFrom[0]: error loading secret shop/gone: secrets "gone" not found
cannot render Component `shop/broken`: cannot render template: a.yaml:1:3: executing "a.yaml" at <fail "no">: error calling fail: no
cannot apply the objects of Component `shop/db`: ConfigMap shop/db belongs to `other`
apply the dependencies with the same command, or wait with `capstan component wait`
adopt existing objects with `spec.adoptionPolicy`, or change their names
"#]]
    );
    let cycle =
        [component("a", ", dependencies: [{name: b}]"), component("b", ", dependencies: [{name: a}]")];
    assert_data_eq!(
        lab.apply(&cycle, &[]).await.unwrap_err(),
        str![[r#"
Components depend on each other: shop/a -> shop/b -> shop/a
remove one of these from `spec.dependencies`
"#]]
    );
    assert_eq!(lab.fixture.sandbox().revision(), revision);
}

#[tokio::test]
async fn a_suspended_component_keeps_its_objects() {
    let lab = Lab::start().await;
    lab.apply(&[component("db", "")], &[("/db/a.yaml", DB)]).await.unwrap();
    let suspended = [component("db", ", suspend: true")];
    let plan = lab.apply(&suspended, &[("/db/a.yaml", "")]).await.unwrap();
    assert_eq!((plan.plans().count(), plan.suspended().count()), (0, 1));
    assert_eq!(lab.states().await, [("db".to_owned(), Some(State::Pending))]);
    assert!(lab.fixture.get(support::kind::CONFIG_MAP, "shop/db").await.is_some());
}

#[tokio::test]
async fn a_component_that_is_being_deleted_is_not_applied() {
    let lab = Lab::with_definition().await;
    let texts = [component("db", "")];
    lab.apply(&texts, &[("/db/a.yaml", DB)]).await.unwrap();
    let key = ComponentKey { namespace: "shop".to_owned(), name: "db".to_owned() };
    lab.store.begin_deletion(&key).await.unwrap();
    assert_data_eq!(
        lab.apply(&texts, &[("/db/a.yaml", DB)]).await.unwrap_err(),
        str![[r#"
cannot apply 1 Component
Component `shop/db` is being deleted
complete the deletion with `capstan component delete db -n shop`, then apply again
"#]]
    );
}

#[tokio::test]
async fn a_component_does_not_start_before_a_suspended_dependency() {
    let lab = Lab::start().await;
    let files = [("/db/a.yaml", DB), ("/web/a.yaml", "")];
    lab.apply(&[component("db", "")], &files).await.unwrap();
    let texts = [component("web", ", dependencies: [{name: db}]"), component("db", ", suspend: true")];
    assert_data_eq!(
        lab.apply(&texts, &files).await.unwrap_err(),
        str![[r#"
cannot apply 1 Component
Component `shop/web` waits for other Components
dependent component db not ready
apply the dependencies with the same command, or wait with `capstan component wait`
"#]]
    );
}
