//! A model of a server and of a record, for tests of pure functions.

use std::collections::BTreeMap;

use jiff::Timestamp;
use manifest::{Object, Value};
use serde_json::json;

use super::object;
use crate::{
    ApiKind, ApplyOptions, ApplyPlan, ApplySet, DesiredSet, FormerTool, InvalidObject, ItemPhase,
    LiveObjects, MissingNamespacePolicy, ObjectKey, Observation, OwnershipMarks, PlanError, PlanStep,
    Policies, ServedKinds, StepAction, build_desired_set, key_of, plan,
};

/// Returns the defaults, with the prefix `x` and the namespace `default`.
pub(crate) fn options() -> ApplyOptions {
    ApplyOptions {
        field_manager: "capstan".to_owned(),
        prefix: "x".to_owned(),
        defaults: Policies::default(),
        missing_namespaces: MissingNamespacePolicy::Create,
        namespace: "default".to_owned(),
        take_over: vec![FormerTool::new("kubectl")],
        additional_managed_types: Vec::new(),
        component_digest: None,
        reapply_after: None,
        release_orphans: false,
    }
}

/// Returns kinds of every sort.
pub(crate) fn kinds() -> ServedKinds {
    let mut kinds = ServedKinds::default();
    for (group, version, kind, namespaced) in [
        ("", "v1", "Namespace", false),
        ("", "v1", "ConfigMap", true),
        ("", "v1", "Secret", true),
        ("", "v1", "Service", true),
        ("apps", "v1", "Deployment", true),
        ("batch", "v1", "Job", true),
        ("rbac.authorization.k8s.io", "v1", "ClusterRole", false),
        ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", false),
        ("apiextensions.k8s.io", "v1", "CustomResourceDefinition", false),
        ("apiregistration.k8s.io", "v1", "APIService", false),
        ("storage.k8s.io", "v1", "StorageClass", false),
    ] {
        kinds.add(ApiKind {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: format!("{}s", kind.to_ascii_lowercase()),
            namespaced,
            verbs: Vec::new(),
        });
    }
    kinds
}

/// Returns the object `apps/v1 Deployment ns/name` with annotations.
pub(crate) fn named(what: &str, annotations: &Value) -> Object {
    let mut words = what.split(' ');
    let mut next = || words.next().unwrap();
    let (api_version, kind, place) = (next(), next(), next());
    let (namespace, name) = place.split_once('/').unwrap_or(("", place));
    let mut made = object(json!({
        "apiVersion": api_version, "kind": kind, "metadata": {"name": name, "annotations": annotations},
    }));
    made.set_namespace(namespace);
    made
}

/// Returns a definition of `Kind.group` in version `v1`.
pub(crate) fn definition(kind: &str, group: &str, scope: &str, annotations: &Value) -> Object {
    let plural = format!("{}s", kind.to_ascii_lowercase());
    let name = format!("apiextensions.k8s.io/v1 CustomResourceDefinition {plural}.{group}");
    let mut made = named(&name, annotations);
    made.as_map_mut().insert(
        "spec".to_owned(),
        json!({
            "group": group, "scope": scope, "names": {"kind": kind, "plural": plural},
            "versions": [{"name": "v1", "served": true, "storage": true}],
        }),
    );
    made
}

/// Returns the marks of the owner of most tests.
pub(crate) fn marks() -> OwnershipMarks {
    OwnershipMarks::of_component("x", "me")
}

/// Returns marks with a label only, like marks of objects that other tools must recognise.
pub(crate) fn label_marks() -> OwnershipMarks {
    OwnershipMarks {
        label: ("part-of".to_owned(), "me".to_owned()),
        reserved: Vec::new(),
        owner: "me".to_owned(),
        owner_annotation: None,
        digest_annotation: None,
        finalizer: None,
        shares_namespaces: false,
    }
}

/// Returns a time; the argument is in minutes.
pub(crate) fn minute(minutes: i64) -> Timestamp {
    Timestamp::from_second(1_000_000_000 + 60 * minutes).unwrap()
}

/// A model of a server and of a record, for the execution of plans.
#[derive(Clone, Debug)]
pub(crate) struct FakeCluster {
    pub(crate) marks: OwnershipMarks,
    pub(crate) options: ApplyOptions,
    pub(crate) set: ApplySet,
    pub(crate) server: BTreeMap<ObjectKey, Object>,
    pub(crate) now: Timestamp,
}

impl FakeCluster {
    /// Creates a server with only the namespace `default`.
    pub(crate) fn new(marks: OwnershipMarks) -> Self {
        let mut world = Self {
            marks,
            options: options(),
            set: ApplySet::default(),
            server: BTreeMap::new(),
            now: minute(0),
        };
        world.put(named("v1 Namespace default", &json!({})));
        world
    }

    /// Stores an object on the server without the engine.
    pub(crate) fn put(&mut self, object: Object) {
        self.server.insert(key_of(&object), object);
    }

    /// Returns an object of the server for changes.
    pub(crate) fn object(&mut self, what: &str) -> &mut Object {
        self.server.get_mut(&key_of(&named(what, &json!({})))).unwrap()
    }

    pub(crate) fn desire(&self, objects: &[Object]) -> Result<DesiredSet, Vec<InvalidObject>> {
        build_desired_set(objects.to_vec(), &kinds(), &self.marks, &self.options)
    }

    /// Returns the observation of all objects.
    pub(crate) fn live(&self, desired: &DesiredSet) -> LiveObjects {
        let wanted = desired.objects.iter().map(|object| object.key.clone());
        let namespaces = desired.objects.iter().map(|object| ObjectKey::of_namespace(&object.key.namespace));
        let recorded = self.set.items.iter().map(|item| item.key.clone());
        let seen = |key: ObjectKey| {
            let object = self.server.get(&key).cloned();
            (key, object.map_or(Observation::Absent, Observation::Present))
        };
        LiveObjects { objects: wanted.chain(namespaces).chain(recorded).map(seen).collect() }
    }

    pub(crate) fn plan(&self, objects: &[Object]) -> Result<ApplyPlan, Vec<PlanError>> {
        let desired = self.desire(objects).unwrap();
        plan(&self.set, &desired, &self.live(&desired), &self.marks, &self.options, self.now)
    }

    /// Plans and executes; returns the plan.
    pub(crate) fn apply(&mut self, objects: &[Object]) -> ApplyPlan {
        let plan = self.plan(objects).unwrap();
        let desired = self.desire(objects).unwrap();
        self.execute(&plan, &desired);
        plan
    }

    pub(crate) fn execute(&mut self, plan: &ApplyPlan, desired: &DesiredSet) {
        self.set.schedule(desired, plan);
        for step in &plan.steps {
            if step.action.is_write() {
                self.write(&step.key, desired);
            }
            if step.purge_wave.is_some() && step.action != StepAction::Completed {
                self.server.remove(&step.key);
                self.set.item_mut(&step.key).unwrap().phase = ItemPhase::Completed;
            }
            if step.action == StepAction::Delete {
                self.server.remove(&step.key);
            }
            if step.action.is_removal() {
                self.set.remove(&step.key);
            }
        }
    }

    fn write(&mut self, key: &ObjectKey, desired: &DesiredSet) {
        let Some(desired) = desired.objects.iter().find(|object| object.key == *key) else {
            return self.put(named(&format!("v1 Namespace {}", key.name), &json!({})));
        };
        let mut written = desired.object.clone();
        if let Some(Value::Object(metadata)) = written.get_mut(&["metadata"]) {
            metadata.insert("managedFields".to_owned(), json!([{"manager": "capstan"}]));
        }
        self.put(written);
        let item = self.set.item_mut(key).unwrap();
        item.phase = ItemPhase::Ready;
        item.last_applied_at = Some(self.now.to_string());
    }
}

/// Formats the steps of a plan: `Create Namespace a, Keep ConfigMap a/b`.
pub(crate) fn plan_text(plan: &ApplyPlan) -> String {
    let step = |step: &PlanStep| format!("{:?} {}", step.action, step.key);
    plan.steps.iter().map(step).collect::<Vec<_>>().join(", ")
}
