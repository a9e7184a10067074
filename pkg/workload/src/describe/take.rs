//! Extracts the needed fields of an object right after reading, as whole objects take many times more memory.

use std::{collections::HashSet, sync::Arc};

use api::{Contract, output::PartRole};
use apply::ObjectKey;
use manifest::{Object, Value};

use super::{
    conditions::ConditionSet,
    found::FoundControlPlane,
    kinds,
    tree::{MachineCounts, SeenObject},
};

/// The label of control plane machines.
const CONTROL_PLANE: &str = "cluster.x-k8s.io/control-plane";

/// The extracted fields of a Cluster API object.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) seen: Arc<SeenObject>,
    /// The infrastructure and bootstrap config of a Machine; for other kinds, those of their machines.
    pub(super) references: [Option<ObjectKey>; 2],
    pub(super) controller: Option<Controller>,
    pub(super) is_of_control_plane: bool,
}

/// Group, kind and name of a controller owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Controller {
    group: Arc<str>,
    kind: Arc<str>,
    name: Arc<str>,
}

/// Extracts fields of objects. Equal texts share their memory.
#[derive(Debug)]
pub(super) struct Taker {
    pub(super) conditions: ConditionSet,
    texts: Texts,
}

/// Interned texts.
#[derive(Debug, Default)]
pub(super) struct Texts(HashSet<Arc<str>>);

impl Taker {
    pub(super) fn new(conditions: ConditionSet) -> Self {
        Self { conditions, texts: Texts::default() }
    }

    /// Extracts the shown fields of an object.
    pub(super) fn seen(&mut self, object: &Object, role: PartRole) -> SeenObject {
        SeenObject::of(object, role, self.conditions, &mut self.texts)
    }

    /// Extracts the shown fields, the controller and the references of an object.
    pub(super) fn take(&mut self, object: &Object, role: PartRole) -> Taken {
        let references: [&[&str]; 2] = if role == PartRole::Machine {
            [&["spec", "infrastructureRef"], &["spec", "bootstrap", "configRef"]]
        } else {
            [
                &["spec", "template", "spec", "infrastructureRef"],
                &["spec", "template", "spec", "bootstrap", "configRef"],
            ]
        };
        Taken {
            seen: Arc::new(self.seen(object, role)),
            references: references.map(|path| reference(object, path)),
            controller: self.controller(object),
            is_of_control_plane: object.label(CONTROL_PLANE).is_some(),
        }
    }

    /// Extracts the fields of a control plane, according to its contract.
    pub(super) fn control_plane(&mut self, object: &Object, contract: &Contract) -> FoundControlPlane {
        let mut seen = self.seen(object, PartRole::ControlPlane);
        let template = if contract.as_str() == Contract::CURRENT {
            reference(object, &["spec", "machineTemplate", "spec", "infrastructureRef"])
        } else {
            seen.replicas = MachineCounts::of_older_control_plane(object);
            older_reference(object, &["spec", "machineTemplate", "infrastructureRef"])
        };
        FoundControlPlane { object: Ok(Arc::new(seen)), template }
    }

    fn controller(&mut self, object: &Object) -> Option<Controller> {
        let owners = object.get(&["metadata", "ownerReferences"])?.as_array()?;
        let owner = owners.iter().find(|owner| owner["controller"] == Value::Bool(true))?;
        let group = owner["apiVersion"].as_str()?.rsplit_once('/').map_or("", |(group, _)| group);
        let (kind, name) = (owner["kind"].as_str()?, owner["name"].as_str()?);
        let [group, kind, name] = [group, kind, name].map(|text| self.texts.one(text));
        Some(Controller { group, kind, name })
    }
}

impl Taken {
    /// Returns the identity that owned objects use to refer to this object.
    pub(super) fn as_controller(&self) -> Controller {
        let key = &self.seen.key;
        let [group, kind, name] = [&*key.group, &*key.kind, &*key.name].map(Arc::from);
        Controller { group, kind, name }
    }

    pub(super) fn name(&self) -> &str {
        &self.seen.key.name
    }
}

impl Texts {
    /// Returns the shared text for all equal texts.
    pub(super) fn one(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        self.0.insert(Arc::clone(&new));
        new
    }
}

/// Reads a reference in the form of contract v1beta2, to an object in the same namespace.
pub(super) fn reference(object: &Object, path: &[&str]) -> Option<ObjectKey> {
    let fields = object.get(path)?;
    let text = |name: &str| fields[name].as_str().unwrap_or_default().to_owned();
    let key = ObjectKey {
        group: text("apiGroup"),
        kind: text("kind"),
        namespace: object.namespace().to_owned(),
        name: text("name"),
    };
    let is_defined = !(key.group.is_empty() && key.kind.is_empty() && key.name.is_empty());
    is_defined.then_some(key)
}

/// Lists the ClusterResourceSets that a ClusterResourceSetBinding names.
pub(super) fn resource_sets(binding: &Object) -> Vec<ObjectKey> {
    let bindings = binding.get(&["spec", "bindings"]).and_then(Value::as_array).into_iter().flatten();
    let names = bindings.filter_map(|binding| binding["clusterResourceSetName"].as_str());
    let kind = kinds::resource_set();
    let key = |name: &str| ObjectKey {
        group: kind.group.clone(),
        kind: kind.kind.clone(),
        namespace: binding.namespace().to_owned(),
        name: name.to_owned(),
    };
    names.map(key).collect()
}

/// Reads a reference in the form of contract v1beta1, with a version and a namespace.
fn older_reference(object: &Object, path: &[&str]) -> Option<ObjectKey> {
    let fields = object.get(path)?;
    let text = |name: &str| fields[name].as_str().unwrap_or_default();
    let group = text("apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
    let namespace = fields["namespace"].as_str().unwrap_or(object.namespace());
    let key = ObjectKey {
        group: group.to_owned(),
        kind: text("kind").to_owned(),
        namespace: namespace.to_owned(),
        name: text("name").to_owned(),
    };
    (!key.name.is_empty()).then_some(key)
}
