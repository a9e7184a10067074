//! Extracts the needed fields of an object right after reading, as whole objects take many times more memory.

use std::{collections::HashSet, sync::Arc};

use api::{Contract, output::PartRole};
use apply::ObjectKey;
use manifest::{Object, Value};

use super::{
    conditions::ConditionSet, kinds, snapshot::ControlPlaneSnapshot, summary::v1beta1_control_plane_counts,
    tree::ObjectSummary,
};

/// The label of control plane machines.
const CONTROL_PLANE: &str = "cluster.x-k8s.io/control-plane";

/// The extracted fields of a Cluster API object.
#[derive(Debug)]
pub(super) struct LinkedSummary {
    pub(super) summary: Arc<ObjectSummary>,
    /// The infrastructure and bootstrap config of a Machine; for other kinds, those of their machines.
    pub(super) references: [Option<ObjectKey>; 2],
    pub(super) controller: Option<Controller>,
    pub(super) is_control_plane: bool,
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
pub(super) struct Extractor {
    pub(super) conditions: ConditionSet,
    texts: InternedTexts,
}

/// Interned texts.
#[derive(Debug, Default)]
pub(super) struct InternedTexts(HashSet<Arc<str>>);

impl Extractor {
    pub(super) fn new(conditions: ConditionSet) -> Self {
        Self { conditions, texts: InternedTexts::default() }
    }

    /// Extracts the shown fields of an object.
    pub(super) fn summarize(&mut self, object: &Object, role: PartRole) -> ObjectSummary {
        ObjectSummary::new(object, role, self.conditions, &mut self.texts)
    }

    /// Extracts the shown fields, the controller and the references of an object.
    pub(super) fn extract(&mut self, object: &Object, role: PartRole) -> LinkedSummary {
        let references: [&[&str]; 2] = if role == PartRole::Machine {
            [&["spec", "infrastructureRef"], &["spec", "bootstrap", "configRef"]]
        } else {
            [
                &["spec", "template", "spec", "infrastructureRef"],
                &["spec", "template", "spec", "bootstrap", "configRef"],
            ]
        };
        LinkedSummary {
            summary: Arc::new(self.summarize(object, role)),
            references: references.map(|path| v1beta2_reference(object, path)),
            controller: self.controller(object),
            is_control_plane: object.label(CONTROL_PLANE).is_some(),
        }
    }

    /// Extracts the fields of a control plane, according to its contract.
    pub(super) fn extract_control_plane(
        &mut self,
        object: &Object,
        contract: &Contract,
    ) -> ControlPlaneSnapshot {
        let mut seen = self.summarize(object, PartRole::ControlPlane);
        let template = if contract.as_str() == Contract::CURRENT {
            v1beta2_reference(object, &["spec", "machineTemplate", "spec", "infrastructureRef"])
        } else {
            seen.replicas = v1beta1_control_plane_counts(object);
            v1beta1_reference(object, &["spec", "machineTemplate", "infrastructureRef"])
        };
        ControlPlaneSnapshot { object: Ok(Arc::new(seen)), template }
    }

    fn controller(&mut self, object: &Object) -> Option<Controller> {
        let owners = object.get(&["metadata", "ownerReferences"])?.as_array()?;
        let owner = owners.iter().find(|owner| owner["controller"] == Value::Bool(true))?;
        let group = owner["apiVersion"].as_str()?.rsplit_once('/').map_or("", |(group, _)| group);
        let (kind, name) = (owner["kind"].as_str()?, owner["name"].as_str()?);
        let [group, kind, name] = [group, kind, name].map(|text| self.texts.intern(text));
        Some(Controller { group, kind, name })
    }
}

impl LinkedSummary {
    /// Returns the identity that owned objects use to refer to this object.
    pub(super) fn as_controller(&self) -> Controller {
        let key = &self.summary.key;
        let [group, kind, name] = [&*key.group, &*key.kind, &*key.name].map(Arc::from);
        Controller { group, kind, name }
    }

    pub(super) fn name(&self) -> &str {
        &self.summary.key.name
    }
}

impl InternedTexts {
    /// Returns the shared text for all equal texts.
    pub(super) fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        self.0.insert(Arc::clone(&new));
        new
    }
}

/// Reads a reference in the form of contract v1beta2, to an object in the same namespace.
pub(super) fn v1beta2_reference(object: &Object, path: &[&str]) -> Option<ObjectKey> {
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
pub(super) fn resource_set_keys(binding: &Object) -> Vec<ObjectKey> {
    let bindings = binding.get(&["spec", "bindings"]).and_then(Value::as_array).into_iter().flatten();
    let names = bindings.filter_map(|binding| binding["clusterResourceSetName"].as_str());
    let kind = kinds::resource_set_kind();
    let key = |name: &str| ObjectKey {
        group: kind.group.clone(),
        kind: kind.kind.clone(),
        namespace: binding.namespace().to_owned(),
        name: name.to_owned(),
    };
    names.map(key).collect()
}

/// Reads a reference in the form of contract v1beta1, with a version and a namespace.
fn v1beta1_reference(object: &Object, path: &[&str]) -> Option<ObjectKey> {
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
