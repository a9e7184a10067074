use apply::StepAction;
use manifest::{Value, YamlLimits, read_stream};
use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{
    fixture::Fixture,
    kind::{CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, DEPLOYMENT, Kind},
    request_counter::RequestCounter,
};

use super::*;
use crate::{ArtifactReference, State, check_component, definition, testing::connect};

/// A definition of the kind Toy.
const TOYS: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: toys.x.io}
spec:
  group: x.io
  names: {kind: Toy, plural: toys}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
";

/// A sandbox with a Component store.
struct Lab {
    fixture: Fixture,
    server: Server,
    targets: Targets,
}

impl Lab {
    async fn start() -> Self {
        Self::on(Fixture::start().await).await
    }

    async fn on(fixture: Fixture) -> Self {
        let server = connect(&fixture).await;
        Self { fixture, targets: Targets::new(server.clone()), server }
    }

    async fn with_definition() -> Self {
        let lab = Self::start().await;
        lab.define().await;
        lab
    }

    async fn define(&self) {
        self.fixture.apply(&manifest::write_stream(&[definition()])).await;
        self.fixture.wait_until_idle().await;
        self.server.forget_kinds();
    }

    /// Creates the Component `shop/web` as kubectl does.
    async fn create(&self, spec: &str) {
        self.fixture.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}").await;
        let kind = self.server.kind(&apply::GroupKind::new(crate::GROUP, crate::KIND)).await.unwrap();
        let text = format!(
            "{{apiVersion: core.cs.sap.com/v1alpha1, kind: Component, metadata: {{name: web, namespace: shop}}, spec: {{sourceRef: {{fluxBucket: {{name: s}}}}{spec}}}}}"
        );
        let object = &read(&text)[0];
        self.server.create(&kind, object, "kubectl-client-side-apply", apply::WriteMode::Real).await.unwrap();
    }

    /// Returns the names of the Secrets that record Components.
    async fn records(&self) -> Vec<String> {
        let secrets = self.fixture.list(support::kind::SECRET).await;
        secrets.iter().map(|secret| secret["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    }

    async fn store(&self) -> ComponentStore {
        ComponentStore::open(&self.server).await.unwrap()
    }

    async fn list(&self) -> Vec<Component> {
        self.store().await.list().await.unwrap().readable().unwrap()
    }

    async fn plan(&self, spec: &str, objects: &str) -> Result<ComponentPlan, RunError> {
        let text = format!(
            "apiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {{name: web, namespace: shop}}\nspec: {{sourceRef: {{fluxBucket: {{name: s}}}}{spec}}}\n"
        );
        let object = check_component(&read(&text)[0]).unwrap().object;
        let store = self.store().await;
        let component = store.save(&object).await.unwrap();
        let artifact = ArtifactReference {
            url: "http://host/a.tgz".to_owned(),
            digest: "sha256:1".to_owned(),
            revision: "main@1".to_owned(),
        };
        let source = SourceState { artifact, digest: "source".to_owned(), files: None };
        let objects = read(objects);
        let digest = format!("{:?}", component.spec);
        let rendered = RenderedComponent { component, source, digest, objects };
        let kinds = self.server.kinds().await.unwrap();
        let target = self.targets.find(&rendered.component).await?;
        self.runs(&store).plan_on(target, rendered, &kinds, ReadByName::All).await
    }

    fn runs<'a>(&'a self, store: &'a ComponentStore) -> ComponentRuns<'a> {
        ComponentRuns { targets: &self.targets, store, hub: "uid" }
    }

    async fn apply(&self, spec: &str, objects: &str) -> Result<Component, RunError> {
        let mut plan = self.plan(spec, objects).await?;
        let store = self.store().await;
        self.runs(&store).apply(&mut plan).await
    }

    async fn delete(&self) -> Result<(), RunError> {
        let store = self.store().await;
        let key = ComponentKey { namespace: "shop".to_owned(), name: "web".to_owned() };
        let component = store.get(&key).await.unwrap().unwrap();
        let mut plan = self.runs(&store).plan_deletion(component).await?;
        self.runs(&store).delete(&mut plan, Duration::from_secs(5)).await
    }

    /// Creates the ConfigMap `shop/a` as a manager, and adds a field of another manager.
    async fn write_as(&self, manager: &str) {
        self.fixture.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}").await;
        let kind = self.server.kind(&apply::GroupKind::new("", "ConfigMap")).await.unwrap();
        let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}, data: {key: '0', stale: '1'}}";
        self.server.create(&kind, &read(map)[0], manager, apply::WriteMode::Real).await.unwrap();
        self.fixture.merge(CONFIG_MAP, "shop/a", &json!({"data": {"foreign": "1"}})).await;
    }

    /// Returns the ConfigMaps of a namespace by name.
    async fn maps(&self, namespace: &str) -> Vec<String> {
        let kind = self.server.kind(&apply::GroupKind::new("", "ConfigMap")).await.unwrap();
        let list = apply::ListQuery { namespace: Some(namespace.to_owned()), ..apply::ListQuery::default() };
        let maps = self.server.list(&kind, &list).await.unwrap();
        maps.iter().map(|map| map.name().to_owned()).filter(|name| name != "kube-root-ca.crt").collect()
    }
}

fn read(text: &str) -> Vec<Object> {
    read_stream(text.as_bytes(), &YamlLimits::default()).unwrap().objects
}

fn maps(names: &[&str]) -> String {
    let map = |name: &&str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}");
    names.iter().map(map).collect::<Vec<_>>().join("\n---\n")
}

// Row: CMP-03, CMP-12, CMP-13, CMP-56, CMP-68, CMP-80, ENG-02, ENG-05, ENG-10, ENG-11
#[tokio::test]
async fn a_component_is_applied_changed_and_deleted() {
    for lab in [Lab::start().await, Lab::with_definition().await] {
        let component = lab.apply("", &maps(&["a", "b"])).await.unwrap();
        assert_eq!(component.status.state, Some(State::Ready));
        assert_eq!((component.status.revision, component.status.inventory.len()), (1, 2));
        assert_eq!(component.status.last_applied_revision, "main@1");
        assert_eq!(lab.maps("shop").await, ["a", "b"]);
        let component = lab.apply(", values: {x: 1}", &maps(&["b", "c"])).await.unwrap();
        assert_eq!((component.status.revision, component.generation()), (2, 2));
        assert_eq!(component.status.applied_generation, 2);
        assert_eq!(lab.maps("shop").await, ["b", "c"]);
        let stored = lab.list().await;
        assert_eq!(stored.len(), 1);
        assert!(stored[0].status.is_ready(2));
        lab.delete().await.unwrap();
        assert_eq!(lab.maps("shop").await, [""; 0]);
        assert_eq!(lab.list().await, []);
    }
}

// Row: CMP-10, ENG-12, ENG-25
#[tokio::test]
async fn objects_go_to_the_deployment_namespace() {
    let lab = Lab::start().await;
    lab.apply(", namespace: target", &maps(&["a"])).await.unwrap();
    assert_eq!((lab.maps("target").await, lab.maps("shop").await), (vec!["a".to_owned()], Vec::new()));
}

// Row: CMP-57, CMP-58, CMP-59, CMP-60
#[tokio::test]
async fn existing_objects_are_adopted_by_policy() {
    let lab = Lab::start().await;
    lab.apply("", &maps(&["first"])).await.unwrap();
    lab.fixture.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}").await;
    lab.fixture.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: shop, labels: {component-operator.cs.sap.com/owner-id: x}, annotations: {component-operator.cs.sap.com/owner-id: other}}}").await;
    let refused = |result: Result<ComponentPlan, RunError>| match result {
        Err(RunError::Plan { problems, .. }) => problems[0].to_string(),
        other => panic!("{other:?}"),
    };
    let never = refused(lab.plan(", adoptionPolicy: Never", &maps(&["a"])).await);
    let owned = refused(lab.plan("", &maps(&["b"])).await);
    assert_data_eq!(
        format!("{never}\n{owned}\n"),
        str![[r#"
ConfigMap shop/a exists and was not applied by `uid/shop/web`
ConfigMap shop/b belongs to `other`

"#]]
    );
    let action = |plan: ComponentPlan| plan.objects.plan.steps[0].action;
    assert_eq!(action(lab.plan("", &maps(&["a"])).await.unwrap()), StepAction::Adopt);
    assert_eq!(action(lab.plan(", adoptionPolicy: Always", &maps(&["b"])).await.unwrap()), StepAction::Adopt);
}

// Row: CMP-62, CMP-63, CMP-64, CMP-65, CMP-66
#[tokio::test]
async fn objects_are_updated_by_the_policy_of_their_component() {
    let merged = json!({"key": "1", "stale": "1", "foreign": "1"});
    let taken_over = json!({"key": "1", "foreign": "1"});
    for (spec, requests, operation, data) in [
        (", updatePolicy: Replace", "update", "Update", json!({"key": "1"})),
        (", updatePolicy: Recreate", "delete create", "Update", json!({"key": "1"})),
        (", updatePolicy: SsaMerge", "patch", "Apply", merged),
        (", updatePolicy: SsaOverride", "patch", "Apply", taken_over.clone()),
        ("", "patch", "Apply", taken_over),
    ] {
        for manager in ["kubectl-create", "helm"] {
            let lab = Lab::start().await;
            lab.write_as(manager).await;
            let before = lab.fixture.get(CONFIG_MAP, "shop/a").await.unwrap();
            let counter = RequestCounter::start(lab.fixture.sandbox());
            lab.apply(spec, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {key: '1'}}")
                .await
                .unwrap();
            let mut verbs: Vec<_> = counter
                .requests()
                .into_iter()
                .filter(|it| it.resource == "configmaps")
                .map(|it| it.verb)
                .collect();
            verbs.retain(|verb| !["get", "list", "watch"].contains(&&**verb));
            verbs.dedup();
            let after = lab.fixture.get(CONFIG_MAP, "shop/a").await.unwrap();
            assert_eq!((verbs.join(" ").as_str(), &after["data"]), (requests, &data), "{spec} {manager}");
            let is_same = before["metadata"]["uid"] == after["metadata"]["uid"];
            assert_eq!(is_same, requests != "delete create", "{spec}");
            let fields = after["metadata"]["managedFields"].as_array().unwrap();
            let own = fields.iter().find(|entry| entry["manager"] == crate::RECONCILER).unwrap();
            assert_eq!(own["operation"], operation, "{spec} {manager}");
        }
    }
}

// Row: CMP-61, CMP-67, CMP-71
#[tokio::test]
async fn annotations_of_an_object_override_the_policies_of_its_component() {
    let map = |policies: &str| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a, annotations: {{{policies}}}}}, data: {{key: '1'}}}}")
            .replace("own/", "component-operator.cs.sap.com/")
    };
    let lab = Lab::start().await;
    lab.write_as("other").await;
    let never = lab.plan(", adoptionPolicy: Always", &map("own/adoption-policy: never")).await;
    assert!(matches!(never, Err(RunError::Plan { .. })), "{never:?}");
    let policies = map("own/adoption-policy: if-unowned, own/update-policy: ssa-merge");
    lab.apply(", adoptionPolicy: Never, updatePolicy: Replace", &policies).await.unwrap();
    let live = lab.fixture.get(CONFIG_MAP, "shop/a").await.unwrap();
    assert_eq!(live["data"], json!({"key": "1", "stale": "1", "foreign": "1"}));
    for (spec, policy, left) in
        [("", "own/delete-policy: orphan", "a"), (", deletePolicy: Orphan", "own/delete-policy: delete", "b")]
    {
        let lab = Lab::start().await;
        lab.apply(spec, &format!("{}\n---\n{}", map(policy), maps(&["b"]))).await.unwrap();
        lab.delete().await.unwrap();
        assert_eq!(lab.maps("shop").await, [left], "{spec}");
    }
}

// Row: ENG-01
#[tokio::test]
async fn an_operator_with_its_definition_and_objects_follows_its_component() {
    let toy = Kind::new("x.io", "v1", "Toy", "toys");
    let with_workloads = Fixture::builder().options(|options| options.controllers.workloads = true);
    let lab = Lab::on(with_workloads.start().await).await;
    let operator = |version: &str| {
        format!(
            "{TOYS}apiVersion: apps/v1
kind: Deployment
metadata: {{name: operator}}
spec:
  selector: {{matchLabels: {{app: operator}}}}
  template:
    metadata: {{labels: {{app: operator}}}}
    spec: {{containers: [{{name: operator, image: 'operator:{version}'}}]}}
---
{{apiVersion: x.io/v1, kind: Toy, metadata: {{name: t, labels: {{version: {version}}}}}}}
"
        )
    };
    for version in ["v1", "v2"] {
        let component = lab.apply("", &operator(version)).await.unwrap();
        assert_eq!((component.status.state, component.status.inventory.len()), (Some(State::Ready), 3));
        let deployment = lab.fixture.get(DEPLOYMENT, "shop/operator").await.unwrap();
        let containers = &deployment["spec"]["template"]["spec"]["containers"];
        assert_eq!(containers[0]["image"], format!("operator:{version}"));
        assert_eq!(lab.fixture.get(toy, "shop/t").await.unwrap()["metadata"]["labels"]["version"], version);
    }
    lab.delete().await.unwrap();
    assert!(lab.fixture.get(DEPLOYMENT, "shop/operator").await.is_none());
    assert!(lab.fixture.get(CUSTOM_RESOURCE_DEFINITION, "toys.x.io").await.is_none());
}

// Row: CMP-22, CMP-23, ENG-42
#[tokio::test]
async fn objects_that_are_not_ready_in_time_are_an_error_until_they_are() {
    let lab = Lab::start().await;
    let waiting = "{apiVersion: v1, kind: ConfigMap, metadata: {name: w, annotations: {component-operator.cs.sap.com/status-hint: conditions=Done}}}";
    let error = lab.apply(", timeout: 100ms", waiting).await.unwrap_err();
    assert!(matches!(error, RunError::NotReady { .. }), "{error:?}");
    let status = lab.list().await.remove(0).status;
    assert_eq!((status.state, &*status.ready().unwrap().reason), (Some(State::Error), "Timeout"));
    let status = lab.apply(", timeout: 1m", &maps(&["a"])).await.unwrap().status;
    assert_eq!(status.state, Some(State::Ready));
}

// Row: CMP-69, CMP-70, ENG-63
#[tokio::test]
async fn orphaned_objects_stay_only_if_the_component_is_deleted() {
    let lab = Lab::start().await;
    lab.apply(", deletePolicy: Orphan", &maps(&["a", "b"])).await.unwrap();
    lab.apply(", deletePolicy: Orphan", &maps(&["a"])).await.unwrap();
    assert_eq!(lab.maps("shop").await, ["a"]);
    lab.delete().await.unwrap();
    assert_eq!(lab.maps("shop").await, ["a"]);
    assert_eq!(lab.list().await, []);
}

#[tokio::test]
async fn a_component_is_marked_for_deletion_before_its_objects() {
    let lab = Lab::with_definition().await;
    lab.apply("", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: [example.org/wait]}}")
        .await
        .unwrap();
    let store = lab.store().await;
    let component = lab.list().await.remove(0);
    let mut plan = lab.runs(&store).plan_deletion(component).await.unwrap();
    let error = lab.runs(&store).delete(&mut plan, Duration::from_millis(200)).await.unwrap_err();
    assert!(matches!(error, RunError::NotDeleted { .. }), "{error:?}");
    let waiting = lab.list().await.remove(0);
    assert!(waiting.metadata.contains_key("deletionTimestamp"));
    assert_eq!((waiting.status.state, waiting.status.inventory.len()), (Some(State::Deleting), 1));
}

#[tokio::test]
async fn a_component_that_cannot_be_deleted_completely_is_refused() {
    let lab = Lab::start().await;
    let store = lab.store().await;
    let mut component = lab.apply("", &maps(&["a"])).await.unwrap();
    component.status.inventory.push(Value::from("unknown").into());
    let unreadable = lab.runs(&store).plan_deletion(component.clone()).await.unwrap_err();
    assert!(matches!(unreadable, RunError::Inventory(InventoryError { at: 1, .. })), "{unreadable:?}");
}

#[test]
fn an_object_that_another_owner_created_meanwhile_is_an_error_with_a_hint() {
    let object = apply::ObjectKey { name: "db".to_owned(), ..apply::ObjectKey::default() };
    let theirs = PlanError::OwnedByOther { object: object.clone(), theirs: "other".to_owned() };
    let failed = vec![(object, apply::WriteError::Plan(theirs))];
    let component = ComponentKey { namespace: "shop".to_owned(), name: "web".to_owned() };
    let error = RunError::Engine { component, source: Box::new(EngineError::Writes { failed }) };
    assert_eq!(
        api::error_chain(&error).hints,
        ["adopt existing objects with `spec.adoptionPolicy`, or change their names"]
    );
}

#[tokio::test]
async fn components_that_cannot_be_read_are_named() {
    let lab = Lab::with_definition().await;
    lab.apply("", &maps(&["a"])).await.unwrap();
    // An older definition accepts everything.
    let mut open = definition();
    open.as_map_mut()["spec"]["versions"][0]["schema"] = serde_json::json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    lab.fixture.apply(&manifest::write_stream(&[open])).await;
    lab.fixture.apply("{apiVersion: core.cs.sap.com/v1alpha1, kind: Component, metadata: {name: bad, namespace: shop}, spec: {sourceRef: {}, suspend: 5}}").await;
    lab.fixture.apply("{apiVersion: v1, kind: Secret, metadata: {name: capstan.component.old, namespace: shop, labels: {capstan.dev/component: old}}}").await;
    let store = lab.store().await;
    let stored = store.list().await.unwrap();
    assert_eq!(stored.components.len(), 1);
    let texts: Vec<String> = stored.unreadable.iter().map(ToString::to_string).collect();
    assert_data_eq!(
        texts.join("\n"),
        str![[r#"
cannot read Component `shop/bad`: invalid type: integer `5`, expected a boolean
cannot read Component `shop/old`: Secret `capstan.component.old` has no key `component.json`
"#]]
    );
    let key = ComponentKey { namespace: "shop".to_owned(), name: "bad".to_owned() };
    assert!(matches!(store.get(&key).await, Err(crate::StoreError::Unreadable { .. })));
}

// Row: ENG-46, ENG-47
#[tokio::test]
async fn instances_of_others_block_a_deletion_and_nothing_is_deleted() {
    let lab = Lab::start().await;
    lab.apply("", &format!("{TOYS}{}", maps(&["a"]))).await.unwrap();
    lab.fixture.apply("{apiVersion: x.io/v1, kind: Toy, metadata: {name: t, namespace: shop}}").await;
    let error = lab.delete().await.unwrap_err();
    assert!(
        matches!(&error, RunError::Engine { source, .. } if matches!(**source, EngineError::InUse { .. })),
        "{error:?}"
    );
    assert_eq!(lab.maps("shop").await, ["a"]);
    let status = lab.list().await.remove(0).status;
    assert_eq!((status.state, &*status.ready().unwrap().reason), (Some(State::Deleting), "DeletionBlocked"));
}

// Row: CMP-01
#[tokio::test]
async fn a_server_refuses_what_the_command_line_refuses() {
    let lab = Lab::with_definition().await;
    let kind = lab.server.kind(&apply::GroupKind::new(crate::GROUP, crate::KIND)).await.unwrap();
    for (spec, field) in [
        ("{sourceRef: {}}", "spec.sourceRef"),
        ("{sourceRef: {fluxBucket: {name: a}, fluxHelmChart: {name: a}}}", "spec.sourceRef"),
        ("{sourceRef: {fluxBucket: {}}}", "spec.sourceRef.fluxBucket.name"),
        ("{sourceRef: {fluxBucket: {name: a}}, adoptionPolicy: never}", "spec.adoptionPolicy"),
        ("{sourceRef: {fluxBucket: {name: a}}, timeout: 5 minutes}", "spec.timeout"),
        ("{sourceRef: {fluxBucket: {name: a}}, valuesFrom: [{key: x}]}", "spec.valuesFrom[0].name"),
        (
            "{sourceRef: {fluxBucket: {name: a}}, postBuild: {substitute: {A: 5}}}",
            "spec.postBuild.substitute.A",
        ),
    ] {
        let text = format!(
            "apiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {{name: web, namespace: default}}\nspec: {spec}\n"
        );
        let object = read(&text).remove(0);
        let here: Vec<String> =
            check_component(&object).unwrap_err().into_iter().map(|it| it.field).collect();
        let there = lab.server.create(&kind, &object, "test", apply::WriteMode::Real).await.unwrap_err();
        assert_eq!(here, [field]);
        assert!(there.to_string().contains(field), "{spec}: {there}");
    }
}

#[tokio::test]
async fn a_record_becomes_a_status_once_the_kind_is_served() {
    let lab = Lab::start().await;
    lab.apply("", &maps(&["a"])).await.unwrap();
    lab.define().await;
    let component = lab.apply("", &maps(&["b"])).await.unwrap();
    assert_eq!(lab.maps("shop").await, ["b"]);
    assert_eq!(component.metadata.get("finalizers"), Some(&Value::from(vec![crate::RECONCILER])));
    assert_eq!(lab.list().await.len(), 1);
}

#[tokio::test]
async fn a_new_component_has_the_objects_of_its_record() {
    let lab = Lab::start().await;
    lab.apply("", &maps(&["a"])).await.unwrap();
    lab.define().await;
    lab.create("").await;
    let component = lab.list().await.remove(0);
    assert_eq!((component.status.observed_generation, component.status.inventory.len()), (0, 1));
    lab.apply("", &maps(&["b"])).await.unwrap();
    assert_eq!((lab.maps("shop").await, lab.records().await), (vec!["b".to_owned()], Vec::new()));
}

#[tokio::test]
async fn a_record_can_be_deleted_once_the_kind_is_served() {
    let lab = Lab::start().await;
    lab.apply("", &maps(&["a"])).await.unwrap();
    lab.define().await;
    lab.delete().await.unwrap();
    assert_eq!((lab.maps("shop").await, lab.records().await), (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn a_stored_component_equals_its_file_after_kubectl() {
    let lab = Lab::with_definition().await;
    lab.create(", values: {x: 1, z: {y: 2}}, suspend: true, dependencies: [{name: db}]").await;
    lab.apply(", values: {x: 1, z: {}}", &maps(&["a"])).await.unwrap();
    let spec = lab.list().await.remove(0).spec;
    assert_eq!(spec.values, Some(json!({"x": 1, "z": {}})));
    assert_eq!((spec.suspend, spec.dependencies.len()), (false, 0));
}

#[tokio::test]
async fn finalizers_of_other_programs_block_a_deletion() {
    let lab = Lab::with_definition().await;
    lab.apply("", &maps(&["a"])).await.unwrap();
    let finalizers = async |names: &[&str]| {
        let kind = Kind::new(crate::GROUP, "v1alpha1", crate::KIND, "components");
        lab.fixture.merge(kind, "shop/web", &json!({"metadata": {"finalizers": names}})).await;
    };
    finalizers(&[crate::RECONCILER, "example.org/hold"]).await;
    let error = api::error_chain(&lab.delete().await.unwrap_err());
    assert_data_eq!(
        [error.lines, error.hints].concat().join("\n"),
        str![[r#"
cannot delete Component `shop/web`: it has finalizers of other programs: example.org/hold
re-run the same command once these programs have removed their finalizers
"#]]
    );
    let component = lab.list().await.remove(0);
    assert!(component.is_deleting());
    assert_eq!(
        component.status.ready().unwrap().message,
        "Deletion blocked due to existing foreign finalizers"
    );
    assert_eq!(lab.maps("shop").await, ["a"]);
    finalizers(&[crate::RECONCILER]).await;
    lab.delete().await.unwrap();
    assert_eq!((lab.maps("shop").await, lab.list().await), (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn a_failed_write_is_the_message_of_the_status() {
    let lab = Lab::start().await;
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {/: x}}";
    assert!(matches!(lab.apply("", map).await, Err(RunError::Engine { .. })));
    let status = lab.list().await.remove(0).status;
    assert_data_eq!(
        &status.ready().unwrap().message,
        str![
            "Error reconciling dependent resources: cannot apply ConfigMap shop/a: data[/]: Invalid value: [..]"
        ]
    );
}

#[tokio::test]
async fn a_record_that_no_cluster_stores_is_an_error_of_the_plan() {
    let lab = Lab::start().await;
    let maps = |count: usize| -> String {
        let name = "a".repeat(240);
        let map = |at| {
            format!(
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}-{at}, namespace: shop}}\n"
            )
        };
        (0..count).map(map).collect()
    };
    let refused = lab.plan("", &maps(1600)).await.unwrap_err();
    assert!(matches!(refused, RunError::TooManyObjects { objects: 1600, .. }), "{refused:?}");
    lab.plan("", &maps(1200)).await.unwrap();
    lab.define().await;
    lab.plan("", &maps(1600)).await.unwrap();
}
